//===- TensorEvaluator.cpp - Element values of a kernel's tensors ---------===//

#include "TensorEvaluator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fuse;

Type mlir::fuse::getMemoryType(Type elementType) {
  return elementType.isInteger(1)
             ? IntegerType::get(elementType.getContext(), 8)
             : elementType;
}

//===----------------------------------------------------------------------===//
// Memory and lanes
//===----------------------------------------------------------------------===//

Value TensorEvaluator::broadcast(Value value) {
  if (isa<VectorType>(value.getType()))
    return value;
  auto type = VectorType::get({laneCount}, value.getType());
  return vector::BroadcastOp::create(builder, value.getLoc(), type, value);
}

Value TensorEvaluator::select(Value condition, Value onTrue, Value onFalse) {
  bool isVector =
      llvm::any_of(ValueRange{condition, onTrue, onFalse}, [](Value value) {
        return isa<VectorType>(value.getType());
      });
  if (isVector) {
    onTrue = broadcast(onTrue);
    onFalse = broadcast(onFalse);
  }
  return arith::SelectOp::create(builder, onTrue.getLoc(), condition, onTrue,
                                 onFalse);
}

Value TensorEvaluator::selectLive(Value onTrue, Value onFalse) {
  return mask ? select(mask, onTrue, onFalse) : onTrue;
}

/// A vector constant of zeros, for lanes that are not loaded.
static Value zeros(OpBuilder &builder, Location loc, VectorType type) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

Value TensorEvaluator::load(Value buffer, LaneIndex position,
                            Type elementType) {
  Location loc = buffer.getLoc();
  Type memoryType = cast<MemRefType>(buffer.getType()).getElementType();
  auto vectorType = VectorType::get({laneCount}, memoryType);
  Value value;
  if (position.isUniform()) {
    value =
        memref::LoadOp::create(builder, loc, buffer, indices.scalar(position));
  } else if (position.isAffine() && position.stride == 1) {
    Value start = indices.scalar(position);
    if (mask)
      value =
          vector::MaskedLoadOp::create(builder, loc, vectorType, buffer, start,
                                       mask, zeros(builder, loc, vectorType));
    else
      value = vector::LoadOp::create(builder, loc, vectorType, buffer, start);
  } else {
    Value live = mask;
    if (!live) {
      auto maskType = VectorType::get({laneCount}, builder.getI1Type());
      live = arith::ConstantOp::create(builder, loc,
                                       DenseElementsAttr::get(maskType, true));
    }
    Value zero = indices.constant(0);
    value = vector::GatherOp::create(builder, loc, vectorType, buffer, zero,
                                     indices.vector(position), live,
                                     zeros(builder, loc, vectorType));
  }
  if (memoryType == elementType)
    return value;
  Value zero = arith::ConstantOp::create(builder, loc,
                                         builder.getZeroAttr(value.getType()));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value,
                               zero);
}

void TensorEvaluator::store(Value value, Value buffer, LaneIndex position) {
  Location loc = value.getLoc();
  Type memoryType = cast<MemRefType>(buffer.getType()).getElementType();
  if (getElementTypeOrSelf(value.getType()) != memoryType) {
    Type type = memoryType;
    if (isa<VectorType>(value.getType()))
      type = VectorType::get({laneCount}, memoryType);
    value = arith::ExtUIOp::create(builder, loc, type, value);
  }
  if (position.isUniform()) {
    memref::StoreOp::create(builder, loc, value, buffer,
                            indices.scalar(position));
    return;
  }
  value = broadcast(value);
  if (position.isAffine() && position.stride == 1) {
    Value start = indices.scalar(position);
    if (mask)
      vector::MaskedStoreOp::create(builder, loc, buffer, start, mask, value);
    else
      vector::StoreOp::create(builder, loc, value, buffer, start);
    return;
  }
  Value live = mask;
  if (!live) {
    auto maskType = VectorType::get({laneCount}, builder.getI1Type());
    live = arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(maskType, true));
  }
  vector::ScatterOp::create(builder, loc, /*resultType=*/Type(), buffer,
                            indices.constant(0), indices.vector(position), live,
                            value);
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

