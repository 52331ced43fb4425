//===- AssignConfigs.cpp - Decides how each kernel is lowered -------------===//

#include "FuseDialect/IR/FuseDialect.h"
#include "FuseDialect/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::fuse {
#define GEN_PASS_DEF_ASSIGNCONFIGS
#include "FuseDialect/Transforms/Passes.h.inc"
} // namespace mlir::fuse

using namespace mlir;
using namespace mlir::fuse;

/// Elements whose computation takes about ten times as long as handing them to
/// another thread.
static constexpr int64_t kGrainElements = 16384;

/// The config for a kernel that nobody has tuned.
static ConfigAttr getDefaultConfig(func::FuncOp kernel, int64_t vectorBytes,
                                   int64_t cacheBytes) {
  // Streaming stores pay when the result would push everything else out of the
  // cache, and cost when something reads it again.
  int64_t finalBytes = 0;
  bool allFinal = true;
  unsigned destinations = kernel.getNumResults();
  for (unsigned i = kernel.getNumArguments() - destinations;
       i < kernel.getNumArguments(); ++i) {
    finalBytes += getByteCount(kernel.getArgumentTypes()[i]).value_or(0);
    allFinal &= kernel.getArgAttr(i, kFinalAttrName) != nullptr;
  }
  StorePolicy stores = allFinal && finalBytes > cacheBytes
                           ? StorePolicy::streaming
                           : StorePolicy::regular;
  return ConfigAttr::get(kernel.getContext(), vectorBytes, /*unroll=*/4, stores,
                         /*scratch=*/65536, kGrainElements);
}

namespace {

struct AssignConfigsPass
    : public mlir::fuse::impl::AssignConfigsBase<AssignConfigsPass> {
  using AssignConfigsBase::AssignConfigsBase;

  void runOnOperation() override {
    if (vectorBytes != 16 && vectorBytes != 32 && vectorBytes != 64) {
      getOperation().emitError()
          << "expected 'vector-bytes' to be 16, 32 or 64 but got "
          << vectorBytes;
      return signalPassFailure();
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(kKernelAttrName) &&
          !function->hasAttr(kConfigAttrName))
        function->setAttr(kConfigAttrName,
                          getDefaultConfig(function, vectorBytes, cacheBytes));
  }
};

} // namespace
