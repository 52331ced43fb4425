//===- FusionDecision.cpp - Fused, or the reason why not ------------------===//

#include "FuseDialect/Analysis/FusionDecision.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace mlir;
using namespace mlir::fuse;

/// Names of the reasons, in the order of the enumeration.
static constexpr llvm::StringLiteral kReasonNames[] = {
    "",
    "opaque-pattern",
    "rule-never",
    "barrier",
    "pattern-order",
    "not-post-dominated",
    "shape-mismatch",
    "would-recompute",
    "cycle",
    "limit",
    "not-profitable",
    "layout",
    "data-dependent",
    "existing-group",
    "foreign-op",
    "disabled",
};

StringRef mlir::fuse::stringifyFusionReason(FusionReason reason) {
  return kReasonNames[static_cast<size_t>(reason)];
}

FusionReason mlir::fuse::parseFusionReason(StringRef name) {
  const auto *it = llvm::find(kReasonNames, name);
  if (it == std::end(kReasonNames))
    return FusionReason::none;
  return static_cast<FusionReason>(it - std::begin(kReasonNames));
}
