//===- GenericBuilder.cpp - Builds linalg.generic ops ---------------------===//

#include "FuseToLinalg.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fuse;

Type mlir::fuse::toSignless(Type elementType) {
  if (elementType.isUnsignedInteger())
    return IntegerType::get(elementType.getContext(),
                            elementType.getIntOrFloatBitWidth());
  return elementType;
}

RankedTensorType mlir::fuse::toSignless(RankedTensorType type) {
  return type.clone(toSignless(type.getElementType()));
}

bool mlir::fuse::hasUnsignedElements(Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  return type && type.getElementType().isUnsignedInteger();
}

Value mlir::fuse::castTo(OpBuilder &builder, Location location, Value value,
                         RankedTensorType type) {
  if (value.getType() == type)
    return value;
  return tensor::CastOp::create(builder, location, type, value);
}

SmallVector<OpFoldResult>
mlir::fuse::getExtents(OpBuilder &builder, Location location, Value tensor) {
  return tensor::getMixedSizes(builder, location, tensor);
}

bool mlir::fuse::areEqualExtents(OpFoldResult left, OpFoldResult right) {
  if (isEqualConstantIntOrValue(left, right))
    return true;
  auto leftValue = dyn_cast<Value>(left), rightValue = dyn_cast<Value>(right);
  if (!leftValue || !rightValue)
    return false;
  auto leftDim = leftValue.getDefiningOp<tensor::DimOp>();
  auto rightDim = rightValue.getDefiningOp<tensor::DimOp>();
  return leftDim && rightDim && leftDim.getSource() == rightDim.getSource() &&
         leftDim.getConstantIndex() &&
         leftDim.getConstantIndex() == rightDim.getConstantIndex();
}

RankedTensorType
mlir::fuse::getCollapsedType(RankedTensorType type,
                             ArrayRef<ReassociationIndices> groups) {
  SmallVector<int64_t> shape;
  for (const ReassociationIndices &group : groups) {
    int64_t extent = 1;
    for (int64_t dim : group) {
      if (type.isDynamicDim(dim) ||
          llvm::MulOverflow(extent, type.getDimSize(dim), extent)) {
        extent = ShapedType::kDynamic;
        break;
      }
    }
    shape.push_back(extent);
  }
  return type.clone(shape);
}

/// Groups of the dimensions of a tensor of rank `rank`, one for each dimension
/// that is not in `units`; those in it join the group before them, or the
/// first.
static SmallVector<ReassociationIndices>
groupUnitDims(int64_t rank, ArrayRef<int64_t> units) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices leading;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (!llvm::is_contained(units, dim))
      groups.push_back(std::exchange(leading, {}));
    (groups.empty() ? leading : groups.back()).push_back(dim);
  }
  return groups;
}

Value mlir::fuse::insertUnitDims(OpBuilder &builder, Location location,
                                 Value tensor, ArrayRef<OpFoldResult> extents,
                                 ArrayRef<int64_t> dims) {
  if (dims.empty())
    return tensor;
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t rank = type.getRank() + dims.size();
  SmallVector<int64_t> shape;
  SmallVector<OpFoldResult> outputShape;
  for (int64_t dim = 0, source = 0; dim < rank; ++dim) {
    if (llvm::is_contained(dims, dim)) {
      shape.push_back(1);
      outputShape.push_back(builder.getIndexAttr(1));
      continue;
    }
    shape.push_back(type.getDimSize(source));
    outputShape.push_back(extents[source++]);
  }
  return tensor::ExpandShapeOp::create(builder, location, type.clone(shape),
                                       tensor, groupUnitDims(rank, dims),
                                       outputShape);
}

Value mlir::fuse::dropUnitDims(OpBuilder &builder, Location location,
                               Value tensor, ArrayRef<int64_t> dims) {
  if (dims.empty())
    return tensor;
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<ReassociationIndices> groups =
      groupUnitDims(type.getRank(), dims);
  return tensor::CollapseShapeOp::create(
      builder, location, getCollapsedType(type, groups), tensor, groups);
}

