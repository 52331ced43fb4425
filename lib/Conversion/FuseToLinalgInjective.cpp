//===- FuseToLinalgInjective.cpp - Injective ops to linalg ----------------===//
//
// Ops whose elements move by an affine map or in blocks. FuseToLinalgReshapes
// and FuseToLinalgIndexed have the others.
//
//===----------------------------------------------------------------------===//

#include "InjectivePattern.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fuse;

FailureOr<ReifiedRankedShapedTypeDims>
mlir::fuse::reifyConvertedShapes(Operation *op,
                                 ConversionPatternRewriter &rewriter) {
  ReifiedRankedShapedTypeDims shapes;
  LogicalResult reified =
      reifyResultShapes(op, rewriter, shapes, [&](Value operand) {
        Value converted = rewriter.getRemappedValue(operand);
        return getExtents(rewriter, op->getLoc(),
                          converted ? converted : operand);
      });
  if (failed(reified))
    return failure();
  return shapes;
}

Value mlir::fuse::createUninitialized(OpBuilder &builder, Location location,
                                      RankedTensorType type,
                                      ArrayRef<OpFoldResult> extents) {
  SmallVector<Value> sizes;
  for (auto [dim, extent] : llvm::enumerate(extents))
    if (type.isDynamicDim(dim))
      sizes.push_back(
          getValueOrCreateConstantIndexOp(builder, location, extent));
  return tensor::EmptyOp::create(builder, location, type, sizes);
}

/// A copy of the operand's elements over the domain.
static Value createCopy(const GenericBuilder &generic, RankedTensorType type,
                        GenericBuilder::Operand operand) {
  return generic.createMap(
      type, operand, [](ScalarBuilder &, ValueRange args) { return args[0]; });
}

