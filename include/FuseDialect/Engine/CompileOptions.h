//===- CompileOptions.h - What a tool's flags say of compiling --*- C++ -*-===//

#ifndef FUSEDIALECT_ENGINE_COMPILEOPTIONS_H
#define FUSEDIALECT_ENGINE_COMPILEOPTIONS_H

#include "FuseDialect/Engine/ShapeBinding.h"
#include "FuseDialect/Engine/Target.h"
#include "FuseDialect/Pipelines/Pipelines.h"
#include <string>
#include <vector>

namespace mlir::fuse {

/// Which rewrites of the arithmetic are allowed beyond a free order within
/// reductions and fused multiply-add: `strict` allows none, `fast` also
/// algorithms in which an infinity or NaN may reach outputs that do not depend
/// on it. Today's lowering has no such algorithm: both give the same code.
enum class Accuracy { fast, strict };

/// The flags that fuse-run and fuse-compile share.
struct CompileOptions {
  /// The model's path.
  std::string model;
  /// The source function to compile.
  std::string entry = "main";
  /// Texts of --shape and --dim.
  std::vector<std::string> shapes, dims;
  FusionOptions fusion;
  /// Files that get a fusion report each.
  std::vector<std::string> fusionReports;
  Accuracy accuracy = Accuracy::fast;
  std::string targetCpu = "host", targetFeatures;
  std::string dumpDirectory;
};

/// The options of the phases for code that runs on `target`.
PipelineOptions makePipelineOptions(const CompileOptions &options,
                                    const Target &target);

} // namespace mlir::fuse

#endif // FUSEDIALECT_ENGINE_COMPILEOPTIONS_H
