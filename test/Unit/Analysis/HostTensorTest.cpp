//===- HostTensorTest.cpp - Element access and conversions ----------------===//

#include "FuseDialect/Analysis/HostTensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>
#include <random>

using namespace mlir;
using namespace mlir::fuse;

namespace {

class HostTensorTest : public ::testing::Test {
protected:
  MLIRContext context;
  Builder b{&context};

  /// All element types of the dialect.
  SmallVector<Type> getElementTypes() {
    SmallVector<Type> types = {b.getI1Type(), b.getF16Type(), b.getBF16Type(),
                               b.getF32Type(), b.getF64Type()};
    for (unsigned width : {8, 16, 32, 64}) {
      types.push_back(b.getIntegerType(width));
      types.push_back(b.getIntegerType(width, /*isSigned=*/false));
    }
    return types;
  }
  HostTensor create(ArrayRef<int64_t> shape, Type type) {
    std::optional<HostTensor> tensor = HostTensor::create(shape, type);
    EXPECT_TRUE(tensor.has_value());
    return std::move(*tensor);
  }
  /// What one element of `type` holds after a double was stored.
  double roundTrip(Type type, double value) {
    HostTensor tensor = create({}, type);
    tensor.setDouble(0, value);
    return tensor.getDouble(0);
  }
};

/// The nearest value of a format, by LLVM's arithmetic.
uint16_t encodeByAPFloat(const llvm::fltSemantics &format, double value) {
  APFloat number(value);
  bool losesInfo;
  number.convert(format, APFloat::rmNearestTiesToEven, &losesInfo);
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

TEST_F(HostTensorTest, IsZeroedAndAligned) {
  for (Type type : getElementTypes()) {
    HostTensor tensor = create({3, 5}, type);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.getData()) % 64, 0u);
    for (int64_t i = 0; i < 15; ++i)
      EXPECT_EQ(tensor.getDouble(i), 0.0);
  }
}

TEST_F(HostTensorTest, ShapesWithoutElementsAndWithoutDims) {
  HostTensor empty = create({4, 0, 3}, b.getF32Type());
  EXPECT_EQ(empty.getNumElements(), 0);
  EXPECT_NE(empty.getData(), nullptr);
  HostTensor scalar = create({}, b.getF32Type());
  EXPECT_EQ(scalar.getNumElements(), 1);
  EXPECT_EQ(scalar.getRank(), 0);
}

TEST_F(HostTensorTest, RefusesWhatItCannotHold) {
  Type f32 = b.getF32Type();
  EXPECT_FALSE(HostTensor::create({-1}, f32));
  EXPECT_FALSE(HostTensor::create({ShapedType::kDynamic}, f32));
  EXPECT_FALSE(HostTensor::create({int64_t(1) << 32, int64_t(1) << 32}, f32));
  EXPECT_FALSE(HostTensor::create({int64_t(1) << 61}, f32));
  EXPECT_FALSE(HostTensor::create({int64_t(1) << 60}, f32));
  EXPECT_FALSE(HostTensor::create({2}, b.getIndexType()));
  EXPECT_FALSE(HostTensor::create({2}, b.getIntegerType(4)));
  EXPECT_FALSE(HostTensor::create({2}, b.getIntegerType(8, true)));
  EXPECT_FALSE(HostTensor::create({2}, ComplexType::get(f32)));
  // Empty, though the product of the other extents has no value.
  EXPECT_TRUE(HostTensor::create({int64_t(1) << 62, 4, 0}, f32));
}

TEST_F(HostTensorTest, DecodesEverySixteenBitFloat) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    for (bool isHalf : {true, false}) {
      double want = APFloat(isHalf ? APFloat::IEEEhalf() : APFloat::BFloat(),
                            APInt(16, bits))
                        .convertToDouble();
      double got = isHalf ? decodeHalf(bits) : decodeBFloat(bits);
      if (std::isnan(want))
        ASSERT_TRUE(std::isnan(got)) << bits;
      else
        ASSERT_EQ(llvm::bit_cast<uint64_t>(got), llvm::bit_cast<uint64_t>(want))
            << bits;
    }
  }
}

