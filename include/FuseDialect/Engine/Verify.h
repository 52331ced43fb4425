//===- Verify.h - Comparison with the reference evaluator -------*- C++ -*-===//

#ifndef FUSEDIALECT_ENGINE_VERIFY_H
#define FUSEDIALECT_ENGINE_VERIFY_H

#include "FuseDialect/Analysis/HostTensor.h"
#include "FuseDialect/Engine/Compare.h"
#include "FuseDialect/IR/Signature.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace mlir::fuse {

/// Compiles the entry function of a module that has other outputs, and returns
/// them for the inputs at hand.
using ModuleRunner = llvm::function_ref<llvm::Expected<SmallVector<HostTensor>>(
    OwningOpRef<ModuleOp>)>;

/// How a result may differ from the exact one.
using ToleranceChooser = llvm::function_ref<Tolerance(const HostTensor &want)>;

/// What the default rounding of a type allows for results of this size: an
/// element that is the difference of large ones has their rounding error.
Tolerance getScaledTolerance(const HostTensor &want);

/// Compares outputs with those that the reference evaluator computes in double
/// precision. `source` is a module up to phase `group`. If an output differs,
/// each op's own result is compared too, to name the first op that is wrong: an
/// error of ExitCode::differs.
llvm::Error verifyOutputs(ModuleOp source, StringRef entry,
                          ArrayRef<SignatureValue> values,
                          ArrayRef<const HostTensor *> inputs,
                          ArrayRef<HostTensor> outputs,
                          ToleranceChooser chooseTolerance, ModuleRunner run);

} // namespace mlir::fuse

#endif // FUSEDIALECT_ENGINE_VERIFY_H
