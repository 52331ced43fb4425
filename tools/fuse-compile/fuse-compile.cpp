//===- fuse-compile.cpp - Compiles a model to a file ----------------------===//

#include "FuseDialect/Engine/CommandLine.h"
#include "FuseDialect/Engine/EngineError.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir::fuse;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  resetCommandLine();
  EmitFlags flags;
  if (!parseCommandLine(argc, argv, "Compiles a model to MLIR or code\n"))
    return static_cast<int>(ExitCode::usage);
  llvm::Expected<EmitOptions> options = flags.get();
  return reportError(options ? compileModel(*options) : options.takeError(),
                     "fuse-compile");
}
