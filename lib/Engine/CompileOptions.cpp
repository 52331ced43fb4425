//===- CompileOptions.cpp - What a tool's flags say of compiling ----------===//

#include "FuseDialect/Engine/CompileOptions.h"
#include <unistd.h>

using namespace mlir;
using namespace mlir::fuse;

PipelineOptions mlir::fuse::makePipelineOptions(const CompileOptions &options,
                                                const Target &target) {
  PipelineOptions pipeline;
  pipeline.fusion = options.fusion;
  pipeline.target.vectorBytes = target.getVectorBytes();
  pipeline.target.features = target.getEnabledFeatures();
#ifdef _SC_LEVEL2_CACHE_SIZE
  // 0 or -1 where the system does not say.
  if (long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0)
    pipeline.target.cacheBytes = bytes;
#endif
  // What is wrong after a pass would crash the next one.
  pipeline.verifyEach = true;
  pipeline.dumpDirectory = options.dumpDirectory;
  return pipeline;
}
