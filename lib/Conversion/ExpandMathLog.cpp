//===- ExpandMathLog.cpp - Logarithms -------------------------------------===//
//
// log, log2, log10 and log1p: x = 2^e * (1 + f), and a polynomial in f. The
// logarithm of 1 + f is taken as f times the base's factor in two parts plus
// f^2 times a polynomial, so that it is accurate near 1.
//
//===----------------------------------------------------------------------===//

#include "ExpandMathFamilies.h"

using namespace mlir;
using namespace mlir::fuse;

namespace {
/// Constants of one base and element type.
struct LogConstants {
  /// log(2) in two parts; the product of the upper one and an exponent is
  /// exact.
  double ln2High, ln2Low;
  /// log(e) in two parts.
  double factorHigh, factorLow;
  /// log(1 + f) = f * factor + f^2 * polynomial(f), sqrt(1/2) - 1 <= f <=
  /// sqrt(2) - 1.
  ArrayRef<double> polynomial;
};

/// Tables for AVX-512, f32: with m in [1, 2) and i its four upper bits below
/// the leading one, f = m * reciprocal[i] - 1 is exact and small, and log(m) =
/// offset[i] + log(1 + f). Reciprocals are chosen among floats so that offset
/// is within 2^-39 of a float (Gal's method). The first entry is exact for
/// m near 1; the last ones are relative to log(2) as rounded, which cancels
/// them where e is -1.
struct LogTable {
  double ln2;
  ArrayRef<double> reciprocal, offset;
  /// log(1 + f) = f * polynomial(f), -0.0346 <= f <= 1 / 16.
  ArrayRef<double> polynomial;
};
} // namespace

// Errors: 4.2e-9, 4.7e-9, 4.5e-9; 8.3e-18, 7.9e-18, 8e-18.
static constexpr double kLnF32[] = {
    -0x1.fffff8p-2, 0x1.55555p-2,   -0x1.000432p-2,
    0x1.99a41ap-3,  -0x1.5425c4p-3, 0x1.226dfcp-3,
    -0x1.0f3fa6p-3, 0x1.0860dp-3,   -0x1.384734p-4};
static constexpr double kLog2F32[] = {
    -0x1.71547p-1,  0x1.ec7094p-2,  -0x1.715ac8p-2,
    0x1.277ef4p-2,  -0x1.eab182p-3, 0x1.a2e684p-3,
    -0x1.877ae4p-3, 0x1.7e0e24p-3,  -0x1.c3673p-4};
static constexpr double kLog10F32[] = {
    -0x1.bcb7aap-3, 0x1.287a72p-3,  -0x1.bcbf2ap-4,
    0x1.63cf38p-4,  -0x1.276f44p-4, 0x1.f88526p-5,
    -0x1.d76478p-5, 0x1.cb62ep-5,   -0x1.0efa9cp-5};
static constexpr double kLnF64[] = {
    -0x1.0000000000003p-1, 0x1.555555555551cp-2,  -0x1.fffffffffdedep-3,
    0x1.99999999a17dfp-3,  -0x1.55555556e2856p-3, 0x1.2492492246c29p-3,
    -0x1.fffffef6a1e86p-4, 0x1.c71c71d805a6p-4,   -0x1.9999c90990664p-4,
    0x1.745d4523d2901p-4,  -0x1.55507465c25d7p-4, 0x1.3b0ac9094b35p-4,
    -0x1.24dc4ad654c53p-4, 0x1.11d8243d8c86dp-4,  -0x1.fb6e5d1672714p-5,
    0x1.cfb72947854afp-5,  -0x1.d15a5125f36fep-5, 0x1.0b5466cbc079ep-4,
    -0x1.eb43a8d53b327p-5, 0x1.abe14c50ffa5ep-6};
static constexpr double kLog2F64[] = {
    -0x1.71547652b8303p-1, 0x1.ec709dc3a03aep-2,  -0x1.71547652b699bp-2,
    0x1.2776c50eff27bp-2,  -0x1.ec709dc5f238fp-3, 0x1.a61762a4a7e21p-3,
    -0x1.7154758ee5606p-3, 0x1.484b13d20fc11p-3,  -0x1.2776e7c47a1eep-3,
    0x1.0c9aa8143b72cp-3,  -0x1.ec698567da873p-4, 0x1.c6821e6445f66p-4,
    -0x1.a682775771bd6p-4, 0x1.8b1708ec8d25dp-4,  -0x1.6e0ae35eb3de7p-4,
    0x1.4e686c0e8190dp-4,  -0x1.4f89d5714df2dp-4, 0x1.81d717e8871c6p-4,
    -0x1.62e6f273a94d7p-4, 0x1.3553049389a0cp-5};
