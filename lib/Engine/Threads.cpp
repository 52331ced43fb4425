//===- Threads.cpp - How many threads this process may run ----------------===//

#include "FuseDialect/Engine/Threads.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <sched.h>

using namespace mlir::fuse;
using llvm::StringRef;
namespace path = llvm::sys::path;

/// The text of a file of the kernel's, whose size is not known before it is
/// read; empty if there is none.
static std::string readFile(const llvm::Twine &name) {
  auto buffer = llvm::MemoryBuffer::getFileAsStream(name);
  return buffer ? (*buffer)->getBuffer().trim().str() : std::string();
}

/// Lowers `limit` to quota / period, in whole processors.
static void apply(StringRef quotaText, StringRef periodText, int32_t &limit) {
  int64_t quota, period;
  // "max" or -1: no quota.
  if (quotaText.getAsInteger(10, quota) ||
      periodText.getAsInteger(10, period) || quota <= 0 || period <= 0)
    return;
  limit = static_cast<int32_t>(
      std::max<int64_t>(1, std::min<int64_t>(limit, quota / period)));
}

int32_t mlir::fuse::getControlGroupThreads(StringRef root, int32_t limit) {
  std::string groups = readFile(root + "/proc/self/cgroup");
  llvm::SmallVector<StringRef> lines;
  StringRef(groups).split(lines, '\n');
  for (StringRef line : lines) {
    // ID:CONTROLLERS:PATH; version 2 has no controllers.
    auto [id, rest] = line.split(':');
    auto [controllers, group] = rest.split(':');
    llvm::SmallVector<StringRef> names;
    controllers.split(names, ',');
    bool isUnified = controllers.empty();
    if (!isUnified && !llvm::is_contained(names, "cpu"))
      continue;
    llvm::SmallString<128> base(root);
    path::append(base, "sys/fs/cgroup", isUnified ? StringRef() : controllers);
    // Each group on the way up has a quota of its own. In a container the
    // path may be the host's: then only the mounted root exists.
    for (StringRef at = group;; at = path::parent_path(at)) {
      std::string directory = (base + "/" + at).str();
      if (isUnified) {
        std::string text = readFile(directory + "/cpu.max");
        auto [quota, period] = StringRef(text).split(' ');
        apply(quota, period, limit);
      } else {
        apply(readFile(directory + "/cpu.cfs_quota_us"),
              readFile(directory + "/cpu.cfs_period_us"), limit);
      }
      if (at.empty() || at == "/")
        break;
    }
  }
  return limit;
}

int32_t mlir::fuse::getDefaultThreads(StringRef root) {
  // The kernel refuses a mask that is too small for the machine.
  int32_t count = 0;
  for (int size = 1024; !count && size <= (1 << 20); size *= 2) {
    cpu_set_t *mask = CPU_ALLOC(size);
    if (!mask)
      break;
    size_t bytes = CPU_ALLOC_SIZE(size);
    if (!sched_getaffinity(0, bytes, mask))
      count = CPU_COUNT_S(bytes, mask);
    CPU_FREE(mask);
  }
  return getControlGroupThreads(root, std::max(count, 1));
}
