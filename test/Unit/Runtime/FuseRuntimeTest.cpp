//===- FuseRuntimeTest.cpp - Parallel loops -------------------------------===//

#include "FuseDialect/Runtime/FuseRuntime.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace {

using Context =
    std::unique_ptr<fuse_rt_context, decltype(&fuse_rt_context_destroy)>;

Context createContext(int32_t threads) {
  return Context(fuse_rt_context_create(threads), fuse_rt_context_destroy);
}

/// The parts that a loop ran, sorted.
struct Parts {
  std::mutex mutex;
  std::vector<std::pair<int64_t, int64_t>> parts;
  std::set<std::thread::id> threads;

  static void record(void *data, int64_t begin, int64_t end) {
    auto *self = static_cast<Parts *>(data);
    std::lock_guard<std::mutex> lock(self->mutex);
    self->parts.emplace_back(begin, end);
    self->threads.insert(std::this_thread::get_id());
  }

  static std::vector<std::pair<int64_t, int64_t>>
  of(fuse_rt_context *context, int64_t begin, int64_t end, int64_t grain) {
    Parts self;
    fuse_rt_parallel_for(context, record, &self, begin, end, grain);
    std::sort(self.parts.begin(), self.parts.end());
    return self.parts;
  }
};

TEST(FuseRuntimeTest, ThreadsAreClamped) {
  EXPECT_EQ(fuse_rt_context_threads(createContext(0).get()), 1);
  EXPECT_EQ(fuse_rt_context_threads(createContext(-7).get()), 1);
  EXPECT_EQ(fuse_rt_context_threads(createContext(3).get()), 3);
}

TEST(FuseRuntimeTest, DestroyTakesNull) { fuse_rt_context_destroy(nullptr); }

TEST(FuseRuntimeTest, PartsCoverTheRangeOnce) {
  for (int32_t threads : {1, 2, 3}) {
    Context context = createContext(threads);
    for (int64_t size : {1, 2, 3, 7, 8, 63, 64, 65, 1000})
      for (int64_t grain : {1, 3, 64, 5000}) {
        auto parts = Parts::of(context.get(), -5, size - 5, grain);
        ASSERT_FALSE(parts.empty());
        EXPECT_EQ(parts.front().first, -5);
        EXPECT_EQ(parts.back().second, size - 5);
        for (size_t i = 1; i < parts.size(); ++i)
          EXPECT_EQ(parts[i].first, parts[i - 1].second);
        if (parts.size() > 1)
          for (auto [begin, end] : parts)
            EXPECT_GE(end - begin, grain);
      }
  }
}

TEST(FuseRuntimeTest, EmptyRangesRunNothing) {
  Context context = createContext(2);
  EXPECT_TRUE(Parts::of(context.get(), 4, 4, 1).empty());
  EXPECT_TRUE(Parts::of(context.get(), 4, 3, 1).empty());
}

TEST(FuseRuntimeTest, GrainsBelowOneCountAsOne) {
  Context context = createContext(2);
  for (int64_t grain : {int64_t(0), std::numeric_limits<int64_t>::min()})
    EXPECT_EQ(Parts::of(context.get(), 0, 2, grain).size(), 2u);
}

TEST(FuseRuntimeTest, OneThreadRunsOnePartOnTheCaller) {
  Context context = createContext(1);
  Parts parts;
  fuse_rt_parallel_for(context.get(), Parts::record, &parts, 0, 1000, 1);
  EXPECT_EQ(parts.parts.size(), 1u);
  EXPECT_EQ(parts.threads,
            std::set<std::thread::id>{std::this_thread::get_id()});
}

TEST(FuseRuntimeTest, TheWidestRangeIsCut) {
  Context context = createContext(2);
  constexpr int64_t min = std::numeric_limits<int64_t>::min();
  constexpr int64_t max = std::numeric_limits<int64_t>::max();
  auto parts = Parts::of(context.get(), min, max, 1);
  ASSERT_EQ(parts.size(), 8u);
  EXPECT_EQ(parts.front().first, min);
  EXPECT_EQ(parts.back().second, max);
  for (size_t i = 1; i < parts.size(); ++i)
    EXPECT_EQ(parts[i].first, parts[i - 1].second);
}

/// Two parts that wait for each other: only two threads get past.
TEST(FuseRuntimeTest, PartsRunAtTheSameTime) {
  Context context = createContext(2);
  std::atomic<int> arrived = 0;
  fuse_rt_parallel_for(
      context.get(),
      [](void *data, int64_t, int64_t) {
        auto &arrived = *static_cast<std::atomic<int> *>(data);
        ++arrived;
        while (arrived < 2)
          std::this_thread::yield();
      },
      &arrived, 0, 2, 1);
  EXPECT_EQ(arrived, 2);
}

TEST(FuseRuntimeTest, LoopsInsidePartsRunSerially) {
  struct Nest {
    fuse_rt_context *context;
    std::atomic<int64_t> iterations = 0;
    std::atomic<int64_t> innerParts = 0;
  };
  Context context = createContext(2);
  Nest nest{context.get()};
  auto inner = [](void *data, int64_t begin, int64_t end) {
    static_cast<Nest *>(data)->iterations += end - begin;
    ++static_cast<Nest *>(data)->innerParts;
  };
  struct Static {
    static void outer(void *data, int64_t begin, int64_t end) {
      auto *nest = static_cast<Nest *>(data);
      for (int64_t i = begin; i < end; ++i)
        fuse_rt_parallel_for(
            nest->context,
            [](void *data, int64_t begin, int64_t end) {
              static_cast<Nest *>(data)->iterations += end - begin;
              ++static_cast<Nest *>(data)->innerParts;
            },
            data, 0, 100, 1);
    }
  };
  fuse_rt_parallel_for(context.get(), Static::outer, &nest, 0, 10, 1);
  EXPECT_EQ(nest.iterations, 1000);
  EXPECT_EQ(nest.innerParts, 10);
  // The calling thread is outside of the loop again.
  nest.innerParts = 0;
  fuse_rt_parallel_for(context.get(), inner, &nest, 0, 8, 1);
  EXPECT_EQ(nest.innerParts, 8);
}

TEST(FuseRuntimeTest, ContextsAreIndependent) {
  auto sum = [](void *data, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      *static_cast<std::atomic<int64_t> *>(data) += i;
  };
  std::vector<std::thread> callers;
  std::atomic<int> right = 0;
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([&] {
      Context context = createContext(2);
      bool same = true;
      for (int repeat = 0; repeat < 50; ++repeat) {
        std::atomic<int64_t> total = 0;
        fuse_rt_parallel_for(context.get(), sum, &total, 0, 1000, 10);
        same &= total == 499500;
      }
      right += same;
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(right, 3);
}

} // namespace
