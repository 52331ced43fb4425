//===- FusionRules.h - What a person asks of fusion -------------*- C++ -*-===//
//
// Pattern overrides of the command line and rules of a file:
//
//   --pattern-override=SELECTOR:PATTERN[:LEVEL]
//
//   # a comment
//   opaque SELECTOR                     alone in its kernel
//   pattern SELECTOR PATTERN [LEVEL]    overrides the pattern
//   never SELECTOR -> SELECTOR          no kernel holds both where the second
//                                       is reachable from the first
//   must SELECTOR -> SELECTOR           one kernel, or an error
//
// See Selector.h for selectors. Patterns are the names of PatternKind or TVM's.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_ANALYSIS_FUSIONRULES_H
#define FUSEDIALECT_ANALYSIS_FUSIONRULES_H

#include "FuseDialect/Analysis/Selector.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "mlir/IR/Location.h"

namespace mlir::fuse {

/// Levels of what decides an op's pattern; the highest wins.
inline constexpr unsigned kBuiltinLevel = 10;
inline constexpr unsigned kAttributeLevel = 20;
inline constexpr unsigned kRulesLevel = 30;
inline constexpr unsigned kCommandLineLevel = 40;
/// The largest level that a person may give.
inline constexpr unsigned kMaxLevel = 1000000;

/// Gives the ops that a selector chooses a pattern.
struct PatternRule {
  Selector selector;
  PatternKind pattern;
  unsigned level;
  /// Where the rule stands: "--pattern-override=exp:opaque" or "r.rules:3".
  std::string source;
  Location location;
};

/// Keeps pairs of ops apart (never) or together (must).
struct PairRule {
  enum class Kind { never, must };
  Kind kind;
  Selector producer;
  Selector consumer;
  /// Where the rule stands, as in PatternRule.
  std::string source;
  Location location;

  /// The rule as a person writes it: "never sub -> exp".
  std::string getText() const;
};

/// All that a person asks of one run of fusion. Parsing emits an error that
/// names the culprit: for files at the file's line, for overrides at a location
/// named by the option.
struct FusionRules {
  std::vector<PatternRule> patterns;
  std::vector<PairRule> pairs;

  bool empty() const { return patterns.empty() && pairs.empty(); }
  /// Adds `SELECTOR:PATTERN[:LEVEL]`.
  LogicalResult addOverride(MLIRContext *context, StringRef text);
  /// Adds the rules in `text`, which was read from `file`.
  LogicalResult addText(MLIRContext *context, StringRef text, StringRef file);
  /// Adds the rules of a file.
  LogicalResult addFile(MLIRContext *context, StringRef file);
  /// Adds all of these overrides and files.
  LogicalResult add(MLIRContext *context, ArrayRef<std::string> overrides,
                    ArrayRef<std::string> files);
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_ANALYSIS_FUSIONRULES_H
