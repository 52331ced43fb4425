//===- ExpandMathTrig.cpp - Sine, cosine, tangent -------------------------===//
//
// The argument is reduced to [-pi/4, pi/4] by Cody and Waite's method, with
// pi/2 in three parts that f64 holds, so that n * part is exact or rounded once
// by FMA. f32 is computed in f64, where two parts leave an error of 2^-53 for
// arguments up to 2^30; the polynomials are those of fdlibm (Sun Microsystems,
// 1993; k_sin.c and k_cos.c), with errors below 2^-57.
//
// Beyond 2^30 (f32) and 2^27 (f64) the reduction loses bits, as the multiple of
// pi/2 times the error of its parts grows.
//
//===----------------------------------------------------------------------===//

#include "ExpandMathFamilies.h"

using namespace mlir;
using namespace mlir::fuse;

namespace {

/// Sine and cosine of the reduced argument, and which of them a quadrant takes.
struct SineCosine {
  Value sine, cosine;
  /// Whether the quadrant is odd: sine and cosine change places.
  Value isOdd;
  /// Bit 1 of the quadrant's number as the sign bit of a float.
  Value sign;
  /// The same for the next quadrant, which the cosine's sign follows.
  Value nextSign;
};

} // namespace

/// sin(r) for |r| <= pi/4.
static Value emitSineKernel(const MathBuilder &b, Value r, Value square) {
  static constexpr double coefficients[] = {
      -1.66666666666666324348e-01, 8.33333333332248946124e-03,
      -1.98412698298579493134e-04, 2.75573137070700676789e-06,
      -2.50507602534068634195e-08, 1.58969099521155010221e-10};
  Value series = b.splitPolynomial(square, coefficients);
  return b.fma(b.mul(r, square), series, r);
}

/// cos(r) for |r| <= pi/4.
static Value emitCosineKernel(const MathBuilder &b, Value square) {
  static constexpr double coefficients[] = {
      4.16666666666666019037e-02, -1.38888888888741095749e-03,
      2.48015872894767294178e-05, -2.75573143513906633035e-07,
      2.08757232129817482790e-09, -1.13596475577881948265e-11};
  Value series = b.splitPolynomial(square, coefficients);
  Value half = b.fnma(b.constant(0.5), square, b.constant(1));
  return b.fma(b.mul(square, square), series, half);
}

/// Reduces `x` (f64) and evaluates both kernels.
static SineCosine emitSineCosine(const MathBuilder &b, Value x) {
  // pi/2 = parts[0] + parts[1] + parts[2] to 160 bits.
  static constexpr double parts[] = {1.57079632679489655800e+00,
                                     6.12323399573676603587e-17,
                                     -1.49738490485916983e-33};
  // Adding this constant rounds to the nearest integer, whose low bits are
  // then those of the sum.
  Value magic = b.constant(6755399441055744.0);
  Value sum = b.fma(x, b.constant(0.63661977236758134308), magic);
  Value n = b.sub(sum, magic);
  Value quadrant = b.bits(sum);
  Value r = b.fnma(n, b.constant(parts[0]), x);
  r = b.fnma(n, b.constant(parts[1]), r);
  r = b.fnma(n, b.constant(parts[2]), r);
  Value square = b.mul(r, r);
  Value isOdd =
      b.icmp(arith::CmpIPredicate::ne, b.iand(quadrant, 1), b.intConstant(0));
  auto toSign = [&](Value integer) { return b.shl(b.iand(integer, 2), 62); };
  return {emitSineKernel(b, r, square), emitCosineKernel(b, square), isOdd,
          toSign(quadrant), toSign(b.iadd(quadrant, 1))};
}

/// Evaluates `function` of `x` in f64, whatever the builder's type.
static Value
inF64(const MathBuilder &b, Value x,
      llvm::function_ref<Value(const MathBuilder &, Value)> function) {
  if (b.isF64())
    return function(b, x);
  MathBuilder wide = b.asF64();
  OpBuilder &builder = b.getBuilder();
  Value extended =
      arith::ExtFOp::create(builder, b.getLoc(), wide.getFloatType(), x);
  return arith::TruncFOp::create(builder, b.getLoc(), b.getFloatType(),
                                 function(wide, extended));
}

Value mlir::fuse::emitSin(const MathBuilder &b, Value x) {
  return inF64(b, x, [](const MathBuilder &wide, Value arg) {
    SineCosine both = emitSineCosine(wide, arg);
    Value magnitude = wide.select(both.isOdd, both.cosine, both.sine);
    Value result = wide.xorSign(magnitude, both.sign);
    // Keeps the sign of zero.
    return wide.select(wide.cmp(arith::CmpFPredicate::OEQ, arg, 0.0), arg,
                       result);
  });
}

Value mlir::fuse::emitCos(const MathBuilder &b, Value x) {
  return inF64(b, x, [](const MathBuilder &wide, Value arg) {
    SineCosine both = emitSineCosine(wide, arg);
    Value magnitude = wide.select(both.isOdd, both.sine, both.cosine);
    return wide.xorSign(magnitude, both.nextSign);
  });
}

Value mlir::fuse::emitTan(const MathBuilder &b, Value x) {
  return inF64(b, x, [](const MathBuilder &wide, Value arg) {
    SineCosine both = emitSineCosine(wide, arg);
    // tan(r + pi/2) = -cos(r) / sin(r)
    Value over = wide.select(both.isOdd, wide.neg(both.cosine), both.sine);
    Value under = wide.select(both.isOdd, both.sine, both.cosine);
    Value result = wide.div(over, under);
    return wide.select(wide.cmp(arith::CmpFPredicate::OEQ, arg, 0.0), arg,
                       result);
  });
}
