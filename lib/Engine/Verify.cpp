//===- Verify.cpp - Comparison with the reference evaluator ---------------===//

#include "FuseDialect/Engine/Verify.h"
#include "FuseDialect/Analysis/ReferenceEvaluator.h"
#include "FuseDialect/Engine/EngineError.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "FuseDialect/IR/SourceName.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fuse;

Tolerance mlir::fuse::getScaledTolerance(const HostTensor &want) {
  Tolerance tolerance = getDefaultTolerance(want.getElementType());
  double largest = 0;
  for (int64_t i = 0; i < want.getNumElements(); ++i)
    if (double value = std::abs(want.getDouble(i)); std::isfinite(value))
      largest = std::max(largest, value);
  tolerance.atol = tolerance.rtol * largest;
  return tolerance;
}

/// A copy of the module whose entry function returns the results of all ops but
/// constants, and the ops of the original that they belong to. Null if the
/// entry is no function of one block.
static OwningOpRef<ModuleOp> exposeResults(ModuleOp module, StringRef entryName,
                                           SmallVectorImpl<Operation *> &ops) {
  OwningOpRef<ModuleOp> copy = module.clone();
  auto original = module.lookupSymbol<func::FuncOp>(entryName);
  auto entry = copy->lookupSymbol<func::FuncOp>(entryName);
  if (!original || !original.getBody().hasOneBlock())
    return {};
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
  // It is about the outputs that the function had.
  entry->removeAttr(kSignatureAttrName);
  return copy;
}

/// The name of the first op whose compiled result differs from the reference
/// while all results before it agree; "" if the results of all ops agree when
/// each is written to memory, or not all can be.
static std::string findFirstDifference(ModuleOp source, StringRef entryName,
                                       ArrayRef<ReferenceValue> arguments,
                                       ToleranceChooser chooseTolerance,
                                       ModuleRunner run) {
  SmallVector<Operation *> ops;
  OwningOpRef<ModuleOp> exposed = exposeResults(source, entryName, ops);
  if (!exposed)
    return "";
  llvm::Expected<SmallVector<HostTensor>> compiled = run(std::move(exposed));
  if (!compiled) {
    // The difference is the error to report.
    llvm::consumeError(compiled.takeError());
    return "";
  }
  size_t next = 0;
  std::string first;
  auto observe = [&](Operation *op,
                     ArrayRef<ReferenceValue> values) -> LogicalResult {
    for (size_t result = 0; next < ops.size() && ops[next] == op;
         ++next, ++result) {
      std::optional<HostTensor> want = values[result].toTensor();
      if (!want)
        return failure();
      if (!describeDifference("", (*compiled)[next], *want,
                              chooseTolerance(*want))
               .empty()) {
        first = getSourceName(op->getLoc());
        return failure();
      }
    }
    return success();
  };
  (void)ReferenceEvaluator().evaluate(
      source.lookupSymbol<FunctionOpInterface>(entryName), arguments, observe);
  return first;
}

llvm::Error mlir::fuse::verifyOutputs(ModuleOp source, StringRef entry,
                                      ArrayRef<SignatureValue> values,
                                      ArrayRef<const HostTensor *> inputs,
                                      ArrayRef<HostTensor> outputs,
                                      ToleranceChooser chooseTolerance,
                                      ModuleRunner run) {
  auto function = source.lookupSymbol<FunctionOpInterface>(entry);
  if (!function)
    return makeError("expected a function '" + entry + "' to verify");
  SmallVector<ReferenceValue> arguments;
  for (const HostTensor *input : inputs) {
    std::optional<ReferenceValue> value = ReferenceValue::fromTensor(*input);
    if (!value)
      return makeError("there is not enough memory to verify");
    arguments.push_back(std::move(*value));
  }
  FailureOr<ReferenceEvaluator::Values> results =
      ReferenceEvaluator().evaluate(function, arguments);
  if (failed(results))
    return makeReportedError();
  std::string differences;
  for (auto [value, result, output] :
       llvm::zip_equal(values, *results, outputs)) {
    std::optional<HostTensor> want = result.toTensor();
    if (!want)
      return makeError("there is not enough memory to verify");
    std::string difference =
        describeDifference(value.name, output, *want, chooseTolerance(*want));
    if (!difference.empty())
      differences += (differences.empty() ? "" : "; ") + difference;
  }
  if (differences.empty())
    return llvm::Error::success();
  std::string op =
      findFirstDifference(source, entry, arguments, chooseTolerance, run);
  if (!op.empty())
    differences += "; the first op that differs is '" + op + "'";
  return makeError(ExitCode::differs, differences);
}
