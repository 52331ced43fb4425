//===- CompareTest.cpp - Tests of tensor comparison -----------------------===//

#include "FuseDialect/Engine/Compare.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <limits>

using namespace mlir;
using namespace mlir::fuse;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class CompareTest : public ::testing::Test {
protected:
  HostTensor create(Type type, ArrayRef<double> values) {
    std::optional<HostTensor> tensor =
        HostTensor::create({static_cast<int64_t>(values.size())}, type);
    for (auto [index, value] : llvm::enumerate(values))
      tensor->setDouble(index, value);
    return std::move(*tensor);
  }

  MLIRContext context;
  Type f32 = Float32Type::get(&context);
  Type i64 = IntegerType::get(&context, 64);
};

TEST_F(CompareTest, ElementsWithinToleranceAgree) {
  Comparison result = compareTensors(create(f32, {1, 100.5}),
                                     create(f32, {1.25, 100}), {0.005, 0.25});
  EXPECT_EQ(result.numDifferent, 0);
  EXPECT_EQ(result.worst, -1);
  EXPECT_EQ(result.maxDifference, 0.5);
}

TEST_F(CompareTest, WorstIsFurthestBeyondItsOwnTolerance) {
  // 1000 may differ by 100, so 50 there is less than 2 at 10.
  Comparison result = compareTensors(create(f32, {1050, 12, 1, 3}),
                                     create(f32, {1000, 10, 1, 3}), {0.1, 0});
  EXPECT_EQ(result.numDifferent, 1);
  EXPECT_EQ(result.worst, 1);
  EXPECT_EQ(result.maxDifference, 50);
}

TEST_F(CompareTest, NanEqualsOnlyNan) {
  EXPECT_EQ(
      compareTensors(create(f32, {kNan}), create(f32, {kNan}), {}).numDifferent,
      0);
  EXPECT_EQ(
      compareTensors(create(f32, {kNan, 1}), create(f32, {1, kNan}), {1, 1})
          .numDifferent,
      2);
}

TEST_F(CompareTest, InfinityEqualsOnlyItself) {
  EXPECT_EQ(compareTensors(create(f32, {kInfinity, -kInfinity}),
                           create(f32, {kInfinity, kInfinity}), {1, 1})
                .numDifferent,
            1);
  EXPECT_EQ(compareTensors(create(f32, {1}), create(f32, {kInfinity}), {1, 1})
                .numDifferent,
            1);
}

TEST_F(CompareTest, WideIntegersAreComparedExactly) {
  HostTensor a = create(i64, {0}), b = create(i64, {0});
  a.setInt(0, (int64_t(1) << 62) + 1);
  b.setInt(0, int64_t(1) << 62);
  EXPECT_EQ(compareTensors(a, b, {}).numDifferent, 1);
  EXPECT_EQ(compareTensors(a, a, {}).numDifferent, 0);
}

TEST_F(CompareTest, DescriptionNamesTheWorstElement) {
  std::optional<HostTensor> got = HostTensor::create({2, 2}, f32);
  std::optional<HostTensor> want = HostTensor::create({2, 2}, f32);
  want->setDouble(2, 0.5);
  EXPECT_EQ(describeDifference("y", *got, *want, {0, 0.25}),
            "output 'y' differs in 1 of 4 elements (rtol 0, atol 0.25), most "
            "at [1, 0]: expected 0.5 but got 0");
  EXPECT_EQ(describeDifference("y", *got, *want, {0, 0.5}), "");
}

TEST_F(CompareTest, DescriptionTellsTypesApart) {
  EXPECT_EQ(describeDifference("y", create(f32, {1}), create(i64, {1, 2}), {}),
            "expected output 'y' to be 2xi64 but got 1xf32");
}

} // namespace
