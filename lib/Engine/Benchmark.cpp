//===- Benchmark.cpp - How long does a call take? -------------------------===//

#include "FuseDialect/Engine/Benchmark.h"
#include "FuseDialect/Engine/EngineError.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>

using namespace mlir;
using namespace mlir::fuse;

CallTimes mlir::fuse::summarizeTimes(std::vector<double> microseconds) {
  llvm::sort(microseconds);
  size_t count = microseconds.size(), middle = count / 2;
  double median = count % 2
                      ? microseconds[middle]
                      : (microseconds[middle - 1] + microseconds[middle]) / 2;
  // The rank is ceil(0.99 * count), counted from 1.
  size_t rank = (99 * count + 99) / 100;
  return {microseconds.front(), median, microseconds[rank - 1]};
}

llvm::Expected<CallTimes> mlir::fuse::benchmark(const Executable::Call &call,
                                                unsigned warmup,
                                                unsigned repeat) {
  auto failed = [](int32_t code) {
    return makeError("the compiled model returned error " + llvm::Twine(code));
  };
  for (unsigned i = 0; i < warmup; ++i)
    if (int32_t code = call())
      return failed(code);
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  times.reserve(repeat);
  for (unsigned i = 0; i < repeat; ++i) {
    Clock::time_point start = Clock::now();
    int32_t code = call();
    std::chrono::duration<double, std::micro> time = Clock::now() - start;
    if (code)
      return failed(code);
    times.push_back(time.count());
  }
  return summarizeTimes(std::move(times));
}
