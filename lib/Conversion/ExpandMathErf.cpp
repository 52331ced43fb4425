//===- ExpandMathErf.cpp - The error function -----------------------------===//

#include "ExpandMathFamilies.h"

using namespace mlir;
using namespace mlir::fuse;

// erf(x) = x * p(x^2) / q(x^2), |x| <= 3.93, f32. Error: 1.8e-9.
static constexpr double kErfNumerator[] = {
    0x1.20dd76p+0,  0x1.7b2eacp-3,  0x1.bc747p-5,   0x1.f75ad2p-9,
    0x1.8b7d3cp-12, 0x1.360c2cp-18, -0x1.b9cc54p-27};
static constexpr double kErfDenominator[] = {0x1p+0,         0x1.fd5aacp-2,
                                             0x1.d27b1ap-4,  0x1.f9c4dp-7,
                                             0x1.556b3ep-10, 0x1.0625e6p-14};
// erf(x) / x = sum of kErfTable[k][i] * (|x| - i / 8)^k for | |x| - i / 8 | <=
// 1 / 16. Error: 2.5e-9 and the rounding of the leading entry.
static constexpr double kErfTable[][32] = {
    {0x1.20dd76p0,  0x1.1f5e1ap0,  0x1.1af54ep0,  0x1.13e08cp0,  0x1.0a7ef6p0,
     0x1.fe8f16p-1, 0x1.e57b74p-1, 0x1.cacbc2p-1, 0x1.af767ap-1, 0x1.9450bcp-1,
     0x1.7a0518p-1, 0x1.611066p-1, 0x1.49c38ep-1, 0x1.3448f8p-1, 0x1.20ac04p-1,
     0x1.0ee122p-1, 0x1.fd9ae2p-2, 0x1.e09a7ap-2, 0x1.c67206p-2, 0x1.aed2p-2,
     0x1.996eeep-2, 0x1.8603ep-2,  0x1.74538p-2,  0x1.642828p-2, 0x1.555368p-2,
     0x1.47ad4p-2,  0x1.3b1358p-2, 0x1.2f6828p-2, 0x1.24923ap-2, 0x1.1a7b9p-2,
     0x1.11111p-2,  0x1.08421p-2},
    {-0x1.a37cf8p-17, -0x1.7d8ff2p-4, -0x1.7306eep-3, -0x1.09ac2ep-2,
     -0x1.4c3874p-2,  -0x1.7edee6p-2, -0x1.a0cdcep-2, -0x1.b2931cp-2,
     -0x1.b5dbp-2,    -0x1.ad153ep-2, -0x1.9b12e2p-2, -0x1.82ad1cp-2,
     -0x1.667edap-2,  -0x1.48b7cap-2, -0x1.2b07aap-2, -0x1.0e9e1cp-2,
     -0x1.e8712ep-3,  -0x1.b87066p-3, -0x1.8d734ep-3, -0x1.67575ap-3,
     -0x1.45c32p-3,   -0x1.284242p-3, -0x1.0e5896p-3, -0x1.ef1beep-4,
     -0x1.c6e932p-4,  -0x1.a35762p-4, -0x1.83bf9ep-4, -0x1.6793ecp-4,
     -0x1.4e5c5cp-4,  -0x1.37b3d8p-4, -0x1.234526p-4, -0x1.10c83ap-4},
    {-0x1.806aa6p-2, -0x1.766866p-2, -0x1.57641p-2,  -0x1.2763fcp-2,
     -0x1.d6e4dcp-3, -0x1.52747ap-3, -0x1.9a6ea6p-4, -0x1.45949p-5,
     0x1.9995aap-7,  0x1.bbafbp-5,   0x1.5a9ac2p-4,  0x1.ab1494p-4,
     0x1.d4e2dp-4,   0x1.df978cp-4,  0x1.d35db2p-4,  0x1.b7dc06p-4,
     0x1.93be6ep-4,  0x1.6bfa88p-4,  0x1.4411b2p-4,  0x1.1e3e2ap-4,
     0x1.f751fep-5,  0x1.b9ead8p-5,  0x1.846648p-5,  0x1.561cb4p-5,
     0x1.2e07c6p-5,  0x1.0bd774p-5,  0x1.dcd8b4p-6,  0x1.a9e584p-6,
     0x1.7e4308p-6,  0x1.581006p-6,  0x1.366e7ap-6,  0x1.19855cp-6},
    {-0x1.f673b8p-7, 0x1.c4df24p-5,   0x1.ac3b32p-4,  0x1.246194p-3,
     0x1.554d9p-3,   0x1.66a2ap-3,    0x1.5a7p-3,     0x1.363b46p-3,
     0x1.01ae64p-3,  0x1.8a6948p-4,   0x1.0fd49cp-4,  0x1.404e9p-5,
     0x1.0a95b4p-6,  -0x1.5250f8p-10, -0x1.bdeed8p-7, -0x1.5c2f64p-6,
     -0x1.9bcab8p-6, -0x1.adeb2p-6,   -0x1.a19a54p-6, -0x1.832ff2p-6,
     -0x1.5bef26p-6, -0x1.3247cep-6,  -0x1.0a1e1ep-6, -0x1.cae476p-7,
     -0x1.8a5a2p-7,  -0x1.52d088p-7,  -0x1.238b8ap-7, -0x1.f7418p-8,
     -0x1.b3f12ap-8, -0x1.7b4232p-8,  -0x1.4b5876p-8, -0x1.22bae4p-8},
    {0x1.c5f33ep-3,   0x1.a9604p-4,    0x1.652774p-4,  0x1.d20a2ep-5,
     0x1.21eb5ap-5,   0x1.56682ap-10,  -0x1.c64bbp-6,  -0x1.551e32p-5,
     -0x1.e6f372p-5,  -0x1.b24d0cp-5,  -0x1.c9e5bap-5, -0x1.9d30f6p-5,
     -0x1.5ae516p-5,  -0x1.0a2ab2p-5,  -0x1.5f8c7ep-6, -0x1.15bbcap-7,
     -0x1.32e1bep-9,  0x1.3d2716p-13,  0x1.208ae6p-10, 0x1.f2b17ap-10,
     0x1.a4681cp-8,   0x1.09496ep-7,   0x1.639d74p-8,  0x1.5054ap-9,
     0x1.9879c4p-8,   0x1.af000cp-9,   0x1.7c892ep-10, 0x1.885b82p-9,
     -0x1.dfdb48p-11, -0x1.3e42ecp-12, 0x1.1e7668p-8,  0x1.e0244ep-10}};

Value mlir::fuse::emitErf(const MathBuilder &b, Value x) {
  if (b.isF64())
    return {};
  // erf rounds to 1 from 3.92 on.
  constexpr double limit = 3.93;
  Value a = b.clampAbove(b.abs(x), limit);
  if (b.hasNative()) {
    Value p = b.nativeSegments(a, 0.125, kErfTable);
    return b.copySign(b.mul(a, p), x);
  }
  Value square = b.mul(a, a);
  Value numerator = b.mul(a, b.polynomial(square, kErfNumerator));
  Value denominator = b.polynomial(square, kErfDenominator);
  return b.copySign(b.div(numerator, denominator), x);
}
