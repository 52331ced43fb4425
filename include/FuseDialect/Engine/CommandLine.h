//===- CommandLine.h - Flags that the tools share ---------------*- C++ -*-===//

#ifndef FUSEDIALECT_ENGINE_COMMANDLINE_H
#define FUSEDIALECT_ENGINE_COMMANDLINE_H

#include "FuseDialect/Engine/CompileModel.h"
#include "FuseDialect/Engine/RunModel.h"
#include <optional>

namespace mlir::fuse {

/// Read the command line of fuse-run and fuse-compile. On a usage error, or
/// after `--help`, there are no options and `exitCode` is the tool's.
std::optional<RunOptions> parseRunOptions(int argc, char **argv, int &exitCode);
std::optional<CompileOptions> parseCompileOptions(int argc, char **argv,
                                                  int &exitCode);

} // namespace mlir::fuse

#endif // FUSEDIALECT_ENGINE_COMMANDLINE_H
