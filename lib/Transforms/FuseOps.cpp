//===- FuseOps.cpp - Form the groups of ops that become kernels -----------===//

#include "FuseDialect/Analysis/FusionGraph.h"
#include "FuseDialect/Analysis/FusionReport.h"
#include "FuseDialect/Analysis/SourceGraph.h"
#include "FuseDialect/IR/SourceName.h"
#include "FuseDialect/Transforms/Passes.h"
#include "GroupBuilder.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::fuse {
#define GEN_PASS_DEF_FUSEOPS
#include "FuseDialect/Transforms/Passes.h.inc"
} // namespace mlir::fuse

using namespace mlir;
using namespace mlir::fuse;

/// Replaces the op by a slice for each result that is read: a kernel computes
/// results of one shape, and each slice fuses with its own readers.
static void takeApart(SplitOp split) {
  OpBuilder builder(split);
  int64_t axis = split.getAxis(), start = 0;
  bool isUnused = split->use_empty();
  for (auto [result, size] :
       llvm::zip_equal(split.getResults(), split.getSizes())) {
    int64_t end = start + size;
    // Of a split that nobody reads one slice stays in its place.
    if (!result.use_empty() || (isUnused && start == 0)) {
      auto slice = SliceOp::create(
          builder, split.getLoc(), result.getType(), split.getInput(),
          ArrayRef(axis), ArrayRef(start), ArrayRef(end), ArrayRef<int64_t>(1));
      slice->setDiscardableAttrs(split->getDiscardableAttrDictionary());
      result.replaceAllUsesWith(slice);
      isUnused = false;
    }
    start = end;
  }
  split->erase();
}

namespace {

/// One run of the pass on a module whose patterns are resolved.
class OpFuser {
public:
  explicit OpFuser(ModuleOp module) : module(module) {}

  LogicalResult partition(const FusionOptions &options);
  FusionReport report();
  void rewrite();

private:
  void collectBlocks();
  FusionDecision decide(Operation *producer, Operation *consumer,
                        bool throughBarrier);
  LogicalResult checkRequired();
  void keepEarlierDecisions(FusionReport &report);

  ModuleOp module;
  /// The blocks that have ops to group, with their partitions.
  llvm::MapVector<Block *, std::unique_ptr<FusionGraph>> blocks;
};

class FuseOpsPass : public fuse::impl::FuseOpsBase<FuseOpsPass> {
public:
  using Base::Base;

  void runOnOperation() override;

private:
  void emitRemarks(const FusionReport &report);
  void removeRecords();
};

} // namespace

/// Collects the blocks of the module's functions, those of groups excluded, and
/// takes splits apart.
void OpFuser::collectBlocks() {
  SmallVector<SplitOp> splits;
  forEachSourceOp(module, [&](Operation *op) {
    if (isa<GroupOp>(op->getParentOp()))
      return;
    blocks.insert({op->getBlock(), nullptr});
    if (auto split = dyn_cast<SplitOp>(op))
      splits.push_back(split);
  });
  for (SplitOp split : splits)
    takeApart(split);
}

/// The decision for a pair of ops, before groups are built.
FusionDecision OpFuser::decide(Operation *producer, Operation *consumer,
                               bool throughBarrier) {
  if (throughBarrier)
    return FusionDecision::refuse(FusionReason::barrier,
                                  "a barrier lies between");
  if (producer->getBlock() == consumer->getBlock()) {
    auto it = blocks.find(producer->getBlock());
    return it == blocks.end() ? FusionDecision::fuse()
                              : it->second->getDecision(producer, consumer);
  }
  for (Operation *op : {producer, consumer})
    if (auto group = dyn_cast<GroupOp>(op->getParentOp()))
      return FusionDecision::refuse(FusionReason::existingGroup,
                                    "'" + group.getName() +
                                        "' was a group before");
  return FusionDecision::refuse(FusionReason::foreignOp,
                                "the two are not in one block");
}

/// Emits an error for each pair that a `must` rule asks for and that is apart.
LogicalResult OpFuser::checkRequired() {
  SmallVector<ResolvedPairRule> rules = getPairRules(module);
  if (rules.empty())
    return success();
  bool hadError = false;
  for (const SourceEdge &edge : collectSourceEdges(module)) {
    ArrayRef<int64_t> consumerRules = getConsumerRules(edge.consumer);
    for (int64_t index : getProducerRules(edge.producer)) {
      if (!llvm::is_contained(consumerRules, index) || index < 0 ||
          index >= static_cast<int64_t>(rules.size()) ||
          rules[index].kind != PairRule::Kind::must)
        continue;
      FusionDecision decision =
          decide(edge.producer, edge.consumer, edge.throughBarrier);
      if (decision)
        continue;
      hadError = true;
      edge.consumer->emitError()
          << "'" << rules[index].text << "' (" << rules[index].source
          << ") asks for one kernel with '"
          << getSourceName(edge.producer->getLoc()) << "' and '"
          << getSourceName(edge.consumer->getLoc()) << "', but "
          << decision.getDetail() << " ("
          << stringifyFusionReason(decision.getReason()) << ")";
    }
  }
  return failure(hadError);
}

