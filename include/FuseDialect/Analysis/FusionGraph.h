//===- FusionGraph.h - Which ops become one kernel --------------*- C++ -*-===//
//
// Partitions the ops of a block into groups, one kernel each.
//
// The work list is the ops ordered by height, the longest path to a sink, so
// that the consumers of an op have their groups when its turn comes. An op
// joins the group of its consumers, or the groups of several consumers become
// one through it, where all checks say so; else it begins a group. This reaches
// every fusion that TVM's post-dominator phases reach (Chen et al., "TVM: An
// Automated End-to-End Optimizing Compiler for Deep Learning", OSDI 2018,
// section 3, and src/relay/transforms/fuse_ops.cc), without their order:
// an op joins exactly if all of its consumers inside the kernel can take it.
//
// Legality follows from where in the kernel's loops each value is computed:
//
// - a kernel has one domain of loops; a value is computed at a function of the
//   position in it, composed from consumer to producer (an access);
// - an op at a single access that is the position itself is computed once for
//   each of its elements, and may be a result of the kernel too;
// - at another access, or at several, it is computed again, which only data
//   movement and very cheap ops may be;
// - a kernel with reductions has their input as its domain, and all of them
//   reduce the same dimensions. Which ops follow a reduction within one kernel
//   is known before, from a pass along the edges (a role): such an op never
//   leaves its reduction for a consumer with other loops.
//
// A group never has a path out of and into itself: where an op has consumers in
// several groups, one search from all of them finds those that cannot be
// joined.
//
// Ties are broken by structure (ops, attributes, types, producers, consumers),
// then by source name: the position in the block decides nothing that two
// orders of independent ops could tell apart.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_ANALYSIS_FUSIONGRAPH_H
#define FUSEDIALECT_ANALYSIS_FUSIONGRAPH_H

#include "FuseDialect/Analysis/FusionDecision.h"
#include "FuseDialect/Analysis/PatternResolution.h"
#include "FuseDialect/IR/FuseDialect.h"
#include <memory>

namespace mlir::fuse {

struct FusionOptions {
  /// The most ops that a group may hold, each counted once.
  unsigned maxGroupOps = 64;
  /// Leaves every op alone.
  bool disabled = false;
};

/// The ops of one kernel.
struct FusionGroup {
  /// In an order of execution that depends on structure only.
  SmallVector<Operation *> ops;
  /// The highest pattern among the ops.
  PatternKind pattern = PatternKind::elementwise;
};

/// The groups of one block. Groups that the block holds already and ops that
/// cannot be in one (barriers, ops of other dialects with side effects) take
/// part as what they are: nothing fuses with or across them.
class FusionGraph {
public:
  /// Partitions `block`. Linear in the number of edges, but for searches whose
  /// reach is bounded by the height of a group.
  FusionGraph(Block &block, ArrayRef<ResolvedPairRule> rules,
              const FusionOptions &options);
  ~FusionGraph();

  /// The new groups, producers before consumers in an order that depends on
  /// structure only.
  ArrayRef<FusionGroup> getGroups() const;
  /// Why the edge from `producer` to `consumer`, both in the block, is inside
  /// one group or not.
  FusionDecision getDecision(Operation *producer, Operation *consumer) const;

private:
  class Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_ANALYSIS_FUSIONGRAPH_H