static constexpr double kLog10F64[] = {
    -0x1.bcb7b1526e514p-3, 0x1.287a7636f432fp-3,  -0x1.bcb7b1526c6c4p-4,
    0x1.63c627752b92fp-4,  -0x1.287a763857d2cp-4, 0x1.fc3fa611662d2p-5,
    -0x1.bcb7b0677eec6p-5, 0x1.8b4df2ef0902ap-5,  -0x1.63c651269d35ap-5,
    0x1.436e7cd651e68p-5,  -0x1.28763250bbf81p-5, 0x1.11a42f6c713b9p-5,
    -0x1.fcc07bac3d0a8p-6, 0x1.dbbbbc0cb9721p-6,  -0x1.b8c27257887f9p-6,
    0x1.92ae94db8c2f9p-6,  -0x1.940b0f36250abp-6, 0x1.d0910197ef255p-6,
    -0x1.ab468e82c350bp-6, 0x1.7463b3332698cp-7};

static LogConstants naturalLog(const MathBuilder &b) {
  if (b.isF64())
    return {0x1.62e42fefa4p-1, -0x1.8432a1b0e2634p-43, 1.0, 0.0, kLnF64};
  return {0x1.62e4p-1, 0x1.7f7d1cp-20, 1.0, 0.0, kLnF32};
}

static LogConstants binaryLog(const MathBuilder &b) {
  if (b.isF64())
    return {1.0, 0.0, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56, kLog2F64};
  return {1.0, 0.0, 0x1.715476p0, 0x1.4ae0cp-26, kLog2F32};
}

static LogConstants decimalLog(const MathBuilder &b) {
  if (b.isF64())
    return {0x1.34413509f8p-2, -0x1.80433b83b532ap-44, 0x1.bcb7b1526e50ep-2,
            0x1.95355baaafad3p-57, kLog10F64};
  return {0x1.344p-2, 0x1.3509f8p-18, 0x1.bcb7b2p-2, -0x1.5b235ep-27,
          kLog10F32};
}

// Errors: 3.5e-9, 1.3e-8, 2.4e-8.
static constexpr double kLnTablePolynomial[] = {
    1.0, -0x1.fffffep-2, 0x1.555872p-2, -0x1.002986p-2, 0x1.84814cp-3};
static constexpr double kLog2TablePolynomial[] = {
    0x1.715476p0, -0x1.715478p-1, 0x1.ec7b5p-2, -0x1.718c3ep-2, 0x1.132048p-2};
static constexpr double kLog10TablePolynomial[] = {
    0x1.bcb7b2p-2, -0x1.bcb7a6p-3, 0x1.2876a6p-3, -0x1.bd1c38p-4,
    0x1.5d0b5ap-4};

static constexpr double kLnReciprocal[] = {
    0x1p+0,        0x1.d3ac8ap-1, 0x1.bb8fcap-1, 0x1.a3099p-1,
    0x1.8ff0f8p-1, 0x1.7d43b6p-1, 0x1.6cc8ap-1,  0x1.5d79a6p-1,
    0x1.4f5c0cp-1, 0x1.417adap-1, 0x1.352496p-1, 0x1.2932aap-1,
    0x1.1fda2ep-1, 0x1.156382p-1, 0x1.0c144ep-1, 0x1p-1};
static constexpr double kLnOffset[] = {
    0x0p+0,        0x1.72e7e8p-4, 0x1.25dceap-3, 0x1.9a58bcp-3,
    0x1.f9debep-3, 0x1.2de84p-2,  0x1.5b2814p-2, 0x1.870eb6p-2,
    0x1.b146bap-2, 0x1.dc8f1ap-2, 0x1.025092p-1, 0x1.167d84p-1,
    0x1.26d962p-1, 0x1.39ceaap-1, 0x1.4b490ep-1, 0x1.62e43p-1};