TEST_F(HostTensorTest, EncodesSixteenBitFloatsToTheNearest) {
  auto check = [](double value) {
    ASSERT_EQ(encodeHalf(value), encodeByAPFloat(APFloat::IEEEhalf(), value))
        << value;
    ASSERT_EQ(encodeBFloat(value), encodeByAPFloat(APFloat::BFloat(), value))
        << value;
  };
  double inf = std::numeric_limits<double>::infinity();
  for (double value : {0.0, -0.0, inf, -inf, 5e-324, -1e-310, 1e308, 65519.99,
                       65520.0, 3.4e38, 3.39e38, 0x1p-25, 0x1.000001p-25,
                       0x1p-134, 0x1.8p-134, -0x1p-24, 0x1.ffffffp-15})
    check(value);
  // Halfway between neighbours, and a little to both sides.
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    double middle = (decodeHalf(bits) + decodeHalf(bits + 1)) / 2;
    check(middle);
    check(std::nextafter(middle, inf));
    check(std::nextafter(middle, -inf));
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    double value = llvm::bit_cast<double>(random());
    if (!std::isnan(value))
      check(value);
    check(std::ldexp(static_cast<double>(random()),
                     static_cast<int>(random() % 60) - 90));
  }
  EXPECT_TRUE(std::isnan(decodeHalf(encodeHalf(std::nan("")))));
  EXPECT_TRUE(std::isnan(decodeBFloat(encodeBFloat(std::nan("")))));
}

TEST_F(HostTensorTest, DoublesBecomeIntegersTowardsZeroAndSaturate) {
  double inf = std::numeric_limits<double>::infinity();
  Type i8 = b.getI8Type(), u8 = b.getIntegerType(8, false);
  EXPECT_EQ(roundTrip(i8, -1.9), -1);
  EXPECT_EQ(roundTrip(i8, 127.9), 127);
  EXPECT_EQ(roundTrip(i8, 1e30), 127);
  EXPECT_EQ(roundTrip(i8, -inf), -128);
  EXPECT_EQ(roundTrip(i8, std::nan("")), 0);
  EXPECT_EQ(roundTrip(u8, -0.5), 0);
  EXPECT_EQ(roundTrip(u8, -3), 0);
  EXPECT_EQ(roundTrip(u8, 256), 255);
  HostTensor i64 = create({1}, b.getI64Type());
  i64.setDouble(0, 0x1p63);
  EXPECT_EQ(i64.getInt(0), std::numeric_limits<int64_t>::max());
  i64.setDouble(0, -0x1p63);
  EXPECT_EQ(i64.getInt(0), std::numeric_limits<int64_t>::min());
  HostTensor u64 = create({1}, b.getIntegerType(64, false));
  u64.setDouble(0, 0x1p64);
  EXPECT_EQ(u64.getUInt(0), std::numeric_limits<uint64_t>::max());
}

