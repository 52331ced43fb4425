//===- ExpandMathPow.cpp - Powers and roots -------------------------------===//

#include "ExpandMathFamilies.h"

using namespace mlir;
using namespace mlir::fuse;

// log2(1 + f) = f * p(f), sqrt(1/2) - 1 <= f <= sqrt(2) - 1. Error: 1.6e-11.
static constexpr double kLog2[] = {
    0x1.71547652a1e96p0,   -0x1.715476565d2a3p-1, 0x1.ec709ebb9617ep-2,
    -0x1.71547097af9f3p-2, 0x1.277651fb7814bp-2,  -0x1.ec72b58e439e6p-3,
    0x1.a63f4492367e8p-3,  -0x1.714171c9021fap-3, 0x1.4529171dab3ccp-3,
    -0x1.252f2c5d583e6p-3, 0x1.2871e733d06aep-3,  -0x1.248927bf0c456p-3,
    0x1.3ce9155d5776cp-4};
// 2^r, |r| <= 1 / 2. Error: 3.7e-9.
static constexpr double kExp2[] = {1.0,           0x1.62e43p-1,  0x1.ebfbd8p-3,
                                   0x1.c6af74p-5, 0x1.3b3096p-7, 0x1.5f0ca4p-10,
                                   0x1.3fad46p-13};

/// |x|^y in f64 for f32 operands: the product y * log2(x), at most 2^8 where
/// the result is finite, keeps 28 bits after the point, and rounding the f64
/// result to f32 gives overflow and denormals. `x` >= 0.
static Value powOfF32(const MathBuilder &b, Value x, Value y) {
  MathBuilder w = b.asF64();
  OpBuilder &builder = b.getBuilder();
  Location loc = b.getLoc();
  Value wideX = arith::ExtFOp::create(builder, loc, w.getFloatType(), x);
  Value wideY = arith::ExtFOp::create(builder, loc, w.getFloatType(), y);

  // All positive f32 are normal in f64. 0 and inf are put right below.
  int64_t one = w.bitsOf(1.0), root = w.bitsOf(0x1.6a09e667f3bcdp-1);
  Value bits = w.bits(wideX);
  Value biased = w.shr(w.iadd(bits, one - root), 52);
  Value exponent =
      w.sub(w.fromBits(w.ior(biased, w.intConstant(w.bitsOf(0x1p52)))),
            w.constant(0x1p52 + 1023));
  Value fraction = w.isub(bits, w.shl(w.isub(biased, 1023), 52));
  Value f = w.sub(w.fromBits(fraction), w.constant(1.0));
  Value log = w.fma(f, w.splitPolynomial(f, kLog2), exponent);
  Value product = w.mul(wideY, log);

  // Results of f32 are 0 or inf beyond these bounds.
  product = w.clampAbove(product, 130.0);
  product = w.clampBelow(product, -160.0);
  Value magic = w.constant(0x1.8p52);
  Value sum = w.add(product, magic);
  Value r = w.sub(product, w.sub(sum, magic));
  Value p = w.splitPolynomial(r, kExp2);
  Value scaled = w.fromBits(w.iadd(w.bits(p), w.shl(w.bits(sum), 52)));
  return arith::TruncFOp::create(builder, loc, b.getFloatType(), scaled);
}

Value mlir::fuse::emitPow(const MathBuilder &b, Value x, Value y) {
  if (b.isF64())
    return {};
  using Predicate = arith::CmpFPredicate;
  Value magnitude = b.abs(x);
  Value result = powOfF32(b, magnitude, y);

  // 0 and inf to the power y: 0 or inf by the sign of y.
  Value yPositive = b.cmp(Predicate::OGT, y, 0.0);
  Value yNegative = b.cmp(Predicate::OLT, y, 0.0);
  Value zero = b.cmp(Predicate::OEQ, x, 0.0);
  Value infinite = b.cmp(Predicate::OEQ, magnitude, b.infinity());
  Value toZero =
      b.maskOr(b.maskAnd(zero, yPositive), b.maskAnd(infinite, yNegative));
  Value toInfinity =
      b.maskOr(b.maskAnd(zero, yNegative), b.maskAnd(infinite, yPositive));
  result = b.select(toZero, b.constant(0.0), result);
  result = b.select(toInfinity, b.infinity(), result);
  // 1 to any power, NaN too, and -1 to an infinite power.
  result =
      b.select(b.cmp(Predicate::OEQ, magnitude, 1.0), b.constant(1.0), result);

  // Negative x: only integers as powers, and the sign for odd ones. Infinite y
  // is an even integer; a y so small that its half rounds is no integer.
  Value half = b.mul(y, b.constant(0.5));
  Value isInteger = b.cmp(Predicate::OEQ, b.trunc(y), y);
  Value halfIsNot = b.cmp(Predicate::UNE, b.trunc(half), half);
  Value odd = b.maskAnd(isInteger, halfIsNot);
  Value sign = b.select(odd, b.signBit(x), b.intConstant(0));
  result = b.xorSign(result, sign);
  Value negative = b.maskAnd(b.cmp(Predicate::OLT, x, 0.0),
                             b.cmp(Predicate::UNE, x, b.neg(b.infinity())));
  Value undefined = b.maskAnd(negative, b.maskNot(isInteger));
  result = b.select(undefined, b.nan(), result);
  return b.select(b.cmp(Predicate::OEQ, y, 0.0), b.constant(1.0), result);
}

Value mlir::fuse::emitRsqrt(const MathBuilder &b, Value x) {
  Value one = b.constant(1.0);
  if (!b.hasNative() || b.isF64())
    return b.div(one, b.sqrt(x));
  // One step of a third-order iteration from 14 bits: with e = 1 - x * y^2,
  // y * (1 - e)^(-1/2) = y + y * e * (1/2 + 3/8 * e). Where the estimate is 0
  // or infinite, e is NaN and the estimate stands.
  Value y = b.nativeReciprocalRoot(x);
  Value e = b.fnma(b.mul(x, y), y, one);
  Value correction =
      b.mul(b.mul(y, e), b.fma(e, b.constant(0.375), b.constant(0.5)));
  Value refined = b.add(y, correction);
  return b.select(b.cmp(arith::CmpFPredicate::UNO, e, e), y, refined);
}