/// Edges of groups from an earlier run keep what was decided then.
void OpFuser::keepEarlierDecisions(FusionReport &report) {
  FusionReport earlier = FusionReport::fromModule(module);
  llvm::StringMap<llvm::StringMap<const FusionReport::Edge *>> decided;
  for (const FusionReport::Edge &edge : earlier.edges)
    decided[edge.producer][edge.consumer] = &edge;
  for (FusionReport::Edge &edge : report.edges) {
    if (edge.decision.getReason() != FusionReason::existingGroup)
      continue;
    auto it = decided.find(edge.producer);
    if (it == decided.end())
      continue;
    if (const FusionReport::Edge *before = it->second.lookup(edge.consumer))
      edge.decision = before->decision;
  }
}

/// Partitions all blocks and checks what rules require.
LogicalResult OpFuser::partition(const FusionOptions &options) {
  collectBlocks();
  SmallVector<ResolvedPairRule> rules = getPairRules(module);
  for (auto &[block, graph] : blocks)
    graph = std::make_unique<FusionGraph>(*block, rules, options);
  return checkRequired();
}

/// The report, groups left out, before the ops move.
FusionReport OpFuser::report() {
  FusionReport report = FusionReport::fromModule(module);
  if (blocks.empty() && module->hasAttr(kFusionAttrName))
    return report;
  report.edges = decideSourceEdges(
      module, [&](Operation *producer, Operation *consumer, bool barrier) {
        return decide(producer, consumer, barrier);
      });
  keepEarlierDecisions(report);
  return report;
}

/// Moves the ops into groups and removes barriers.
void OpFuser::rewrite() {
  llvm::StringSet<> takenNames;
  module.walk([&](GroupOp group) { takenNames.insert(group.getName()); });
  for (auto &[block, graph] : blocks)
    buildGroups(*block, graph->getGroups(), takenNames);
  module.walk([](BarrierOp barrier) {
    barrier.getResult().replaceAllUsesWith(barrier.getInput());
    barrier.erase();
  });
}

/// Emits each decision at its consumer.
void FuseOpsPass::emitRemarks(const FusionReport &report) {
  if (!getContext().getRemarkEngine())
    return;
  llvm::StringMap<Operation *> ops;
  forEachSourceOp(getOperation(), [&](Operation *op) {
    for (const std::string &name : getSourceNames(op->getLoc()))
      ops.try_emplace(name, op);
  });
  for (const FusionReport::Edge &edge : report.edges) {
    Operation *consumer = ops.lookup(edge.consumer);
    if (!consumer)
      continue;
    StringRef reason = stringifyFusionReason(edge.decision.getReason());
    auto function = consumer->getParentOfType<FunctionOpInterface>();
    auto options = remark::RemarkOpts::name(edge.decision ? "fused" : reason)
                       .category("fuse-ops")
                       .function(function ? function.getName() : StringRef());
    if (edge.decision)
      remark::passed(consumer->getLoc(), options) << remark::add(
          "'{0}' and '{1}' are in one kernel", edge.producer, edge.consumer);
    else
      remark::missed(consumer->getLoc(), options)
          << remark::add("'{0}' and '{1}' are not in one kernel", edge.producer,
                         edge.consumer)
          << remark::reason("{0}", edge.decision.getDetail());
  }
}

/// Removes what only served grouping.
void FuseOpsPass::removeRecords() {
  ModuleOp module = getOperation();
  forEachSourceOp(module, [](Operation *op) {
    op->removeAttr(kResolvedAttrName);
    op->removeAttr(kPatternAttrName);
  });
  module->removeAttr(kPairRulesAttrName);
  module->removeAttr(kSourceAttrName);
}

void FuseOpsPass::runOnOperation() {
  ModuleOp module = getOperation();
  FusionRules rules;
  if (maxGroupOps == 0) {
    module.emitError("expected 'max-group-ops' of at least 1 but got 0");
    return signalPassFailure();
  }
  if (failed(rules.add(&getContext(), patternOverride, fuseRules)))
    return signalPassFailure();
  if (!rules.empty() || !module->hasAttr(kSourceAttrName))
    if (failed(resolvePatterns(module, rules)))
      return signalPassFailure();

  FusionOptions options;
  options.maxGroupOps = maxGroupOps;
  options.disabled = noFusion;
  OpFuser fuser(module);
  if (failed(fuser.partition(options)))
    return signalPassFailure();
  FusionReport report = fuser.report();
  emitRemarks(report);
  fuser.rewrite();
  removeRecords();
  report.groups = collectGroups(module);
  module->setAttr(kFusionAttrName, report.toAttribute(&getContext()));

  std::string error;
  if (!this->report.empty() && failed(report.write(this->report, error))) {
    module.emitError() << "cannot write '" << this->report << "': " << error;
    signalPassFailure();
  }
}
