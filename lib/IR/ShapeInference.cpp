//===- ShapeInference.cpp - Result types of the dialect's ops -------------===//

#include "FuseDialect/IR/ShapeInference.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fuse;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// "2x3x?" for messages.
static std::string formatShape(ArrayRef<int64_t> shape) {
  return "[" +
         llvm::join(llvm::map_range(shape,
                                    [](int64_t extent) {
                                      return ShapedType::isDynamic(extent)
                                                 ? std::string("?")
                                                 : std::to_string(extent);
                                    }),
                    ", ") +
         "]";
}

bool mlir::fuse::areCompatibleTypes(TypeRange inferred, TypeRange actual) {
  return inferred.size() == actual.size() &&
         llvm::all_of(llvm::zip_equal(inferred, actual), [](auto pair) {
           auto [left, right] = pair;
           return getElementTypeOrSelf(left) == getElementTypeOrSelf(right) &&
                  succeeded(verifyCompatibleShape(left, right));
         });
}

FailureOr<SmallVector<int64_t>>
mlir::fuse::broadcastShapes(ArrayRef<ArrayRef<int64_t>> shapes) {
  size_t rank = 0;
  for (ArrayRef<int64_t> shape : shapes)
    rank = std::max(rank, shape.size());
  SmallVector<int64_t> result(rank, 1);
  for (ArrayRef<int64_t> shape : shapes) {
    for (auto [index, extent] : llvm::enumerate(shape)) {
      int64_t &merged = result[rank - shape.size() + index];
      if (extent == 1 || extent == merged)
        continue;
      if (merged == 1)
        merged = extent;
      else if (ShapedType::isDynamic(merged))
        merged = extent;
      else if (!ShapedType::isDynamic(extent))
        return failure();
    }
  }
  return result;
}

LogicalResult mlir::fuse::inferElementwise(InferContext &infer,
                                           ValueRange operands,
                                           Type elementType) {
  SmallVector<ArrayRef<int64_t>> shapes = llvm::map_to_vector(
      operands, [](Value operand) { return tensorType(operand).getShape(); });
  FailureOr<SmallVector<int64_t>> shape = broadcastShapes(shapes);
  if (failed(shape))
    return infer.fail(
        "expected operand shapes that broadcast but got " +
        llvm::join(llvm::map_range(shapes, formatShape), " and "));
  return infer.append(
      *shape, elementType ? elementType
                          : tensorType(operands.front()).getElementType());
}

LogicalResult mlir::fuse::inferSameAs(InferContext &infer, Value operand) {
  infer.types.push_back(operand.getType());
  return success();
}

/// Checks that axes are sorted, unique and in [0, rank).
static LogicalResult checkAxes(InferContext &infer, ArrayRef<int64_t> axes,
                               int64_t rank) {
  int64_t last = -1;
  for (int64_t axis : axes) {
    if (axis < 0 || axis >= rank)
      return infer.fail("expected axes in [0, " + Twine(rank) + ") but got " +
                        Twine(axis));
    if (axis <= last)
      return infer.fail("expected sorted axes without repeats but got " +
                        formatShape(axes));
    last = axis;
  }
  return success();
}

LogicalResult mlir::fuse::inferReduction(InferContext &infer, Value input,
                                         ArrayRef<int64_t> axes, bool keepdims,
                                         Type elementType) {
  RankedTensorType type = tensorType(input);
  if (failed(checkAxes(infer, axes, type.getRank())))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!llvm::is_contained(axes, dim))
      shape.push_back(type.getDimSize(dim));
    else if (keepdims)
      shape.push_back(1);
  }
  return infer.append(shape, elementType ? elementType : type.getElementType());
}

