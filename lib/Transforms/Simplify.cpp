//===- Simplify.cpp - Removes ops that do nothing -------------------------===//

#include "FuseDialect/Analysis/PatternResolution.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "FuseDialect/Transforms/Eliminated.h"
#include "FuseDialect/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"

namespace mlir::fuse {
#define GEN_PASS_DEF_SIMPLIFY
#include "FuseDialect/Transforms/Passes.h.inc"
} // namespace mlir::fuse

using namespace mlir;
using namespace mlir::fuse;

/// Whether a rule names the op, so that it has to stay where it is.
static bool isSteered(Operation *op) {
  return getResolvedPattern(op).isOverridden() ||
         !getProducerRules(op).empty() || !getConsumerRules(op).empty();
}

/// The value that an op gives back unchanged, or null.
static Value getForwarded(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return {};
  Value input = op->getOperand(0);
  if (input.getType() != op->getResult(0).getType())
    return {};
  if (isa<IdentityOp, CastOp>(op))
    return input;
  if (auto reshape = dyn_cast<ReshapeOp>(op);
      reshape && reshape.getType().hasStaticShape())
    return input;
  auto transpose = dyn_cast<TransposeOp>(op);
  bool isInOrder =
      transpose &&
      llvm::equal(transpose.getPermutation(),
                  llvm::seq<int64_t>(0, transpose.getPermutation().size()));
  return isInOrder ? input : Value();
}

/// Replaces the uses of ops that forward their input.
static void forwardInputs(func::FuncOp function, EliminationLog &log) {
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    Value input = getForwarded(&op);
    if (!input || isSteered(&op))
      continue;
    log.record(op.getLoc(), EliminationReason::identity);
    op.getResult(0).replaceAllUsesWith(input);
    op.erase();
  }
}

/// Removes ops whose results nothing reads, last first, so that what only they
/// read goes too.
static void removeDead(func::FuncOp function, EliminationLog &log) {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(function.getBody().front()))) {
    if (op.hasTrait<OpTrait::IsTerminator>() || !op.use_empty() || !isPure(&op))
      continue;
    if (!op.hasTrait<OpTrait::ConstantLike>())
      log.record(op.getLoc(), EliminationReason::dead);
    op.erase();
  }
}

namespace {

struct SimplifyPass : public mlir::fuse::impl::SimplifyBase<SimplifyPass> {
  using SimplifyBase::SimplifyBase;

  void runOnOperation() override {
    EliminationLog log(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function.getBody().hasOneBlock())
        continue;
      forwardInputs(function, log);
      removeDead(function, log);
    }
    log.commit();
  }
};

} // namespace
