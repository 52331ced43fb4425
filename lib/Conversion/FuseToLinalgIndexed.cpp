//===- FuseToLinalgIndexed.cpp - Slices, pads and gathers to linalg -------===//
//
// Ops that read at computed positions. Blocks with a positive stride are
// tensor.extract_slice, a constant border is tensor.pad, and all else is a
// linalg.generic whose body extracts an element of the input.
//
//===----------------------------------------------------------------------===//

#include "FuseDialect/IR/ShapeInference.h"
#include "InjectivePattern.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fuse;

namespace {

/// Index arithmetic that folds constants, inside or outside of bodies.
class IndexBuilder {
public:
  explicit IndexBuilder(ScalarBuilder &scalar) : b(scalar) {}

  Value constant(int64_t value) {
    return b.integer(b.builder.getIndexType(),
                     APInt(64, value, /*isSigned=*/true));
  }
  Value value(OpFoldResult extent) {
    if (std::optional<int64_t> known = getConstantIntValue(extent))
      return constant(*known);
    return cast<Value>(extent);
  }
  Value clamp(Value x, Value low, Value high) {
    return b.min(b.max(x, low), high);
  }

  ScalarBuilder &b;
};

} // namespace

/// A generic over the result whose elements are those of the input at the
/// position that `getPosition` computes from that in the result.
static Value createRead(
    OpBuilder &builder, Location loc, Value input, RankedTensorType type,
    ArrayRef<OpFoldResult> extents, ArrayRef<GenericBuilder::Operand> operands,
    function_ref<SmallVector<Value>(IndexBuilder &, ValueRange)> getPosition) {
  GenericBuilder generic(builder, loc, extents);
  return generic.createMap(
      type, operands, [&](ScalarBuilder &b, ValueRange args) {
        IndexBuilder index(b);
        SmallVector<Value> position = getPosition(index, args);
        return tensor::ExtractOp::create(b.builder, loc, input, position)
            .getResult();
      });
}

//===----------------------------------------------------------------------===//
// slice
//===----------------------------------------------------------------------===//

/// The first position that a slice reads in a dimension of the given extent, as
/// clampSlice has it.
static OpFoldResult getSliceStart(ScalarBuilder &b, OpFoldResult extent,
                                  int64_t start, int64_t end, int64_t step) {
  if (std::optional<int64_t> known = getConstantIntValue(extent))
    return b.builder.getIndexAttr(clampSlice(*known, start, end, step).start);
  IndexBuilder index(b);
  Value size = index.value(extent);
  Value last = step > 0 ? size : b.sub(size, index.constant(1));
  // A position far below zero stays below it, and does not overflow.
  start = std::max<int64_t>(start, INT64_MIN / 2);
  Value first = index.constant(start);
  if (start < 0)
    first = b.add(first, size);
  // An empty slice reads nothing, but its offset must not be negative.
  return getAsOpFoldResult(index.clamp(first, index.constant(0), last));
}

