//===- FuseToLinalgElementwise.cpp - Elementwise ops to linalg ------------===//

#include "FuseDialect/IR/FuseDialect.h"
#include "FuseToLinalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fuse;

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// exp(-|x|), which never overflows.
static Value expOfMinusAbs(ScalarBuilder &b, Value x) {
  return b.math<math::ExpOp>(b.neg(b.abs(x)));
}

/// x * sigmoid(t). With e = exp(-|t|), sigmoid is 1 / (1 + e) or e / (1 + e):
/// neither overflows, and small results keep their relative accuracy.
static Value timesSigmoid(ScalarBuilder &b, Value x, Value t) {
  Value e = expOfMinusAbs(b, t);
  Value isPositive = b.greaterEqual(t, b.constant(t.getType(), 0));
  return b.div(b.select(isPositive, x, b.mul(x, e)),
               b.add(b.constant(t.getType(), 1), e));
}

static Value emitSigmoid(ScalarBuilder &b, Value x) {
  Value one = b.constant(x.getType(), 1);
  Value e = expOfMinusAbs(b, x);
  Value isPositive = b.greaterEqual(x, b.constant(x.getType(), 0));
  return b.div(b.select(isPositive, one, e), b.add(one, e));
}

static Value emitSoftplus(ScalarBuilder &b, Value x) {
  return b.add(b.max(x, b.constant(x.getType(), 0)),
               b.math<math::Log1pOp>(expOfMinusAbs(b, x)));
}

/// x * tanh(log(1 + e)) with e = exp(x) is x * n / (n + 2), n = e * (e + 2).
/// Above the bound the quotient is 1 in the type, and e must not overflow.
static Value emitMish(ScalarBuilder &b, Value x) {
  Type type = x.getType();
  Value bound = b.constant(type, type.isF64() ? 40 : 20);
  Value e = b.math<math::ExpOp>(b.min(x, bound));
  Value two = b.constant(type, 2);
  Value n = b.mul(e, b.add(e, two));
  return b.mul(x, b.div(n, b.add(n, two)));
}

/// x * max(0, min(1, (x + 3) / 6)): exact near -3, where x / 6 + 0.5 cancels.
static Value emitHardSwish(ScalarBuilder &b, Value x) {
  Type type = x.getType();
  Value gate =
      b.mul(b.add(x, b.constant(type, 3)), b.constant(type, 1.0 / 6.0));
  gate = b.max(b.min(gate, b.constant(type, 1)), b.constant(type, 0));
  return b.mul(x, gate);
}

static Value emitHardSigmoid(HardSigmoidOp op, ScalarBuilder &b, Value x) {
  Type type = x.getType();
  Value linear =
      b.add(b.mul(x, b.constant(type, op.getAlpha().convertToDouble())),
            b.constant(type, op.getBeta().convertToDouble()));
  return b.max(b.min(linear, b.constant(type, 1)), b.constant(type, 0));
}

static Value emitGelu(GeluOp op, ScalarBuilder &b, Value x) {
  Type type = x.getType();
  if (!op.getTanhApproximation()) {
    Value scaled = b.mul(x, b.constant(type, M_SQRT1_2));
    Value gate = b.add(b.math<math::ErfOp>(scaled), b.constant(type, 1));
    return b.mul(b.mul(x, b.constant(type, 0.5)), gate);
  }
  // 0.5 * (1 + tanh(u)) is sigmoid(2 * u).
  double scale = 2 * M_2_SQRTPI * M_SQRT1_2;
  Value cubic = b.constant(type, 0.044715 * scale);
  Value factor = b.add(b.mul(b.mul(x, x), cubic), b.constant(type, scale));
  return timesSigmoid(b, x, b.mul(x, factor));
}

/// `positive` if x > 0, else scale * expm1(x / alpha).
static Value emitExponentialUnit(ScalarBuilder &b, Value x, Value positive,
                                 double alpha, double scale) {
  Type type = x.getType();
  Value argument = b.div(x, b.constant(type, alpha));
  Value negative =
      b.mul(b.math<math::ExpM1Op>(argument), b.constant(type, scale));
  return b.select(b.greater(x, b.constant(type, 0)), positive, negative);
}

