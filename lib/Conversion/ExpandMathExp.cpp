//===- ExpandMathExp.cpp - Exponential functions --------------------------===//
//
// exp, exp2, expm1 and tanh. The argument is split as n * step + r with n an
// integer by adding a constant whose spacing is the step (Cody and Waite, two
// constants for ln 2), so that the integer is also in the sum's low bits.
//
//===----------------------------------------------------------------------===//

#include "ExpandMathFamilies.h"

using namespace mlir;
using namespace mlir::fuse;

// ln 2 in two parts; the upper one has so few bits that its product with an
// exponent is exact.
static constexpr double kLn2F32[] = {0x1.62e4p-1, 0x1.7f7d1cp-20};
static constexpr double kLn2F64[] = {0x1.62e42fefa4p-1, -0x1.8432a1b0e2634p-43};
static constexpr double kLog2E = 0x1.71547652b82fep+0;

// exp(r) = 1 + r + r^2 * p(r), |r| <= ln 2 / 2. Errors: 3.3e-9, 3.8e-18.
static constexpr double kExpF32[] = {
    1.0,           1.0,          0x1.fffffap-2, 0x1.555492p-3,
    0x1.555a26p-5, 0x1.12398p-7, 0x1.694ca6p-10};
static constexpr double kExpF64[] = {1.0,
                                     1.0,
                                     0x1.000000000000ap-1,
                                     0x1.55555555554fep-3,
                                     0x1.55555555506bap-5,
                                     0x1.1111111126b3p-7,
                                     0x1.6c16c18477aefp-10,
                                     0x1.a01a012ff2944p-13,
                                     0x1.a019995cdc7a7p-16,
                                     0x1.71df18e2549e2p-19,
                                     0x1.28adfefa75cap-22,
                                     0x1.ad9303fd4d2cap-26};
// 2^r, |r| <= 1 / 2. Errors: 3.7e-9, 5.7e-18.
static constexpr double kExp2F32[] = {
    1.0,           0x1.62e43p-1,   0x1.ebfbd8p-3, 0x1.c6af74p-5,
    0x1.3b3096p-7, 0x1.5f0ca4p-10, 0x1.3fad46p-13};
static constexpr double kExp2F64[] = {1.0,
                                      0x1.62e42fefa39efp-1,
                                      0x1.ebfbdff82c5a6p-3,
                                      0x1.c6b08d704a12cp-5,
                                      0x1.3b2ab6fb9fda2p-7,
                                      0x1.5d87fe789e985p-10,
                                      0x1.4309130f6e1d7p-13,
                                      0x1.ffcbfc667ba35p-17,
                                      0x1.62bfc654d3f08p-20,
                                      0x1.b52522d3e4315p-24,
                                      0x1.e61d4cc4f16ddp-28,
                                      0x1.e972f5b1fea0bp-32};
// exp(r) - 1 = r + r^2 * p(r), |r| <= ln 2 / 32. Errors: 1.6e-9, 1.2e-17.
static constexpr double kExpTableF32[] = {0x1.00021ep-1, 0x1.555598p-3};
static constexpr double kExpTableF64[] = {
    0x1.fffffffffffbbp-2, 0x1.555555548f74ep-3, 0x1.55555558e1311p-5,
    0x1.11123abd96599p-7, 0x1.6c14da43b7262p-10};
// 2^r - 1 = r * p(r), |r| <= 1 / 32. Errors: 1.6e-9, 7e-18.
static constexpr double kExp2TableF32[] = {0x1.62e43p-1, 0x1.ebfff4p-3,
                                           0x1.c6aceep-5};
static constexpr double kExp2TableF64[] = {
    0x1.62e42fefa39fdp-1, 0x1.ebfbdff82c553p-3,  0x1.c6b08d6e8cb84p-5,
    0x1.3b2ab6fe2ccc8p-7, 0x1.5d89bd6fb879ap-10, 0x1.430814b8a636p-13};
// 2^(i / 16).
static constexpr double kRootsOfTwo[] = {
    0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0,
    0x1.2387a6e756238p+0, 0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0,
    0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0, 0x1.6a09e667f3bcdp+0,
    0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
    0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0,
    0x1.ea4afa2a490dap+0};
// exp(r) - 1 = r + r^2 * p(r), |r| <= ln 2 / 2, relative to expm1.
// Errors: 4.7e-10, 3e-19.
static constexpr double kExpM1F32[] = {0x1p-1,         0x1.555554p-3,
                                       0x1.5554fp-5,   0x1.111306p-7,
                                       0x1.6d436ap-10, 0x1.9e0bfep-13};