namespace {

struct LowerSlice : public InjectivePattern<SliceOp> {
  using InjectivePattern::InjectivePattern;
  Value emit(SliceOp op, Adaptor adaptor, RankedTensorType type,
             Extents extents, OpBuilder &builder) const override {
    Location loc = op.getLoc();
    Value input = adaptor.getInput();
    ScalarBuilder scalar(builder, loc);
    SmallVector<OpFoldResult> sources = getExtents(builder, loc, input);
    SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0));
    SmallVector<int64_t> strides(type.getRank(), 1);
    for (auto [axis, start, end, step] : llvm::zip_equal(
             op.getAxes(), op.getStarts(), op.getEnds(), op.getSteps())) {
      offsets[axis] = getSliceStart(scalar, sources[axis], start, end, step);
      // The stride of a single element has no meaning, but must not overflow.
      strides[axis] = isConstantIntValue(extents[axis], 1) ? 1 : step;
    }
    if (llvm::all_of(strides, [](int64_t stride) { return stride > 0; }))
      return tensor::ExtractSliceOp::create(
          builder, loc, input, offsets, extents,
          getAsIndexOpFoldResult(builder.getContext(), strides));
    return createRead(
        builder, loc, input, type, extents, {},
        [&](IndexBuilder &index, ValueRange) {
          SmallVector<Value> position;
          for (int64_t dim = 0; dim < type.getRank(); ++dim) {
            ScalarBuilder &b = index.b;
            Value i = linalg::IndexOp::create(b.builder, loc, dim);
            Value scaled = b.mul(i, index.constant(strides[dim]));
            position.push_back(b.add(scaled, index.value(offsets[dim])));
          }
          return position;
        });
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// pad
//===----------------------------------------------------------------------===//

/// The value of a border that is known, else null.
static TypedAttr matchBorder(PadOp op) {
  Type type = toSignless(op.getType().getElementType());
  if (!op.getValue())
    return Builder(op.getContext()).getZeroAttr(type);
  DenseElementsAttr elements;
  if (!matchPattern(op.getValue(), m_Constant(&elements)))
    return {};
  if (isa<FloatType>(type))
    return FloatAttr::get(type, elements.getSplatValue<APFloat>());
  return IntegerAttr::get(type, elements.getSplatValue<APInt>());
}

/// A border whose value a tensor holds is chosen element by element: within a
/// kernel nothing but bodies reads tensors. The extents are static.
static Value emitRuntimeBorder(PadOp op, Value input, Value border,
                               RankedTensorType type,
                               ArrayRef<OpFoldResult> extents,
                               OpBuilder &builder) {
  Location loc = op.getLoc();
  GenericBuilder generic(builder, loc, extents);
  auto source = cast<RankedTensorType>(input.getType());
  return generic.createMap(
      type, generic.broadcast(border), [&](ScalarBuilder &b, ValueRange args) {
        if (hasZeroExtent(source))
          return args[0];
        IndexBuilder index(b);
        Value isInside;
        SmallVector<Value> position;
        for (auto [dim, low, high] :
             llvm::enumerate(op.getLow(), op.getHigh())) {
          Value i = linalg::IndexOp::create(b.builder, loc, dim);
          Value shifted = b.sub(i, index.constant(low));
          int64_t extent = source.getDimSize(dim);
          if (low > 0 || high > 0) {
            // Read as unsigned, what lies before the input is not below its
            // extent either.
            Value isInDim = b.compare(arith::CmpIPredicate::ult, shifted,
                                      index.constant(extent));
            isInside = isInside ? b.bitAnd(isInside, isInDim) : isInDim;
            shifted = index.clamp(shifted, index.constant(0),
                                  index.constant(extent - 1));
          }
          position.push_back(shifted);
        }
        Value inner =
            tensor::ExtractOp::create(b.builder, loc, input, position);
        return isInside ? b.select(isInside, inner, args[0]) : inner;
      });
}

/// Negative padding cuts the input first; what it cuts beyond the input it
/// takes from the other side's border.
static Value emitConstantPad(PadOp op, Value input, Value border,
                             ArrayRef<OpFoldResult> extents,
                             OpBuilder &builder) {
  Location loc = op.getLoc();
  ScalarBuilder b(builder, loc);
  IndexBuilder index(b);
  SmallVector<OpFoldResult> sources = getExtents(builder, loc, input);
  SmallVector<OpFoldResult> offsets, sizes, lows, highs;
  bool isCut = false;
  for (auto [dim, low, high] : llvm::enumerate(op.getLow(), op.getHigh())) {
    if (low >= 0 && high >= 0) {
      offsets.push_back(builder.getIndexAttr(0));
      sizes.push_back(sources[dim]);
      lows.push_back(builder.getIndexAttr(low));
      highs.push_back(builder.getIndexAttr(high));
      continue;
    }
    isCut = true;
    Value source = index.value(sources[dim]);
    Value zero = index.constant(0);
    Value offset = b.min(index.constant(std::max<int64_t>(-low, 0)), source);
    Value end = b.sub(source, index.constant(std::max<int64_t>(-high, 0)));
    Value size = b.max(b.sub(end, offset), zero);
    Value rest = b.sub(index.value(extents[dim]), size);
    Value before =
        low > 0 ? b.min(index.constant(low), rest) : index.constant(0);
    offsets.push_back(getAsOpFoldResult(offset));
    sizes.push_back(getAsOpFoldResult(size));
    lows.push_back(getAsOpFoldResult(before));
    highs.push_back(getAsOpFoldResult(b.sub(rest, before)));
  }
  // Nothing of the input is left: a slice of static size 0 may not start at its
  // end.
  if (llvm::any_of(sizes, [](OpFoldResult size) {
        return isConstantIntValue(size, 0);
      })) {
    GenericBuilder generic(builder, loc, extents);
    return generic.createFill(border);
  }
  if (isCut) {
    SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
    input = tensor::ExtractSliceOp::create(builder, loc, input, offsets, sizes,
                                           strides);
  }
  return tensor::PadOp::create(builder, loc, /*resultType=*/Type(), input, lows,
                               highs, border);
}

/// The position in the input that an element outside of it copies, in a
/// dimension of extent `source`. `position` may lie on either side.
static Value reflectIndex(IndexBuilder &index, Value position, Value source) {
  ScalarBuilder &b = index.b;
  Value zero = index.constant(0), last = b.sub(source, index.constant(1));
  Value mirrored = b.max(position, b.sub(zero, position));
  Value period = b.add(last, last);
  Value reflected = b.min(mirrored, b.sub(period, mirrored));
  // Dynamic extents may be smaller than the padding that reflects them.
  return index.clamp(reflected, zero, last);
}

static Value wrapIndex(IndexBuilder &index, Value position, Value source) {
  ScalarBuilder &b = index.b;
  Value divisor = b.max(source, index.constant(1));
  Value remainder =
      b.builder.createOrFold<arith::RemSIOp>(b.location, position, divisor);
  Value isNegative = b.less(remainder, index.constant(0));
  return b.select(isNegative, b.add(remainder, divisor), remainder);
}

namespace {

struct LowerPad : public InjectivePattern<PadOp> {
  using InjectivePattern::InjectivePattern;
  Value emit(PadOp op, Adaptor adaptor, RankedTensorType type, Extents extents,
             OpBuilder &builder) const override {
    Location loc = op.getLoc();
    Value input = adaptor.getInput();
    if (type.getRank() == 0)
      return input;
    if (op.getMode() == PadMode::constant) {
      TypedAttr known = matchBorder(op);
      auto source = cast<RankedTensorType>(input.getType());
      if (!known && source.hasStaticShape() && type.hasStaticShape())
        return emitRuntimeBorder(op, input, adaptor.getValue(), type, extents,
                                 builder);
      Value border;
      if (known)
        border = arith::ConstantOp::create(builder, loc, known);
      else
        border = tensor::ExtractOp::create(builder, loc, adaptor.getValue(),
                                           ValueRange());
      return emitConstantPad(op, input, border, extents, builder);
    }
    SmallVector<OpFoldResult> sources = getExtents(builder, loc, input);
    return createRead(builder, loc, input, type, extents, {},
                      [&](IndexBuilder &index, ValueRange) {
                        SmallVector<Value> position;
                        for (auto [dim, low, high] :
                             llvm::enumerate(op.getLow(), op.getHigh())) {
                          ScalarBuilder &b = index.b;
                          Value i =
                              linalg::IndexOp::create(b.builder, loc, dim);
                          Value shifted = b.sub(i, index.constant(low));
                          if (low > 0 || high > 0)
                            shifted =
                                getInnerIndex(op.getMode(), index, shifted,
                                              index.value(sources[dim]));
                          position.push_back(shifted);
                        }
                        return position;
                      });
  }

private:
  static Value getInnerIndex(PadMode mode, IndexBuilder &index, Value position,
                             Value source) {
    switch (mode) {
    case PadMode::reflect:
      return reflectIndex(index, position, source);
    case PadMode::wrap:
      return wrapIndex(index, position, source);
    default:
      return index.clamp(position, index.constant(0),
                         index.b.sub(source, index.constant(1)));
    }
  }
};

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

struct LowerGather : public InjectivePattern<GatherOp> {
  using InjectivePattern::InjectivePattern;
  Value emit(GatherOp op, Adaptor adaptor, RankedTensorType type,
             Extents extents, OpBuilder &builder) const override {
    Location loc = op.getLoc();
    Value input = adaptor.getInput(), indices = adaptor.getIndices();
    int64_t axis = op.getAxis();
    int64_t numIndexDims = op.getIndices().getType().getRank();
    OpFoldResult extent = tensor::getMixedSize(builder, loc, input, axis);
    AffineMap map =
        AffineMap::getMultiDimIdentityMap(numIndexDims, builder.getContext())
            .shiftDims(axis);
    map = AffineMap::get(type.getRank(), 0, map.getResults(),
                         builder.getContext());
    return createRead(
        builder, loc, input, type, extents, {{indices, map}},
        [&](IndexBuilder &index, ValueRange args) {
          ScalarBuilder &b = index.b;
          Value size = index.value(extent), zero = index.constant(0);
          Value i = b.builder.createOrFold<arith::IndexCastOp>(
              loc, b.builder.getIndexType(), args[0]);
          i = b.select(b.less(i, zero), b.add(i, size), i);
          i = index.clamp(i, zero, b.sub(size, index.constant(1)));
          SmallVector<Value> position;
          for (int64_t dim = 0; dim < op.getInput().getType().getRank();
               ++dim) {
            int64_t source = dim < axis ? dim : dim + numIndexDims - 1;
            position.push_back(
                dim == axis ? i
                            : linalg::IndexOp::create(b.builder, loc, source));
          }
          return position;
        });
  }
};

} // namespace

void mlir::fuse::populateIndexedToLinalg(RewritePatternSet &patterns,
                                         const TypeConverter &converter) {
  patterns.add<LowerGather, LowerPad, LowerSlice>(converter,
                                                  patterns.getContext());
}