LogicalResult mlir::fuse::inferReshape(InferContext &infer,
                                       ReshapeOp::Adaptor adaptor) {
  RankedTensorType input = tensorType(adaptor.getInput());
  if (!adaptor.getShape()) {
    if (!adaptor.getTarget())
      return infer.fail(
          "expected either a 'shape' attribute or a target operand");
    int64_t rank = tensorType(adaptor.getTarget()).getDimSize(0);
    if (ShapedType::isDynamic(rank))
      return infer.fail("expected a target shape of static length");
    return infer.append(SmallVector<int64_t>(rank, ShapedType::kDynamic),
                        input.getElementType());
  }
  SmallVector<int64_t> shape;
  std::optional<size_t> inferred;
  for (auto [index, extent] : llvm::enumerate(*adaptor.getShape())) {
    if (extent == 0 && !adaptor.getAllowZero()) {
      if (static_cast<int64_t>(index) >= input.getRank())
        return infer.fail("expected an input dimension " + Twine(index) +
                          " for the 0 in 'shape' but the input has rank " +
                          Twine(input.getRank()));
      shape.push_back(input.getDimSize(index));
    } else if (extent == -1) {
      if (inferred)
        return infer.fail("expected at most one -1 in 'shape' but got " +
                          formatShape(*adaptor.getShape()));
      inferred = index;
      shape.push_back(ShapedType::kDynamic);
    } else if (extent < 0) {
      return infer.fail("expected extents of at least -1 in 'shape' but got " +
                        Twine(extent));
    } else {
      shape.push_back(extent);
    }
  }
  std::optional<int64_t> count = getElementCount(input);
  int64_t known = 1;
  bool complete = true;
  for (auto [index, extent] : llvm::enumerate(shape)) {
    if (inferred && *inferred == index)
      continue;
    complete &= !ShapedType::isDynamic(extent);
    if (complete && llvm::MulOverflow(known, extent, known))
      return infer.fail("expected an element count that fits 64 bits");
  }
  if (count && complete) {
    if (inferred && known != 0 && *count % known == 0)
      shape[*inferred] = *count / known;
    else if (inferred || known != *count)
      return infer.fail("expected a shape of " + Twine(*count) +
                        " elements but got " +
                        formatShape(*adaptor.getShape()));
  }
  return infer.append(shape, input.getElementType());
}

LogicalResult mlir::fuse::inferSqueeze(InferContext &infer, Value input,
                                       ArrayRef<int64_t> axes) {
  RankedTensorType type = tensorType(input);
  if (failed(checkAxes(infer, axes, type.getRank())))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t extent = type.getDimSize(dim);
    if (!llvm::is_contained(axes, dim))
      shape.push_back(extent);
    else if (extent != 1 && !ShapedType::isDynamic(extent))
      return infer.fail("expected dimension " + Twine(dim) +
                        " to have extent 1 but got " + Twine(extent));
  }
  return infer.append(shape, type.getElementType());
}

LogicalResult mlir::fuse::inferUnsqueeze(InferContext &infer, Value input,
                                         ArrayRef<int64_t> axes) {
  RankedTensorType type = tensorType(input);
  int64_t rank = type.getRank() + axes.size();
  if (failed(checkAxes(infer, axes, rank)))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim = 0, source = 0; dim < rank; ++dim)
    shape.push_back(llvm::is_contained(axes, dim) ? 1
                                                  : type.getDimSize(source++));
  return infer.append(shape, type.getElementType());
}

LogicalResult mlir::fuse::inferTranspose(InferContext &infer, Value input,
                                         ArrayRef<int64_t> permutation) {
  RankedTensorType type = tensorType(input);
  int64_t rank = type.getRank();
  llvm::SmallBitVector seen(rank);
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation) {
    if (dim < 0 || dim >= rank || seen[dim])
      break;
    seen.set(dim);
    shape.push_back(type.getDimSize(dim));
  }
  if (static_cast<int64_t>(shape.size()) != rank ||
      static_cast<int64_t>(permutation.size()) != rank)
    return infer.fail("expected a permutation of " + Twine(rank) +
                      " dimensions but got " + formatShape(permutation));
  return infer.append(shape, type.getElementType());
}

LogicalResult mlir::fuse::inferExpand(InferContext &infer,
                                      ExpandOp::Adaptor adaptor) {
  RankedTensorType input = tensorType(adaptor.getInput());
  SmallVector<int64_t> target;
  if (adaptor.getShape()) {
    target.assign(adaptor.getShape()->begin(), adaptor.getShape()->end());
    for (int64_t extent : target)
      if (extent < 0)
        return infer.fail("expected extents of at least 0 in 'shape' but got " +
                          Twine(extent));
  } else if (adaptor.getTarget()) {
    int64_t rank = tensorType(adaptor.getTarget()).getDimSize(0);
    if (ShapedType::isDynamic(rank))
      return infer.fail("expected a target shape of static length");
    target.assign(rank, ShapedType::kDynamic);
  } else {
    return infer.fail(
        "expected either a 'shape' attribute or a target operand");
  }
  FailureOr<SmallVector<int64_t>> shape =
      broadcastShapes({input.getShape(), target});
  if (failed(shape))
    return infer.fail("expected a shape that " + formatShape(input.getShape()) +
                      " broadcasts with but got " + formatShape(target));
  return infer.append(*shape, input.getElementType());
}