GenericBuilder GenericBuilder::without(ArrayRef<int64_t> dims) const {
  SmallVector<OpFoldResult> extents;
  for (auto [dim, extent] : llvm::enumerate(domain))
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
      extents.push_back(extent);
  return GenericBuilder(builder, location, extents, isUnsigned);
}

RankedTensorType GenericBuilder::getType(Type elementType) const {
  SmallVector<int64_t> shape;
  for (OpFoldResult extent : domain) {
    auto attribute = dyn_cast<Attribute>(extent);
    shape.push_back(attribute ? cast<IntegerAttr>(attribute).getInt()
                              : ShapedType::kDynamic);
  }
  return RankedTensorType::get(shape, elementType);
}

GenericBuilder::Operand GenericBuilder::full(Value value) const {
  return {value, builder.getMultiDimIdentityMap(domain.size())};
}

GenericBuilder::Operand GenericBuilder::row(Value value,
                                            ArrayRef<int64_t> dims) const {
  SmallVector<AffineExpr> exprs;
  for (int64_t dim = 0, rank = domain.size(); dim < rank; ++dim)
    if (!llvm::is_contained(dims, dim))
      exprs.push_back(builder.getAffineDimExpr(dim));
  return {value, AffineMap::get(domain.size(), 0, exprs, builder.getContext())};
}

GenericBuilder::Operand GenericBuilder::broadcast(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t offset = static_cast<int64_t>(domain.size()) - type.getRank();
  SmallVector<AffineExpr> exprs;
  for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
    bool isRepeated =
        extent == 1 && !isConstantIntValue(domain[offset + dim], 1);
    exprs.push_back(isRepeated ? builder.getAffineConstantExpr(0)
                               : builder.getAffineDimExpr(offset + dim));
  }
  return {value, AffineMap::get(domain.size(), 0, exprs, builder.getContext())};
}

Value GenericBuilder::createEmpty(RankedTensorType type) const {
  SmallVector<Value> sizes;
  for (auto [dim, extent] : llvm::enumerate(domain))
    if (type.isDynamicDim(dim))
      sizes.push_back(
          getValueOrCreateConstantIndexOp(builder, location, extent));
  return tensor::EmptyOp::create(builder, location, type, sizes);
}

Value GenericBuilder::createMap(RankedTensorType type,
                                ArrayRef<Operand> operands, Body body) const {
  SmallVector<Value> values;
  SmallVector<AffineMap> maps;
  for (const Operand &operand : operands) {
    values.push_back(operand.value);
    maps.push_back(operand.map);
  }
  maps.push_back(builder.getMultiDimIdentityMap(domain.size()));
  SmallVector<utils::IteratorType> iterators(domain.size(),
                                             utils::IteratorType::parallel);
  auto op = linalg::GenericOp::create(
      builder, location, type, values, createEmpty(type), maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange elements) {
        ScalarBuilder scalar(nested, loc, isUnsigned);
        Value result = body(scalar, elements.drop_back());
        linalg::YieldOp::create(nested, loc, result);
      });
  return op.getResult(0);
}

Value GenericBuilder::createFill(Value scalar) const {
  Value empty = createEmpty(getType(scalar.getType()));
  return linalg::FillOp::create(builder, location, scalar, empty).getResult(0);
}

Value GenericBuilder::createReduction(
    Value input, ArrayRef<int64_t> dims,
    function_ref<Value(ScalarBuilder &, Type)> identity, Body combine) const {
  Type elementType = cast<RankedTensorType>(input.getType()).getElementType();
  ScalarBuilder outer(builder, location, isUnsigned);
  Value initial = without(dims).createFill(identity(outer, elementType));
  SmallVector<utils::IteratorType> iterators(domain.size(),
                                             utils::IteratorType::parallel);
  for (int64_t dim : dims)
    iterators[dim] = utils::IteratorType::reduction;
  SmallVector<AffineMap> maps = {full(input).map, row(initial, dims).map};
  auto op = linalg::GenericOp::create(
      builder, location, initial.getType(), input, initial, maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange elements) {
        ScalarBuilder scalar(nested, loc, isUnsigned);
        linalg::YieldOp::create(nested, loc, combine(scalar, elements));
      });
  return op.getResult(0);
}