void TensorEvaluator::splitBefore(TensorIndex &index, int64_t dim,
                                  ArrayRef<OpFoldResult> extents) {
  for (auto *group = index.groups.begin(); group != index.groups.end();
       ++group) {
    if (group->first >= dim || group->last <= dim)
      continue;
    OpFoldResult inner = builder.getIndexAttr(1);
    for (int64_t i = dim; i < group->last; ++i)
      inner = indices.product(inner, extents[i]);
    TensorIndex::Group right{dim, group->last,
                             indices.rem(group->index, inner)};
    group->index = indices.div(group->index, inner);
    group->last = dim;
    index.groups.insert(std::next(group), right);
    return;
  }
}

TensorIndex::Group &TensorEvaluator::groupAt(TensorIndex &index, int64_t dim) {
  return *llvm::find_if(index.groups, [&](const TensorIndex::Group &group) {
    return group.first == dim;
  });
}

LaneIndex TensorEvaluator::linearize(const TensorIndex &index,
                                     ArrayRef<OpFoldResult> extents) {
  LaneIndex linear = LaneIndex::constant(0);
  for (const TensorIndex::Group &group : index.groups) {
    OpFoldResult size = builder.getIndexAttr(1);
    for (int64_t dim = group.first; dim < group.last; ++dim)
      size = indices.product(size, extents[dim]);
    linear = indices.add(indices.mul(linear, size), group.index);
  }
  return linear;
}

/// The position of an operand that a generic reads through `map`. Groups whose
/// dimensions the map keeps together pass through whole.
TensorIndex TensorEvaluator::mapIndex(TensorIndex &loops, AffineMap map,
                                      ArrayRef<OpFoldResult> extents) {
  TensorIndex result;
  int64_t rank = map.getNumResults();
  for (int64_t dim = 0; dim < rank;) {
    auto loop = dyn_cast<AffineDimExpr>(map.getResult(dim));
    if (!loop) {
      int64_t value = cast<AffineConstantExpr>(map.getResult(dim)).getValue();
      result.groups.push_back({dim, dim + 1, LaneIndex::constant(value)});
      ++dim;
      continue;
    }
    // How many dimensions of the operand follow the loops from here on.
    int64_t first = loop.getPosition(), run = 1;
    while (dim + run < rank) {
      auto next = dyn_cast<AffineDimExpr>(map.getResult(dim + run));
      if (!next || static_cast<int64_t>(next.getPosition()) != first + run)
        break;
      ++run;
    }
    splitBefore(loops, first, extents);
    splitBefore(loops, first + run, extents);
    int64_t shift = dim - first;
    for (const TensorIndex::Group &group : loops.groups)
      if (group.first >= first && group.last <= first + run)
        result.groups.push_back(
            {group.first + shift, group.last + shift, group.index});
    dim += run;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

FailureOr<Value> TensorEvaluator::evaluate(Value tensor, TensorIndex index) {
  if (Value row = rowValues.lookup(tensor))
    return row;
  for (auto &[position, value] : memo[tensor])
    if (position == index)
      return value;
  FailureOr<Value> value = evaluateUncached(tensor, index);
  if (succeeded(value))
    memo[tensor].emplace_back(std::move(index), *value);
  return value;
}

FailureOr<Value> TensorEvaluator::evaluateUncached(Value tensor,
                                                   const TensorIndex &index) {
  indices.setLoc(tensor.getLoc());
  Type elementType = cast<RankedTensorType>(tensor.getType()).getElementType();
  if (auto scratch = scratchRows.find(tensor); scratch != scratchRows.end())
    return load(scratch->second.first, scratch->second.second, elementType);
  if (Value buffer = buffers.lookup(tensor)) {
    SmallVector<OpFoldResult> extents =
        tensor::getMixedSizes(builder, tensor.getLoc(), tensor);
    return load(buffer, linearize(index, extents), elementType);
  }
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return emitError(tensor.getLoc(),
                     "expected a tensor that is an input of the kernel");
  return llvm::TypeSwitch<Operation *, FailureOr<Value>>(op)
      .Case([&](linalg::GenericOp generic) {
        return evaluateGeneric(generic,
                               cast<OpResult>(tensor).getResultNumber(), index);
      })
      .Case(
          [&](linalg::FillOp fill) -> FailureOr<Value> { return fill.value(); })
      .Case([&](tensor::EmptyOp) -> FailureOr<Value> {
        return arith::ConstantOp::create(builder, op->getLoc(),
                                         builder.getZeroAttr(elementType))
            .getResult();
      })
      .Case([&](arith::ConstantOp constant) -> FailureOr<Value> {
        auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
        if (!elements || !elements.isSplat())
          return op->emitError(
              "expected a constant of one value inside a kernel");
        return arith::ConstantOp::create(builder, op->getLoc(),
                                         elements.getSplatValue<TypedAttr>())
            .getResult();
      })
      .Case([&](tensor::PadOp pad) { return evaluatePad(pad, index); })
      .Case([&](tensor::ConcatOp concat) {
        return evaluateConcat(concat, index);
      })
      .Case([&](tensor::ExtractSliceOp slice) {
        return evaluateSlice(slice, index);
      })
      .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp>([&](auto reshape) {
        return evaluateReshape(op, reshape.getSrc(), index);
      })
      .Case([&](tensor::CastOp cast) {
        return evaluate(cast.getSource(), index);
      })
      .Default([&](Operation *) -> FailureOr<Value> {
        return op->emitError()
               << "expected an op that a kernel can compute but got '"
               << op->getName() << "'";
      });
}

FailureOr<Value> TensorEvaluator::evaluateGeneric(linalg::GenericOp op,
                                                  unsigned result,
                                                  TensorIndex index) {
  if (op.getNumReductionLoops() != 0)
    return op.emitError("expected a reduction over the kernel's row");
  AffineMap output = op.getIndexingMapMatchingResult(op->getOpResult(result));
  if (!output.isPermutation())
    return op.emitError("expected results that the loops permute");
  SmallVector<OpFoldResult> extents =
      tensor::getMixedSizes(builder, op.getLoc(), op->getResult(result));
  TensorIndex loops = mapIndex(index, inversePermutation(output), extents);
  FailureOr<SmallVector<Value>> values = evaluateBody(op, loops, {});
  if (failed(values))
    return failure();
  return (*values)[result];
}

FailureOr<SmallVector<Value>>
TensorEvaluator::evaluateBody(linalg::GenericOp op, TensorIndex loops,
                              ValueRange accumulators) {
  indices.setLoc(op.getLoc());
  // The extents of the loops; only those of merged loops are ever asked for.
  SmallVector<OpFoldResult> extents(op.getNumLoops(), builder.getIndexAttr(1));
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(builder, op.getLoc(), operand.get());
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expr))
        extents[loop.getPosition()] = sizes[dim];
  }
  Block &body = *op.getBlock();
  DenseMap<Value, BodyValue> values;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (op.isDpsInit(&operand) && !accumulators.empty()) {
      values[argument] = {
          accumulators[operand.getOperandNumber() - op.getNumDpsInputs()], {}};
      continue;
    }
    if (argument.use_empty())
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return op.emitError(
          "expected indexing maps that permute, drop or broadcast loops");
    FailureOr<Value> value =
        evaluate(operand.get(), mapIndex(loops, map, extents));
    if (failed(value))
      return failure();
    values[argument] = {*value, {}};
    indices.setLoc(op.getLoc());
  }
  if (failed(cloneBody(body, loops, extents, values)))
    return failure();
  SmallVector<Value> results;
  for (Value yielded : body.getTerminator()->getOperands()) {
    auto found = values.find(yielded);
    results.push_back(found == values.end() ? yielded
                                            : materialize(found->second));
  }
  return results;
}