SliceRange mlir::fuse::clampSlice(int64_t extent, int64_t start, int64_t end,
                                  int64_t step) {
  // Negative positions count from the end. ONNX models write the limits of
  // int64 for "all": these must not overflow.
  auto normalize = [&](int64_t position) {
    return position < 0 ? std::max(position, -extent - 1) + extent : position;
  };
  start = normalize(start);
  end = normalize(end);
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, extent);
    end = std::clamp<int64_t>(end, 0, extent);
    // Not (end - start + step - 1) / step: a step may be near the limit.
    return {start, end > start ? (end - start - 1) / step + 1 : 0};
  }
  start = std::clamp<int64_t>(start, -1, extent - 1);
  end = std::clamp<int64_t>(end, -1, extent - 1);
  return {std::max<int64_t>(start, 0),
          start > end ? -((start - end - 1) / step) + 1 : 0};
}

LogicalResult mlir::fuse::inferSlice(InferContext &infer,
                                     SliceOp::Adaptor adaptor) {
  RankedTensorType type = tensorType(adaptor.getInput());
  size_t count = adaptor.getAxes().size();
  if (adaptor.getStarts().size() != count ||
      adaptor.getEnds().size() != count || adaptor.getSteps().size() != count)
    return infer.fail(
        "expected axes, starts, ends and steps of one length but got " +
        Twine(count) + ", " + Twine(adaptor.getStarts().size()) + ", " +
        Twine(adaptor.getEnds().size()) + " and " +
        Twine(adaptor.getSteps().size()));
  SmallVector<int64_t> shape(type.getShape());
  llvm::SmallBitVector seen(type.getRank());
  for (auto [axis, start, end, step] :
       llvm::zip_equal(adaptor.getAxes(), adaptor.getStarts(),
                       adaptor.getEnds(), adaptor.getSteps())) {
    if (axis < 0 || axis >= type.getRank() || seen[axis])
      return infer.fail("expected axes in [0, " + Twine(type.getRank()) +
                        ") without repeats but got " +
                        formatShape(adaptor.getAxes()));
    seen.set(axis);
    if (step == 0)
      return infer.fail("expected steps other than 0");
    if (!ShapedType::isDynamic(shape[axis]))
      shape[axis] = clampSlice(shape[axis], start, end, step).count;
  }
  return infer.append(shape, type.getElementType());
}

LogicalResult mlir::fuse::inferConcat(InferContext &infer, ValueRange inputs,
                                      int64_t axis) {
  if (inputs.empty())
    return infer.fail("expected at least one input");
  RankedTensorType first = tensorType(inputs.front());
  if (axis < 0 || axis >= first.getRank())
    return infer.fail("expected 'axis' in [0, " + Twine(first.getRank()) +
                      ") but got " + Twine(axis));
  SmallVector<int64_t> shape(first.getShape());
  for (Value input : inputs.drop_front()) {
    RankedTensorType type = tensorType(input);
    if (type.getElementType() != first.getElementType())
      return infer.fail("expected inputs of one element type");
    if (type.getRank() != first.getRank())
      return infer.fail("expected inputs of one rank but got " +
                        formatShape(first.getShape()) + " and " +
                        formatShape(type.getShape()));
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      int64_t extent = type.getDimSize(dim);
      if (dim == axis) {
        bool isDynamic =
            ShapedType::isDynamic(extent) || ShapedType::isDynamic(shape[dim]);
        if (isDynamic)
          shape[dim] = ShapedType::kDynamic;
        else if (llvm::AddOverflow(shape[dim], extent, shape[dim]))
          return infer.fail("expected an extent that fits 64 bits");
      } else if (ShapedType::isDynamic(shape[dim])) {
        shape[dim] = extent;
      } else if (!ShapedType::isDynamic(extent) && extent != shape[dim]) {
        return infer.fail("expected inputs that agree outside dimension " +
                          Twine(axis) + " but got " +
                          formatShape(first.getShape()) + " and " +
                          formatShape(type.getShape()));
      }
    }
  }
  return infer.append(shape, first.getElementType());
}

LogicalResult mlir::fuse::inferSplit(InferContext &infer, Value input,
                                     int64_t axis, ArrayRef<int64_t> sizes) {
  RankedTensorType type = tensorType(input);
  if (axis < 0 || axis >= type.getRank())
    return infer.fail("expected 'axis' in [0, " + Twine(type.getRank()) +
                      ") but got " + Twine(axis));
  int64_t sum = 0;
  for (int64_t size : sizes)
    if (size < 0 || llvm::AddOverflow(sum, size, sum))
      return infer.fail("expected sizes of at least 0 but got " +
                        formatShape(sizes));
  int64_t extent = type.getDimSize(axis);
  if (!ShapedType::isDynamic(extent) && sum != extent)
    return infer.fail("expected sizes that add up to " + Twine(extent) +
                      " but got " + formatShape(sizes));
  for (int64_t size : sizes) {
    SmallVector<int64_t> shape(type.getShape());
    shape[axis] = size;
    (void)infer.append(shape, type.getElementType());
  }
  return success();
}

