//===- PatternResolution.h - Patterns and rules, fixed at import -*- C++
//-*-===//
//
// What overrides and rules say is decided once, on the imported ops, and
// written into the IR, where graph rewrites and fusion read it:
//
// - `fuse.resolved` on an op that a rule chooses: a dictionary with `pattern`,
//   `level` and `source` if the pattern is overridden, and the indices of the
//   pair rules of which it is the `producer` or the `consumer`;
// - `fuse.pair_rules` on the module: the `never` and `must` rules;
// - `fuse.source` on the module: the source ops and their edges
// (SourceGraph.h).
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_ANALYSIS_PATTERNRESOLUTION_H
#define FUSEDIALECT_ANALYSIS_PATTERNRESOLUTION_H

#include "FuseDialect/Analysis/FusionRules.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::fuse {

/// The op attribute that holds what rules decided (DictionaryAttr).
inline constexpr llvm::StringLiteral kResolvedAttrName = "fuse.resolved";
/// The module attribute that lists the pair rules (ArrayAttr).
inline constexpr llvm::StringLiteral kPairRulesAttrName = "fuse.pair_rules";

/// The pattern of one op and what decided it.
struct ResolvedPattern {
  PatternKind pattern = PatternKind::opaque;
  unsigned level = kBuiltinLevel;
  /// What overrides the built-in pattern, or "" if nothing does.
  std::string source;
  PatternKind builtin = PatternKind::opaque;

  bool isOverridden() const { return !source.empty(); }
  /// "elementwise" or "opaque by SOURCE (level 40 over built-in elementwise,
  /// level 10)".
  std::string describe() const;
};

/// A pair rule as the module keeps it.
struct ResolvedPairRule {
  PairRule::Kind kind;
  std::string text;
  std::string source;
};

/// Decides the pattern of every op of the module and which pair rules choose
/// it, and records both in the IR. What an earlier run recorded competes at its
/// level. Emits an error where two sources disagree at the highest level, and
/// a warning for a selector that chooses no op.
LogicalResult resolvePatterns(ModuleOp module, const FusionRules &rules);

/// The pattern built into an op: that of its interface, or opaque.
PatternKind getBuiltinPattern(Operation *op);
/// The pattern of `op` as recorded, by its `fuse.pattern`, or built in.
ResolvedPattern getResolvedPattern(Operation *op);
/// Indices of the pair rules of which `op` is a producer.
ArrayRef<int64_t> getProducerRules(Operation *op);
/// Indices of the pair rules of which `op` is a consumer.
ArrayRef<int64_t> getConsumerRules(Operation *op);
/// The pair rules of the module, in the order of their indices.
SmallVector<ResolvedPairRule> getPairRules(ModuleOp module);

/// Whether a rewrite may make one op of `a` and `b`: no rule made either of
/// them opaque, and no `never` rule keeps them apart. Every rewrite that merges
/// ops asks this for each pair of them.
bool mayMerge(Operation *a, Operation *b);
/// Gives `to`, which a rewrite creates from `from`, what rules decided for
/// these ops: the override of the highest level, and all pair rules.
void carryResolution(ArrayRef<Operation *> from, Operation *to);

} // namespace mlir::fuse

#endif // FUSEDIALECT_ANALYSIS_PATTERNRESOLUTION_H