TEST_F(HostTensorTest, FloatsReadAsIntegersSaturate) {
  HostTensor f32 = create({1}, b.getF32Type());
  f32.setDouble(0, -1e30);
  EXPECT_EQ(f32.getInt(0), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(f32.getUInt(0), 0u);
  f32.setDouble(0, std::nan(""));
  EXPECT_EQ(f32.getInt(0), 0);
}

TEST_F(HostTensorTest, IntegersKeepAllDigits) {
  HostTensor i64 = create({1}, b.getI64Type());
  i64.setInt(0, std::numeric_limits<int64_t>::max() - 1);
  EXPECT_EQ(i64.getInt(0), std::numeric_limits<int64_t>::max() - 1);
  HostTensor u64 = create({1}, b.getIntegerType(64, false));
  u64.setUInt(0, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(u64.getUInt(0), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(u64.getDouble(0), 0x1p64);
}

TEST_F(HostTensorTest, NarrowIntegersWrapAndKeepTheirSign) {
  HostTensor i8 = create({1}, b.getI8Type());
  i8.setInt(0, 200);
  EXPECT_EQ(i8.getInt(0), -56);
  EXPECT_EQ(i8.getUInt(0), uint64_t(-56));
  HostTensor u8 = create({1}, b.getIntegerType(8, false));
  u8.setInt(0, -1);
  EXPECT_EQ(u8.getInt(0), 255);
}

/// 2^60 + 2^52 + 1 is just above the middle of two bfloat16 values; as a double
/// it would be the middle, and round to the even one below.
TEST_F(HostTensorTest, IntegersRoundOnceIntoFloats) {
  int64_t value = (int64_t(1) << 60) + (int64_t(1) << 52) + 1;
  HostTensor bf16 = create({1}, b.getBF16Type());
  bf16.setInt(0, value);
  EXPECT_EQ(bf16.getDouble(0), 0x1.02p60);
  value = (int64_t(1) << 60) + (int64_t(1) << 36) + 1;
  HostTensor f32 = create({1}, b.getF32Type());
  f32.setInt(0, value);
  EXPECT_EQ(f32.getDouble(0), 0x1.000002p60);
}

TEST_F(HostTensorTest, BooleansAreZeroOrOne) {
  HostTensor flag = create({3}, b.getI1Type());
  flag.setDouble(0, 0.5);
  flag.setInt(1, -256);
  flag.setUInt(2, 0);
  EXPECT_EQ(flag.getValues<uint8_t>(), ArrayRef<uint8_t>({1, 1, 0}));
}

TEST_F(HostTensorTest, ReadsDenseAttributes) {
  auto type = RankedTensorType::get({2, 2}, b.getF32Type());
  auto tensor = HostTensor::fromElements(
      DenseElementsAttr::get(type, ArrayRef<float>{1, 2, 3, 4}));
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->getType(), type);
  EXPECT_EQ(tensor->getValues<float>(), ArrayRef<float>({1, 2, 3, 4}));
  auto splat = HostTensor::fromElements(DenseElementsAttr::get(type, 2.5f));
  ASSERT_TRUE(splat);
  EXPECT_EQ(splat->getValues<float>(), ArrayRef<float>({2.5, 2.5, 2.5, 2.5}));
}

TEST_F(HostTensorTest, BooleanAttributesKeepEveryElement) {
  auto type = RankedTensorType::get({11}, b.getI1Type());
  SmallVector<bool> values(11, false);
  values[0] = values[9] = values[10] = true;
  auto tensor = HostTensor::fromElements(DenseElementsAttr::get(type, values));
  ASSERT_TRUE(tensor);
  for (int i = 0; i < 11; ++i)
    EXPECT_EQ(tensor->getInt(i), values[i]);
  EXPECT_EQ(std::move(*tensor).takeElements(),
            DenseElementsAttr::get(type, values));
}

TEST_F(HostTensorTest, EveryTypeSurvivesAnAttribute) {
  for (int64_t size : {5, 2000})
    for (Type type : getElementTypes()) {
      HostTensor tensor = create({size}, type);
      for (int64_t i = 0; i < size; ++i)
        tensor.setInt(i, i % 2);
      ElementsAttr elements = std::move(tensor).takeElements("w");
      EXPECT_EQ(elements.getShapedType(), RankedTensorType::get({size}, type));
      auto back = HostTensor::fromElements(elements);
      ASSERT_TRUE(back);
      for (int64_t i = 0; i < size; ++i)
        ASSERT_EQ(back->getInt(i), i % 2);
    }
}

TEST_F(HostTensorTest, LargeTensorsBecomeResources) {
  HostTensor tensor = create({257}, b.getF32Type());
  tensor.setDouble(256, 7);
  const void *data = tensor.getData();
  auto resource = dyn_cast<DenseResourceElementsAttr>(
      std::move(tensor).takeElements("weight"));
  ASSERT_TRUE(resource);
  EXPECT_EQ(resource.getRawHandle().getKey(), "weight");
  EXPECT_EQ(resource.getRawHandle().getBlob()->getData().data(), data);
}

TEST_F(HostTensorTest, RefusesResourcesOfAnotherSize) {
  auto type = RankedTensorType::get({4}, b.getF32Type());
  std::vector<char> bytes(12);
  EXPECT_FALSE(HostTensor::fromElements(DenseResourceElementsAttr::get(
      type, "short", HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 4))));
}

TEST_F(HostTensorTest, CloneIsDeep) {
  HostTensor tensor = create({2}, b.getF32Type());
  std::optional<HostTensor> copy = tensor.clone();
  ASSERT_TRUE(copy);
  tensor.setDouble(0, 1);
  EXPECT_EQ(copy->getDouble(0), 0);
}

} // namespace
