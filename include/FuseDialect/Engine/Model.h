//===- Model.h - A model on its way through the phases ----------*- C++ -*-===//

#ifndef FUSEDIALECT_ENGINE_MODEL_H
#define FUSEDIALECT_ENGINE_MODEL_H

#include "FuseDialect/Engine/CompileOptions.h"
#include "FuseDialect/Engine/Diagnostics.h"
#include "FuseDialect/IR/Signature.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::fuse {

/// A module in any phase with the entry function that a tool was asked for.
class Model {
public:
  /// Reads a model from a file: ONNX if the name ends in `.onnx`, else MLIR as
  /// text or bytecode. The context holds the dialects of the pipeline.
  /// Errors: no such file or entry function, a malformed one, an entry whose
  /// arguments are not ranked tensors.
  static llvm::Expected<Model> load(StringRef path, StringRef entry,
                                    EngineDiagnostics &diagnostics,
                                    MLIRContext *context);

  /// A model of a module that is at hand.
  static llvm::Expected<Model> fromModule(OwningOpRef<ModuleOp> module,
                                          StringRef entry);

  ModuleOp getModule() const { return *module; }
  Phase getPhase() const;
  /// The names, symbols and types of the entry's inputs and outputs; types are
  /// those of the model, whatever the phase has made of them.
  const Signature &getSignature() const { return signature; }
  StringRef getEntryName() const { return entry; }
  /// The entry function, or null once it has become LLVM's.
  FunctionOpInterface getEntry() const;

  /// Makes the types of the inputs more static. An error after phase `graph`.
  llvm::Error specialize(ArrayRef<RankedTensorType> inputs);
  /// Removes what is neither the entry nor a kernel.
  llvm::Error keepOnlyEntry();

  /// Runs the phases up to `last` that are still to come. The fusion reports
  /// are written after phase `group`; later phases need static shapes.
  llvm::Error compile(Phase last, const CompileOptions &options,
                      const PipelineOptions &pipeline,
                      EngineDiagnostics &diagnostics);

  /// After compile(): the ops of the source model that came in, and launches of
  /// kernels in the entry (0 before phase `tune`).
  int64_t getNumSourceOps() const { return numSourceOps; }
  int64_t getNumKernels() const { return numKernels; }

private:
  Model() = default;
  void readOutputTypes();
  llvm::Error checkStatic() const;

  OwningOpRef<ModuleOp> module;
  std::string entry;
  Signature signature;
  int64_t numSourceOps = 0, numKernels = 0;
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_ENGINE_MODEL_H
