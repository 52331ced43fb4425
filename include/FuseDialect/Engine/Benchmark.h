//===- Benchmark.h - How long does a call take? -----------------*- C++ -*-===//

#ifndef FUSEDIALECT_ENGINE_BENCHMARK_H
#define FUSEDIALECT_ENGINE_BENCHMARK_H

#include "FuseDialect/Engine/Executable.h"
#include "llvm/Support/JSON.h"

namespace mlir::fuse {

/// Times of one call, in microseconds. p99 is the smallest time that 99 % of
/// the calls do not exceed.
struct CallTimes {
  double min = 0, median = 0, p99 = 0;
};

/// Statistics of at least one time; the order does not matter.
CallTimes summarizeTimes(std::vector<double> microseconds);

/// Calls `warmup` times, then `repeat` (at least one) times with a clock around
/// each call. An error if a call fails.
llvm::Expected<CallTimes> benchmark(const Executable::Call &call,
                                    unsigned warmup, unsigned repeat);

} // namespace mlir::fuse

#endif // FUSEDIALECT_ENGINE_BENCHMARK_H
