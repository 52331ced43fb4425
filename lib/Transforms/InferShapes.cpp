//===- InferShapes.cpp - Refines result types from operand types ----------===//

#include "FuseDialect/Analysis/KnownElements.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "FuseDialect/IR/ShapeInference.h"
#include "FuseDialect/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/CallInterfaces.h"

namespace mlir::fuse {
#define GEN_PASS_DEF_INFERSHAPES
#include "FuseDialect/Transforms/Passes.h.inc"
} // namespace mlir::fuse

using namespace mlir;
using namespace mlir::fuse;

/// What is known of two shapes that must be equal, or none if they contradict.
static std::optional<SmallVector<int64_t>>
mergeShapes(ArrayRef<int64_t> left, ArrayRef<int64_t> right) {
  if (left.size() != right.size())
    return std::nullopt;
  SmallVector<int64_t> merged(left);
  for (auto [extent, other] : llvm::zip_equal(merged, right)) {
    if (ShapedType::isDynamic(extent))
      extent = other;
    else if (!ShapedType::isDynamic(other) && extent != other)
      return std::nullopt;
  }
  return merged;
}

/// The shape that a reshape's target gives, as far as it is known.
static FailureOr<SmallVector<int64_t>>
resolveReshape(ReshapeOp op, ArrayRef<std::optional<int64_t>> target) {
  RankedTensorType input = op.getInput().getType();
  SmallVector<int64_t> shape;
  std::optional<size_t> inferred;
  std::optional<int64_t> known = 1;
  for (auto [dim, entry] : llvm::enumerate(target)) {
    int64_t extent = entry.value_or(ShapedType::kDynamic);
    if (entry == -1) {
      if (inferred)
        return op.emitOpError("expected at most one -1 in the target shape");
      inferred = dim;
      shape.push_back(ShapedType::kDynamic);
      continue;
    }
    if (entry == 0 && !op.getAllowZero()) {
      if (static_cast<int64_t>(dim) >= input.getRank())
        return op.emitOpError() << "expected an input dimension " << dim
                                << " for the 0 in the target shape but the "
                                   "input has rank "
                                << input.getRank();
      extent = input.getDimSize(dim);
    } else if (entry && *entry < 0) {
      return op.emitOpError()
             << "expected extents of at least -1 in the target shape but got "
             << *entry;
    }
    shape.push_back(extent);
    int64_t product;
    if (!known || ShapedType::isDynamic(extent) ||
        llvm::MulOverflow(*known, extent, product))
      known = std::nullopt;
    else
      known = product;
  }
  std::optional<int64_t> count = getElementCount(input);
  if (inferred && count && known && *known != 0 && *count % *known == 0)
    shape[*inferred] = *count / *known;
  return shape;
}

namespace {

/// Refines the types of one function.
class ShapeRefiner {
public:
  ShapeRefiner(FunctionOpInterface function, bool isCalled)
      : function(function), isCalled(isCalled) {}
  LogicalResult run();

private:
  LogicalResult visit(Operation *op);
  LogicalResult visitReturn(Operation *op);
  LogicalResult refineInferred(InferTypeOpInterface op);
  LogicalResult refine(Value value, ArrayRef<int64_t> shape);
  FailureOr<SmallVector<int64_t>> resolveTarget(Operation *op);
  void castOperands(Operation *op);

  FunctionOpInterface function;
  bool isCalled;
  KnownElements known;
  /// The types that refined values had.
  llvm::DenseMap<Value, Type> formerTypes;
};

} // namespace

/// Gives `value` a type of the shape, as far as it is more precise.
LogicalResult ShapeRefiner::refine(Value value, ArrayRef<int64_t> shape) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return success();
  std::optional<SmallVector<int64_t>> merged =
      mergeShapes(type.getShape(), shape);
  if (!merged) {
    auto inferred = RankedTensorType::get(shape, type.getElementType());
    Operation *op = value.getDefiningOp();
    if (!op)
      op = value.getParentBlock()->getParentOp();
    return op->emitOpError() << "expected a result that fits the inferred "
                             << inferred << " but got " << type;
  }
  if (ArrayRef(*merged) == type.getShape())
    return success();
  formerTypes.try_emplace(value, type);
  value.setType(type.clone(*merged));
  return success();
}

/// The shape of an op that reads it from a run-time operand, whose known
/// extents become attributes.
FailureOr<SmallVector<int64_t>> ShapeRefiner::resolveTarget(Operation *op) {
  Value target = op->getOperand(1);
  std::optional<KnownElements::Elements> extents = known.lookup(target);
  if (!extents)
    return SmallVector<int64_t>(
        cast<RankedTensorType>(op->getResult(0).getType()).getShape());
  size_t numUnknown = llvm::count(*extents, std::nullopt);

  auto reshape = dyn_cast<ReshapeOp>(op);
  if (!reshape) {
    auto expand = cast<ExpandOp>(op);
    SmallVector<int64_t> shape;
    for (std::optional<int64_t> extent : *extents) {
      if (extent && *extent < 0)
        return op->emitOpError() << "expected extents of at least 0 in the "
                                    "target shape but got "
                                 << *extent;
      shape.push_back(extent.value_or(ShapedType::kDynamic));
    }
    RankedTensorType input = expand.getInput().getType();
    FailureOr<SmallVector<int64_t>> broadcast =
        broadcastShapes({input.getShape(), shape});
    if (failed(broadcast))
      return op->emitOpError() << "expected a target shape that broadcasts "
                                  "with the input's type "
                               << input;
    if (numUnknown == 0) {
      expand.getTargetMutable().clear();
      expand.setShape(shape);
    }
    return *broadcast;
  }

  FailureOr<SmallVector<int64_t>> shape = resolveReshape(reshape, *extents);
  if (failed(shape))
    return failure();
  // One unknown extent follows from the element count, unless others leave it
  // open: a zero, or a -1.
  bool isOpen = llvm::is_contained(*shape, 0) ||
                llvm::is_contained(*extents, std::optional<int64_t>(-1)) ||
                (!reshape.getAllowZero() &&
                 llvm::is_contained(*extents, std::optional<int64_t>(0)));
  if (numUnknown == 0 || (numUnknown == 1 && !isOpen)) {
    reshape.getTargetMutable().clear();
    reshape.setShape(
        llvm::map_to_vector(*extents, [](std::optional<int64_t> extent) {
          return extent.value_or(-1);
        }));
  }
  return shape;
}

