//===- ExpandMathErf.cpp - The error function -----------------------------===//

#include "ExpandMathFamilies.h"

using namespace mlir;
using namespace mlir::fuse;

// f32: erf(x) = sum of kErfTable[k][i] * (|x| - i / 8)^k for
// | |x| - i / 8 | <= 1 / 16. Error: 3e-9 and the rounding of the leading entry,
// which is 0 for i = 0.
static constexpr double kErfTable[][32] = {
    {0,
     0x1.1f5e1ap-3,
     0x1.1af54ep-2,
     0x1.9dd0d2p-2,
     0x1.0a7ef6p-1,
     0x1.3f196ep-1,
     0x1.6c1c98p-1,
     0x1.91724ap-1,
     0x1.af767ap-1,
     0x1.c6dad2p-1,
     0x1.d8865ep-1,
     0x1.e5768cp-1,
     0x1.eea556p-1,
     0x1.f4f694p-1,
     0x1.f92d08p-1,
     0x1.fbe61ep-1,
     0x1.fd9ae2p-1,
     0x1.fea422p-1,
     0x1.ff4048p-1,
     0x1.ff996p-1,
     0x1.ffcaa8p-1,
     0x1.ffe514p-1,
     0x1.fff2dp-1,
     0x1.fff9bap-1,
     0x1.fffd1ap-1,
     0x1.fffeb4p-1,
     0x1.ffff7p-1,
     0x1.ffffc4p-1,
     0x1.ffffe8p-1,
     0x1.fffff6p-1,
     0x1.fffffcp-1,
     0x1.fffffep-1},
    {0x1.20dd74p0,   0x1.1c62f2p0,   0x1.0f5d1p0,    0x1.f5f0c6p-1,
     0x1.c1efcap-1,  0x1.86e96ep-1,  0x1.492e4cp-1,  0x1.0cab6cp-1,
     0x1.a91206p-2,  0x1.45e9bp-2,   0x1.e4654ep-3,  0x1.5ce5aap-3,
     0x1.e72386p-4,  0x1.499d4ap-4,  0x1.b0552p-5,   0x1.12ce96p-5,
     0x1.529b5cp-6,  0x1.9461cep-7,  0x1.d4136p-8,   0x1.0690ep-8,
     0x1.1d821cp-9,  0x1.2ce73ep-10, 0x1.335f08p-11, 0x1.30515ep-12,
     0x1.24064ep-13, 0x1.0f9b26p-14, 0x1.e9af76p-16, 0x1.abd9dap-17,
     0x1.6a529ap-18, 0x1.2963f2p-19, 0x1.d92b38p-21, 0x1.6cd83ap-22},
    {0x1.b0fcf8p-17,  -0x1.1c6042p-3,  -0x1.0f5c18p-2,  -0x1.78718ep-2,
     -0x1.c1f1a2p-2,  -0x1.e8a54ap-2,  -0x1.edca8ep-2,  -0x1.d63164p-2,
     -0x1.a90e5cp-2,  -0x1.6ea2c8p-2,  -0x1.2ec288p-2,  -0x1.dfb816p-3,
     -0x1.6d639cp-3,  -0x1.0bd49ep-3,  -0x1.7a5ab8p-4,  -0x1.0183e4p-4,
     -0x1.52cb04p-5,  -0x1.ade1bp-6,   -0x1.079b3p-6,   -0x1.36d8aap-7,
     -0x1.62f9dp-8,   -0x1.880114p-9,  -0x1.a92218p-10, -0x1.b155aep-11,
     -0x1.9d87c6p-12, -0x1.ad78b2p-13, -0x1.be3108p-14, -0x1.291e18p-14,
     -0x1.8dc612p-15, -0x1.54d884p-18, 0x1.3625b8p-19,  0x1.0fa8f6p-16},
    {-0x1.81eap-2,   -0x1.6ed122p-2, -0x1.3c32c6p-2, -0x1.e09074p-3,
     -0x1.2be69ap-3, -0x1.c92f94p-5, 0x1.b28e4ep-6,  0x1.7b4c34p-4,
     0x1.1ab206p-3,  0x1.4c157cp-3,  0x1.56a418p-3,  0x1.4325b6p-3,
     0x1.1c0398p-3,  0x1.d6589ep-4,  0x1.716a24p-4,  0x1.1477d4p-4,
     0x1.8b908ep-5,  0x1.0f2486p-5,  0x1.64c9b8p-6,  0x1.c34288p-7,
     0x1.129866p-7,  0x1.41d9b2p-8,  0x1.6b937p-9,   0x1.8c1368p-10,
     0x1.a05292p-11, 0x1.a668e8p-12, 0x1.9ddd1ap-13, 0x1.87b09cp-14,
     0x1.66305cp-15, 0x1.3c8b5p-16,  0x1.0e6b96p-17, 0x1.be8b9p-19},
    {0x1.03a84cp-6,  0x1.1340dap-4,   0x1.01d4f8p-3,   0x1.4fc96ap-3,
     0x1.7975eep-3,  0x1.6b7cccp-3,   0x1.3ca7ecp-3,   0x1.ddc752p-4,
     0x1.100feep-4,  0x1.97f6f4p-6,   -0x1.c9cea2p-9,  -0x1.048fb8p-5,
     -0x1.4fc668p-5, -0x1.871034p-5,  -0x1.6fd152p-5,  -0x1.89e34p-5,
     -0x1.e8798p-6,  -0x1.823bdap-6,  -0x1.f207f4p-7,  -0x1.391134p-6,
     -0x1.def75p-7,  -0x1.482f38p-7,  -0x1.5a5276p-10, -0x1.caff9p-9,
     -0x1.7e91fcp-8, -0x1.0e4668p-14, 0x1.0f775p-9,    0x1.6bdca4p-8,
     0x1.7a66cap-8,  -0x1.4da51p-11,  -0x1.313a8ep-10, -0x1.d6e50ap-9}};