LogicalResult mlir::fuse::inferPad(InferContext &infer,
                                   PadOp::Adaptor adaptor) {
  RankedTensorType type = tensorType(adaptor.getInput());
  int64_t rank = type.getRank();
  if (static_cast<int64_t>(adaptor.getLow().size()) != rank ||
      static_cast<int64_t>(adaptor.getHigh().size()) != rank)
    return infer.fail("expected " + Twine(rank) +
                      " entries in 'low' and 'high' but got " +
                      Twine(adaptor.getLow().size()) + " and " +
                      Twine(adaptor.getHigh().size()));
  SmallVector<int64_t> shape;
  for (auto [dim, low, high] :
       llvm::enumerate(adaptor.getLow(), adaptor.getHigh())) {
    int64_t extent = type.getDimSize(dim);
    if (ShapedType::isDynamic(extent)) {
      shape.push_back(ShapedType::kDynamic);
      continue;
    }
    int64_t padded;
    if (llvm::AddOverflow(extent, low, padded) ||
        llvm::AddOverflow(padded, high, padded) || padded < 0)
      return infer.fail(
          "expected padding that leaves an extent of at least 0 in dimension " +
          Twine(dim) + " but got " + Twine(extent) + " with " + Twine(low) +
          " and " + Twine(high));
    if (adaptor.getMode() != PadMode::constant && (low > 0 || high > 0)) {
      if (extent == 0)
        return infer.fail("expected a non-empty dimension " + Twine(dim) +
                          " to pad in mode '" +
                          stringifyPadMode(adaptor.getMode()) + "'");
      if (adaptor.getMode() == PadMode::reflect &&
          std::max(low, high) >= extent)
        return infer.fail("expected padding below the extent " + Twine(extent) +
                          " of dimension " + Twine(dim) +
                          " in mode 'reflect' but got " +
                          Twine(std::max(low, high)));
    }
    shape.push_back(padded);
  }
  return infer.append(shape, type.getElementType());
}

LogicalResult mlir::fuse::inferGather(InferContext &infer, Value input,
                                      Value indices, int64_t axis) {
  RankedTensorType type = tensorType(input), indexType = tensorType(indices);
  if (axis < 0 || axis >= type.getRank())
    return infer.fail("expected 'axis' in [0, " + Twine(type.getRank()) +
                      ") but got " + Twine(axis));
  if (type.getDimSize(axis) == 0 && getElementCount(indexType).value_or(0) != 0)
    return infer.fail("expected a non-empty dimension " + Twine(axis) +
                      " to gather from");
  SmallVector<int64_t> shape(type.getShape().take_front(axis));
  llvm::append_range(shape, indexType.getShape());
  llvm::append_range(shape, type.getShape().drop_front(axis + 1));
  return infer.append(shape, type.getElementType());
}

LogicalResult mlir::fuse::inferTile(InferContext &infer, Value input,
                                    ArrayRef<int64_t> repeats) {
  RankedTensorType type = tensorType(input);
  if (static_cast<int64_t>(repeats.size()) != type.getRank())
    return infer.fail("expected " + Twine(type.getRank()) +
                      " repeats but got " + Twine(repeats.size()));
  SmallVector<int64_t> shape;
  for (auto [extent, repeat] : llvm::zip_equal(type.getShape(), repeats)) {
    int64_t tiled = ShapedType::kDynamic;
    if (repeat < 0 || (!ShapedType::isDynamic(extent) &&
                       llvm::MulOverflow(extent, repeat, tiled)))
      return infer.fail(
          "expected repeats of at least 0 whose extents fit 64 bits but got " +
          formatShape(repeats));
    shape.push_back(tiled);
  }
  return infer.append(shape, type.getElementType());
}

LogicalResult mlir::fuse::inferShapeOf(InferContext &infer,
                                       ShapeOfOp::Adaptor adaptor) {
  int64_t rank = tensorType(adaptor.getInput()).getRank();
  int64_t start = adaptor.getStart(), end = adaptor.getEnd();
  if (start < 0 || end < start || end > rank)
    return infer.fail("expected 0 <= start <= end <= " + Twine(rank) +
                      " but got " + Twine(start) + " and " + Twine(end));
  return infer.append({end - start}, IntegerType::get(infer.context, 64));
}
