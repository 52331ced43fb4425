//===- RunModel.h - Compile a model and run it ------------------*- C++ -*-===//

#ifndef FUSEDIALECT_ENGINE_RUNMODEL_H
#define FUSEDIALECT_ENGINE_RUNMODEL_H

#include "FuseDialect/Engine/CompileOptions.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace mlir::fuse {

/// What fuse-run is asked to do.
struct RunOptions {
  CompileOptions compile;
  /// SPECs, see TensorSpec.h.
  std::vector<std::string> inputs, outputs, expected;
  /// Instead of the tolerance of the element type.
  std::optional<double> rtol, atol;
  /// Compare with the reference evaluator.
  bool verify = false;
  bool benchmark = false;
  unsigned repeat = 100, warmup = 10;
  /// Where the benchmark's result goes as JSON, or empty.
  std::string json;
  /// What this process may use, if none.
  std::optional<int> threads;
};

/// Compiles the model for the shapes of its inputs, calls it, and writes,
/// compares and times what the options say. Inputs that are not given are
/// random. Prints to the standard output.
///
/// Errors: of ExitCode::differs if an output is not what it should be, after
/// everything else was done.
llvm::Error runModel(const RunOptions &options);

} // namespace mlir::fuse

#endif // FUSEDIALECT_ENGINE_RUNMODEL_H
