//===- Threads.h - How many threads this process may run --------*- C++ -*-===//

#ifndef FUSEDIALECT_ENGINE_THREADS_H
#define FUSEDIALECT_ENGINE_THREADS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace mlir::fuse {

/// The processors of the affinity mask, but no more than the whole processors'
/// worth of time that the process's control groups (version 1 or 2) allow; at
/// least 1. A quota of 2.5 gives 2: threads that wait by spinning would spend
/// the rest. `root` is the file system's root; tests give another one.
int32_t getDefaultThreads(llvm::StringRef root = "/");

/// The processors' worth of time that the control groups of the process allow,
/// or `limit` if that is less.
int32_t getControlGroupThreads(llvm::StringRef root, int32_t limit);

} // namespace mlir::fuse

#endif // FUSEDIALECT_ENGINE_THREADS_H
