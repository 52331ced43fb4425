//===- FuseToLinalgRowOps.cpp - Softmax and norms to linalg ---------------===//
//
// Row ops become reductions and elementwise linalg.generic ops over one domain,
// the shape of the input. Values of one element a row have that shape without
// the row's dimensions, and maps that drop these bring them back. All of it is
// computed in f32 for f16 and bf16, and rounded by the last op.
//
//===----------------------------------------------------------------------===//

#include "FuseDialect/IR/FuseDialect.h"
#include "FuseToLinalg.h"
#include "Reducer.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::fuse;

/// 1 / sqrt(x + epsilon) for the value x of each row.
static Value emitInverseRoot(const Reducer &reducer, Value rows, Type type,
                             const APFloat &epsilon) {
  return reducer.mapRows(rows, type, [&](ScalarBuilder &b, Value x) {
    Value shifted = b.add(x, b.constant(type, epsilon.convertToDouble()));
    return b.div(b.constant(type, 1), b.math<math::SqrtOp>(shifted));
  });
}

static Value emitSquare(const Reducer &reducer, Value input, Type type) {
  return reducer.mapFull(input, type,
                         [](ScalarBuilder &b, Value x) { return b.mul(x, x); });
}

/// x - row value.
static Value subtractRows(const Reducer &reducer, Value input, Value rows,
                          Type type) {
  const GenericBuilder &full = reducer.full;
  return full.createMap(full.getType(type),
                        {full.full(input), full.row(rows, reducer.dims)},
                        [](ScalarBuilder &b, ValueRange args) {
                          return b.sub(args[0], args[1]);
                        });
}

/// A row that holds inf, or only -inf, gives NaN by inf - inf; one that holds
/// NaN by the sum.
static Value emitSoftmax(const Reducer &reducer, Value input,
                         RankedTensorType type) {
  const GenericBuilder &full = reducer.full;
  Type compute = getComputeType(type.getElementType());
  Value wide = reducer.convert(input, compute);
  Value largest = reducer.largestNumber(wide);
  Value exps = full.createMap(
      full.getType(compute), {full.full(wide), full.row(largest, reducer.dims)},
      [](ScalarBuilder &b, ValueRange args) {
        return b.math<math::ExpOp>(b.sub(args[0], args[1]));
      });
  Value inverse = reducer.mapRows(reducer.sum(exps), compute,
                                  [&](ScalarBuilder &b, Value x) {
                                    return b.div(b.constant(compute, 1), x);
                                  });
  return full.createMap(
      type, {full.full(exps), full.row(inverse, reducer.dims)},
      [&](ScalarBuilder &b, ValueRange args) {
        return b.narrow(b.mul(args[0], args[1]), type.getElementType());
      });
}

static Value emitLogSoftmax(const Reducer &reducer, Value input,
                            RankedTensorType type) {
  const GenericBuilder &full = reducer.full;
  Type compute = getComputeType(type.getElementType());
  Value wide = reducer.convert(input, compute);
  Value shifted =
      subtractRows(reducer, wide, reducer.largestNumber(wide), compute);
  Value exps = reducer.mapFull(shifted, compute, [](ScalarBuilder &b, Value x) {
    return b.math<math::ExpOp>(x);
  });
  Value logs = reducer.mapRows(
      reducer.sum(exps), compute,
      [](ScalarBuilder &b, Value x) { return b.math<math::LogOp>(x); });
  return full.createMap(
      type, {full.full(shifted), full.row(logs, reducer.dims)},
      [&](ScalarBuilder &b, ValueRange args) {
        return b.narrow(b.sub(args[0], args[1]), type.getElementType());
      });
}

/// x * inverse * scale + bias, with a factor `inverse` for each row; the bias
/// may be null.
static Value emitScaleAndBias(const Reducer &reducer, Value x, Value inverse,
                              Value scale, Value bias, RankedTensorType type) {
  const GenericBuilder &full = reducer.full;
  SmallVector<GenericBuilder::Operand> operands = {
      full.full(x), full.row(inverse, reducer.dims), full.broadcast(scale)};
  if (bias)
    operands.push_back(full.broadcast(bias));
  return full.createMap(type, operands, [&](ScalarBuilder &b, ValueRange args) {
    Value y = b.mul(b.mul(args[0], args[1]), b.widen(args[2]));
    if (bias)
      y = b.add(y, b.widen(args[3]));
    return b.narrow(y, type.getElementType());
  });
}

namespace {

/// What the patterns of row ops share.
template <typename Op> struct LowerRowOp : public OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  using Adaptor = typename OpConversionPattern<Op>::OpAdaptor;

  virtual Value emit(Op op, Adaptor adaptor, const Reducer &reducer,
                     RankedTensorType type) const = 0;

  LogicalResult
  matchAndRewrite(Op op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Reducer reducer(rewriter, op.getLoc(), adaptor.getInput(), op.getRowDims(),
                    /*isUnsigned=*/false);
    rewriter.replaceOp(op, emit(op, adaptor, reducer, op.getType()));
    return success();
  }
};

struct LowerSoftmax : public LowerRowOp<SoftmaxOp> {
  using LowerRowOp::LowerRowOp;
  Value emit(SoftmaxOp, Adaptor adaptor, const Reducer &reducer,
             RankedTensorType type) const override {
    return emitSoftmax(reducer, adaptor.getInput(), type);
  }
};

struct LowerLogSoftmax : public LowerRowOp<LogSoftmaxOp> {
  using LowerRowOp::LowerRowOp;
  Value emit(LogSoftmaxOp, Adaptor adaptor, const Reducer &reducer,
             RankedTensorType type) const override {
    return emitLogSoftmax(reducer, adaptor.getInput(), type);
  }
};

struct LowerLayerNorm : public LowerRowOp<LayerNormOp> {
  using LowerRowOp::LowerRowOp;
  Value emit(LayerNormOp op, Adaptor adaptor, const Reducer &reducer,
             RankedTensorType type) const override {
    Type compute = getComputeType(type.getElementType());
    Value wide = reducer.convert(adaptor.getInput(), compute);
    Value mean = reducer.divideByCount(reducer.sum(wide), compute);
    Value deviation = subtractRows(reducer, wide, mean, compute);
    Value squares = emitSquare(reducer, deviation, compute);
    Value variance = reducer.divideByCount(reducer.sum(squares), compute);
    Value inverse =
        emitInverseRoot(reducer, variance, compute, op.getEpsilon());
    return emitScaleAndBias(reducer, deviation, inverse, adaptor.getScale(),
                            adaptor.getBias(), type);
  }
};

struct LowerRmsNorm : public LowerRowOp<RmsNormOp> {
  using LowerRowOp::LowerRowOp;
  Value emit(RmsNormOp op, Adaptor adaptor, const Reducer &reducer,
             RankedTensorType type) const override {
    Type compute = getComputeType(type.getElementType());
    Value wide = reducer.convert(adaptor.getInput(), compute);
    Value squares = emitSquare(reducer, wide, compute);
    Value mean = reducer.divideByCount(reducer.sum(squares), compute);
    Value inverse = emitInverseRoot(reducer, mean, compute, op.getEpsilon());
    return emitScaleAndBias(reducer, wide, inverse, adaptor.getScale(),
                            /*bias=*/Value(), type);
  }
};

} // namespace

void mlir::fuse::populateRowOpsToLinalg(RewritePatternSet &patterns,
                                        const TypeConverter &converter) {
  patterns.add<LowerSoftmax, LowerLogSoftmax, LowerLayerNorm, LowerRmsNorm>(
      converter, patterns.getContext());
}
