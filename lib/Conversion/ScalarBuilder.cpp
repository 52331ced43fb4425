//===- ScalarBuilder.cpp - Arithmetic on elements -------------------------===//

#include "ScalarBuilder.h"
#include "mlir/IR/Matchers.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::fuse;

Type mlir::fuse::getComputeType(Type type) {
  return isa<Float16Type, BFloat16Type>(type)
             ? Float32Type::get(type.getContext())
             : type;
}

static bool isFloat(Value value) { return isa<FloatType>(value.getType()); }

static unsigned getWidth(Value value) {
  return value.getType().getIntOrFloatBitWidth();
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Value ScalarBuilder::getConstant(TypedAttr value) {
  for (auto &[known, constant] : constants)
    if (known == value)
      return constant;
  Value constant = arith::ConstantOp::create(builder, location, value);
  constants.emplace_back(value, constant);
  return constant;
}

Value ScalarBuilder::constant(Type type, double value) {
  TypedAttr attribute;
  if (isa<FloatType>(type))
    attribute = builder.getFloatAttr(type, value);
  else
    attribute = builder.getIntegerAttr(
        type, APInt(type.isIndex() ? 64 : type.getIntOrFloatBitWidth(),
                    static_cast<int64_t>(value),
                    /*isSigned=*/true, /*implicitTrunc=*/true));
  return getConstant(attribute);
}

Value ScalarBuilder::integer(Type type, const APInt &value) {
  return getConstant(builder.getIntegerAttr(type, value));
}

Value ScalarBuilder::lowest(Type type) {
  if (isa<FloatType>(type))
    return constant(type, -std::numeric_limits<double>::infinity());
  unsigned width = type.getIntOrFloatBitWidth();
  bool isZero = isUnsigned || width == 1;
  return integer(type, isZero ? APInt::getZero(width)
                              : APInt::getSignedMinValue(width));
}

Value ScalarBuilder::highest(Type type) {
  if (isa<FloatType>(type))
    return constant(type, std::numeric_limits<double>::infinity());
  unsigned width = type.getIntOrFloatBitWidth();
  bool isAllOnes = isUnsigned || width == 1;
  return integer(type, isAllOnes ? APInt::getAllOnes(width)
                                 : APInt::getSignedMaxValue(width));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value ScalarBuilder::add(Value x, Value y) {
  return isFloat(x) ? contract<arith::AddFOp>(x, y) : fold<arith::AddIOp>(x, y);
}

Value ScalarBuilder::sub(Value x, Value y) {
  return isFloat(x) ? contract<arith::SubFOp>(x, y) : fold<arith::SubIOp>(x, y);
}

Value ScalarBuilder::mul(Value x, Value y) {
  return isFloat(x) ? contract<arith::MulFOp>(x, y) : fold<arith::MulIOp>(x, y);
}

Value ScalarBuilder::neg(Value x) {
  if (isFloat(x))
    return builder.createOrFold<arith::NegFOp>(location, x);
  return sub(constant(x.getType(), 0), x);
}

Value ScalarBuilder::abs(Value x) {
  if (isFloat(x))
    return math<math::AbsFOp>(x);
  return isUnsigned ? x : max(x, neg(x));
}

Value ScalarBuilder::min(Value x, Value y) {
  if (isFloat(x))
    return fold<arith::MinimumFOp>(x, y);
  return isUnsigned ? fold<arith::MinUIOp>(x, y) : fold<arith::MinSIOp>(x, y);
}

Value ScalarBuilder::max(Value x, Value y) {
  if (isFloat(x))
    return fold<arith::MaximumFOp>(x, y);
  return isUnsigned ? fold<arith::MaxUIOp>(x, y) : fold<arith::MaxSIOp>(x, y);
}

Value ScalarBuilder::minOfAnyZero(Value x, Value y) {
  if (!isFloat(x))
    return min(x, y);
  return arith::MinimumFOp::create(builder, location, x, y,
                                   arith::FastMathFlags::nsz);
}

Value ScalarBuilder::maxOfAnyZero(Value x, Value y) {
  if (!isFloat(x))
    return max(x, y);
  return arith::MaximumFOp::create(builder, location, x, y,
                                   arith::FastMathFlags::nsz);
}

/// A divisor that neither traps nor overflows: 1 in place of 0, and of -1 where
/// it would divide the most negative integer (which 1 then leaves as it is).
Value ScalarBuilder::safeDivisor(Value x, Value y) {
  Type type = y.getType();
  Value unsafe = equal(y, constant(type, 0));
  if (!isUnsigned) {
    Value isMinusOne = equal(y, constant(type, -1));
    Value isLowest = equal(x, lowest(type));
    unsafe = bitOr(unsafe, bitAnd(isMinusOne, isLowest));
  }
  return select(unsafe, constant(type, 1), y);
}

Value ScalarBuilder::div(Value x, Value y) {
  if (isFloat(x))
    return contract<arith::DivFOp>(x, y);
  Value divisor = safeDivisor(x, y);
  Value quotient = isUnsigned ? fold<arith::DivUIOp>(x, divisor)
                              : fold<arith::DivSIOp>(x, divisor);
  Value zero = constant(x.getType(), 0);
  return select(equal(y, zero), zero, quotient);
}

Value ScalarBuilder::rem(Value x, Value y) {
  if (isFloat(x))
    return fold<arith::RemFOp>(x, y);
  // The substituted divisor 1 leaves 0, which is what both cases want.
  Value divisor = safeDivisor(x, y);
  return isUnsigned ? fold<arith::RemUIOp>(x, divisor)
                    : fold<arith::RemSIOp>(x, divisor);
}

Value ScalarBuilder::mod(Value x, Value y) {
  Value remainder = rem(x, y);
  if (!isFloat(x) && isUnsigned)
    return remainder;
  Value zero = constant(x.getType(), 0);
  Value isZero = equal(remainder, zero);
  Value signsDiffer = bitXor(less(remainder, zero), less(y, zero));
  Value adjusted = select(signsDiffer, add(remainder, y), remainder);
  return select(isZero, isFloat(x) ? signedZero(y) : zero, adjusted);
}

/// Zero with the sign of a float.
Value ScalarBuilder::signedZero(Value x) {
  unsigned width = getWidth(x);
  Type bitsType = builder.getIntegerType(width);
  Value sign = integer(bitsType, APInt::getSignMask(width));
  Value bits = convert<arith::BitcastOp>(x, bitsType);
  return convert<arith::BitcastOp>(bitAnd(bits, sign), x.getType());
}

Value ScalarBuilder::shiftLeft(Value x, Value y) {
  // Read as unsigned, a negative amount is not below the width either.
  Value width = constant(y.getType(), getWidth(x));
  Value isInRange = compare(arith::CmpIPredicate::ult, y, width);
  Value zero = constant(x.getType(), 0);
  Value amount = select(isInRange, y, zero);
  return select(isInRange, fold<arith::ShLIOp>(x, amount), zero);
}

Value ScalarBuilder::shiftRight(Value x, Value y) {
  if (!isUnsigned) {
    Value amount =
        fold<arith::MinUIOp>(y, constant(y.getType(), getWidth(x) - 1));
    return fold<arith::ShRSIOp>(x, amount);
  }
  Value width = constant(y.getType(), getWidth(x));
  Value isInRange = compare(arith::CmpIPredicate::ult, y, width);
  Value zero = constant(x.getType(), 0);
  Value amount = select(isInRange, y, zero);
  return select(isInRange, fold<arith::ShRUIOp>(x, amount), zero);
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

Value ScalarBuilder::pow(Value x, Value y) {
  return isFloat(x) ? floatPow(x, y) : intPow(x, y);
}

Value ScalarBuilder::floatPow(Value x, Value y) {
  Type type = x.getType();
  APFloat exponent(0.0);
  if (matchPattern(y, m_ConstantFloat(&exponent))) {
    // Exact, or closer than the general function.
    if (exponent.isExactlyValue(1.0))
      return x;
    if (exponent.isExactlyValue(2.0))
      return mul(x, x);
    if (exponent.isExactlyValue(3.0))
      return mul(mul(x, x), x);
    if (exponent.isExactlyValue(-1.0))
      return div(constant(type, 1), x);
    if (exponent.isExactlyValue(0.5)) {
      // Unlike a square root, pow gives 0 for -0 and inf for -inf.
      Value root = math<math::SqrtOp>(add(x, constant(type, 0)));
      return select(equal(x, lowest(type)), highest(type), root);
    }
  }
  return math::PowFOp::create(builder, location, x, y,
                              arith::FastMathFlags::contract);
}

/// By squaring, one step for each bit that a non-negative exponent can have.
/// The steps are unrolled, since a body has no loops; a constant exponent needs
/// steps for its own bits only.
Value ScalarBuilder::intPow(Value x, Value y) {
  Type type = x.getType();
  Value zero = constant(type, 0), one = constant(type, 1);
  unsigned steps = isUnsigned ? getWidth(x) : getWidth(x) - 1;
  APInt exponent;
  if (matchPattern(y, m_ConstantInt(&exponent)) &&
      (isUnsigned || !exponent.isNegative()))
    steps = exponent.getActiveBits();
  Value power = one, square = x;
  for (unsigned step = 0; step < steps; ++step) {
    Value mask = integer(type, APInt::getOneBitSet(getWidth(x), step));
    Value isSet = compare(arith::CmpIPredicate::ne, bitAnd(y, mask), zero);
    power = select(isSet, mul(power, square), power);
    if (step + 1 < steps)
      square = mul(square, square);
  }
  if (isUnsigned)
    return power;
  Value minusOne = constant(type, -1);
  Value isOdd = equal(bitAnd(y, one), one);
  Value inverse =
      select(equal(x, minusOne), select(isOdd, minusOne, one), zero);
  inverse = select(equal(x, one), one, inverse);
  return select(less(y, zero), inverse, power);
}

//===----------------------------------------------------------------------===//
// Comparison and choice
//===----------------------------------------------------------------------===//

Value ScalarBuilder::equal(Value x, Value y) {
  return isFloat(x) ? compare(arith::CmpFPredicate::OEQ, x, y)
                    : compare(arith::CmpIPredicate::eq, x, y);
}

Value ScalarBuilder::less(Value x, Value y) {
  if (isFloat(x))
    return compare(arith::CmpFPredicate::OLT, x, y);
  return compare(
      isUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt, x, y);
}

Value ScalarBuilder::lessEqual(Value x, Value y) {
  if (isFloat(x))
    return compare(arith::CmpFPredicate::OLE, x, y);
  return compare(
      isUnsigned ? arith::CmpIPredicate::ule : arith::CmpIPredicate::sle, x, y);
}

Value ScalarBuilder::select(Value condition, Value x, Value y) {
  return builder.createOrFold<arith::SelectOp>(location, condition, x, y);
}

Value ScalarBuilder::logicalNot(Value x) {
  return bitXor(x, integer(x.getType(), APInt::getAllOnes(getWidth(x))));
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

Value ScalarBuilder::widen(Value x) {
  Type type = getComputeType(x.getType());
  return type == x.getType() ? x : convert<arith::ExtFOp>(x, type);
}

Value ScalarBuilder::narrow(Value x, Type to) {
  Type from = x.getType();
  if (from == to)
    return x;
  auto truncate = [&](Value value, Type type) -> Value {
    return arith::TruncFOp::create(builder, location, type, value);
  };
  if (!from.isF64() || to.isF32())
    return truncate(x, to);
  // Rounding to f32 and then to 16 bits would round twice. Rounding to odd
  // first is exact, because f32 has more than two bits over either type: an
  // inexact value is cut toward zero and its last bit set.
  Type f32 = builder.getF32Type(), i32 = builder.getI32Type();
  Value nearest = truncate(x, f32);
  Value back = convert<arith::ExtFOp>(nearest, from);
  Value bits = arith::BitcastOp::create(builder, location, i32, nearest);
  Value one = constant(i32, 1);
  Value isAway = less(abs(x), abs(back));
  Value cut = select(isAway, fold<arith::SubIOp>(bits, one), bits);
  // NaN is not inexact: "ordered and unequal" leaves it alone.
  Value isInexact = compare(arith::CmpFPredicate::ONE, x, back);
  Value odd = select(isInexact, bitOr(cut, one), bits);
  return truncate(arith::BitcastOp::create(builder, location, f32, odd), to);
}

Value ScalarBuilder::floatToInt(Value x, IntegerType to, bool toUnsigned) {
  x = widen(x);
  Type from = x.getType();
  unsigned width = to.getWidth();
  ScalarBuilder target(builder, location, toUnsigned);
  // The first power of two above the range is representable, the last integer
  // in it is not always. A conversion out of range is poison, but only ever in
  // the arm of a select that is not taken.
  Value limit = constant(from, std::ldexp(1.0, toUnsigned ? width : width - 1));
  Value zero = constant(to, 0);
  if (toUnsigned) {
    Value result = convert<arith::FPToUIOp>(x, to);
    result = select(compare(arith::CmpFPredicate::OGE, x, limit),
                    target.highest(to), result);
    Value isBelow = compare(arith::CmpFPredicate::ULT, x, constant(from, 0));
    return select(isBelow, zero, result);
  }
  Value result = convert<arith::FPToSIOp>(x, to);
  result = select(compare(arith::CmpFPredicate::OGE, x, limit),
                  target.highest(to), result);
  result = select(compare(arith::CmpFPredicate::OLT, x, neg(limit)),
                  target.lowest(to), result);
  return select(isNaN(x), zero, result);
}

Value ScalarBuilder::cast(Value x, Type to, bool fromUnsigned,
                          bool toUnsigned) {
  Type from = x.getType();
  auto toFloat = dyn_cast<FloatType>(to);
  auto toInt = dyn_cast<IntegerType>(to);
  bool fromBool = from.isInteger(1);
  if (auto fromFloat = dyn_cast<FloatType>(from)) {
    if (toInt && toInt.getWidth() == 1)
      return compare(arith::CmpFPredicate::UNE, x, constant(from, 0));
    if (toInt)
      return floatToInt(x, toInt, toUnsigned);
    if (from == to)
      return x;
    return fromFloat.getWidth() < toFloat.getWidth()
               ? convert<arith::ExtFOp>(x, to)
               : narrow(widen(x), to);
  }
  if (toFloat) {
    // Through f64 where f32 would round a first time before a 16-bit type does.
    Type compute = getComputeType(to);
    if (compute != to && from.getIntOrFloatBitWidth() > 16)
      compute = builder.getF64Type();
    Value result = fromUnsigned || fromBool
                       ? convert<arith::UIToFPOp>(x, compute)
                       : convert<arith::SIToFPOp>(x, compute);
    return narrow(result, to);
  }
  if (toInt.getWidth() == 1)
    return fromBool ? x
                    : compare(arith::CmpIPredicate::ne, x, constant(from, 0));
  unsigned fromWidth = from.getIntOrFloatBitWidth();
  if (fromWidth == toInt.getWidth())
    return x;
  if (fromWidth > toInt.getWidth())
    return convert<arith::TruncIOp>(x, to);
  return fromUnsigned || fromBool ? convert<arith::ExtUIOp>(x, to)
                                  : convert<arith::ExtSIOp>(x, to);
}