/// Integers are computed in double precision, which holds those of 32 bits, and
/// saturate. Wider ones take a whole bias as integers.
static Value emitShrink(ShrinkOp op, ScalarBuilder &b, Value x) {
  Type type = x.getType();
  double bias = op.getBias().convertToDouble();
  double lambd = op.getLambd().convertToDouble();
  bool isInt = isa<IntegerType>(type);
  Value wide =
      isInt ? b.cast(x, b.builder.getF64Type(), b.isUnsigned, false) : x;
  bool isWhole = bias == std::trunc(bias) && std::abs(bias) < 1e15;
  bool addsWide = isInt && (type.getIntOrFloatBitWidth() <= 32 || !isWhole);
  Value summand = addsWide ? wide : x;
  Value offset = b.constant(summand.getType(), bias);
  Value isBelow = b.less(wide, b.constant(wide.getType(), -lambd));
  Value isAbove = b.greater(wide, b.constant(wide.getType(), lambd));
  Value zero = b.constant(summand.getType(), 0);
  Value result = b.select(isBelow, b.add(summand, offset),
                          b.select(isAbove, b.sub(summand, offset), zero));
  return addsWide ? b.cast(result, type, false, b.isUnsigned) : result;
}

/// Zero gives zero, NaN gives NaN.
static Value emitSign(ScalarBuilder &b, Value x) {
  Type type = x.getType();
  Value zero = b.constant(type, 0), one = b.constant(type, 1);
  if (isa<IntegerType>(type))
    return b.isUnsigned ? b.min(x, one)
                        : b.max(b.min(x, one), b.constant(type, -1));
  Value rest = b.select(b.less(x, zero), b.constant(type, -1), b.add(x, zero));
  return b.select(b.greater(x, zero), one, rest);
}

static Value emitIsInf(IsInfOp op, ScalarBuilder &b, Value x) {
  Type type = x.getType();
  if (op.getDetectNegative() && op.getDetectPositive())
    return b.equal(b.abs(x), b.highest(type));
  if (op.getDetectPositive())
    return b.equal(x, b.highest(type));
  if (op.getDetectNegative())
    return b.equal(x, b.lowest(type));
  return b.constant(b.builder.getI1Type(), 0);
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

/// Ops that compute on values wider than 16 bits: f16 and bf16 operands come
/// here as f32. Null for an op that is not known.
static Value emitArithmetic(Operation *op, ScalarBuilder &b, ValueRange args) {
  Value x = args.front();
  Value y = args.size() > 1 ? args[1] : Value();
  Type type = x.getType();
  auto constant = [&](double value) { return b.constant(type, value); };
  auto toDouble = [](const APFloat &value) { return value.convertToDouble(); };
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](AbsOp) { return b.abs(x); })
      .Case([&](AcosOp) { return b.math<math::AcosOp>(x); })
      .Case([&](AcoshOp) { return b.math<math::AcoshOp>(x); })
      .Case([&](AsinOp) { return b.math<math::AsinOp>(x); })
      .Case([&](AsinhOp) { return b.math<math::AsinhOp>(x); })
      .Case([&](AtanOp) { return b.math<math::AtanOp>(x); })
      .Case([&](AtanhOp) { return b.math<math::AtanhOp>(x); })
      .Case([&](BitwiseNotOp) { return b.logicalNot(x); })
      .Case([&](CeilOp) { return b.math<math::CeilOp>(x); })
      .Case([&](CosOp) { return b.math<math::CosOp>(x); })
      .Case([&](CoshOp) { return b.math<math::CoshOp>(x); })
      .Case([&](ErfOp) { return b.math<math::ErfOp>(x); })
      .Case([&](ExpOp) { return b.math<math::ExpOp>(x); })
      .Case([&](FloorOp) { return b.math<math::FloorOp>(x); })
      .Case([&](HardSwishOp) { return emitHardSwish(b, x); })
      .Case([&](IsNaNOp) { return b.isNaN(x); })
      .Case([&](LogOp) { return b.math<math::LogOp>(x); })
      .Case([&](MishOp) { return emitMish(b, x); })
      .Case([&](NegOp) { return b.neg(x); })
      .Case([&](NotOp) { return b.logicalNot(x); })
      .Case([&](ReciprocalOp) { return b.div(constant(1), x); })
      .Case([&](ReluOp) { return b.max(x, constant(0)); })
      .Case([&](RoundOp) { return b.math<math::RoundEvenOp>(x); })
      .Case([&](RsqrtOp) { return b.math<math::RsqrtOp>(x); })
      .Case([&](SigmoidOp) { return emitSigmoid(b, x); })
      .Case([&](SignOp) { return emitSign(b, x); })
      .Case([&](SinOp) { return b.math<math::SinOp>(x); })
      .Case([&](SinhOp) { return b.math<math::SinhOp>(x); })
      .Case([&](SoftplusOp) { return emitSoftplus(b, x); })
      .Case([&](SoftsignOp) { return b.div(x, b.add(b.abs(x), constant(1))); })
      .Case([&](SqrtOp) { return b.math<math::SqrtOp>(x); })
      .Case([&](TanOp) { return b.math<math::TanOp>(x); })
      .Case([&](TanhOp) { return b.math<math::TanhOp>(x); })
      .Case([&](CeluOp celu) {
        double alpha = toDouble(celu.getAlpha());
        return emitExponentialUnit(b, x, x, alpha, alpha);
      })
      .Case([&](EluOp elu) {
        return emitExponentialUnit(b, x, x, 1, toDouble(elu.getAlpha()));
      })
      .Case([&](SeluOp selu) {
        double gamma = toDouble(selu.getGamma());
        return emitExponentialUnit(b, x, b.mul(x, constant(gamma)), 1,
                                   gamma * toDouble(selu.getAlpha()));
      })
      .Case([&](GeluOp gelu) { return emitGelu(gelu, b, x); })
      .Case([&](HardSigmoidOp hard) { return emitHardSigmoid(hard, b, x); })
      .Case([&](LeakyReluOp relu) {
        return b.select(b.greaterEqual(x, constant(0)), x,
                        b.mul(x, constant(toDouble(relu.getAlpha()))));
      })
      .Case([&](SwishOp swish) {
        return timesSigmoid(b, x,
                            b.mul(x, constant(toDouble(swish.getAlpha()))));
      })
      .Case([&](ThresholdedReluOp relu) {
        return b.select(b.greater(x, constant(toDouble(relu.getAlpha()))), x,
                        constant(0));
      })
      .Case([&](ShrinkOp shrink) { return emitShrink(shrink, b, x); })
      .Case([&](IsInfOp isInf) { return emitIsInf(isInf, b, x); })
      .Case([&](AddOp) { return b.add(x, y); })
      .Case([&](SubOp) { return b.sub(x, y); })
      .Case([&](MulOp) { return b.mul(x, y); })
      .Case([&](DivOp) { return b.div(x, y); })
      .Case([&](PowOp) { return b.pow(x, y); })
      .Case([&](ModOp) { return b.mod(x, y); })
      .Case([&](RemOp) { return b.rem(x, y); })
      .Case([&](MinOp) { return b.min(x, y); })
      .Case([&](MaxOp) { return b.max(x, y); })
      .Case([&](PReluOp) {
        return b.select(b.greaterEqual(x, constant(0)), x, b.mul(x, y));
      })
      .Case<AndOp, BitwiseAndOp>([&](auto) { return b.bitAnd(x, y); })
      .Case<OrOp, BitwiseOrOp>([&](auto) { return b.bitOr(x, y); })
      .Case<XorOp, BitwiseXorOp>([&](auto) { return b.bitXor(x, y); })
      .Case([&](ShiftLeftOp) { return b.shiftLeft(x, y); })
      .Case([&](ShiftRightOp) { return b.shiftRight(x, y); })
      .Case([&](EqualOp) { return b.equal(x, y); })
      .Case([&](LessOp) { return b.less(x, y); })
      .Case([&](LessEqualOp) { return b.lessEqual(x, y); })
      .Case([&](GreaterOp) { return b.greater(x, y); })
      .Case([&](GreaterEqualOp) { return b.greaterEqual(x, y); })
      .Case([&](ClipOp) { return b.min(b.max(x, y), args[2]); })
      .Default([](Operation *) { return Value(); });
}