// f32: erf(x) = x + x * p(x^2), |x| <= 0.93. Error: 2e-8.
static constexpr double kErfSmall[] = {0x1.06eba6p-3, -0x1.8126e8p-2,
                                       0x1.ce1a88p-4, -0x1.b689b6p-6,
                                       0x1.4723dep-8, -0x1.398912p-11};
// f32: erf(x) = 1 - 2^p(x), 0.9 <= x <= 3.94. Error: 7.3e-9.
static constexpr double kErfcLog2[] = {
    -0x1.f798c8p-13, -0x1.a0877ep0,  -0x1.d68238p-1, -0x1.339e4ep-3,
    0x1.07bbcep-5,   -0x1.21d65ep-8, 0x1.2bdc9ep-12};
// 2^r, |r| <= 1 / 2. Error: 1.3e-7.
static constexpr double kExp2[] = {0x1.000002p0,  0x1.62e42ap-1,
                                   0x1.ebf8aep-3, 0x1.c6b56ep-5,
                                   0x1.3d21b8p-7, 0x1.5ca988p-10};

/// erf of 0 <= a <= 3.94, f32.
static Value erfOfF32(const MathBuilder &b, Value a) {
  Value square = b.mul(a, a);
  Value small = b.fma(a, b.polynomial(square, kErfSmall), a);
  // The exponent is in [-25, -2]: one integer addition scales by it.
  Value log = b.polynomial(a, kErfcLog2);
  Value magic = b.constant(0x1.8p23);
  Value sum = b.add(log, magic);
  Value r = b.sub(log, b.sub(sum, magic));
  Value power = b.bits(b.splitPolynomial(r, kExp2));
  Value erfc = b.fromBits(b.iadd(power, b.shl(b.bits(sum), 23)));
  Value large = b.sub(b.constant(1.0), erfc);
  // NaN takes the polynomial without integer arithmetic.
  return b.select(b.cmp(arith::CmpFPredicate::OGE, a, 0.92), large, small);
}

Value mlir::fuse::emitErf(const MathBuilder &b, Value x) {
  if (b.isF64())
    return {};
  // erf rounds to 1 from 3.92 on.
  Value a = b.clampAbove(b.abs(x), 3.93);
  Value erf =
      b.hasNative() ? b.nativeSegments(a, 0.125, kErfTable) : erfOfF32(b, a);
  return b.copySign(erf, x);
}
