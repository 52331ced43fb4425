//===- FuseRuntime.cpp - What compiled models call at run time ------------===//

#include "FuseDialect/Runtime/FuseRuntime.h"
#include <algorithm>
#include <new>
#include <pthreadpool.h>

/// More threads than any machine has; beyond it the pool's own allocations
/// would be the limit, and it does not report that they failed.
static constexpr int32_t kMaxThreads = 1024;
/// Parts for each thread: with more than one, a thread that another program
/// holds up gives parts away.
static constexpr uint64_t kPartsPerThread = 4;

struct fuse_rt_context {
  /// Null for one thread.
  pthreadpool_t pool = nullptr;
  int32_t threads = 1;
};

namespace {
/// One parallel loop, cut into `parts` parts whose sizes differ by at most one.
struct Loop {
  fuse_rt_task task;
  void *arguments;
  int64_t begin;
  uint64_t size;
  uint64_t parts;

  /// The first iteration of a part; that of part `parts` is the loop's end.
  int64_t start(uint64_t part) const {
    uint64_t offset = size / parts * part + std::min(part, size % parts);
    return static_cast<int64_t>(static_cast<uint64_t>(begin) + offset);
  }
};
} // namespace

/// True on a thread that runs a part: a loop inside it runs serially, where the
/// pool would wait for itself.
static thread_local bool insideLoop = false;

static void runPart(void *data, size_t part) {
  const auto *loop = static_cast<const Loop *>(data);
  insideLoop = true;
  loop->task(loop->arguments, loop->start(part), loop->start(part + 1));
  insideLoop = false;
}

fuse_rt_context *fuse_rt_context_create(int32_t threads) {
  auto *context = new (std::nothrow) fuse_rt_context;
  if (!context)
    return nullptr;
  threads = std::clamp(threads, 1, kMaxThreads);
  if (threads == 1)
    return context;
  context->pool = pthreadpool_create(threads);
  if (!context->pool) {
    delete context;
    return nullptr;
  }
  context->threads = threads;
  return context;
}

void fuse_rt_context_destroy(fuse_rt_context *context) {
  if (!context)
    return;
  pthreadpool_destroy(context->pool);
  delete context;
}

int32_t fuse_rt_context_threads(const fuse_rt_context *context) {
  return context->threads;
}

void fuse_rt_parallel_for(fuse_rt_context *context, fuse_rt_task task,
                          void *arguments, int64_t begin, int64_t end,
                          int64_t grain) {
  if (begin >= end)
    return;
  // Unsigned: the difference of two int64_t may not fit one.
  uint64_t size = static_cast<uint64_t>(end) - static_cast<uint64_t>(begin);
  uint64_t parts =
      std::min(size / static_cast<uint64_t>(std::max<int64_t>(grain, 1)),
               kPartsPerThread * static_cast<uint64_t>(context->threads));
  if (!context->pool || parts <= 1 || insideLoop) {
    task(arguments, begin, end);
    return;
  }
  Loop loop{task, arguments, begin, size, parts};
  pthreadpool_parallelize_1d(context->pool, runPart, &loop, parts,
                             /*flags=*/0);
}
