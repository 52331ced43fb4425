//===- fuse-compile.cpp - Compiles a model
//--------------------------------------===//

#include "FuseDialect/Engine/CommandLine.h"
#include "FuseDialect/Engine/EngineError.h"

using namespace mlir::fuse;

int main(int argc, char **argv) {
  int exitCode = 0;
  std::optional<CompileOptions> options =
      parseCompileOptions(argc, argv, exitCode);
  if (!options)
    return exitCode;
  return reportError(compileModel(*options), "fuse-compile");
}
