/*===- FuseRuntime.h - What compiled models call at run time -----*- C -*-===*
 *
 * A C interface without MLIR or LLVM. Compiled code calls
 * fuse_rt_parallel_for; a program that runs a compiled model creates a context
 * and calls the model's entry point.
 *
 *===----------------------------------------------------------------------===*/

#ifndef FUSEDIALECT_RUNTIME_FUSERUNTIME_H
#define FUSEDIALECT_RUNTIME_FUSERUNTIME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Threads and state of one caller. Not for two calls at the same time. */
typedef struct fuse_rt_context fuse_rt_context;

/** A context with `threads` threads in all, the caller's included, clamped to
 * 1 to 1,024; null if there is not enough memory. One thread starts no other.
 * Threads without work spin for some milliseconds before they sleep. */
fuse_rt_context *fuse_rt_context_create(int32_t threads);
void fuse_rt_context_destroy(fuse_rt_context *context);
int32_t fuse_rt_context_threads(const fuse_rt_context *context);

/** A part of a kernel's iterations: [begin, end). */
typedef void (*fuse_rt_task)(void *arguments, int64_t begin, int64_t end);

/** Runs `task` over [begin, end) in parts of at least `grain` iterations (but
 * the last) and returns when all are done. The parts may run on any thread in
 * any order; results must not depend on how the range is cut. Within a part,
 * another loop runs serially. */
void fuse_rt_parallel_for(fuse_rt_context *context, fuse_rt_task task,
                          void *arguments, int64_t begin, int64_t end,
                          int64_t grain);

/** A tensor in row-major order. `shape` has one extent for each dimension; for
 * rank 0 it may be null. Data is aligned to the element. */
typedef struct {
  void *data;
  int64_t *shape;
} fuse_rt_buffer;

/** A model's entry point, exported as `fuse_entry_NAME`. `weights` holds the
 * model's constants, aligned to 64 bytes; `arena` is scratch memory of the
 * size that the compiled model states, aligned to 64 bytes. Returns 0. */
typedef int32_t (*fuse_rt_entry)(fuse_rt_context *context, const void *weights,
                                 void *arena, const fuse_rt_buffer *inputs,
                                 const fuse_rt_buffer *outputs);

#ifdef __cplusplus
}
#endif

#endif /* FUSEDIALECT_RUNTIME_FUSERUNTIME_H */