/// The element of the op's result from those of its operands. Null for an op
/// that is not known.
static Value emitBody(Operation *op, ScalarBuilder &b, ValueRange args) {
  if (isa<WhereOp>(op))
    return b.select(args[0], args[1], args[2]);
  Type to = toSignless(getElementTypeOrSelf(op->getResult(0)));
  if (isa<CastOp>(op))
    return b.cast(args.front(), to, b.isUnsigned,
                  hasUnsignedElements(op->getResult(0)));
  SmallVector<Value> wide =
      llvm::map_to_vector(args, [&](Value arg) { return b.widen(arg); });
  Value result = emitArithmetic(op, b, wide);
  return result && isa<FloatType>(to) ? b.narrow(result, to) : result;
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// The value of a constant whose elements are all equal, as a signless scalar.
static TypedAttr matchSplat(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return {};
  Type type = toSignless(elements.getElementType());
  if (isa<FloatType>(type))
    return FloatAttr::get(type, elements.getSplatValue<APFloat>());
  return IntegerAttr::get(type, elements.getSplatValue<APInt>());
}

/// The extents of the result. Each dynamic one is that of an operand whose
/// extent there is not 1: a dynamic extent does not broadcast.
static SmallVector<OpFoldResult> getDomain(OpBuilder &builder, Location loc,
                                           RankedTensorType result,
                                           ValueRange operands) {
  SmallVector<OpFoldResult> domain;
  for (auto [dim, extent] : llvm::enumerate(result.getShape())) {
    OpFoldResult known =
        builder.getIndexAttr(ShapedType::isDynamic(extent) ? 1 : extent);
    domain.push_back(known);
    if (!ShapedType::isDynamic(extent))
      continue;
    for (Value operand : operands) {
      auto type = cast<RankedTensorType>(operand.getType());
      int64_t source =
          static_cast<int64_t>(dim) - (result.getRank() - type.getRank());
      if (source < 0 || type.getDimSize(source) == 1)
        continue;
      domain.back() = tensor::getMixedSize(builder, loc, operand, source);
      if (!type.isDynamicDim(source))
        break;
    }
  }
  return domain;
}

namespace {

/// Any elementwise op but batch_norm becomes one linalg.generic over the
/// result's shape. Splat constants become constants of the body.
struct LowerElementwise
    : public OpInterfaceConversionPattern<ElementwiseOpInterface> {
  using OpInterfaceConversionPattern::OpInterfaceConversionPattern;

  LogicalResult
  matchAndRewrite(ElementwiseOpInterface op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto declared = cast<RankedTensorType>(op->getResult(0).getType());
    RankedTensorType type = toSignless(declared);
    if (isa<IdentityOp>(op)) {
      rewriter.replaceOp(op, castTo(rewriter, loc, operands.front(), type));
      return success();
    }
    GenericBuilder generic(rewriter, loc,
                           getDomain(rewriter, loc, type, operands),
                           hasUnsignedElements(op->getOperand(0)));
    SmallVector<TypedAttr> splats;
    SmallVector<GenericBuilder::Operand> inputs;
    for (auto [original, operand] :
         llvm::zip_equal(op->getOperands(), operands)) {
      splats.push_back(matchSplat(original));
      if (!splats.back())
        inputs.push_back(generic.broadcast(operand));
    }
    bool isKnown = true;
    Value result = generic.createMap(
        type, inputs, [&](ScalarBuilder &b, ValueRange elements) {
          SmallVector<Value> args;
          for (TypedAttr splat : splats) {
            if (splat) {
              args.push_back(
                  arith::ConstantOp::create(b.builder, b.location, splat));
            } else {
              args.push_back(elements.front());
              elements = elements.drop_front();
            }
          }
          Value element = emitBody(op, b, args);
          isKnown = static_cast<bool>(element);
          return isKnown ? element : b.constant(type.getElementType(), 0);
        });
    if (!isKnown)
      return rewriter.notifyMatchFailure(op, "no scalar form of the op");
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// batch_norm is y = (x - mean) * factor + bias, where the factor of each
/// channel, scale / sqrt(variance + epsilon), is computed by an op of its own.
struct LowerBatchNorm : public OpConversionPattern<BatchNormOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(BatchNormOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = op.getType();
    Type compute = getComputeType(type.getElementType());
    double epsilon = op.getEpsilon().convertToDouble();
    GenericBuilder channels(rewriter, loc,
                            getExtents(rewriter, loc, adaptor.getScale()));
    Value factor = channels.createMap(
        channels.getType(compute),
        {channels.full(adaptor.getScale()),
         channels.full(adaptor.getVariance())},
        [&](ScalarBuilder &b, ValueRange args) {
          Value variance = b.widen(args[1]);
          Value shifted = b.add(variance, b.constant(compute, epsilon));
          return b.div(b.widen(args[0]), b.math<math::SqrtOp>(shifted));
        });

    GenericBuilder generic(rewriter, loc,
                           getExtents(rewriter, loc, adaptor.getInput()));
    // Rank 1 is a batch of one channel.
    AffineExpr channel = type.getRank() == 1 ? rewriter.getAffineConstantExpr(0)
                                             : rewriter.getAffineDimExpr(1);
    AffineMap map = AffineMap::get(type.getRank(), 0, channel);
    Value result = generic.createMap(
        type,
        {generic.full(adaptor.getInput()),
         {adaptor.getMean(), map},
         {factor, map},
         {adaptor.getBias(), map}},
        [&](ScalarBuilder &b, ValueRange args) {
          Value centered = b.sub(b.widen(args[0]), b.widen(args[1]));
          Value scaled = b.add(b.mul(centered, args[2]), b.widen(args[3]));
          return b.narrow(scaled, type.getElementType());
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void mlir::fuse::populateElementwiseToLinalg(RewritePatternSet &patterns,
                                             const TypeConverter &converter) {
  MLIRContext *context = patterns.getContext();
  patterns.add<LowerElementwise>(converter, context);
  patterns.add<LowerBatchNorm>(converter, context, /*benefit=*/2);
}