static constexpr double kExpM1F64[] = {0x1p-1,
                                       0x1.5555555555559p-3,
                                       0x1.555555555554dp-5,
                                       0x1.111111110f659p-7,
                                       0x1.6c16c16c1aafap-10,
                                       0x1.a01a01b000a1cp-13,
                                       0x1.a01a018e0fb83p-16,
                                       0x1.71ddf819199dfp-19,
                                       0x1.27e5133c92e3cp-22,
                                       0x1.af5f17c20c511p-26,
                                       0x1.1f1a283c7cf11p-29};
// tanh(x) / x = sum of kTanhTable[k][i] * (|x| - i * 19 / 64)^k for
// | |x| - i * 19 / 64 | <= 19 / 128. Error: 9e-9 and the rounding of the
// leading entry.
static constexpr double kTanhTable[][32] = {
    {0x1p0,         0x1.f17868p-1, 0x1.cb4228p-1, 0x1.992434p-1, 0x1.65c69p-1,
     0x1.3738bep-1, 0x1.0f9498p-1, 0x1.dd8d0ap-2, 0x1.a7c2eap-2, 0x1.7b9b4ap-2,
     0x1.571c6p-2,  0x1.38a828p-2, 0x1.1ef9f2p-2, 0x1.09179ap-2, 0x1.ec8294p-3,
     0x1.cbc6fp-3,  0x1.af17e6p-3, 0x1.95c31ap-3, 0x1.7f3be6p-3, 0x1.6b1238p-3,
     0x1.58ebe8p-3, 0x1.487facp-3, 0x1.39916cp-3, 0x1.2bef6ap-3, 0x1.1f703p-3,
     0x1.13f0dcp-3, 0x1.0953ecp-3, 0x1.ff0078p-4, 0x1.ecc078p-4, 0x1.dbc2aap-4,
     0x1.cbe6d8p-4, 0x1.bd10f2p-4},
    {-0x1.91146ep-24, -0x1.7a36bp-3,  -0x1.3788d8p-2, -0x1.5f64a2p-2,
     -0x1.4e05p-2,    -0x1.231938p-2, -0x1.e67fdp-3,  -0x1.8fbb62p-3,
     -0x1.4784fap-3,  -0x1.0da3cap-3, -0x1.bfcfaap-4, -0x1.77ad8ap-4,
     -0x1.3e8626p-4,  -0x1.10ddcep-4, -0x1.d80f86p-5, -0x1.9bfee4p-5,
     -0x1.6a827cp-5,  -0x1.41538ep-5, -0x1.1eb9a8p-5, -0x1.01654p-5,
     -0x1.d0a8d4p-6,  -0x1.a57de4p-6, -0x1.800fe4p-6, -0x1.5f6676p-6,
     -0x1.42bb52p-6,  -0x1.296e9ap-6, -0x1.12fe74p-6, -0x1.fe0102p-7,
     -0x1.da39f4p-7,  -0x1.ba15dcp-7, -0x1.9d1abcp-7, -0x1.82e1ecp-7},
    {-0x1.555304p-2, -0x1.132914p-2, -0x1.0a9724p-3, -0x1.28722ap-7,
     0x1.d384p-5,    0x1.41a13cp-4,  0x1.3921cep-4,  0x1.0ca95ap-4,
     0x1.b44fe8p-5,  0x1.5a2aeep-5,  0x1.10e0aap-5,  0x1.af0db2p-6,
     0x1.56e02ep-6,  0x1.135162p-6,  0x1.be9228p-7,  0x1.6e17b2p-7,
     0x1.2f351ep-7,  0x1.fb3746p-8,  0x1.ac0c54p-8,  0x1.6c893ep-8,
     0x1.38cp-8,     0x1.0e51e4p-8,  0x1.d62b1p-9,   0x1.9bc2acp-9,
     0x1.6a38e4p-9,  0x1.408e42p-9,  0x1.1d1fa6p-9,  0x1.fd130cp-10,
     0x1.c84422p-10, 0x1.9ac2aap-10, 0x1.731d56p-10, 0x1.50725ap-10},
    {-0x1.1f0de6p-12, 0x1.0fc32ap-3,   0x1.4633ecp-3,   0x1.b2a61ep-4,
     0x1.7182aap-5,   0x1.df1626p-8,   -0x1.2e3df8p-7,  -0x1.c5d0e8p-7,
     -0x1.b5fae6p-7,  -0x1.6fd936p-7,  -0x1.23a348p-7,  -0x1.c21212p-8,
     -0x1.59c75cp-8,  -0x1.095a5cp-8,  -0x1.9928b8p-9,  -0x1.3e3e32p-9,
     -0x1.f398bp-10,  -0x1.8c39bap-10, -0x1.3d6b92p-10, -0x1.00fb3p-10,
     -0x1.a3d67cp-11, -0x1.5a14eap-11, -0x1.1f631p-11,  -0x1.e21a58p-12,
     -0x1.96514ap-12, -0x1.5967cap-12, -0x1.27792p-12,  -0x1.fc1356p-13,
     -0x1.b7052ep-13, -0x1.7da99ep-13, -0x1.4d793ep-13, -0x1.249e76p-13},
    {0x1.18ae6p-3,   0x1.27ba34p-4,  -0x1.5de408p-6, -0x1.c5f216p-5,
     -0x1.5ebca6p-5, -0x1.631bf8p-6, -0x1.ff922ep-8, -0x1.13a5b6p-10,
     0x1.5b2a4ap-10, 0x1.0d6f36p-9,  0x1.d8ce78p-10, 0x1.a7666cp-10,
     0x1.3ba02ap-10, 0x1.a538a8p-11, 0x1.67338ap-11, 0x1.05057cp-11,
     0x1.8ddeccp-12, 0x1.25c576p-12, 0x1.1731a4p-12, 0x1.1dd314p-13,
     0x1.f86c46p-14, 0x1.42d116p-14, 0x1.c8c636p-14, 0x1.d52768p-16,
     0x1.52d8ap-14,  0x1.a1298ep-15, 0x1.3f524ep-19, 0x1.43807ep-16,
     0x1.6410fcp-15, 0x1.a84de4p-16, 0x1.7a1facp-17, -0x1.33b632p-18},
    {-0x1.79fb52p-6,  -0x1.142ap-4,    -0x1.7dfb38p-5,  -0x1.0eb8b2p-9,
     0x1.df932ep-7,   0x1.8efff6p-7,   0x1.b240cap-8,   0x1.5fa244p-9,
     0x1.ea4edcp-11,  0x1.0c1a06p-15,  -0x1.4faccep-13, -0x1.b4498ap-11,
     -0x1.bbb28ep-13, -0x1.e9dd6p-14,  -0x1.2547d4p-13, -0x1.72453ap-14,
     -0x1.4a9356p-14, -0x1.e415fcp-15, -0x1.9b1d7ap-15, -0x1.2ba3bp-16,
     -0x1.d49b18p-17, -0x1.ee5afp-18,  -0x1.8c5204p-16, 0x1.74d50ep-20,
     -0x1.099f46p-16, -0x1.a64abp-18,  0x1.397424p-20,  -0x1.3bcd84p-20,
     -0x1.9bda6p-18,  -0x1.9604bcp-19, 0x1.d447p-21,    0x1.b23c3cp-19}};