static constexpr double kLog2Reciprocal[] = {
    0x1p+0,        0x1.d2ecdp-1,  0x1.bb54b2p-1, 0x1.a539e8p-1,
    0x1.901e88p-1, 0x1.7d3916p-1, 0x1.6c81aap-1, 0x1.5d064p-1,
    0x1.4d494cp-1, 0x1.40f572p-1, 0x1.341dcep-1, 0x1.29b82ap-1,
    0x1.1efe22p-1, 0x1.1596eep-1, 0x1.0d22f2p-1, 0x1p-1};
static constexpr double kLog2Offset[] = {
    0x0p+0,        0x1.104992p-3, 0x1.a97e1ep-3, 0x1.204e4ap-2,
    0x1.6c4038p-2, 0x1.b3b88cp-2, 0x1.f5f6ccp-2, 0x1.1b0aaep-1,
    0x1.3d1f9ap-1, 0x1.58f686p-1, 0x1.77204ap-1, 0x1.907b4ap-1,
    0x1.ab962p-1,  0x1.c4318ap-1, 0x1.db095ap-1, 0x1p+0};
static constexpr double kLog10Reciprocal[] = {
    0x1p+0,        0x1.d3c38ap-1, 0x1.ba44e8p-1, 0x1.a4e61p-1,
    0x1.90b62ep-1, 0x1.7c9a0cp-1, 0x1.6c0a5cp-1, 0x1.5c0978p-1,
    0x1.4d60dap-1, 0x1.41d362p-1, 0x1.35f012p-1, 0x1.2a235cp-1,
    0x1.1fd5bap-1, 0x1.1485cap-1, 0x1.0ce1d6p-1, 0x1p-1};
static constexpr double kLog10Offset[] = {
    0x0p+0,        0x1.417b3ap-5, 0x1.046fecp-4, 0x1.5c89d8p-4,
    0x1.b3f856p-4, 0x1.07c7dep-3, 0x1.2f59b2p-3, 0x1.575608p-3,
    0x1.7d9bf4p-3, 0x1.9cfa46p-3, 0x1.be7468p-3, 0x1.e0fa54p-3,
    0x1.00212ep-2, 0x1.11f5d4p-2, 0x1.1e6bc4p-2, 0x1.344136p-2};

/// The exponent of the positive normal float `x`, as an integer plus the bias,
/// such that the significand is in [sqrt(1/2), sqrt(2)).
static Value biasedExponent(const MathBuilder &b, Value x) {
  double root = b.isF64() ? 0x1.6a09e667f3bcdp-1 : 0x1.6a09e6p-1;
  int64_t one = b.bitsOf(1.0);
  return b.shr(b.iadd(b.bits(x), one - b.bitsOf(root)), b.getMantissaBits());
}

/// The float value of the integer 0 <= n < 2^mantissaBits, minus `offset`.
static Value toFloat(const MathBuilder &b, Value n, Value offset) {
  double big = b.isF64() ? 0x1p52 : 0x1p23;
  Value shifted = b.fromBits(b.ior(n, b.intConstant(b.bitsOf(big))));
  return b.sub(shifted, offset);
}

/// log(2^exponent * (1 + f)).
static Value combine(const MathBuilder &b, const LogConstants &c,
                     Value exponent, Value f) {
  Value q = b.splitPolynomial(f, c.polynomial);
  Value tail =
      c.factorLow == 0.0 ? b.mul(f, q) : b.fma(f, q, b.constant(c.factorLow));
  Value sum = c.ln2Low == 0.0
                  ? b.mul(f, tail)
                  : b.fma(f, tail, b.mul(exponent, b.constant(c.ln2Low)));
  sum = c.factorHigh == 1.0 ? b.add(f, sum)
                            : b.fma(f, b.constant(c.factorHigh), sum);
  return c.ln2High == 1.0 ? b.add(exponent, sum)
                          : b.fma(exponent, b.constant(c.ln2High), sum);
}

/// `result` where x is positive and finite; else the logarithm of 0, inf, NaN
/// or of a negative number.
static Value specialCases(const MathBuilder &b, Value x, Value result) {
  Value finite = b.cmp(arith::CmpFPredicate::OLT, x, b.infinity());
  result = b.select(finite, result, x);
  Value positive = b.cmp(arith::CmpFPredicate::UGT, x, 0.0);
  Value zero = b.cmp(arith::CmpFPredicate::OEQ, x, 0.0);
  Value other = b.select(zero, b.neg(b.infinity()), b.nan());
  return b.select(positive, result, other);
}

