//===- fuse-run.cpp - Runs, checks and times a model ----------------------===//

#include "FuseDialect/Engine/CommandLine.h"
#include "FuseDialect/Engine/EngineError.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir::fuse;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  resetCommandLine();
  RunFlags flags;
  if (!parseCommandLine(argc, argv, "Compiles a model and runs it\n"))
    return static_cast<int>(ExitCode::usage);
  return reportError(runModel(flags.get()), "fuse-run");
}
