//===- Verify.cpp - Comparison with the reference evaluator ---------------===//

#include "FuseDialect/Engine/Verify.h"
#include "FuseDialect/Analysis/ReferenceEvaluator.h"
#include "FuseDialect/Engine/EngineError.h"
#include "FuseDialect/IR/SourceName.h"

using namespace mlir;
using namespace mlir::fuse;

Tolerance mlir::fuse::chooseTolerance(Type elementType, double rtol,
                                      double atol) {
  Tolerance tolerance = getDefaultTolerance(elementType);
  if (rtol >= 0)
    tolerance.rtol = rtol;
  if (atol >= 0)
    tolerance.atol = atol;
  return tolerance;
}

/// A copy of the module whose entry function returns the results of all ops but
/// constants, and the ops of the original that they belong to.
static OwningOpRef<ModuleOp> exposeResults(ModuleOp module, StringRef entryName,
                                           SmallVectorImpl<Operation *> &ops) {
  OwningOpRef<ModuleOp> copy = module.clone();
  auto original = module.lookupSymbol<func::FuncOp>(entryName);
  auto entry = copy->lookupSymbol<func::FuncOp>(entryName);
  SmallVector<Value> results;
  for (auto [op, cloned] :
       llvm::zip_equal(original.getBody().front().without_terminator(),
                       entry.getBody().front().without_terminator())) {
    if (op.hasTrait<OpTrait::ConstantLike>())
      continue;
    for (Value result : cloned.getResults()) {
      results.push_back(result);
      ops.push_back(&op);
    }
  }
  Operation *terminator = entry.getBody().front().getTerminator();
  terminator->setOperands(results);
  entry.setFunctionType(FunctionType::get(entry.getContext(),
                                          entry.getArgumentTypes(),
                                          ValueRange(results).getTypes()));
  entry.removeResAttrsAttr();
  return copy;
}

/// The name of the first op whose compiled result differs from the reference
/// while all results before it agree, or "" if the outputs of all ops agree
/// when each is written to memory.
static llvm::Expected<std::string>
findFirstDifference(ModuleOp imported, StringRef entryName,
                    ArrayRef<ReferenceValue> arguments, double rtol,
                    double atol, ModuleRunner run) {
  SmallVector<Operation *> ops;
  OwningOpRef<ModuleOp> exposed = exposeResults(imported, entryName, ops);
  llvm::Expected<SmallVector<HostTensor>> compiled = run(std::move(exposed));
  if (!compiled)
    return compiled.takeError();
  auto entry = imported.lookupSymbol<func::FuncOp>(entryName);
  size_t next = 0;
  std::string first;
  auto observe = [&](Operation *op,
                     ArrayRef<ReferenceValue> values) -> LogicalResult {
    for (size_t result = 0; next < ops.size() && ops[next] == op;
         ++next, ++result) {
      std::optional<HostTensor> want = values[result].toTensor();
      if (!want)
        return success();
      Tolerance tolerance = chooseTolerance(want->getElementType(), rtol, atol);
      if (!describeDifference("", (*compiled)[next], *want, tolerance)
               .empty()) {
        first = getSourceName(op->getLoc());
        return failure();
      }
    }
    return success();
  };
  (void)ReferenceEvaluator().evaluate(cast<FunctionOpInterface>(*entry),
                                      arguments, observe);
  return first;
}

llvm::Error mlir::fuse::verifyOutputs(ModuleOp imported,
                                      const ModelOptions &options,
                                      const Signature &signature,
                                      ArrayRef<const HostTensor *> inputs,
                                      ArrayRef<HostTensor> outputs, double rtol,
                                      double atol, ModuleRunner run) {
  auto entry = imported.lookupSymbol<func::FuncOp>(options.entry);
  if (!entry)
    return makeError("expected a function '" + options.entry + "' to verify");
  SmallVector<ReferenceValue> arguments;
  for (const HostTensor *input : inputs) {
    std::optional<ReferenceValue> value = ReferenceValue::fromTensor(*input);
    if (!value)
      return makeError("there is not enough memory to verify");
    arguments.push_back(std::move(*value));
  }
  FailureOr<ReferenceEvaluator::Values> results = ReferenceEvaluator().evaluate(
      cast<FunctionOpInterface>(*entry), arguments);
  if (failed(results))
    return makeReportedError();
  for (auto [number, result] : llvm::enumerate(*results)) {
    std::optional<HostTensor> want = result.toTensor();
    if (!want)
      return makeError("there is not enough memory to verify");
    Tolerance tolerance = chooseTolerance(want->getElementType(), rtol, atol);
    std::string difference = describeDifference(
        signature.outputs[number].name, outputs[number], *want, tolerance);
    if (difference.empty())
      continue;
    llvm::Expected<std::string> op = findFirstDifference(
        imported, options.entry, arguments, rtol, atol, run);
    if (!op)
      return op.takeError();
    return makeError(
        ExitCode::differs,
        difference + (op->empty()
                          ? "; no op differs when each is written to memory"
                          : "; the first op that differs is '" + *op + "'"));
  }
  return llvm::Error::success();
}