static Value emitLogOf(const MathBuilder &b, const LogConstants &c, Value x) {
  int64_t shift = b.isF64() ? 54 : 25;
  double smallestNormal = b.isF64() ? 0x1p-1022 : 0x1p-126;
  double big = b.isF64() ? 0x1p52 : 0x1p23;
  double offset = big + b.getBias();
  Value denormal = b.cmp(arith::CmpFPredicate::OLT, x, smallestNormal);
  Value scaled = b.mul(x, b.constant(std::ldexp(1.0, shift)));
  Value normal = b.select(denormal, scaled, x);
  Value biased = biasedExponent(b, normal);
  Value exponent = toFloat(
      b, biased,
      b.select(denormal, b.constant(offset + shift), b.constant(offset)));
  Value fraction = b.isub(
      b.bits(normal), b.shl(b.isub(biased, b.getBias()), b.getMantissaBits()));
  Value f = b.sub(b.fromBits(fraction), b.constant(1.0));
  return specialCases(b, x, combine(b, c, exponent, f));
}

/// vgetexp and vgetmant give the special cases by themselves: the exponent of 0
/// and inf is infinite, the significand of a negative number is NaN.
static Value nativeLog(const MathBuilder &b, const LogTable &t, Value x) {
  Value exponent = b.nativeExponent(x);
  Value mantissa = b.nativeMantissa(x);
  Value index = b.shr(b.bits(mantissa), b.getMantissaBits() - 4);
  Value f =
      b.fma(mantissa, b.nativeLookup(t.reciprocal, index), b.constant(-1.0));
  Value offset = b.nativeLookup(t.offset, index);
  offset = t.ln2 == 1.0 ? b.add(exponent, offset)
                        : b.fma(exponent, b.constant(t.ln2), offset);
  return b.fma(f, b.polynomial(f, t.polynomial), offset);
}

Value mlir::fuse::emitLog(const MathBuilder &b, Value x) {
  if (b.hasNative() && !b.isF64())
    return nativeLog(
        b, {0x1.62e43p-1, kLnReciprocal, kLnOffset, kLnTablePolynomial}, x);
  return emitLogOf(b, naturalLog(b), x);
}

Value mlir::fuse::emitLog2(const MathBuilder &b, Value x) {
  if (b.hasNative() && !b.isF64())
    return nativeLog(
        b, {1.0, kLog2Reciprocal, kLog2Offset, kLog2TablePolynomial}, x);
  return emitLogOf(b, binaryLog(b), x);
}

Value mlir::fuse::emitLog10(const MathBuilder &b, Value x) {
  if (b.hasNative() && !b.isF64())
    return nativeLog(
        b,
        {0x1.344136p-2, kLog10Reciprocal, kLog10Offset, kLog10TablePolynomial},
        x);
  return emitLogOf(b, decimalLog(b), x);
}

Value mlir::fuse::emitLog1p(const MathBuilder &b, Value x) {
  // The exponent is that of the rounded 1 + x; f = (1 + x) * 2^-e - 1 is then
  // computed from x itself, scaled by an exact power of two.
  Value one = b.constant(1.0);
  Value sum = b.add(x, one);
  Value biased = biasedExponent(b, sum);
  Value shift = b.shl(b.isub(biased, b.getBias()), b.getMantissaBits());
  // 2^-e, or 0 where that is no longer normal.
  Value power = b.isub(b.intConstant(b.bitsOf(1.0)), shift);
  Value negative = b.icmp(arith::CmpIPredicate::slt, power, b.intConstant(0));
  power = b.fromBits(b.select(negative, b.intConstant(0), power));
  Value scaled = b.fromBits(b.isub(b.bits(x), shift));
  Value f = b.add(scaled, b.sub(power, one));
  double big = b.isF64() ? 0x1p52 : 0x1p23;
  Value exponent = toFloat(b, biased, b.constant(big + b.getBias()));
  Value result = combine(b, naturalLog(b), exponent, f);
  // The sign of zero, and of tiny results.
  Value finite = b.cmp(arith::CmpFPredicate::OLT, x, b.infinity());
  result = b.select(finite, b.copySign(result, x), x);
  Value inDomain = b.cmp(arith::CmpFPredicate::UGT, x, -1.0);
  Value pole = b.cmp(arith::CmpFPredicate::OEQ, x, -1.0);
  Value other = b.select(pole, b.neg(b.infinity()), b.nan());
  return b.select(inDomain, result, other);
}
