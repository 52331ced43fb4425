//===- FusionDecision.h - Fused, or the reason why not ----------*- C++ -*-===//

#ifndef FUSEDIALECT_ANALYSIS_FUSIONDECISION_H
#define FUSEDIALECT_ANALYSIS_FUSIONDECISION_H

#include "mlir/Support/LLVM.h"
#include <string>

namespace mlir::fuse {

/// Why a producer and a consumer are not in one kernel.
enum class FusionReason {
  /// They are.
  none,
  /// One of them has the pattern opaque: it is alone in its kernel.
  opaquePattern,
  /// A `never` rule keeps an op of the one kernel from an op of the other.
  ruleNever,
  /// A barrier lies between them, or between ops that the kernel would hold.
  barrier,
  /// What computes after what: no kernel has ops of these patterns in this
  /// order, such as a transpose after a reduction.
  patternOrder,
  /// The producer is also read outside the kernel, and the kernel does not
  /// compute all of its elements once and in order.
  notPostDominated,
  /// The kernel's loops do not go over the producer's elements.
  shapeMismatch,
  /// The kernel would compute elements of the producer again.
  wouldRecompute,
  /// The kernel would read a value that depends on its own results.
  cycle,
  /// The kernel would hold more ops than the limit.
  limit,
  /// Both orders are legal, and apart is faster.
  notProfitable,
  /// The layouts do not fit.
  layout,
  /// The result's shape depends on data, or only the operand's shape is read.
  dataDependent,
  /// One of them is in a group that was there before.
  existingGroup,
  /// An op that fusion knows nothing of.
  foreignOp,
  /// Fusion is off.
  disabled,
};

/// The reason's name in reports, such as "opaque-pattern"; "" for none.
StringRef stringifyFusionReason(FusionReason reason);
/// The reason of that name; none for a name that is not known.
FusionReason parseFusionReason(StringRef name);

/// The result of each check of legality or profit.
class [[nodiscard]] FusionDecision {
public:
  static FusionDecision fuse() { return FusionDecision(); }
  static FusionDecision refuse(FusionReason reason, const Twine &detail) {
    return FusionDecision(reason, detail.str());
  }

  bool isFused() const { return reason == FusionReason::none; }
  explicit operator bool() const { return isFused(); }
  FusionReason getReason() const { return reason; }
  /// A sentence that says what led to the reason; "" if fused.
  StringRef getDetail() const { return detail; }

private:
  FusionDecision() = default;
  FusionDecision(FusionReason reason, std::string detail)
      : reason(reason), detail(std::move(detail)) {}

  FusionReason reason = FusionReason::none;
  std::string detail;
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_ANALYSIS_FUSIONDECISION_H