/// The table for the builder's element type.
static ArrayRef<double> pick(const MathBuilder &b, ArrayRef<double> f32,
                             ArrayRef<double> f64) {
  return b.isF64() ? f64 : f32;
}

namespace {
/// x = n * step + remainder (times ln 2 for base e). `sum` is the float whose
/// low bits hold n in two's complement.
struct Split {
  Value n;
  Value sum;
  Value remainder;
};
} // namespace

/// The float 1.5 * 2^p at which the floats' spacing is 2^-fractionBits.
static double roundingConstant(const MathBuilder &b, int fractionBits) {
  return std::ldexp(1.5, b.getMantissaBits() - fractionBits);
}

/// Splits for base e; n is a multiple of 2^-fractionBits.
static Split splitExp(const MathBuilder &b, Value x, int fractionBits) {
  Value magic = b.constant(roundingConstant(b, fractionBits));
  ArrayRef<double> ln2 = pick(b, kLn2F32, kLn2F64);
  Value sum = b.fma(x, b.constant(kLog2E), magic);
  Value n = b.sub(sum, magic);
  Value remainder = b.fma(n, b.constant(-ln2[0]), x);
  remainder = b.fma(n, b.constant(-ln2[1]), remainder);
  return {n, sum, remainder};
}

/// Splits for base 2; the remainder is exact.
static Split splitExp2(const MathBuilder &b, Value x, int fractionBits) {
  Value magic = b.constant(roundingConstant(b, fractionBits));
  Value sum = b.add(x, magic);
  Value n = b.sub(sum, magic);
  return {n, sum, b.sub(x, n)};
}