/// Clones the ops of a body at the builder's position, on scalars or vectors.
LogicalResult TensorEvaluator::cloneBody(Block &body, TensorIndex &loops,
                                         ArrayRef<OpFoldResult> extents,
                                         DenseMap<Value, BodyValue> &values) {
  for (Operation &op : body.without_terminator()) {
    indices.setLoc(op.getLoc());
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      int64_t dim = index.getDim();
      splitBefore(loops, dim, extents);
      splitBefore(loops, dim + 1, extents);
      values[index] = {Value(), groupAt(loops, dim).index};
    } else if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
      FailureOr<Value> value = evaluateExtract(extract, values);
      if (failed(value))
        return failure();
      values[extract] = {*value, {}};
    } else if (op.getNumResults() == 1 && op.getNumRegions() == 0 &&
               (op.hasTrait<OpTrait::ConstantLike>() ||
                OpTrait::hasElementwiseMappableTraits(&op))) {
      if (op.getResult(0).getType().isIndex() &&
          isa<arith::AddIOp, arith::MulIOp>(op)) {
        auto affine = [&](Value operand) -> LaneIndex {
          auto found = values.find(operand);
          if (found == values.end()) {
            if (std::optional<int64_t> known = getConstantIntValue(operand))
              return LaneIndex::constant(*known);
            return LaneIndex::uniform(operand);
          }
          if (found->second.index)
            return *found->second.index;
          Value value = found->second.value;
          return isa<VectorType>(value.getType()) ? LaneIndex::vector(value)
                                                  : LaneIndex::uniform(value);
        };
        LaneIndex left = affine(op.getOperand(0)),
                  right = affine(op.getOperand(1));
        if (isa<arith::AddIOp>(op)) {
          values[op.getResult(0)] = {Value(), indices.add(left, right)};
          continue;
        }
        if (right.isConstant()) {
          values[op.getResult(0)] = {
              Value(), indices.mul(left, builder.getIndexAttr(right.offset))};
          continue;
        }
      }
      values[op.getResult(0)] = {cloneScalarOp(&op, values), {}};
      if (auto constant = dyn_cast<arith::ConstantIndexOp>(op))
        values[op.getResult(0)].index = LaneIndex::constant(constant.value());
    } else {
      return op.emitError() << "expected a scalar op without side effects in a "
                               "kernel but got '"
                            << op.getName() << "'";
    }
  }
  return success();
}

