//===- ShapeInference.h - Result types of the dialect's ops -----*- C++ -*-===//
//
// The functions behind inferReturnTypes. Each appends one type for each result
// to `infer.types`, or emits an error at `infer.location` and fails. Sizes may
// be dynamic. Semantics follow the ONNX operator of the same name.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_IR_SHAPEINFERENCE_H
#define FUSEDIALECT_IR_SHAPEINFERENCE_H

#include "FuseDialect/IR/FuseDialect.h"

namespace mlir::fuse {

/// What an inference function is given beside the operands.
struct InferContext {
  MLIRContext *context;
  std::optional<Location> location;
  SmallVectorImpl<Type> &types;

  LogicalResult append(ArrayRef<int64_t> shape, Type elementType) {
    types.push_back(RankedTensorType::get(shape, elementType));
    return success();
  }
  /// Emits an error at the location, if there is one.
  LogicalResult fail(const Twine &message) const {
    return emitOptionalError(location, message);
  }
};

/// Whether the types agree in element type and compatible shape, one by one.
bool areCompatibleTypes(TypeRange inferred, TypeRange actual);

/// The broadcast of shapes as numpy defines it, or failure. A dynamic extent
/// against one above 1 gives the latter.
FailureOr<SmallVector<int64_t>>
broadcastShapes(ArrayRef<ArrayRef<int64_t>> shapes);

/// One result of the operands' broadcast shape; its element type is
/// `elementType` or, if null, that of the first operand.
LogicalResult inferElementwise(InferContext &infer, ValueRange operands,
                               Type elementType = Type());
/// One result of the operand's type.
LogicalResult inferSameAs(InferContext &infer, Value operand);
/// One result of the input's shape, reduced along `axes`.
LogicalResult inferReduction(InferContext &infer, Value input,
                             ArrayRef<int64_t> axes, bool keepdims,
                             Type elementType = Type());
LogicalResult inferReshape(InferContext &infer, ReshapeOp::Adaptor adaptor);
LogicalResult inferSqueeze(InferContext &infer, Value input,
                           ArrayRef<int64_t> axes);
LogicalResult inferUnsqueeze(InferContext &infer, Value input,
                             ArrayRef<int64_t> axes);
LogicalResult inferTranspose(InferContext &infer, Value input,
                             ArrayRef<int64_t> permutation);
LogicalResult inferExpand(InferContext &infer, ExpandOp::Adaptor adaptor);
LogicalResult inferSlice(InferContext &infer, SliceOp::Adaptor adaptor);
LogicalResult inferConcat(InferContext &infer, ValueRange inputs, int64_t axis);
LogicalResult inferSplit(InferContext &infer, Value input, int64_t axis,
                         ArrayRef<int64_t> sizes);
LogicalResult inferPad(InferContext &infer, PadOp::Adaptor adaptor);
LogicalResult inferGather(InferContext &infer, Value input, Value indices,
                          int64_t axis);
LogicalResult inferTile(InferContext &infer, Value input,
                        ArrayRef<int64_t> repeats);
LogicalResult inferShapeOf(InferContext &infer, ShapeOfOp::Adaptor adaptor);

/// The range that a slice takes of a dimension of known extent: the first
/// position and the number of elements, after ONNX's clamping.
struct SliceRange {
  int64_t start;
  int64_t count;
};
SliceRange clampSlice(int64_t extent, int64_t start, int64_t end, int64_t step);

} // namespace mlir::fuse

#endif // FUSEDIALECT_IR_SHAPEINFERENCE_H
