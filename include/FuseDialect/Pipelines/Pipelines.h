//===- Pipelines.h - The phases of compilation ------------------*- C++ -*-===//
//
// A module goes through the phases in order. Each leaves valid IR, marked with
// the phase's name in `fuse.phase`, so that any tool can go on from there.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_PIPELINES_PIPELINES_H
#define FUSEDIALECT_PIPELINES_PIPELINES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace mlir::fuse {

/// In the order in which they run.
enum class Phase { Import, Graph, Group, Tune, Linalg, Vector, Memory, Llvm };

/// `import`, `graph`, `group`, `tune`, `linalg`, `vector`, `memory`, `llvm`.
llvm::StringRef stringifyPhase(Phase phase);
std::optional<Phase> symbolizePhase(llvm::StringRef name);
/// All names, for messages.
llvm::ArrayRef<llvm::StringRef> getPhaseNames();

/// What lowering decides by the target.
struct TargetOptions {
  /// Bytes of a vector register: 16, 32 or 64.
  int64_t vectorBytes = 64;
  /// Bytes of the second-level cache, beyond which graph outputs are streamed.
  int64_t cacheBytes = 2 << 20;
  /// Features in LLVM's notation ("+avx2,+fma").
  std::string features =
      "+fma,+f16c,+sse4.1,+avx2,+avx512f,+avx512bw,+avx512dq,+avx512vl";
};

/// How the person steers fusion; see FusionRules.h.
struct FusionOptions {
  /// `SELECTOR:PATTERN[:LEVEL]`, as on the command line.
  std::vector<std::string> patternOverrides;
  /// Paths of rules files.
  std::vector<std::string> rulesFiles;
  /// Ops in a group at most.
  unsigned maxGroupOps = 64;
  /// Every op alone in its group.
  bool noFusion = false;
};

struct PipelineOptions {
  FusionOptions fusion;
  TargetOptions target;
  /// Verify the IR after each pass, and after each phase that no source op is
  /// lost.
  bool verifyEach = false;
  /// If not empty, the IR after each phase is written to DIR/PHASE.mlir.
  std::string dumpDirectory;
};

/// Adds the passes of one phase.
void buildPhase(OpPassManager &manager, Phase phase,
                const PipelineOptions &options);

/// The phase that the module has passed, or Import if it does not say.
std::optional<Phase> getPhase(ModuleOp module);

/// Runs the phases after the module's own up to and including `last`. Errors
/// are diagnostics at the op that caused them.
LogicalResult runPhases(ModuleOp module, Phase last,
                        const PipelineOptions &options);

/// Registers the dialects and interfaces that the phases need.
void registerPipelineDialects(DialectRegistry &registry);

/// Registers a pass pipeline `fuse-phase-NAME` for each phase.
void registerPhasePipelines();

} // namespace mlir::fuse

#endif // FUSEDIALECT_PIPELINES_PIPELINES_H
