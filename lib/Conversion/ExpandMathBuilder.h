//===- ExpandMathBuilder.h - Arithmetic on a float type ---------*- C++ -*-===//
//
// The vocabulary of the math expansions: arithmetic on values of one float type
// (a scalar or a vector of f32 or f64) and on the integers of its shape.
//
// No op carries fast-math flags: error-free transformations and rounding by
// adding a large constant rely on each op being rounded as written.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_LIB_CONVERSION_EXPANDMATHBUILDER_H
#define FUSEDIALECT_LIB_CONVERSION_EXPANDMATHBUILDER_H

#include "FuseDialect/Conversion/ExpandMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::fuse {

/// A value as the unevaluated sum of two floats, |low| <= ulp(high) / 2.
struct DoubleFloat {
  Value high;
  Value low;
};

class MathBuilder {
public:
  /// `floatType` is f32, f64 or a vector of them.
  MathBuilder(OpBuilder &builder, Location location, Type floatType,
              const ExpandMathOptions &options);

  /// The same shape with elements of f64.
  MathBuilder asF64() const;
  /// The same shape with elements of f32.
  MathBuilder asF32() const;

  OpBuilder &getBuilder() const { return builder; }
  Location getLoc() const { return location; }
  const ExpandMathOptions &getOptions() const { return options; }
  Type getFloatType() const { return floatType; }
  /// Integers of the floats' width and shape.
  Type getIntType() const { return intType; }
  /// i1 in the floats' shape.
  Type getMaskType() const { return maskType; }
  bool isF64() const { return f64; }
  /// Bits of the element's significand without the hidden one: 23 or 52.
  int getMantissaBits() const { return f64 ? 52 : 23; }
  /// The exponent's bias: 127 or 1023.
  int getBias() const { return f64 ? 1023 : 127; }
  /// Whether the type is a vector of whole 512-bit registers on a target with
  /// AVX-512, so that the functions below named native* may be used.
  bool hasNative() const { return native; }

  //===--------------------------------------------------------------------===//
  // Floats
  //===--------------------------------------------------------------------===//

  Value constant(double value) const;
  Value infinity() const;
  Value nan() const;
  Value add(Value a, Value b) const;
  Value sub(Value a, Value b) const;
  Value mul(Value a, Value b) const;
  Value div(Value a, Value b) const;
  Value neg(Value a) const;
  Value abs(Value a) const;
  Value sqrt(Value a) const;
  /// a * b + c, in one rounding if the target can, else in two.
  Value fma(Value a, Value b, Value c) const;
  /// c - a * b, likewise.
  Value fnma(Value a, Value b, Value c) const;
  /// The magnitude of `a` with the sign bit of `sign`.
  Value copySign(Value a, Value sign) const;
  /// min(bound, a), and NaN if `a` is NaN.
  Value clampAbove(Value a, double bound) const;
  /// max(bound, a), and NaN if `a` is NaN.
  Value clampBelow(Value a, double bound) const;
  /// The integer below, as math.trunc, whatever the target has.
  Value trunc(Value a) const;
  /// Sum of coefficients[i] * x^i by Horner's rule.
  Value polynomial(Value x, ArrayRef<double> coefficients) const;
  /// The same in two interleaved chains in x^2: half the latency for one more
  /// multiplication.
  Value splitPolynomial(Value x, ArrayRef<double> coefficients) const;

  //===--------------------------------------------------------------------===//
  // Error-free transformations
  //===--------------------------------------------------------------------===//

  /// a + b exactly, given |a| >= |b| or a == 0 (Dekker).
  DoubleFloat fastTwoSum(Value a, Value b) const;
  /// a + b exactly (Knuth).
  DoubleFloat twoSum(Value a, Value b) const;
  /// a * b exactly, barring overflow and underflow (Dekker without FMA).
  DoubleFloat twoProduct(Value a, Value b) const;

