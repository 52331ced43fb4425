//===- ScalarBuilder.h - Arithmetic on elements -----------------*- C++ -*-===//
//
// What the bodies of linalg.generic ops are made of: arith and math ops on
// scalars, with the dialect's rules for NaN, for division by zero, for shifts
// and for conversions that do not fit. Nothing here can trap.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_LIB_CONVERSION_SCALARBUILDER_H
#define FUSEDIALECT_LIB_CONVERSION_SCALARBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

namespace mlir::fuse {

/// The type in which a value of a float type is computed: f32 for f16 and bf16,
/// the type itself otherwise.
Type getComputeType(Type type);

/// Builds scalar ops at one location. Operands of an op have one type. Integers
/// are signless or of index type; `isUnsigned` says how they are read. Constant
/// operands fold.
class ScalarBuilder {
public:
  ScalarBuilder(OpBuilder &builder, Location location, bool isUnsigned = false)
      : builder(builder), location(location), isUnsigned(isUnsigned) {}

  /// A constant of a float, integer, boolean or index type; the value is
  /// rounded to a float type and must be representable in an integer type.
  Value constant(Type type, double value);
  Value integer(Type type, const APInt &value);
  /// The least and the greatest value of an integer or float type (infinities).
  Value lowest(Type type);
  Value highest(Type type);

  Value add(Value x, Value y);
  Value sub(Value x, Value y);
  Value mul(Value x, Value y);
  /// The quotient of floats; of integers truncated, 0 for a zero divisor, and
  /// the most negative integer divided by -1 is itself.
  Value div(Value x, Value y);
  /// The remainder with the sign of `x` (C's fmod), 0 for an integer `y` of 0.
  Value rem(Value x, Value y);
  /// The remainder with the sign of `y`, as numpy's mod.
  Value mod(Value x, Value y);
  Value neg(Value x);
  Value abs(Value x);
  /// Propagate NaN.
  Value min(Value x, Value y);
  Value max(Value x, Value y);
  /// As min and max, but of two zeros either may be the result: the order in
  /// which a reduction meets them is not defined.
  Value minOfAnyZero(Value x, Value y);
  Value maxOfAnyZero(Value x, Value y);
  Value bitAnd(Value x, Value y) { return fold<arith::AndIOp>(x, y); }
  Value bitOr(Value x, Value y) { return fold<arith::OrIOp>(x, y); }
  Value bitXor(Value x, Value y) { return fold<arith::XOrIOp>(x, y); }
  /// Shifts by any amount: see fuse.shift_left and fuse.shift_right.
  Value shiftLeft(Value x, Value y);
  Value shiftRight(Value x, Value y);
  /// Powers as fuse.pow describes them.
  Value pow(Value x, Value y);

  /// Comparisons; false if an operand is NaN.
  Value equal(Value x, Value y);
  Value less(Value x, Value y);
  Value lessEqual(Value x, Value y);
  Value greater(Value x, Value y) { return less(y, x); }
  Value greaterEqual(Value x, Value y) { return lessEqual(y, x); }
  Value isNaN(Value x) { return compare(arith::CmpFPredicate::UNO, x, x); }
  Value select(Value condition, Value x, Value y);
  Value logicalNot(Value x);

  /// A math op of one float operand.
  template <typename MathOp> Value math(Value x) {
    return MathOp::create(builder, location, x, arith::FastMathFlags::contract);
  }

  /// Converts as fuse.cast describes it; the flags say how integers are read.
  Value cast(Value x, Type to, bool fromUnsigned, bool toUnsigned);
  /// f16 and bf16 to f32; others stay.
  Value widen(Value x);
  /// A float to a float type, rounding once.
  Value narrow(Value x, Type to);

  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return builder.createOrFold<arith::CmpFOp>(location, predicate, x, y);
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return builder.createOrFold<arith::CmpIOp>(location, predicate, x, y);
  }

  OpBuilder &builder;
  Location location;
  bool isUnsigned;

private:
  template <typename Op> Value fold(Value x, Value y) {
    return builder.createOrFold<Op>(location, x, y);
  }
  template <typename Op> Value contract(Value x, Value y) {
    return builder.createOrFold<Op>(location, x, y,
                                    arith::FastMathFlags::contract);
  }
  template <typename Op> Value convert(Value x, Type to) {
    return builder.createOrFold<Op>(location, to, x);
  }
  Value getConstant(TypedAttr value);
  Value signedZero(Value x);
  Value safeDivisor(Value x, Value y);
  Value floatPow(Value x, Value y);
  Value intPow(Value x, Value y);
  Value floatToInt(Value x, IntegerType to, bool toUnsigned);

  /// What constant() made: a body repeats few constants, but often.
  SmallVector<std::pair<TypedAttr, Value>> constants;
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_LIB_CONVERSION_SCALARBUILDER_H
