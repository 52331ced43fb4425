//===- fuse-opt.cpp - The optimizer driver --------------------------------===//

#include "FuseDialect/Conversion/Passes.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "FuseDialect/Import/OnnxImport.h"
#include "FuseDialect/Pipelines/Pipelines.h"
#include "FuseDialect/Transforms/Passes.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

/// Imports an ONNX model and hands it to the driver, which takes a buffer.
static int runOnOnnx(llvm::StringRef input, llvm::StringRef output,
                     mlir::DialectRegistry &registry) {
  mlir::MLIRContext context(registry);
  mlir::fuse::OnnxImportResult result = mlir::fuse::importOnnx(input, &context);
  if (!result.module)
    return result.status == mlir::fuse::OnnxImportStatus::Unsupported ? 4 : 1;
  std::string bytecode;
  llvm::raw_string_ostream stream(bytecode);
  std::string error;
  auto file = mlir::openOutputFile(output, &error);
  if (!file || failed(mlir::writeBytecodeToFile(*result.module, stream))) {
    llvm::errs() << error << "\n";
    return 1;
  }
  if (failed(mlir::MlirOptMain(
          file->os(), llvm::MemoryBuffer::getMemBufferCopy(bytecode, input),
          registry, mlir::MlirOptMainConfig::createFromCLOptions())))
    return 1;
  file->keep();
  return 0;
}

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  mlir::fuse::registerFuseTransformsPasses();
  mlir::fuse::registerFuseConversionPasses();
  mlir::fuse::registerPhasePipelines();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<mlir::fuse::FuseDialect>();
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "FuseDialect optimizer driver\n", registry);
  if (llvm::StringRef(input).ends_with(".onnx"))
    return runOnOnnx(input, output, registry);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, input, output, registry));
}