namespace {

struct LowerTranspose : public InjectivePattern<TransposeOp> {
  using InjectivePattern::InjectivePattern;
  Value emit(TransposeOp op, Adaptor adaptor, RankedTensorType type,
             Extents extents, OpBuilder &builder) const override {
    GenericBuilder generic(builder, op.getLoc(), extents);
    SmallVector<AffineExpr> exprs(type.getRank());
    for (auto [dim, source] : llvm::enumerate(op.getPermutation()))
      exprs[source] = builder.getAffineDimExpr(dim);
    AffineMap map =
        AffineMap::get(type.getRank(), 0, exprs, builder.getContext());
    return createCopy(generic, type, {adaptor.getInput(), map});
  }
};

/// A dynamic extent of the input may be 1 where the result's is not: it is the
/// purpose of the op. Its elements are then read at a computed position.
struct LowerExpand : public InjectivePattern<ExpandOp> {
  using InjectivePattern::InjectivePattern;
  Value emit(ExpandOp op, Adaptor adaptor, RankedTensorType type,
             Extents extents, OpBuilder &builder) const override {
    Location loc = op.getLoc();
    GenericBuilder generic(builder, loc, extents);
    Value input = adaptor.getInput();
    SmallVector<OpFoldResult> sources = getExtents(builder, loc, input);
    int64_t offset = type.getRank() - sources.size();
    bool isAffine = llvm::all_of(llvm::enumerate(sources), [&](auto source) {
      return getConstantIntValue(source.value()) ||
             areEqualExtents(source.value(), extents[offset + source.index()]);
    });
    if (isAffine)
      return createCopy(generic, type, generic.broadcast(input));
    return generic.createMap(type, {}, [&](ScalarBuilder &b, ValueRange) {
      SmallVector<Value> position;
      Value zero = b.constant(builder.getIndexType(), 0);
      Value one = b.constant(builder.getIndexType(), 1);
      for (auto [dim, extent] : llvm::enumerate(sources)) {
        if (isConstantIntValue(extent, 1)) {
          position.push_back(zero);
          continue;
        }
        Value index = linalg::IndexOp::create(b.builder, loc, offset + dim);
        if (auto value = dyn_cast<Value>(extent))
          index = b.select(b.equal(value, one), zero, index);
        position.push_back(index);
      }
      return tensor::ExtractOp::create(b.builder, loc, input, position)
          .getResult();
    });
  }
};

/// With an extra dimension before each repeated one, tiling is a broadcast:
/// element r * n + i of the result stands at [r, i].
struct LowerTile : public InjectivePattern<TileOp> {
  using InjectivePattern::InjectivePattern;
  Value emit(TileOp op, Adaptor adaptor, RankedTensorType type, Extents extents,
             OpBuilder &builder) const override {
    Location loc = op.getLoc();
    Value input = adaptor.getInput();
    SmallVector<OpFoldResult> sources = getExtents(builder, loc, input);
    if (llvm::is_contained(op.getRepeats(), 0))
      return createUninitialized(builder, loc, type, extents);
    SmallVector<OpFoldResult> domain;
    SmallVector<AffineExpr> exprs;
    SmallVector<ReassociationIndices> groups;
    for (auto [dim, repeat] : llvm::enumerate(op.getRepeats())) {
      ReassociationIndices group = {static_cast<int64_t>(domain.size())};
      if (isConstantIntValue(sources[dim], 1)) {
        domain.push_back(builder.getIndexAttr(repeat));
        exprs.push_back(builder.getAffineConstantExpr(0));
      } else {
        if (repeat != 1) {
          domain.push_back(builder.getIndexAttr(repeat));
          group.push_back(domain.size());
        }
        exprs.push_back(builder.getAffineDimExpr(domain.size()));
        domain.push_back(sources[dim]);
      }
      groups.push_back(std::move(group));
    }
    GenericBuilder generic(builder, loc, domain);
    AffineMap map =
        AffineMap::get(domain.size(), 0, exprs, builder.getContext());
    if (static_cast<int64_t>(domain.size()) == type.getRank())
      return createCopy(generic, generic.getType(type.getElementType()),
                        {input, map});
    RankedTensorType repeatedType = generic.getType(type.getElementType());
    Value repeated = createCopy(generic, repeatedType, {input, map});
    return tensor::CollapseShapeOp::create(
        builder, loc, getCollapsedType(repeatedType, groups), repeated, groups);
  }
};

struct LowerConcat : public InjectivePattern<ConcatOp> {
  using InjectivePattern::InjectivePattern;
  Value emit(ConcatOp op, Adaptor adaptor, RankedTensorType, Extents,
             OpBuilder &builder) const override {
    ValueRange inputs = adaptor.getInputs();
    if (inputs.size() == 1)
      return inputs.front();
    return tensor::ConcatOp::create(builder, op.getLoc(), op.getAxis(), inputs);
  }
};

struct LowerSplit : public OpConversionPattern<SplitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(SplitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value input = adaptor.getInput();
    SmallVector<OpFoldResult> extents = getExtents(rewriter, loc, input);
    SmallVector<OpFoldResult> offsets(extents.size(), rewriter.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(extents.size(), rewriter.getIndexAttr(1));
    int64_t axis = op.getAxis(), begin = 0;
    SmallVector<Value> results;
    for (auto [size, result] :
         llvm::zip_equal(op.getSizes(), op.getResults())) {
      auto type = toSignless(cast<RankedTensorType>(result.getType()));
      offsets[axis] = rewriter.getIndexAttr(begin);
      extents[axis] = rewriter.getIndexAttr(size);
      begin += size;
      Value slice;
      if (hasZeroExtent(type))
        slice = createUninitialized(rewriter, loc, type, extents);
      else
        slice = tensor::ExtractSliceOp::create(rewriter, loc, input, offsets,
                                               extents, strides);
      results.push_back(castTo(rewriter, loc, slice, type));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct LowerShapeOf : public OpConversionPattern<ShapeOfOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ShapeOfOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<OpFoldResult> extents =
        getExtents(rewriter, loc, adaptor.getInput());
    SmallVector<Value> elements;
    for (OpFoldResult extent :
         ArrayRef(extents).slice(op.getStart(), op.getEnd() - op.getStart())) {
      Value index = getValueOrCreateConstantIndexOp(rewriter, loc, extent);
      elements.push_back(rewriter.createOrFold<arith::IndexCastOp>(
          loc, rewriter.getI64Type(), index));
    }
    auto type = RankedTensorType::get({static_cast<int64_t>(elements.size())},
                                      rewriter.getI64Type());
    Value result =
        tensor::FromElementsOp::create(rewriter, loc, type, elements);
    rewriter.replaceOp(op, castTo(rewriter, loc, result, op.getType()));
    return success();
  }
};

} // namespace

void mlir::fuse::populateInjectiveToLinalg(RewritePatternSet &patterns,
                                           const TypeConverter &converter) {
  patterns.add<LowerConcat, LowerExpand, LowerShapeOf, LowerSplit, LowerTile,
               LowerTranspose>(converter, patterns.getContext());
  populateReshapesToLinalg(patterns, converter);
  populateIndexedToLinalg(patterns, converter);
}