Value TensorEvaluator::materialize(BodyValue &value) {
  if (!value.value)
    value.value = value.index->isUniform() ? indices.scalar(*value.index)
                                           : indices.vector(*value.index);
  return value.value;
}

/// Clones one scalar op: on vectors if one of its operands is a vector.
Value TensorEvaluator::cloneScalarOp(Operation *op,
                                     DenseMap<Value, BodyValue> &values) {
  SmallVector<Value> operands;
  bool isVector = false;
  for (Value operand : op->getOperands()) {
    auto found = values.find(operand);
    operands.push_back(found == values.end() ? operand
                                             : materialize(found->second));
    isVector |= isa<VectorType>(operands.back().getType());
  }
  Type type = op->getResult(0).getType();
  if (isVector) {
    // A select may keep a scalar condition.
    for (auto [number, operand] : llvm::enumerate(operands))
      if (!isa<arith::SelectOp>(op) || number != 0)
        operand = broadcast(operand);
    type = VectorType::get({laneCount}, type);
    if (isa<arith::SelectOp>(op))
      isVector = isa<VectorType>(operands[1].getType());
  }
  OperationState state(op->getLoc(), op->getName(), operands, type,
                       op->getDiscardableAttrDictionary().getValue());
  Operation *clone = Operation::create(state);
  clone->copyProperties(op->getPropertiesStorage());
  builder.insert(clone);
  return clone->getResult(0);
}

SmallVector<Value> TensorEvaluator::combine(linalg::GenericOp op,
                                            ValueRange left, ValueRange right) {
  // The same body combines an element with a partial result and two partial
  // results, if the element is replaced by the other's value, and its position
  // by the other's position (argmax and argmin).
  Block &body = *op.getBlock();
  IRMapping mapping;
  for (auto [argument, value] : llvm::zip_equal(op.getRegionOutputArgs(), left))
    mapping.map(argument, value);
  mapping.map(op.getRegionInputArgs().front(), right.front());
  auto vectorType = dyn_cast<VectorType>(left.front().getType());
  for (Operation &inner : body.without_terminator()) {
    if (isa<linalg::IndexOp>(inner))
      continue;
    // The position of an element, in the type that it is stored in.
    if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(inner) &&
        isa_and_nonnull<linalg::IndexOp>(inner.getOperand(0).getDefiningOp())) {
      mapping.map(inner.getResult(0), right.back());
      continue;
    }
    SmallVector<Value> operands;
    for (Value operand : inner.getOperands()) {
      Value value = mapping.lookupOrDefault(operand);
      if (vectorType && !isa<VectorType>(value.getType()))
        value = vector::BroadcastOp::create(
            builder, inner.getLoc(), vectorType.clone(value.getType()), value);
      operands.push_back(value);
    }
    Type type = inner.getResult(0).getType();
    if (vectorType && !operands.empty())
      type = vectorType.clone(type);
    OperationState state(inner.getLoc(), inner.getName(), operands, type,
                         inner.getDiscardableAttrDictionary().getValue());
    Operation *clone = Operation::create(state);
    clone->copyProperties(inner.getPropertiesStorage());
    builder.insert(clone);
    mapping.map(inner.getResult(0), clone->getResult(0));
  }
  return llvm::map_to_vector(
      body.getTerminator()->getOperands(),
      [&](Value value) { return mapping.lookupOrDefault(value); });
}

