//===- LaneIndex.cpp - Index arithmetic over the lanes of a vector --------===//

#include "LaneIndex.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::fuse;

Value IndexBuilder::constant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value IndexBuilder::value(OpFoldResult extent) {
  if (std::optional<int64_t> known = getConstantIntValue(extent))
    return constant(*known);
  return cast<Value>(extent);
}

OpFoldResult IndexBuilder::product(OpFoldResult left, OpFoldResult right) {
  std::optional<int64_t> a = getConstantIntValue(left),
                         b = getConstantIntValue(right);
  if (a && b)
    return builder.getIndexAttr(*a * *b);
  if (a == 1)
    return right;
  if (b == 1)
    return left;
  return arith::MulIOp::create(builder, loc, value(left), value(right))
      .getResult();
}

OpFoldResult IndexBuilder::sum(OpFoldResult left, OpFoldResult right) {
  std::optional<int64_t> a = getConstantIntValue(left),
                         b = getConstantIntValue(right);
  if (a && b)
    return builder.getIndexAttr(*a + *b);
  return arith::AddIOp::create(builder, loc, value(left), value(right))
      .getResult();
}

Value IndexBuilder::splat(Value scalar) {
  auto type = VectorType::get({laneCount}, scalar.getType());
  return vector::BroadcastOp::create(builder, loc, type, scalar);
}

Value IndexBuilder::scalar(LaneIndex index) {
  assert(index.isAffine() && "expected an affine index");
  if (!index.base)
    return constant(index.offset);
  if (index.offset == 0)
    return index.base;
  return arith::AddIOp::create(builder, loc, index.base,
                               constant(index.offset));
}

Value IndexBuilder::vector(LaneIndex index) {
  if (index.lanes)
    return index.lanes;
  Value base = splat(scalar(index));
  if (index.stride == 0)
    return base;
  auto type = cast<VectorType>(base.getType());
  auto steps =
      llvm::map_to_vector(llvm::seq<int64_t>(0, laneCount), [&](int64_t lane) {
        return APInt(64, lane * index.stride, /*isSigned=*/true);
      });
  Value lanes = arith::ConstantOp::create(builder, loc,
                                          DenseElementsAttr::get(type, steps));
  return arith::AddIOp::create(builder, loc, base, lanes);
}

LaneIndex IndexBuilder::add(LaneIndex left, LaneIndex right) {
  if (left.isConstant())
    return add(right, left.offset);
  if (right.isConstant())
    return add(left, right.offset);
  if (!left.isAffine() || !right.isAffine())
    return LaneIndex::vector(
        arith::AddIOp::create(builder, loc, vector(left), vector(right)));
  LaneIndex result;
  result.offset = left.offset + right.offset;
  result.stride = left.stride + right.stride;
  if (left.base && right.base)
    result.base = arith::AddIOp::create(builder, loc, left.base, right.base);
  else
    result.base = left.base ? left.base : right.base;
  return result;
}

LaneIndex IndexBuilder::add(LaneIndex index, int64_t value) {
  if (value == 0)
    return index;
  if (index.isAffine()) {
    index.offset += value;
    return index;
  }
  return LaneIndex::vector(
      arith::AddIOp::create(builder, loc, index.lanes, splat(constant(value))));
}

LaneIndex IndexBuilder::mul(LaneIndex index, OpFoldResult factor) {
  std::optional<int64_t> known = getConstantIntValue(factor);
  if (known == 1)
    return index;
  if (known == 0)
    return LaneIndex::constant(0);
  if (known && index.isAffine()) {
    index.offset *= *known;
    index.stride *= *known;
    if (index.base)
      index.base =
          arith::MulIOp::create(builder, loc, index.base, constant(*known));
    return index;
  }
  if (index.isUniform())
    return LaneIndex::uniform(
        arith::MulIOp::create(builder, loc, scalar(index), value(factor)));
  return LaneIndex::vector(
      arith::MulIOp::create(builder, loc, vector(index), splat(factor)));
}

LaneIndex IndexBuilder::div(LaneIndex index, OpFoldResult divisor) {
  std::optional<int64_t> known = getConstantIntValue(divisor);
  if (known == 1)
    return index;
  if (known && index.isConstant())
    return LaneIndex::constant(index.offset / *known);
  if (index.isUniform())
    return LaneIndex::uniform(
        arith::DivUIOp::create(builder, loc, scalar(index), value(divisor)));
  return LaneIndex::vector(
      arith::DivUIOp::create(builder, loc, vector(index), splat(divisor)));
}

LaneIndex IndexBuilder::rem(LaneIndex index, OpFoldResult divisor) {
  std::optional<int64_t> known = getConstantIntValue(divisor);
  if (known == 1)
    return LaneIndex::constant(0);
  if (known && index.isConstant())
    return LaneIndex::constant(index.offset % *known);
  if (index.isUniform())
    return LaneIndex::uniform(
        arith::RemUIOp::create(builder, loc, scalar(index), value(divisor)));
  return LaneIndex::vector(
      arith::RemUIOp::create(builder, loc, vector(index), splat(divisor)));
}

LaneIndex IndexBuilder::clamp(LaneIndex index, OpFoldResult limit) {
  Value last = value(sum(limit, builder.getIndexAttr(-1)));
  if (index.isUniform()) {
    Value low =
        arith::MaxSIOp::create(builder, loc, scalar(index), constant(0));
    return LaneIndex::uniform(arith::MinSIOp::create(builder, loc, low, last));
  }
  Value low =
      arith::MaxSIOp::create(builder, loc, vector(index), splat(constant(0)));
  return LaneIndex::vector(
      arith::MinSIOp::create(builder, loc, low, splat(last)));
}

Value IndexBuilder::inRange(LaneIndex index, OpFoldResult low,
                            OpFoldResult high) {
  Value position = index.isUniform() ? scalar(index) : vector(index);
  auto bound = [&](OpFoldResult extent) {
    return index.isUniform() ? value(extent) : splat(extent);
  };
  Value above = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                      position, bound(low));
  Value below = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                      position, bound(high));
  return arith::AndIOp::create(builder, loc, above, below);
}

Value IndexBuilder::allInRange(LaneIndex index, OpFoldResult low,
                               OpFoldResult high) {
  LaneIndex first = index, last = add(index, (laneCount - 1) * index.stride);
  if (index.stride < 0)
    std::swap(first, last);
  Value above = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                      scalar(first), value(low));
  Value below = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                      scalar(last), value(high));
  return arith::AndIOp::create(builder, loc, above, below);
}
