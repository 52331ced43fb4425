//===- ResolvePatterns.cpp - Fix the patterns of the imported ops ---------===//

#include "FuseDialect/Analysis/PatternResolution.h"
#include "FuseDialect/Transforms/Passes.h"

namespace mlir::fuse {
#define GEN_PASS_DEF_RESOLVEPATTERNS
#include "FuseDialect/Transforms/Passes.h.inc"
} // namespace mlir::fuse

using namespace mlir;
using namespace mlir::fuse;

namespace {

class ResolvePatternsPass
    : public fuse::impl::ResolvePatternsBase<ResolvePatternsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    FusionRules rules;
    if (failed(rules.add(&getContext(), patternOverride, fuseRules)) ||
        failed(resolvePatterns(getOperation(), rules)))
      signalPassFailure();
  }
};

} // namespace
