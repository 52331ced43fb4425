//===- ExpandMathBuilder.cpp - Arithmetic on a float type -----------------===//

#include "ExpandMathBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::fuse;

/// `type` with another element type.
static Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

MathBuilder::MathBuilder(OpBuilder &builder, Location location, Type floatType,
                         const ExpandMathOptions &options)
    : builder(builder), location(location), options(options),
      floatType(floatType) {
  Type element = getElementTypeOrSelf(floatType);
  f64 = element.isF64();
  intType = withElement(
      floatType, builder.getIntegerType(element.getIntOrFloatBitWidth()));
  maskType = withElement(floatType, builder.getI1Type());
  auto vector = dyn_cast<VectorType>(floatType);
  native = options.avx512 && vector && vector.getRank() == 1 &&
           !vector.isScalable() && vector.getNumElements() > 0 &&
           vector.getNumElements() % (f64 ? 8 : 16) == 0;
}

MathBuilder MathBuilder::asF64() const {
  return MathBuilder(builder, location,
                     withElement(floatType, builder.getF64Type()), options);
}

MathBuilder MathBuilder::asF32() const {
  return MathBuilder(builder, location,
                     withElement(floatType, builder.getF32Type()), options);
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

/// A constant of `type`: `element`, or a splat of it.
static Value splat(OpBuilder &builder, Location location, Type type,
                   TypedAttr element) {
  if (auto vector = dyn_cast<VectorType>(type))
    element = SplatElementsAttr::get(vector, Attribute(element));
  return arith::ConstantOp::create(builder, location, element);
}

Value MathBuilder::constant(double value) const {
  return splat(builder, location, floatType,
               builder.getFloatAttr(getElementTypeOrSelf(floatType), value));
}

Value MathBuilder::infinity() const {
  return constant(std::numeric_limits<double>::infinity());
}

Value MathBuilder::nan() const {
  return constant(std::numeric_limits<double>::quiet_NaN());
}

Value MathBuilder::add(Value a, Value b) const {
  return arith::AddFOp::create(builder, location, a, b);
}

Value MathBuilder::sub(Value a, Value b) const {
  return arith::SubFOp::create(builder, location, a, b);
}

Value MathBuilder::mul(Value a, Value b) const {
  return arith::MulFOp::create(builder, location, a, b);
}

Value MathBuilder::div(Value a, Value b) const {
  return arith::DivFOp::create(builder, location, a, b);
}

Value MathBuilder::neg(Value a) const {
  return arith::NegFOp::create(builder, location, a);
}

Value MathBuilder::abs(Value a) const {
  return math::AbsFOp::create(builder, location, a);
}

Value MathBuilder::sqrt(Value a) const {
  return math::SqrtOp::create(builder, location, a);
}

Value MathBuilder::fma(Value a, Value b, Value c) const {
  if (!options.hasFma)
    return add(mul(a, b), c);
  return math::FmaOp::create(builder, location, a, b, c);
}

Value MathBuilder::fnma(Value a, Value b, Value c) const {
  if (!options.hasFma)
    return sub(c, mul(a, b));
  return math::FmaOp::create(builder, location, neg(a), b, c);
}

Value MathBuilder::copySign(Value a, Value sign) const {
  return math::CopySignOp::create(builder, location, a, sign);
}

// The order of operands makes these single min and max instructions of x86,
// which return their second operand if either is NaN.
Value MathBuilder::clampAbove(Value a, double bound) const {
  Value limit = constant(bound);
  return select(cmp(arith::CmpFPredicate::OLT, limit, a), limit, a);
}

Value MathBuilder::clampBelow(Value a, double bound) const {
  Value limit = constant(bound);
  return select(cmp(arith::CmpFPredicate::OGT, limit, a), limit, a);
}

Value MathBuilder::trunc(Value a) const {
  if (options.hasRound)
    return math::TruncOp::create(builder, location, a);
  // Round to nearest by adding 2^p, where the floats' spacing is 1, then step
  // back towards zero. From 2^p on, all floats are integers.
  double big = f64 ? 0x1p52 : 0x1p23;
  Value magnitude = abs(a);
  Value rounded = sub(add(magnitude, constant(big)), constant(big));
  Value above = cmp(arith::CmpFPredicate::OGT, rounded, magnitude);
  rounded = sub(rounded, select(above, constant(1), constant(0)));
  Value small = cmp(arith::CmpFPredicate::OLT, magnitude, big);
  return select(small, copySign(rounded, a), a);
}

Value MathBuilder::polynomial(Value x, ArrayRef<double> coefficients) const {
  Value result = constant(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    result = fma(result, x, constant(coefficient));
  return result;
}

Value MathBuilder::splitPolynomial(Value x,
                                   ArrayRef<double> coefficients) const {
  if (coefficients.size() < 4)
    return polynomial(x, coefficients);
  SmallVector<double> even, odd;
  for (auto [index, coefficient] : llvm::enumerate(coefficients))
    (index % 2 ? odd : even).push_back(coefficient);
  Value square = mul(x, x);
  return fma(polynomial(square, odd), x, polynomial(square, even));
}

//===----------------------------------------------------------------------===//
// Error-free transformations
//===----------------------------------------------------------------------===//

DoubleFloat MathBuilder::fastTwoSum(Value a, Value b) const {
  Value high = add(a, b);
  return {high, sub(b, sub(high, a))};
}

DoubleFloat MathBuilder::twoSum(Value a, Value b) const {
  Value high = add(a, b);
  Value shareOfB = sub(high, a);
  Value shareOfA = sub(high, shareOfB);
  return {high, add(sub(a, shareOfA), sub(b, shareOfB))};
}

DoubleFloat MathBuilder::twoProduct(Value a, Value b) const {
  Value high = mul(a, b);
  if (options.hasFma)
    return {high, math::FmaOp::create(builder, location, a, b, neg(high))};
  // Halves of the significands, cut by clearing bits: products are exact.
  int64_t mask = f64 ? ~((int64_t(1) << 27) - 1) : ~((int64_t(1) << 12) - 1);
  auto upper = [&](Value v) { return fromBits(iand(bits(v), mask)); };
  Value aHigh = upper(a), bHigh = upper(b);
  Value aLow = sub(a, aHigh), bLow = sub(b, bHigh);
  Value low = sub(mul(aHigh, bHigh), high);
  low = add(low, mul(aHigh, bLow));
  low = add(low, mul(aLow, bHigh));
  return {high, add(low, mul(aLow, bLow))};
}

//===----------------------------------------------------------------------===//
// Comparisons and selection
//===----------------------------------------------------------------------===//

Value MathBuilder::cmp(arith::CmpFPredicate predicate, Value a, Value b) const {
  return arith::CmpFOp::create(builder, location, predicate, a, b);
}

Value MathBuilder::select(Value mask, Value a, Value b) const {
  return arith::SelectOp::create(builder, location, mask, a, b);
}

Value MathBuilder::maskAnd(Value a, Value b) const {
  return arith::AndIOp::create(builder, location, a, b);
}

Value MathBuilder::maskOr(Value a, Value b) const {
  return arith::OrIOp::create(builder, location, a, b);
}

Value MathBuilder::maskNot(Value a) const {
  Value ones = splat(builder, location, maskType, builder.getBoolAttr(true));
  return arith::XOrIOp::create(builder, location, a, ones);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

Value MathBuilder::intConstant(int64_t value) const {
  Type element = getElementTypeOrSelf(intType);
  APInt truncated = APInt(64, value, /*isSigned=*/true)
                        .trunc(element.getIntOrFloatBitWidth());
  return splat(builder, location, intType,
               builder.getIntegerAttr(element, truncated));
}

Value MathBuilder::bits(Value a) const {
  return arith::BitcastOp::create(builder, location, intType, a);
}

Value MathBuilder::fromBits(Value a) const {
  return arith::BitcastOp::create(builder, location, floatType, a);
}

Value MathBuilder::iadd(Value a, Value b) const {
  return arith::AddIOp::create(builder, location, a, b);
}

Value MathBuilder::isub(Value a, Value b) const {
  return arith::SubIOp::create(builder, location, a, b);
}

Value MathBuilder::iand(Value a, Value b) const {
  return arith::AndIOp::create(builder, location, a, b);
}

Value MathBuilder::ior(Value a, Value b) const {
  return arith::OrIOp::create(builder, location, a, b);
}

Value MathBuilder::ixor(Value a, Value b) const {
  return arith::XOrIOp::create(builder, location, a, b);
}

Value MathBuilder::shl(Value a, int64_t amount) const {
  return arith::ShLIOp::create(builder, location, a, intConstant(amount));
}

Value MathBuilder::shr(Value a, int64_t amount) const {
  return arith::ShRUIOp::create(builder, location, a, intConstant(amount));
}

Value MathBuilder::icmp(arith::CmpIPredicate predicate, Value a,
                        Value b) const {
  return arith::CmpIOp::create(builder, location, predicate, a, b);
}

Value MathBuilder::signBit(Value a) const {
  return iand(bits(a), f64 ? std::numeric_limits<int64_t>::min()
                           : int64_t(std::numeric_limits<int32_t>::min()));
}

Value MathBuilder::xorSign(Value a, Value sign) const {
  return fromBits(ixor(bits(a), sign));
}

int64_t MathBuilder::bitsOf(double value) const {
  return f64 ? llvm::bit_cast<int64_t>(value)
             : int64_t(llvm::bit_cast<int32_t>(static_cast<float>(value)));
}

//===----------------------------------------------------------------------===//
// AVX-512
//===----------------------------------------------------------------------===//

Value MathBuilder::immediate(unsigned width, int64_t value) const {
  return arith::ConstantOp::create(
      builder, location,
      builder.getIntegerAttr(builder.getIntegerType(width), value));
}

Value MathBuilder::partConstant(ArrayRef<double> values) const {
  SmallVector<Attribute> elements;
  Type element = getElementTypeOrSelf(floatType);
  for (double value : values)
    elements.push_back(builder.getFloatAttr(element, value));
  auto type = VectorType::get(static_cast<int64_t>(values.size()), element);
  return arith::ConstantOp::create(builder, location,
                                   DenseElementsAttr::get(type, elements));
}

Value MathBuilder::callNative(StringRef intrinsic, ArrayRef<Value> operands,
                              ArrayRef<Value> trailing) const {
  int64_t lanes = f64 ? 8 : 16;
  int64_t total = cast<VectorType>(floatType).getNumElements();
  Type partType = VectorType::get(lanes, getElementTypeOrSelf(floatType));
  StringAttr name = builder.getStringAttr(intrinsic);
  Value result;
  for (int64_t start = 0; start < total; start += lanes) {
    SmallVector<Value> arguments;
    for (Value operand : operands) {
      if (total != lanes && operand.getType() != partType) {
        auto range = llvm::to_vector(llvm::seq(start, start + lanes));
        operand = vector::ShuffleOp::create(builder, location, operand, operand,
                                            range);
      }
      arguments.push_back(operand);
    }
    llvm::append_range(arguments, trailing);
    Value part = LLVM::CallIntrinsicOp::create(builder, location, partType,
                                               name, arguments)
                     .getResults();
    if (!result) {
      result = part;
      continue;
    }
    // Shuffles take operands of different lengths: the parts so far and one
    // more.
    auto range = llvm::to_vector(llvm::seq<int64_t>(0, start + lanes));
    result = vector::ShuffleOp::create(builder, location, result, part, range);
  }
  return result;
}

// Operands that follow the sources of masked intrinsics: the lanes to keep
// where the mask is clear, a mask that is set, and the rounding mode of the
// environment.
static constexpr int64_t kCurrentRounding = 4;

Value MathBuilder::nativeScale(Value a, Value n) const {
  Value passThrough = partConstant(SmallVector<double>(f64 ? 8 : 16, 0.0));
  return callNative(f64 ? "llvm.x86.avx512.mask.scalef.pd.512"
                        : "llvm.x86.avx512.mask.scalef.ps.512",
                    {a, n},
                    {passThrough, immediate(f64 ? 8 : 16, -1),
                     immediate(32, kCurrentRounding)});
}

Value MathBuilder::nativeExponent(Value a) const {
  Value passThrough = partConstant(SmallVector<double>(f64 ? 8 : 16, 0.0));
  return callNative(f64 ? "llvm.x86.avx512.mask.getexp.pd.512"
                        : "llvm.x86.avx512.mask.getexp.ps.512",
                    {a},
                    {passThrough, immediate(f64 ? 8 : 16, -1),
                     immediate(32, kCurrentRounding)});
}

Value MathBuilder::nativeMantissa(Value a) const {
  // Interval [1, 2) (bits 1:0 clear), NaN if the sign is set (bit 3).
  constexpr int64_t unitIntervalNanIfNegative = 0b1000;
  Value passThrough = partConstant(SmallVector<double>(f64 ? 8 : 16, 0.0));
  return callNative(f64 ? "llvm.x86.avx512.mask.getmant.pd.512"
                        : "llvm.x86.avx512.mask.getmant.ps.512",
                    {a},
                    {immediate(32, unitIntervalNanIfNegative), passThrough,
                     immediate(f64 ? 8 : 16, -1),
                     immediate(32, kCurrentRounding)});
}

Value MathBuilder::nativeClampMagnitude(Value a, double bound) const {
  // The smaller magnitude (bits 1:0 = 2), with the sign of the first source
  // (bits 3:2 = 0).
  constexpr int64_t smallerMagnitude = 0b0010;
  SmallVector<double> bounds(f64 ? 8 : 16, bound);
  Value limit = partConstant(bounds);
  return callNative(f64 ? "llvm.x86.avx512.mask.range.pd.512"
                        : "llvm.x86.avx512.mask.range.ps.512",
                    {a},
                    {limit, immediate(32, smallerMagnitude), limit,
                     immediate(f64 ? 8 : 16, -1),
                     immediate(32, kCurrentRounding)});
}

Value MathBuilder::nativeReciprocal(Value a) const {
  Value passThrough = partConstant(SmallVector<double>(f64 ? 8 : 16, 0.0));
  return callNative(f64 ? "llvm.x86.avx512.rcp14.pd.512"
                        : "llvm.x86.avx512.rcp14.ps.512",
                    {a}, {passThrough, immediate(f64 ? 8 : 16, -1)});
}

Value MathBuilder::nativeReciprocalRoot(Value a) const {
  Value passThrough = partConstant(SmallVector<double>(f64 ? 8 : 16, 0.0));
  return callNative(f64 ? "llvm.x86.avx512.rsqrt14.pd.512"
                        : "llvm.x86.avx512.rsqrt14.ps.512",
                    {a}, {passThrough, immediate(f64 ? 8 : 16, -1)});
}

Value MathBuilder::nativeLookup(ArrayRef<double> table, Value index) const {
  size_t lanes = f64 ? 8 : 16;
  if (table.size() == lanes)
    return callNative(f64 ? "llvm.x86.avx512.permvar.df.512"
                          : "llvm.x86.avx512.permvar.sf.512",
                      {partConstant(table), index}, {});
  Value lower = partConstant(table.take_front(lanes));
  Value upper = partConstant(table.drop_front(lanes));
  return callNative(f64 ? "llvm.x86.avx512.vpermi2var.pd.512"
                        : "llvm.x86.avx512.vpermi2var.ps.512",
                    {lower, index, upper}, {});
}

Value MathBuilder::nativeSegments(Value x, double width,
                                  ArrayRef<double[32]> coefficients) const {
  Value magic = constant(0x1.8p23);
  Value sum = fma(x, constant(1.0 / width), magic);
  Value index = bits(sum);
  Value t = fma(sub(sum, magic), constant(-width), x);
  Value result = nativeLookup(coefficients.back(), index);
  for (const double (&row)[32] : llvm::reverse(coefficients.drop_back()))
    result = fma(result, t, nativeLookup(row, index));
  return result;
}
