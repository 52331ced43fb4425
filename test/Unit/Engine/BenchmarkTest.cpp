//===- BenchmarkTest.cpp - Tests of the statistics of call times ----------===//

#include "FuseDialect/Engine/Benchmark.h"
#include "gtest/gtest.h"
#include <numeric>

using namespace mlir::fuse;

namespace {

TEST(BenchmarkTest, OneTimeIsAllStatistics) {
  CallTimes times = summarizeTimes({5});
  EXPECT_EQ(times.min, 5);
  EXPECT_EQ(times.median, 5);
  EXPECT_EQ(times.p99, 5);
}

TEST(BenchmarkTest, MedianOfAnEvenCountIsTheMean) {
  EXPECT_EQ(summarizeTimes({4, 1, 3, 2}).median, 2.5);
  EXPECT_EQ(summarizeTimes({9, 1, 3}).median, 3);
}

TEST(BenchmarkTest, P99IsNotTheMaximumOfManyCalls) {
  std::vector<double> values(200);
  std::iota(values.rbegin(), values.rend(), 1);
  CallTimes times = summarizeTimes(values);
  EXPECT_EQ(times.min, 1);
  EXPECT_EQ(times.p99, 198);
  values.resize(50);
  EXPECT_EQ(summarizeTimes(values).p99, 200);
}

} // namespace
