//===- Model.h - A model on its way through the phases ----------*- C++ -*-===//

#ifndef FUSEDIALECT_ENGINE_MODEL_H
#define FUSEDIALECT_ENGINE_MODEL_H

#include "FuseDialect/Engine/ShapeBinding.h"
#include "FuseDialect/Engine/Target.h"
#include "FuseDialect/IR/Signature.h"
#include "FuseDialect/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

namespace mlir::fuse {

/// What all tools ask of compilation.
struct ModelOptions {
  /// `.mlir`, `.mlirbc` or `.onnx`.
  std::string path;
  /// The entry function.
  std::string entry = "main";
  /// Texts of `--shape` and `--dim`.
  std::vector<std::string> shapes, dims;
  FusionOptions fusion;
  std::string targetCpu = "host", targetFeatures;
  /// Files that the fusion report goes to.
  std::vector<std::string> fusionReports;
  std::string dumpDirectory;
};

/// The dialects that a context of the tools has loaded on demand.
void registerModelDialects(DialectRegistry &registry);

/// A model, from its file to machine code. The context outlives it.
class Model {
public:
  /// Reads the file and finds the entry function. Errors in the file have been
  /// reported as diagnostics.
  static llvm::Expected<Model> load(const ModelOptions &options,
                                    MLIRContext *context);

  /// A model of a module in phase import.
  static llvm::Expected<Model> fromModule(const ModelOptions &options,
                                          OwningOpRef<ModuleOp> module);

  ModuleOp getModule() { return *module; }
  const Signature &getSignature() const { return signature; }
  const ShapeOptions &getShapeOptions() const { return shapeOptions; }
  const Target &getTarget() const { return target; }
  /// The entry function; it is there up to phase memory.
  func::FuncOp getEntry();
  /// The number of ops, but constants, in the entry function.
  int64_t countOps();
  /// The number of kernel launches in the entry function.
  int64_t countLaunches();

  /// Gives the entry function's arguments these types; the graph phase refines
  /// what follows. An error if the model is past that phase and the types
  /// differ.
  llvm::Error specialise(ArrayRef<RankedTensorType> types);
  /// Runs the phases up to `last`; writes the fusion reports after phase group.
  llvm::Error compile(Phase last);

private:
  Model(const ModelOptions &options, Target target)
      : options(options), target(std::move(target)) {}

  ModelOptions options;
  Target target;
  ShapeOptions shapeOptions;
  OwningOpRef<ModuleOp> module;
  Signature signature;
  /// Whether the fusion reports are written.
  bool hasReported = false;
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_ENGINE_MODEL_H
