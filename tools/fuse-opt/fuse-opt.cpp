//===- fuse-opt.cpp - The optimizer driver --------------------------------===//

#include "FuseDialect/Conversion/Passes.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "FuseDialect/Pipelines/Pipelines.h"
#include "FuseDialect/Transforms/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  mlir::fuse::registerFuseTransformsPasses();
  mlir::fuse::registerFuseConversionPasses();
  mlir::fuse::registerPhasePipelines();
  mlir::fuse::registerFuseTransformsPasses();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<mlir::fuse::FuseDialect>();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "FuseDialect optimizer driver\n", registry));
}