//===----------------------------------------------------------------------===//
// Ops that move elements
//===----------------------------------------------------------------------===//

FailureOr<Value>
TensorEvaluator::evaluateExtract(tensor::ExtractOp op,
                                 DenseMap<Value, BodyValue> &values) {
  TensorIndex index;
  for (auto [dim, operand] : llvm::enumerate(op.getIndices())) {
    auto found = values.find(operand);
    LaneIndex position;
    if (found == values.end())
      position = getConstantIntValue(operand)
                     ? LaneIndex::constant(*getConstantIntValue(operand))
                     : LaneIndex::uniform(operand);
    else if (found->second.index)
      position = *found->second.index;
    else if (isa<VectorType>(found->second.value.getType()))
      position = LaneIndex::vector(found->second.value);
    else
      position = LaneIndex::uniform(found->second.value);
    int64_t first = dim;
    index.groups.push_back({first, first + 1, position});
  }
  return evaluate(op.getTensor(), index);
}

FailureOr<Value> TensorEvaluator::evaluateReshape(Operation *op, Value source,
                                                  TensorIndex index) {
  SmallVector<OpFoldResult> from =
      tensor::getMixedSizes(builder, op->getLoc(), op->getResult(0));
  SmallVector<OpFoldResult> to =
      tensor::getMixedSizes(builder, op->getLoc(), source);
  // Walks both shapes from the left and pairs runs of equal size, so that what
  // both keep apart stays apart: "4x6 -> 2x2x6" needs no division.
  TensorIndex result;
  int64_t targetRank = to.size(), dim = 0;
  std::optional<int64_t> pending = 1;
  LaneIndex linear = LaneIndex::constant(0);
  int64_t first = 0;
  for (auto [number, group] : llvm::enumerate(index.groups)) {
    OpFoldResult size = builder.getIndexAttr(1);
    for (int64_t i = group.first; i < group.last; ++i)
      size = indices.product(size, from[i]);
    linear = indices.add(indices.mul(linear, size), group.index);
    std::optional<int64_t> known = getConstantIntValue(size);
    pending =
        pending && known ? std::optional(*pending * *known) : std::nullopt;
    int64_t covered = 1, end = first;
    if (pending)
      while (end < targetRank && covered < *pending) {
        std::optional<int64_t> extent = getConstantIntValue(to[end]);
        if (!extent || *extent == 0)
          break;
        covered *= *extent;
        ++end;
      }
    bool isLast = number + 1 == index.groups.size();
    if (isLast)
      end = targetRank;
    if (isLast || (pending && covered == *pending && end > first)) {
      if (end > first)
        result.groups.push_back({first, end, linear});
      first = end;
      pending = 1;
      linear = LaneIndex::constant(0);
    }
  }
  dim = first;
  // Trailing extents of 1, or a scalar seen as a tensor of one element.
  if (dim < targetRank)
    result.groups.push_back({dim, targetRank, LaneIndex::constant(0)});
  return evaluate(source, result);
}

FailureOr<Value> TensorEvaluator::evaluateSlice(tensor::ExtractSliceOp op,
                                                TensorIndex index) {
  if (op.getSourceType().getRank() != op.getType().getRank())
    return op.emitError("expected a slice that keeps its rank");
  SmallVector<OpFoldResult> source =
      tensor::getMixedSizes(builder, op.getLoc(), op.getSource());
  SmallVector<OpFoldResult> extents =
      tensor::getMixedSizes(builder, op.getLoc(), op.getResult());
  for (auto [dim, offset, size, stride] : llvm::enumerate(
           op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides())) {
    bool isWhole = isConstantIntValue(offset, 0) &&
                   isConstantIntValue(stride, 1) &&
                   isEqualConstantIntOrValue(size, source[dim]);
    if (isWhole)
      continue;
    int64_t first = dim;
    splitBefore(index, first, extents);
    if (!isConstantIntValue(stride, 1))
      splitBefore(index, first + 1, extents);
    TensorIndex::Group &group = groupAt(index, first);
    OpFoldResult inner = builder.getIndexAttr(1);
    for (int64_t i = first + 1; i < group.last; ++i)
      inner = indices.product(inner, extents[i]);
    LaneIndex start = LaneIndex::constant(0);
    OpFoldResult begin = indices.product(offset, inner);
    if (std::optional<int64_t> known = getConstantIntValue(begin))
      start.offset = *known;
    else
      start.base = cast<Value>(begin);
    group.index = indices.add(indices.mul(group.index, stride), start);
  }
  return evaluate(op.getSource(), index);
}

