//===- RunModel.h - What fuse-run does --------------------------*- C++ -*-===//

#ifndef FUSEDIALECT_ENGINE_RUNMODEL_H
#define FUSEDIALECT_ENGINE_RUNMODEL_H

#include "FuseDialect/Engine/Model.h"

namespace mlir::fuse {

struct RunOptions {
  ModelOptions model;
  /// Texts of `--input`, `--output` and `--expect`; see TensorSpec.h.
  std::vector<std::string> inputs, outputs, expected;
  /// For --expect and --verify; what is negative is chosen by the element type.
  double rtol = -1, atol = -1;
  /// Compare with the reference evaluator.
  bool verify = false;
  bool benchmark = false;
  int64_t repeat = 100, warmup = 10;
  /// Where the benchmark's figures go.
  std::string json;
  /// 0: what affinity and control groups allow.
  int32_t threads = 0;
};

/// Compiles a model for the shapes at hand and runs it.
llvm::Error runModel(const RunOptions &options);

} // namespace mlir::fuse

#endif // FUSEDIALECT_ENGINE_RUNMODEL_H