LogicalResult ShapeRefiner::refineInferred(InferTypeOpInterface op) {
  if (isa<ReshapeOp, ExpandOp>(op) && op->getNumOperands() > 1) {
    FailureOr<SmallVector<int64_t>> shape = resolveTarget(op);
    if (failed(shape) || failed(refine(op->getResult(0), *shape)))
      return failure();
  }
  SmallVector<Type> inferred;
  if (failed(op.inferReturnTypes(
          op.getContext(), op.getLoc(), op->getOperands(),
          op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
          op->getRegions(), inferred)))
    return failure();
  for (auto [result, type] : llvm::zip_equal(op->getResults(), inferred))
    if (failed(refine(result, cast<RankedTensorType>(type).getShape())))
      return failure();
  return success();
}

/// Gives an op that may not work on refined types, and all ops inside it, the
/// types that they had.
void ShapeRefiner::castOperands(Operation *op) {
  OpBuilder builder(op);
  op->walk([&](Operation *nested) {
    for (OpOperand &operand : nested->getOpOperands()) {
      auto former = formerTypes.find(operand.get());
      if (former != formerTypes.end())
        operand.set(CastOp::create(builder, op->getLoc(), former->second,
                                   operand.get()));
    }
  });
}

LogicalResult ShapeRefiner::visitReturn(Operation *op) {
  if (op->getParentOp() != function || isCalled || !isa<func::ReturnOp>(op)) {
    castOperands(op);
    return success();
  }
  function.setType(function.cloneTypeWith(function.getArgumentTypes(),
                                          op->getOperandTypes()));
  return success();
}

LogicalResult ShapeRefiner::visit(Operation *op) {
  auto shapeOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  };
  if (op->hasTrait<OpTrait::IsTerminator>())
    return visitReturn(op);
  if (!isa_and_present<FuseDialect>(op->getDialect())) {
    castOperands(op);
    return success();
  }
  if (auto inferred = dyn_cast<InferTypeOpInterface>(op)) {
    if (failed(refineInferred(inferred)))
      return failure();
  } else if (isa<BarrierOp, CastOp>(op)) {
    // A barrier's operand and result have one type, so the operand is refined
    // as well.
    if (failed(refine(op->getResult(0), shapeOf(op->getOperand(0)))))
      return failure();
  } else {
    castOperands(op);
  }
  known.record(op);
  return success();
}

LogicalResult ShapeRefiner::run() {
  // With control flow, an op may read a value that is refined after it.
  if (!llvm::hasSingleElement(function.getFunctionBody()))
    return success();
  // Positions in the blocks that are being visited, innermost last: nested
  // groups cost no stack.
  SmallVector<std::pair<Block *, Block::iterator>> stack;
  Block &entry = function.getFunctionBody().front();
  stack.push_back({&entry, entry.begin()});
  auto leave = [&](GroupOp group) -> LogicalResult {
    for (auto [result, value] :
         llvm::zip_equal(group.getResults(), group.getYield().getValues())) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type || failed(refine(result, type.getShape())))
        return failure();
      known.alias(result, value);
    }
    return success();
  };
  while (!stack.empty()) {
    auto &[block, next] = stack.back();
    if (next == block->end()) {
      auto group = dyn_cast<GroupOp>(block->getParentOp());
      stack.pop_back();
      if (group && failed(leave(group)))
        return failure();
      continue;
    }
    Operation *op = &*next++;
    if (auto group = dyn_cast<GroupOp>(op)) {
      Block &body = group.getBody().front();
      for (auto [argument, input] :
           llvm::zip_equal(body.getArguments(), group.getInputs())) {
        if (failed(refine(argument,
                          cast<RankedTensorType>(input.getType()).getShape())))
          return failure();
        known.alias(argument, input);
      }
      stack.push_back({&body, body.begin()});
      continue;
    }
    if (isa<YieldOp>(op))
      continue;
    if (failed(visit(op)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct InferShapes : fuse::impl::InferShapesBase<InferShapes> {
  void runOnOperation() override {
    // A caller or launch keeps the types of what it calls.
    llvm::DenseSet<StringAttr> called;
    getOperation()->walk([&](Operation *op) {
      if (auto launch = dyn_cast<LaunchOp>(op)) {
        called.insert(launch.getKernelAttr().getAttr());
      } else if (auto call = dyn_cast<CallOpInterface>(op)) {
        auto callee = dyn_cast<SymbolRefAttr>(call.getCallableForCallee());
        if (callee)
          called.insert(callee.getLeafReference());
      }
    });
    for (auto function : getOperation().getOps<FunctionOpInterface>()) {
      bool isCalled = called.contains(SymbolTable::getSymbolName(function));
      if (failed(ShapeRefiner(function, isCalled).run()))
        return signalPassFailure();
    }
  }
};

} // namespace