/// a * 2^n for the integer n of `split`, |n| <= 2 * bias, rounded once. The
/// power is applied in halves: either may be out of the exponents' range only
/// together.
static Value scale(const MathBuilder &b, Value a, const Split &split) {
  int64_t bias = b.getBias();
  // n + 2 * (bias + 1), so that a logical shift halves it towards -inf.
  Value biased = b.isub(b.bits(split.sum),
                        b.bitsOf(roundingConstant(b, 0)) - 2 * (bias + 1));
  Value half = b.shr(biased, 1);
  Value lower = b.shl(b.isub(half, 1), b.getMantissaBits());
  Value upper = b.shl(b.isub(b.isub(biased, half), 1), b.getMantissaBits());
  return b.mul(b.mul(a, b.fromBits(lower)), b.fromBits(upper));
}

/// 16 entries for the fraction of n, a short polynomial, and vscalef for the
/// integer part: it saturates and rounds denormals correctly, so the argument
/// is not clamped. Where n saturates, the remainder has no meaning; its
/// magnitude is kept below 1 (and NaN of inf - inf away) so that the polynomial
/// stays positive and finite. NaN is carried by n.
static Value nativeExp(const MathBuilder &b, Value x, bool base2) {
  Split split = base2 ? splitExp2(b, x, 4) : splitExp(b, x, 4);
  Value r = b.nativeClampMagnitude(split.remainder, 1.0);
  Value p;
  if (base2) {
    p = b.mul(r, b.polynomial(r, pick(b, kExp2TableF32, kExp2TableF64)));
  } else {
    Value q = b.polynomial(r, pick(b, kExpTableF32, kExpTableF64));
    p = b.fma(b.mul(r, r), q, r);
  }
  Value root = b.nativeLookup(kRootsOfTwo, b.bits(split.sum));
  return b.nativeScale(b.fma(root, p, root), split.n);
}

Value mlir::fuse::emitExp(const MathBuilder &b, Value x) {
  if (b.hasNative())
    return nativeExp(b, x, /*base2=*/false);
  // Beyond these bounds the result is 0 or inf, and the exponent fits scale().
  x = b.clampAbove(x, b.isF64() ? 710.0 : 89.0);
  x = b.clampBelow(x, b.isF64() ? -746.0 : -104.0);
  Split split = splitExp(b, x, 0);
  Value p = b.polynomial(split.remainder, pick(b, kExpF32, kExpF64));
  return scale(b, p, split);
}

Value mlir::fuse::emitExp2(const MathBuilder &b, Value x) {
  if (b.hasNative())
    return nativeExp(b, x, /*base2=*/true);
  x = b.clampAbove(x, b.isF64() ? 1025.0 : 129.0);
  x = b.clampBelow(x, b.isF64() ? -1076.0 : -151.0);
  Split split = splitExp2(b, x, 0);
  Value p = b.polynomial(split.remainder, pick(b, kExp2F32, kExp2F64));
  return scale(b, p, split);
}

/// expm1(x) / 2 as (2^n * p + 2^n - 1) / 2: half, so that 2^(n - 1) is finite
/// for all finite results.
static Value halfExpM1(const MathBuilder &b, Value x) {
  Split split = splitExp(b, x, 0);
  Value r = split.remainder;
  Value q = b.polynomial(r, pick(b, kExpM1F32, kExpM1F64));
  Value p = b.fma(b.mul(r, r), q, r);
  Value exponent = b.isub(b.bits(split.sum),
                          b.bitsOf(roundingConstant(b, 0)) - (b.getBias() - 1));
  Value power = b.fromBits(b.shl(exponent, b.getMantissaBits()));
  return b.fma(power, p, b.sub(power, b.constant(0.5)));
}

Value mlir::fuse::emitExpM1(const MathBuilder &b, Value x) {
  // Below the lower bound the result rounds to -1.
  Value clamped = b.clampAbove(x, b.isF64() ? 710.0 : 89.0);
  clamped = b.clampBelow(clamped, b.isF64() ? -40.0 : -20.0);
  Value half = halfExpM1(b, clamped);
  return b.copySign(b.add(half, half), x);
}

Value mlir::fuse::emitTanh(const MathBuilder &b, Value x) {
  // tanh rounds to 1 from 9.02 (19.1) on.
  Value a = b.clampAbove(b.abs(x), b.isF64() ? 20.0 : 9.02);
  if (b.hasNative() && !b.isF64()) {
    Value p = b.nativeSegments(a, 19.0 / 64, kTanhTable);
    return b.copySign(b.mul(a, p), x);
  }
  // expm1(2 a) / (expm1(2 a) + 2), in halves.
  Value half = halfExpM1(b, b.add(a, a));
  return b.copySign(b.div(half, b.add(half, b.constant(1.0))), x);
}