FailureOr<Value>
TensorEvaluator::branch(Value condition, Type elementType,
                        function_ref<FailureOr<Value>()> onTrue,
                        function_ref<FailureOr<Value>()> onFalse) {
  Location loc = condition.getLoc();
  auto type = VectorType::get({laneCount}, elementType);
  auto conditional = scf::IfOp::create(builder, loc, TypeRange(type), condition,
                                       /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  ++branchDepth;
  LogicalResult result = success();
  auto fill = [&](Block *block, function_ref<FailureOr<Value>()> compute) {
    Scope scope(*this);
    builder.setInsertionPointToEnd(block);
    FailureOr<Value> value = compute();
    if (failed(value)) {
      result = failure();
      return;
    }
    scf::YieldOp::create(builder, loc, broadcast(*value));
  };
  fill(conditional.thenBlock(), onTrue);
  if (succeeded(result))
    fill(conditional.elseBlock(), onFalse);
  --branchDepth;
  if (failed(result))
    return failure();
  return conditional.getResult(0);
}

FailureOr<Value> TensorEvaluator::evaluatePad(tensor::PadOp op,
                                              TensorIndex index) {
  Value padding = op.getConstantPaddingValue();
  if (!padding)
    return op.emitError("expected a padding value that is the same everywhere");
  Type elementType = op.getType().getElementType();
  SmallVector<OpFoldResult> source =
      tensor::getMixedSizes(builder, op.getLoc(), op.getSource());
  SmallVector<OpFoldResult> extents =
      tensor::getMixedSizes(builder, op.getLoc(), op.getResult());
  if (llvm::any_of(source, [](OpFoldResult extent) {
        return isConstantIntValue(extent, 0);
      }))
    return padding;

  // Each padded dimension starts a group, whose range in the source is
  // [low, high) of the group's positions.
  struct Range {
    int64_t dim;
    OpFoldResult size;
  };
  SmallVector<Range> ranges;
  for (auto [dim, low, high] :
       llvm::enumerate(op.getMixedLowPad(), op.getMixedHighPad())) {
    if (isConstantIntValue(low, 0) && isConstantIntValue(high, 0))
      continue;
    int64_t first = dim;
    splitBefore(index, first, extents);
    TensorIndex::Group &group = groupAt(index, first);
    OpFoldResult inner = builder.getIndexAttr(1);
    for (int64_t i = first + 1; i < group.last; ++i)
      inner = indices.product(inner, extents[i]);
    std::optional<int64_t> lowPad = getConstantIntValue(low);
    if (!lowPad)
      return op.emitError("expected constant padding");
    LaneIndex shift = indices.mul(LaneIndex::constant(-*lowPad), inner);
    group.index = indices.add(group.index, shift);
    ranges.push_back({first, indices.product(source[dim], inner)});
  }
  OpFoldResult zero = builder.getIndexAttr(0);
  auto groupOf = [&](TensorIndex &position,
                     int64_t dim) -> TensorIndex::Group & {
    return groupAt(position, dim);
  };

  // Positions that may lie in the padding are moved into the source before they
  // are read, and what was read there is replaced.
  auto readClamped = [&]() -> FailureOr<Value> {
    TensorIndex clamped = index;
    Value inside;
    bool isVector = false;
    for (const Range &range : ranges) {
      TensorIndex::Group &group = groupOf(clamped, range.dim);
      Value within = indices.inRange(group.index, zero, range.size);
      isVector |= isa<VectorType>(within.getType());
      if (inside && isVector) {
        inside = broadcast(inside);
        within = broadcast(within);
      }
      inside = inside
                   ? arith::AndIOp::create(builder, op.getLoc(), inside, within)
                         .getResult()
                   : within;
      group.index = indices.clamp(group.index, range.size);
    }
    FailureOr<Value> value = evaluate(op.getSource(), clamped);
    if (failed(value) || !inside)
      return value;
    return select(inside, *value, padding);
  };
  bool isAffine = llvm::all_of(ranges, [&](const Range &range) {
    return groupOf(index, range.dim).index.isAffine();
  });
  bool variesByLane = llvm::any_of(ranges, [&](const Range &range) {
    return !groupOf(index, range.dim).index.isUniform();
  });
  if (!isAffine || !variesByLane || branchDepth >= 2)
    return readClamped();
  // A register that lies wholly in the source is read as it is.
  Value inside;
  for (const Range &range : ranges) {
    Value within =
        indices.allInRange(groupOf(index, range.dim).index, zero, range.size);
    inside = inside
                 ? arith::AndIOp::create(builder, op.getLoc(), inside, within)
                       .getResult()
                 : within;
  }
  return branch(
      inside, elementType, [&] { return evaluate(op.getSource(), index); },
      readClamped);
}

FailureOr<Value> TensorEvaluator::evaluateConcat(tensor::ConcatOp op,
                                                 TensorIndex index) {
  int64_t axis = op.getDim();
  Type elementType = op.getType().getElementType();
  SmallVector<OpFoldResult> extents =
      tensor::getMixedSizes(builder, op.getLoc(), op.getResult());
  splitBefore(index, axis, extents);
  LaneIndex position = groupAt(index, axis).index;
  OpFoldResult inner = builder.getIndexAttr(1);
  for (int64_t i = axis + 1; i < groupAt(index, axis).last; ++i)
    inner = indices.product(inner, extents[i]);

  // The range of the joined positions that each input covers.
  struct Piece {
    Value tensor;
    OpFoldResult begin, end;
  };
  SmallVector<Piece> pieces;
  OpFoldResult begin = builder.getIndexAttr(0);
  for (Value input : op.getInputs()) {
    OpFoldResult size =
        tensor::getMixedSizes(builder, op.getLoc(), input)[axis];
    OpFoldResult end = indices.sum(begin, indices.product(size, inner));
    if (!isConstantIntValue(size, 0))
      pieces.push_back({input, begin, end});
    begin = end;
  }
  auto relative = [&](const Piece &piece) {
    if (std::optional<int64_t> known = getConstantIntValue(piece.begin))
      return indices.add(position, -*known);
    Value negated = arith::SubIOp::create(
        builder, op.getLoc(), indices.constant(0), indices.value(piece.begin));
    return indices.add(position, LaneIndex::uniform(negated));
  };
  auto readAt = [&](const Piece &piece, LaneIndex at) {
    TensorIndex moved = index;
    groupAt(moved, axis).index = at;
    return evaluate(piece.tensor, moved);
  };
  if (pieces.empty())
    return arith::ConstantOp::create(builder, op.getLoc(),
                                     builder.getZeroAttr(elementType))
        .getResult();

  // Reads every input at positions moved into it, and keeps the one in range.
  auto readAll = [&]() -> FailureOr<Value> {
    Value result;
    for (const Piece &piece : pieces) {
      OpFoldResult size = indices.sum(piece.end, builder.getIndexAttr(0));
      if (std::optional<int64_t> first = getConstantIntValue(piece.begin),
          last = getConstantIntValue(piece.end);
          first && last)
        size = builder.getIndexAttr(*last - *first);
      else
        size = arith::SubIOp::create(builder, op.getLoc(),
                                     indices.value(piece.end),
                                     indices.value(piece.begin))
                   .getResult();
      Value inside = indices.inRange(position, piece.begin, piece.end);
      FailureOr<Value> value =
          readAt(piece, indices.clamp(relative(piece), size));
      if (failed(value))
        return failure();
      result = result ? select(inside, *value, result) : *value;
    }
    return result;
  };
  if (pieces.size() == 1)
    return readAt(pieces.front(), relative(pieces.front()));
  if (!position.isAffine() || branchDepth >= 4)
    return readAll();

  // A register that lies wholly in one input is read from there.
  std::function<FailureOr<Value>(size_t)> readFrom =
      [&](size_t number) -> FailureOr<Value> {
    if (number == pieces.size())
      return readAll();
    const Piece &piece = pieces[number];
    if (position.isUniform() && number + 1 == pieces.size())
      return readAt(piece, relative(piece));
    Value inside = position.isUniform()
                       ? indices.inRange(position, piece.begin, piece.end)
                       : indices.allInRange(position, piece.begin, piece.end);
    return branch(
        inside, elementType, [&] { return readAt(piece, relative(piece)); },
        [&] { return readFrom(number + 1); });
  };
  return readFrom(0);
}
