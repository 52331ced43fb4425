//===- FuseOps.cpp - Verifiers, folders and canonicalisation of ops -------===//

#include "FuseDialect/IR/FuseDialect.h"
#include "FuseDialect/IR/ShapeInference.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::fuse;

#define GET_OP_CLASSES
#include "FuseDialect/IR/FuseOps.cpp.inc"

/// Checks that `axis` is a dimension of a tensor of the given rank.
static LogicalResult verifyAxis(Operation *op, int64_t axis, int64_t rank) {
  if (axis >= 0 && axis < rank)
    return success();
  return op->emitOpError() << "expected 'axis' in [0, " << rank << ") but got "
                           << axis;
}

/// Checks that `type` broadcasts to `target` without changing it.
static LogicalResult verifyBroadcastsTo(Operation *op, StringRef what,
                                        RankedTensorType type,
                                        RankedTensorType target) {
  FailureOr<SmallVector<int64_t>> shape =
      broadcastShapes({type.getShape(), target.getShape()});
  if (succeeded(shape) &&
      succeeded(verifyCompatibleShape(*shape, target.getShape())) &&
      type.getRank() <= target.getRank())
    return success();
  return op->emitOpError() << "expected '" << what << "' to broadcast to "
                           << target << " but got " << type;
}

//===----------------------------------------------------------------------===//
// Elementwise ops
//===----------------------------------------------------------------------===//

OpFoldResult IdentityOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() ? getInput() : Value();
}

LogicalResult CastOp::verify() {
  return verifyCompatibleShape(getInput().getType(), getType()).failed()
             ? emitOpError()
                   << "expected a result of the input's shape but got "
                   << getType()
             : success();
}

LogicalResult CastOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &shapes) {
  return mlir::fuse::reifyResultShapes(*this, builder, shapes);
}

PatternKind CastOp::getFusionPattern() { return PatternKind::elementwise; }

OpFoldResult CastOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() ? getInput() : Value();
}

LogicalResult BatchNormOp::verify() {
  RankedTensorType input = getInput().getType();
  int64_t channels = input.getRank() == 0   ? -1
                     : input.getRank() == 1 ? 1
                                            : input.getDimSize(1);
  if (input.getRank() == 0)
    return emitOpError("expected an input of rank 1 or more but got rank 0");
  auto check = [&](StringRef name, Value parameter) -> LogicalResult {
    auto type = cast<RankedTensorType>(parameter.getType());
    if (type.getRank() == 1 &&
        (type.isDynamicDim(0) || ShapedType::isDynamic(channels) ||
         type.getDimSize(0) == channels))
      return success();
    return emitOpError() << "expected '" << name
                         << "' to have one entry for each of the " << channels
                         << " channels but got " << type;
  };
  return success(succeeded(check("scale", getScale())) &&
                 succeeded(check("bias", getBias())) &&
                 succeeded(check("mean", getMean())) &&
                 succeeded(check("variance", getVariance())));
}

//===----------------------------------------------------------------------===//
// Row ops
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxOp::verify() {
  return verifyAxis(*this, getAxis(), getInput().getType().getRank());
}

LogicalResult LogSoftmaxOp::verify() {
  return verifyAxis(*this, getAxis(), getInput().getType().getRank());
}

LogicalResult LayerNormOp::verify() {
  RankedTensorType input = getInput().getType();
  if (failed(verifyAxis(*this, getAxis(), input.getRank())) ||
      failed(verifyBroadcastsTo(*this, "scale", getScale().getType(), input)))
    return failure();
  if (!getBias())
    return success();
  return verifyBroadcastsTo(*this, "bias", getBias().getType(), input);
}

LogicalResult RmsNormOp::verify() {
  RankedTensorType input = getInput().getType();
  if (failed(verifyAxis(*this, getAxis(), input.getRank())))
    return failure();
  return verifyBroadcastsTo(*this, "scale", getScale().getType(), input);
}

//===----------------------------------------------------------------------===//
// Injective ops
//===----------------------------------------------------------------------===//

/// Checks that a shape comes from exactly one of attribute and operand.
static LogicalResult verifyOneShape(Operation *op, bool hasShape,
                                    bool hasTarget) {
  if (hasShape != hasTarget)
    return success();
  return op->emitOpError(
      "expected either a 'shape' attribute or a target operand");
}

LogicalResult ReshapeOp::verify() {
  if (failed(verifyOneShape(*this, getShape().has_value(), bool(getTarget()))))
    return failure();
  std::optional<int64_t> from = getElementCount(getInput().getType());
  std::optional<int64_t> to = getElementCount(getType());
  if (from && to && *from != *to)
    return emitOpError() << "expected a shape of " << *from
                         << " elements but got " << getType();
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() && getType().hasStaticShape()
             ? getInput()
             : Value();
}

/// Reads a constant shape operand into integers.
static std::optional<SmallVector<int64_t>> matchShape(Value value) {
  DenseIntElementsAttr elements;
  if (!value || !matchPattern(value, m_Constant(&elements)))
    return std::nullopt;
  return llvm::map_to_vector(
      elements.getValues<APInt>(),
      [](const APInt &extent) { return extent.getSExtValue(); });
}

namespace {

/// A constant shape operand becomes the attribute.
struct FoldReshapeTarget : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<SmallVector<int64_t>> shape = matchShape(op.getTarget());
    if (!shape)
      return rewriter.notifyMatchFailure(op,
                                         "the target shape is not constant");
    rewriter.replaceOpWithNewOp<ReshapeOp>(
        op, op.getType(), op.getInput(), Value(),
        rewriter.getDenseI64ArrayAttr(*shape), op.getAllowZeroAttr());
    return success();
  }
};

} // namespace

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<FoldReshapeTarget>(context);
}

LogicalResult ExpandOp::verify() {
  return verifyOneShape(*this, getShape().has_value(), bool(getTarget()));
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  return llvm::equal(getPermutation(),
                     llvm::seq<int64_t>(0, getPermutation().size())) &&
                 getInput().getType() == getType()
             ? getInput()
             : Value();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 && getInputs().front().getType() == getType()
             ? getInputs().front()
             : Value();
}

LogicalResult PadOp::verify() {
  if (!getValue())
    return success();
  RankedTensorType value = getValue().getType();
  if (value.getRank() != 0 ||
      value.getElementType() != getInput().getType().getElementType())
    return emitOpError() << "expected 'value' to be a "
                         << RankedTensorType::get(
                                {}, getInput().getType().getElementType())
                         << " but got " << value;
  return success();
}

OpFoldResult ShapeOfOp::fold(FoldAdaptor) {
  RankedTensorType input = getInput().getType();
  ArrayRef<int64_t> extents = input.getShape().slice(
      getStart(), std::max<int64_t>(getEnd() - getStart(), 0));
  if (llvm::any_of(extents, ShapedType::isDynamic))
    return {};
  return DenseElementsAttr::get(
      RankedTensorType::get({static_cast<int64_t>(extents.size())},
                            IntegerType::get(getContext(), 64)),
      extents);
}
