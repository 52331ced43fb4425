//===- InjectivePattern.h - Patterns of injective ops -----------*- C++ -*-===//

#ifndef FUSEDIALECT_LIB_CONVERSION_INJECTIVEPATTERN_H
#define FUSEDIALECT_LIB_CONVERSION_INJECTIVEPATTERN_H

#include "FuseDialect/IR/FuseDialect.h"
#include "FuseToLinalg.h"

namespace mlir::fuse {

/// The extents of each result of an op whose operands may have been converted
/// already.
FailureOr<ReifiedRankedShapedTypeDims>
reifyConvertedShapes(Operation *op, ConversionPatternRewriter &rewriter);

/// Whether a type says that its tensors have no elements. Upstream ops have
/// corner cases there, and there is nothing to compute.
inline bool hasZeroExtent(RankedTensorType type) {
  return llvm::is_contained(type.getShape(), 0);
}

/// A tensor of the type and extents whose elements, if it has any, nobody
/// reads.
Value createUninitialized(OpBuilder &builder, Location location,
                          RankedTensorType type,
                          ArrayRef<OpFoldResult> extents);

/// The pattern of an injective op with one result. `emit` gets the result's
/// signless type and extents, and may return a value whose type is more or less
/// precise; null if it does not apply.
template <typename Op>
struct InjectivePattern : public OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  using Adaptor = typename OpConversionPattern<Op>::OpAdaptor;
  using Extents = ArrayRef<OpFoldResult>;

  virtual Value emit(Op op, Adaptor adaptor, RankedTensorType type,
                     Extents extents, OpBuilder &builder) const = 0;

  LogicalResult
  matchAndRewrite(Op op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FailureOr<ReifiedRankedShapedTypeDims> shapes =
        reifyConvertedShapes(op, rewriter);
    if (failed(shapes))
      return rewriter.notifyMatchFailure(op,
                                         "the result's extents are unknown");
    RankedTensorType type = toSignless(op.getType());
    Value result =
        hasZeroExtent(type)
            ? createUninitialized(rewriter, op.getLoc(), type, shapes->front())
            : emit(op, adaptor, type, shapes->front(), rewriter);
    if (!result)
      return rewriter.notifyMatchFailure(op, "no linalg form of the op");
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), result, type));
    return success();
  }
};

void populateReshapesToLinalg(RewritePatternSet &patterns,
                              const TypeConverter &converter);
void populateIndexedToLinalg(RewritePatternSet &patterns,
                             const TypeConverter &converter);

} // namespace mlir::fuse

#endif // FUSEDIALECT_LIB_CONVERSION_INJECTIVEPATTERN_H
