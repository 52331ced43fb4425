//===- fuse-run.cpp - Runs a model --------------------------------------===//

#include "FuseDialect/Engine/CommandLine.h"
#include "FuseDialect/Engine/EngineError.h"

using namespace mlir::fuse;

int main(int argc, char **argv) {
  int exitCode = 0;
  std::optional<RunOptions> options = parseRunOptions(argc, argv, exitCode);
  if (!options)
    return exitCode;
  return reportError(runModel(*options), "fuse-run");
}
