//===- Verify.h - Comparison with the reference evaluator -------*- C++ -*-===//

#ifndef FUSEDIALECT_ENGINE_VERIFY_H
#define FUSEDIALECT_ENGINE_VERIFY_H

#include "FuseDialect/Analysis/HostTensor.h"
#include "FuseDialect/Engine/Compare.h"
#include "FuseDialect/Engine/Model.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::fuse {

/// Compiles a module in phase import and runs it on the inputs at hand; returns
/// what its entry function does.
using ModuleRunner = llvm::function_ref<llvm::Expected<SmallVector<HostTensor>>(
    OwningOpRef<ModuleOp>)>;

/// Compares a model's outputs with those of the reference evaluator, which
/// computes `imported`, a copy of the module in phase import with its types
/// specialised, op by op in double precision. If they differ, the model is
/// compiled once more with every op's result as an output, and the first source
/// op whose result differs is named. The error has ExitCode::differs.
///
/// `rtol` and `atol` are as in RunOptions.
llvm::Error verifyOutputs(ModuleOp imported, const ModelOptions &options,
                          const Signature &signature,
                          ArrayRef<const HostTensor *> inputs,
                          ArrayRef<HostTensor> outputs, double rtol,
                          double atol, ModuleRunner run);

/// The tolerance for an element type, with what the person gave.
Tolerance chooseTolerance(Type elementType, double rtol, double atol);

} // namespace mlir::fuse

#endif // FUSEDIALECT_ENGINE_VERIFY_H