  //===--------------------------------------------------------------------===//
  // Comparisons and selection
  //===--------------------------------------------------------------------===//

  Value cmp(arith::CmpFPredicate predicate, Value a, Value b) const;
  Value cmp(arith::CmpFPredicate predicate, Value a, double b) const {
    return cmp(predicate, a, constant(b));
  }
  Value select(Value mask, Value a, Value b) const;
  Value maskAnd(Value a, Value b) const;
  Value maskOr(Value a, Value b) const;
  Value maskNot(Value a) const;

  //===--------------------------------------------------------------------===//
  // Integers of the floats' width
  //===--------------------------------------------------------------------===//

  Value intConstant(int64_t value) const;
  Value bits(Value a) const;
  Value fromBits(Value a) const;
  Value iadd(Value a, Value b) const;
  Value isub(Value a, Value b) const;
  Value iadd(Value a, int64_t b) const { return iadd(a, intConstant(b)); }
  Value isub(Value a, int64_t b) const { return isub(a, intConstant(b)); }
  Value iand(Value a, Value b) const;
  Value iand(Value a, int64_t b) const { return iand(a, intConstant(b)); }
  Value ior(Value a, Value b) const;
  Value ixor(Value a, Value b) const;
  Value shl(Value a, int64_t amount) const;
  /// Logical; there is no arithmetic shift of i64 before AVX-512.
  Value shr(Value a, int64_t amount) const;
  Value icmp(arith::CmpIPredicate predicate, Value a, Value b) const;
  /// The sign bit of a float, alone.
  Value signBit(Value a) const;
  /// The float's magnitude with the sign bit `sign` xored in.
  Value xorSign(Value a, Value sign) const;
  /// The bits of the float `value` of this type.
  int64_t bitsOf(double value) const;

  //===--------------------------------------------------------------------===//
  // AVX-512, if hasNative()
  //===--------------------------------------------------------------------===//

  /// a * 2^floor(n), rounded once (vscalef).
  Value nativeScale(Value a, Value n) const;
  /// The exponent of `a` as a float, of the normalised value if `a` is
  /// denormal; -inf of 0 and inf of inf (vgetexp).
  Value nativeExponent(Value a) const;
  /// The significand of `a` in [1, 2); of 0 and inf 1; NaN if `a` < 0
  /// (vgetmant).
  Value nativeMantissa(Value a) const;
  /// The value of smaller magnitude, `bound` with the sign of `a` if `a` is
  /// NaN (vrange).
  Value nativeClampMagnitude(Value a, double bound) const;
  /// 1 / a to 14 bits (vrcp14).
  Value nativeReciprocal(Value a) const;
  /// 1 / sqrt(a) to 14 bits (vrsqrt14).
  Value nativeReciprocalRoot(Value a) const;
  /// table[index mod table.size()], for tables of 16 entries, and of 32 if
  /// f32. The upper bits of an index are ignored.
  Value nativeLookup(ArrayRef<double> table, Value index) const;

  /// A piecewise polynomial of 0 <= x < 31.5 * width, f32: with i the nearest
  /// integer to x / width and t = x - i * width, the sum of
  /// coefficients[k][i] * t^k. Products of `width` and i must be exact.
  Value nativeSegments(Value x, double width,
                       ArrayRef<double[32]> coefficients) const;

private:
  /// Calls `intrinsic` on each 512-bit part of `operands`; `trailing` is
  /// appended to the parts of each call.
  Value callNative(StringRef intrinsic, ArrayRef<Value> operands,
                   ArrayRef<Value> trailing) const;
  Value partConstant(ArrayRef<double> values) const;
  Value immediate(unsigned width, int64_t value) const;

  OpBuilder &builder;
  Location location;
  const ExpandMathOptions &options;
  Type floatType, intType, maskType;
  bool f64;
  bool native = false;
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_LIB_CONVERSION_EXPANDMATHBUILDER_H
