//===- ReferenceEvaluator.cpp - Evaluates ops in double precision ---------===//

#include "FuseDialect/Analysis/ReferenceEvaluator.h"
#include "ReferenceOps.h"

using namespace mlir;
using namespace mlir::fuse;
using namespace mlir::fuse::reference;

bool ReferenceEvaluator::isSupported(Operation *op) {
  if (!isa_and_present<FuseDialect>(op->getDialect()))
    return false;
  return isa<ConstantOp, BarrierOp, GroupOp, ShapeOfOp, ElementwiseOpInterface,
             InjectiveOpInterface, ReductionOpInterface, RowOpInterface>(op);
}

/// Whether a tensor of `shape` and `elementType` may have the type.
static bool fits(const ReferenceValue &value, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && value && tensor.getElementType() == value.getElementType() &&
         succeeded(verifyCompatibleShape(tensor.getShape(), value.getShape()));
}

/// "tensor<2x3xf32>", or "nothing" for an empty value.
static std::string describe(const ReferenceValue &value) {
  if (!value)
    return "nothing";
  std::string text;
  llvm::raw_string_ostream(text)
      << RankedTensorType::get(value.getShape(), value.getElementType());
  return text;
}

static std::string describe(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// The value of a constant, widened.
static FailureOr<Values> evaluateConstant(ConstantOp op,
                                          Evaluation &evaluation) {
  std::optional<HostTensor> tensor = HostTensor::fromElements(op.getValue());
  std::optional<ReferenceValue> value =
      tensor ? ReferenceValue::fromTensor(*tensor) : std::nullopt;
  if (!value)
    return evaluation.fail("expected a constant whose data are present and fit "
                           "in memory");
  return Values{*value};
}

static FailureOr<Values> evaluateShapeOf(ShapeOfOp op, Evaluation &evaluation) {
  ArrayRef<int64_t> shape = evaluation.operands.front().getShape();
  auto start = static_cast<int64_t>(op.getStart());
  auto count = static_cast<int64_t>(op.getEnd()) - start;
  FailureOr<ReferenceValue> result = evaluation.allocate({count});
  if (failed(result))
    return failure();
  llvm::copy(shape.slice(start, count), result->getMutableInts().begin());
  return Values{*result};
}

static FailureOr<Values> evaluateOp(Evaluation &evaluation) {
  Operation *op = evaluation.op;
  if (auto constant = dyn_cast<ConstantOp>(op))
    return evaluateConstant(constant, evaluation);
  if (auto shapeOf = dyn_cast<ShapeOfOp>(op))
    return evaluateShapeOf(shapeOf, evaluation);
  if (isa<BarrierOp>(op))
    return Values{evaluation.operands.front()};
  if (isa<ElementwiseOpInterface>(op))
    return evaluateElementwise(evaluation);
  if (isa<InjectiveOpInterface>(op))
    return evaluateInjective(evaluation);
  if (isa<ReductionOpInterface>(op))
    return evaluateReduction(evaluation);
  if (isa<RowOpInterface>(op))
    return evaluateRow(evaluation);
  return failure();
}

FailureOr<ReferenceEvaluator::Values>
ReferenceEvaluator::evaluate(Operation *op, ArrayRef<ReferenceValue> operands) {
  Evaluation evaluation{op, operands, rounding, error};
  if (!isSupported(op) || isa<GroupOp>(op))
    return evaluation.fail("expected an op that the reference evaluator knows");
  if (operands.size() != op->getNumOperands())
    return evaluation.fail("expected " + Twine(op->getNumOperands()) +
                           " operand values but got " + Twine(operands.size()));
  for (auto [index, value] : llvm::enumerate(operands))
    if (!fits(value, op->getOperand(index).getType()))
      return evaluation.fail("expected operand " + Twine(index) + " of type " +
                             describe(op->getOperand(index).getType()) +
                             " but got " + describe(value));
  FailureOr<Values> results = evaluateOp(evaluation);
  if (failed(results))
    return failure();
  for (auto [index, value] : llvm::enumerate(*results))
    if (!fits(value, op->getResult(index).getType()))
      return evaluation.fail("expected result " + Twine(index) + " of type " +
                             describe(op->getResult(index).getType()) +
                             " but got " + describe(value));
  return results;
}

namespace {

/// The state of one block that is being evaluated.
struct Frame {
  /// The group that holds the block; none for the function's own.
  GroupOp group;
  Block::iterator next;
  struct Entry {
    ReferenceValue value;
    /// Operands that still read the value.
    size_t uses;
  };
  llvm::DenseMap<Value, Entry> values;

  void bind(Value name, ReferenceValue value) {
    size_t uses = llvm::range_size(name.getUses());
    if (uses)
      values[name] = {std::move(value), uses};
  }
  /// The value, which is dropped if this was its last use. Empty if unknown.
  ReferenceValue take(Value name) {
    auto found = values.find(name);
    if (found == values.end())
      return {};
    ReferenceValue value = found->second.value;
    if (--found->second.uses == 0)
      values.erase(found);
    return value;
  }
};

} // namespace

FailureOr<ReferenceEvaluator::Values>
ReferenceEvaluator::evaluate(FunctionOpInterface function,
                             ArrayRef<ReferenceValue> arguments,
                             Observer observer) {
  if (!llvm::hasSingleElement(function.getFunctionBody()))
    return function.emitOpError("expected a body of one block to evaluate");
  if (arguments.size() != function.getNumArguments())
    return function.emitOpError() << "expected " << function.getNumArguments()
                                  << " arguments but got " << arguments.size();

  // A stack of blocks instead of recursion: groups may be nested deeply.
  std::vector<Frame> stack;
  auto enter = [&](GroupOp group, Block &block,
                   ArrayRef<ReferenceValue> values) {
    Frame &frame = stack.emplace_back();
    frame.group = group;
    frame.next = block.begin();
    for (auto [argument, value] : llvm::zip_equal(block.getArguments(), values))
      frame.bind(argument, value);
  };
  for (auto [index, value] : llvm::enumerate(arguments))
    if (!fits(value, function.getArgumentTypes()[index]))
      return function.emitOpError()
             << "expected argument " << index << " of type "
             << function.getArgumentTypes()[index] << " but got "
             << describe(value);
  enter({}, function.getFunctionBody().front(), arguments);

  while (true) {
    Frame &frame = stack.back();
    Operation *op = &*frame.next++;
    Values operands;
    for (Value operand : op->getOperands())
      operands.push_back(frame.take(operand));

    if (op->hasTrait<OpTrait::IsTerminator>()) {
      if (!op->hasTrait<OpTrait::ReturnLike>())
        return op->emitOpError("expected an op that the reference evaluator "
                               "knows");
      GroupOp group = frame.group;
      stack.pop_back();
      if (!group)
        return operands;
      for (auto [result, value] :
           llvm::zip_equal(group->getResults(), operands))
        stack.back().bind(result, value);
      continue;
    }
    if (auto group = dyn_cast<GroupOp>(op)) {
      enter(group, group.getBody().front(), operands);
      continue;
    }
    FailureOr<Values> results = evaluate(op, operands);
    if (failed(results))
      return op->emitOpError(error);
    if (observer && failed(observer(op, *results)))
      return failure();
    for (auto [result, value] : llvm::zip_equal(op->getResults(), *results))
      frame.bind(result, value);
  }
}
