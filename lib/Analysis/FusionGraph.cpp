//===- FusionGraph.cpp - Which ops become one kernel ----------------------===//

#include "FuseDialect/Analysis/FusionGraph.h"
#include "FusionNodes.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::fuse;

/// Ops of a kernel that may be computed again although they compute something:
/// about as long as one load takes.
static constexpr unsigned kMaxRecomputedOps = 4;
/// Places in the loops at which an op may be computed.
static constexpr unsigned kMaxAccesses = 4;

namespace {

/// A kernel in the making.
struct Kernel {
  SmallVector<unsigned> members;
  /// The loops, if it has or is going to have reductions; -1 otherwise.
  int domain = -1;
  /// Positions of the loops, or none if an extent is a symbol.
  std::optional<int64_t> positions;
  /// Least and greatest height of a member.
  unsigned minHeight = 0;
  unsigned maxHeight = 0;
  unsigned recomputedOps = 0;
  bool hasContraction = false;
  /// Whether a member moves elements and no reduction follows it.
  bool movesElements = false;
};

/// What a node would be in a kernel.
struct Placement {
  SmallVector<AccessId, 2> accesses;
  bool feedsReduction = false;
  bool isRecomputed = false;
};

} // namespace

/// The partition while it is computed. Nodes are placed in structural order.
class FusionGraph::Impl {
public:
  Impl(Block &block, ArrayRef<ResolvedPairRule> rules,
       const FusionOptions &options)
      : nodes(block, rules, options), options(options) {
    size_t count = nodes.nodes.size();
    kernelOf.resize(count);
    parent.resize(count);
    kernels.resize(count);
    placements.resize(count);
    below.resize(count);
    visited.resize(count);
    for (unsigned number = 0; number < count; ++number)
      place(number);
    for (unsigned number = 0; number < count; ++number)
      if (parent[number] == number)
        splitRowsWithoutReduction(number);
    collectGroups();
  }

  FusionDecision getDecision(Operation *producer, Operation *consumer);

  SmallVector<FusionGroup> groups;

private:
  /// A kernel that a node may join.
  struct Candidate {
    explicit Candidate(unsigned kernel) : kernel(kernel) {}

    unsigned kernel;
    /// The edges from the node into the kernel, in structural order.
    SmallVector<NodeEdge, 2> edges;
    bool isRequired = false;
    FusionDecision decision = FusionDecision::fuse();
    Placement placement;
  };

  void place(unsigned number);
  void beginKernel(unsigned number);
  void join(unsigned number, unsigned kernel, ArrayRef<NodeEdge> edges,
            Placement placement);
  FusionDecision checkJoin(unsigned number, unsigned kernel,
                           ArrayRef<NodeEdge> edges, bool isResult,
                           Placement &placement);
  FusionDecision checkRules(unsigned number, ArrayRef<NodeEdge> edges);
  FusionDecision checkRole(const FusionNode &node, unsigned kernel,
                           const FusionNode &consumer);
  FusionDecision checkAccesses(const FusionNode &node, unsigned kernel,
                               ArrayRef<NodeEdge> edges, bool isResult,
                               Placement &placement);
  FusionDecision checkRecompute(const FusionNode &node, const Kernel &kernel,
                                Placement &placement);
  FusionDecision checkMerge(unsigned number, const Candidate &into,
                            const Candidate &from);
  void merge(unsigned into, unsigned from);
  AccessId getOperandAccess(const FusionNode &consumer, AccessId access,
                            unsigned operand, int domain);
  SmallVector<Candidate> collectCandidates(const FusionNode &node);
  llvm::SmallDenseSet<unsigned> findReached(ArrayRef<Candidate> candidates);
  void splitRowsWithoutReduction(unsigned kernel);
  void collectGroups();
  void refuse(unsigned producer, unsigned consumer, FusionDecision decision);

  /// The kernel that the node is in now.
  unsigned find(unsigned number) {
    unsigned root = kernelOf[number];
    while (parent[root] != root)
      root = parent[root] = parent[parent[root]];
    return kernelOf[number] = root;
  }
  Operation *op(unsigned number) const { return nodes.nodes[number].op; }

  FusionNodes nodes;
  FusionOptions options;
  AccessTable table;
  /// Per node: a kernel (named by its first node), its place in it, and the
  /// `never` rules whose consumer it is or reaches inside its kernel.
  std::vector<unsigned> kernelOf;
  std::vector<Placement> placements;
  std::vector<llvm::SmallBitVector> below;
  /// Kernels by number, and which kernel each became part of.
  std::vector<Kernel> kernels;
  std::vector<unsigned> parent;
  /// The search that saw a kernel last.
  std::vector<unsigned> visited;
  unsigned searches = 0;
  llvm::DenseMap<std::pair<unsigned, unsigned>, FusionDecision> refused;
};

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// The access to an operand of `consumer`, which is computed at `access` in a
/// kernel with the given domain.
AccessId FusionGraph::Impl::getOperandAccess(const FusionNode &consumer,
                                             AccessId access, unsigned operand,
                                             int domain) {
  using Step = AccessTable::Step;
  if ((consumer.kind == NodeClass::reduction ||
       consumer.kind == NodeClass::row) &&
      operand == 0)
    return AccessTable::linear;

  Value value = consumer.op->getOperand(operand);
  SmallVector<int64_t> from(nodes.shapes.get(consumer.getResult()));
  SmallVector<int64_t> shape(nodes.shapes.get(value));
  SmallVector<uint64_t> payload(shape.begin(), shape.end());
  SmallVector<int64_t> extents = nodes.getBigExtents(consumer.getResult());

  if (consumer.kind == NodeClass::reshape) {
    bool onlyUnits = nodes.getBigExtents(value) == extents;
    if (access == AccessTable::linear ||
        (AccessTable::isBasic(access) && onlyUnits))
      return access;
    return table.reshape(access, from, shape);
  }
  if (consumer.kind == NodeClass::injective) {
    if (auto transpose = dyn_cast<TransposeOp>(consumer.op))
      return table.transpose(access, transpose.getPermutation());
    // Two ops with the same attributes and types read the same elements, but
    // for those that read positions from an operand.
    Operation *op = consumer.op;
    payload = {
        operand,
        reinterpret_cast<uintptr_t>(op->getName().getAsOpaquePointer()),
        reinterpret_cast<uintptr_t>(
            op->getAttrDictionary().getAsOpaquePointer()),
        reinterpret_cast<uintptr_t>(value.getType().getAsOpaquePointer()),
        reinterpret_cast<uintptr_t>(
            consumer.getResult().getType().getAsOpaquePointer())};
    if (auto gather = dyn_cast<GatherOp>(op))
      payload.push_back(reinterpret_cast<uintptr_t>(
          gather.getIndices().getAsOpaquePointer()));
    else if (isa<ConcatOp>(op))
      payload.push_back(reinterpret_cast<uintptr_t>(op));
    bool repeats = !isa<SliceOp, PadOp>(op);
    return table.compose(access, Step::move, payload, repeats);
  }

  std::optional<SmallVector<unsigned>> aligned =
      nodes.alignOperand(consumer, operand);
  if (!aligned)
    return table.compose(access, Step::maybeBroadcast, payload,
                         /*repeats=*/false);
  if (aligned->size() == extents.size()) {
    if (AccessTable::isBasic(access) || from == shape)
      return access;
    return table.compose(access, Step::units, payload, /*repeats=*/false);
  }
  if (access == AccessTable::linear && domain >= 0 &&
      extents == nodes.domains[domain].extents &&
      nodes.isRowOperand(*aligned, nodes.domains[domain]))
    return AccessTable::row;
  payload.append(aligned->begin(), aligned->end());
  payload.append(from.begin(), from.end());
  return table.compose(access, Step::broadcast, payload, /*repeats=*/true);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Whether `never` rules let the node into the kernel of some of its consumers.
FusionDecision FusionGraph::Impl::checkRules(unsigned number,
                                             ArrayRef<NodeEdge> edges) {
  if (nodes.rules.empty())
    return FusionDecision::fuse();
  llvm::SmallBitVector reached(nodes.rules.size());
  for (const NodeEdge &edge : edges)
    reached |= below[edge.node];
  for (int64_t index : getProducerRules(op(number))) {
    if (index < 0 || index >= static_cast<int64_t>(nodes.rules.size()) ||
        !reached.test(index))
      continue;
    const ResolvedPairRule &rule = nodes.rules[index];
    return FusionDecision::refuse(
        FusionReason::ruleNever,
        "'" + rule.text + "' (" + rule.source + ") keeps " +
            FusionNodes::quoteName(op(number)) + " out of the kernel");
  }
  return FusionDecision::fuse();
}

/// Whether the kernel's loops are those of the reduction that the node follows.
FusionDecision FusionGraph::Impl::checkRole(const FusionNode &node,
                                            unsigned kernelNumber,
                                            const FusionNode &consumer) {
  const Kernel &kernel = kernels[kernelNumber];
  if (kernel.hasContraction &&
      (node.pattern.pattern == PatternKind::contraction || !node.role.isNone()))
    return FusionDecision::refuse(FusionReason::patternOrder,
                                  "the kernel has a contraction already");
  if (node.pattern.pattern == PatternKind::contraction && kernel.domain >= 0)
    return FusionDecision::refuse(
        FusionReason::patternOrder,
        "a kernel has either reductions or a contraction");
  if (node.role.isNone() || node.role.domain == kernel.domain)
    return FusionDecision::fuse();
  if (nodes.isLongRow(node, consumer))
    return FusionDecision::refuse(
        FusionReason::notProfitable,
        "a row of " + Twine(*nodes.domains[node.role.domain].rowBytes) +
            " bytes does not stay in the cache until " +
            FusionNodes::quoteName(consumer.op) + " reads it again");
  if (consumer.kind == NodeClass::injective ||
      (consumer.kind == NodeClass::reshape && consumer.role.isNone()))
    return FusionDecision::refuse(
        FusionReason::patternOrder,
        FusionNodes::quoteName(consumer.op) +
            " moves elements, and a kernel does that only before it reduces");
  const RowDomain &mine = nodes.domains[node.role.domain];
  auto describe = [](const RowDomain &domain) {
    SmallVector<int64_t> reduced;
    for (unsigned dim : domain.reduced.set_bits())
      reduced.push_back(domain.extents[dim]);
    return FusionNodes::printExtents(reduced) + " of " +
           FusionNodes::printExtents(domain.extents);
  };
  std::string detail = FusionNodes::quoteName(node.op) +
                       " is in a kernel that reduces " + describe(mine);
  if (kernel.domain >= 0)
    detail += ", " + FusionNodes::quoteName(consumer.op) +
              " in one that reduces " + describe(nodes.domains[kernel.domain]);
  else
    detail +=
        ", and " + FusionNodes::quoteName(consumer.op) + " has other loops (" +
        FusionNodes::printExtents(nodes.shapes.get(consumer.getResult())) + ")";
  return FusionDecision::refuse(FusionReason::shapeMismatch, detail);
}

/// Whether computing the node at these accesses computes elements again that
/// are not worth it.
FusionDecision FusionGraph::Impl::checkRecompute(const FusionNode &node,
                                                 const Kernel &kernel,
                                                 Placement &placement) {
  if (placement.accesses.size() == 1 &&
      AccessTable::isBasic(placement.accesses.front()))
    return FusionDecision::fuse();
  auto refuse = [&](const Twine &detail) {
    return FusionDecision::refuse(FusionReason::wouldRecompute, detail);
  };
  std::string name = FusionNodes::quoteName(node.op);
  if (placement.accesses.size() > kMaxAccesses)
    return refuse(name + " would be read at " +
                  Twine(placement.accesses.size()) +
                  " different places of the kernel's loops");
  if (node.cost == RecomputeCost::nothing)
    return FusionDecision::fuse();
  bool isAgain = placement.accesses.size() > 1;
  std::string detail = name + " would be computed again for each of " +
                       std::to_string(placement.accesses.size()) +
                       " different places at which the kernel reads it";
  if (!isAgain) {
    std::optional<int64_t> elements = nodes.countElements(node.getResult());
    if (elements && kernel.positions) {
      // A pad reads a little more than there is: those elements are not used.
      isAgain = *kernel.positions / 5 > *elements / 4;
      detail = name + " would be computed for " +
               std::to_string(*kernel.positions) + " positions and has " +
               std::to_string(*elements) + " elements";
    } else {
      isAgain = table.repeats(placement.accesses.front());
      detail = name + " would be computed again for each position that reads "
                      "the same element";
    }
  }
  if (!isAgain)
    return FusionDecision::fuse();
  if (node.cost == RecomputeCost::expensive)
    return refuse(detail);
  if (kernel.recomputedOps >= kMaxRecomputedOps)
    return refuse(detail + ", and the kernel computes " +
                  Twine(kernel.recomputedOps) + " ops again already");
  placement.isRecomputed = true;
  return FusionDecision::fuse();
}

/// Where in the kernel the node would be computed, and whether it can be.
FusionDecision FusionGraph::Impl::checkAccesses(const FusionNode &node,
                                                unsigned kernelNumber,
                                                ArrayRef<NodeEdge> edges,
                                                bool isResult,
                                                Placement &placement) {
  const Kernel &kernel = kernels[kernelNumber];
  for (const NodeEdge &edge : edges) {
    const FusionNode &reader = nodes.nodes[edge.node];
    bool isReducer =
        reader.kind == NodeClass::reduction || reader.kind == NodeClass::row;
    placement.feedsReduction |= placements[edge.node].feedsReduction ||
                                (isReducer && edge.operand == 0);
    for (AccessId access : placements[edge.node].accesses) {
      AccessId read =
          getOperandAccess(reader, access, edge.operand, kernel.domain);
      if (!llvm::is_contained(placement.accesses, read))
        placement.accesses.push_back(read);
    }
  }
  llvm::sort(placement.accesses);

  std::string name = FusionNodes::quoteName(node.op);
  bool isSingle = placement.accesses.size() == 1;
  AccessId first = placement.accesses.front();
  if (!node.role.isNone()) {
    AccessId expected =
        node.role.perRow ? AccessTable::row : AccessTable::linear;
    if (!isSingle || first != expected)
      return FusionDecision::refuse(
          FusionReason::shapeMismatch,
          name + " follows a reduction and is not read along its loops");
  }
  bool movesElements = nodes.movesElements(node);
  if (kernel.domain >= 0 && movesElements && !placement.feedsReduction)
    return FusionDecision::refuse(
        FusionReason::patternOrder,
        name + " moves elements, and a kernel that reduces does that only for "
               "what it reduces");
  if (isResult) {
    bool isWhole = isSingle && AccessTable::isBasic(first);
    if (isWhole && kernel.domain >= 0 && first == AccessTable::linear)
      isWhole = nodes.getBigExtents(node.getResult()) ==
                nodes.domains[kernel.domain].extents;
    if (!isWhole)
      return FusionDecision::refuse(
          FusionReason::notPostDominated,
          name +
              " is also read outside the kernel, which does not compute it "
              "element by element for " +
              FusionNodes::quoteName(op(edges.front().node)));
  }
  return checkRecompute(node, kernel, placement);
}

/// Whether the node may join the kernel of some of its consumers, as a result
/// of the kernel if others read it too.
FusionDecision FusionGraph::Impl::checkJoin(unsigned number,
                                            unsigned kernelNumber,
                                            ArrayRef<NodeEdge> edges,
                                            bool isResult,
                                            Placement &placement) {
  const FusionNode &node = nodes.nodes[number];
  for (const NodeEdge &edge : edges) {
    FusionDecision decision = nodes.checkEdge(node, nodes.nodes[edge.node]);
    if (!decision)
      return decision;
  }
  FusionDecision decision = checkRules(number, edges);
  if (!decision)
    return decision;
  decision = checkRole(node, kernelNumber, nodes.nodes[edges.front().node]);
  if (!decision)
    return decision;
  decision = checkAccesses(node, kernelNumber, edges, isResult, placement);
  if (!decision)
    return decision;
  if (kernels[kernelNumber].members.size() >= options.maxGroupOps)
    return FusionDecision::refuse(
        FusionReason::limit,
        "the kernel has " + Twine(options.maxGroupOps) + " ops, the limit");
  return FusionDecision::fuse();
}

/// Whether two kernels, none of which the other's values reach, may become one
/// through a node that joins both.
FusionDecision FusionGraph::Impl::checkMerge(unsigned number,
                                             const Candidate &into,
                                             const Candidate &from) {
  const Kernel &first = kernels[into.kernel], &second = kernels[from.kernel];
  const FusionNode &node = nodes.nodes[number];
  std::string name = FusionNodes::quoteName(node.op);
  auto apart = [&](const Twine &why) {
    return FusionDecision::refuse(FusionReason::notPostDominated,
                                  name +
                                      " is in the kernel of another reader, "
                                      "and " +
                                      why);
  };
  if (first.members.size() + second.members.size() + 1 > options.maxGroupOps)
    return FusionDecision::refuse(
        FusionReason::limit, name +
                                 " is in the kernel of another reader, and "
                                 "both together exceed the limit of " +
                                 Twine(options.maxGroupOps) + " ops");
  if (first.hasContraction && second.hasContraction)
    return apart("both have a contraction");
  if (into.placement.accesses != from.placement.accesses)
    return apart("the two read it at different places");
  if (first.recomputedOps + second.recomputedOps > kMaxRecomputedOps)
    return apart("together they compute too many ops again");
  if (first.domain == second.domain)
    return FusionDecision::fuse();
  if (first.domain >= 0 && second.domain >= 0)
    return apart("the two reduce differently");
  const Kernel &plain = first.domain >= 0 ? second : first;
  int domain = std::max(first.domain, second.domain);
  if (into.placement.accesses.front() != AccessTable::linear ||
      nodes.getBigExtents(node.getResult()) != nodes.domains[domain].extents)
    return apart("only one of the two has reductions");
  if (plain.movesElements)
    return apart("one of the two reduces, the other moves elements");
  return FusionDecision::fuse();
}

//===----------------------------------------------------------------------===//
// Placing
//===----------------------------------------------------------------------===//

void FusionGraph::Impl::refuse(unsigned producer, unsigned consumer,
                               FusionDecision decision) {
  refused.insert_or_assign({producer, consumer}, std::move(decision));
}

void FusionGraph::Impl::beginKernel(unsigned number) {
  const FusionNode &node = nodes.nodes[number];
  kernelOf[number] = parent[number] = number;
  Kernel &kernel = kernels[number];
  kernel.minHeight = kernel.maxHeight = node.height;
  kernel.domain = node.role.domain;
  below[number] = llvm::SmallBitVector(nodes.rules.size());
  if (node.kind == NodeClass::alone) {
    kernel.members.push_back(number);
    return;
  }
  Placement placement;
  placement.accesses.push_back(node.role.perRow ? AccessTable::row
                                                : AccessTable::linear);
  if (kernel.domain < 0) {
    kernel.positions = nodes.countElements(node.getResult());
  } else {
    kernel.positions = 1;
    for (int64_t extent : nodes.domains[kernel.domain].extents)
      if (kernel.positions &&
          (extent < 0 ||
           llvm::MulOverflow(*kernel.positions, extent, *kernel.positions)))
        kernel.positions.reset();
  }
  join(number, number, {}, std::move(placement));
}

/// Adds the node to a kernel, into which it has the given edges.
void FusionGraph::Impl::join(unsigned number, unsigned kernelNumber,
                             ArrayRef<NodeEdge> edges, Placement placement) {
  const FusionNode &node = nodes.nodes[number];
  Kernel &kernel = kernels[kernelNumber];
  kernelOf[number] = kernelNumber;
  // A node that begins a kernel is its own parent; another one is none.
  parent[number] = kernelNumber;
  llvm::SmallBitVector reached(nodes.rules.size());
  for (const NodeEdge &edge : edges)
    reached |= below[edge.node];
  for (int64_t index : getConsumerRules(node.op))
    if (index >= 0 && index < static_cast<int64_t>(nodes.rules.size()) &&
        nodes.rules[index].kind == PairRule::Kind::never)
      reached.set(index);
  below[number] = std::move(reached);
  kernel.members.push_back(number);
  kernel.minHeight = std::min(kernel.minHeight, node.height);
  kernel.maxHeight = std::max(kernel.maxHeight, node.height);
  kernel.recomputedOps += placement.isRecomputed;
  kernel.hasContraction |= node.pattern.pattern == PatternKind::contraction;
  bool movesElements = nodes.movesElements(node);
  kernel.movesElements |= movesElements && !placement.feedsReduction;
  placements[number] = std::move(placement);
}

void FusionGraph::Impl::merge(unsigned into, unsigned from) {
  Kernel &target = kernels[into], &source = kernels[from];
  if (target.members.size() < source.members.size())
    std::swap(target.members, source.members);
  target.members.append(source.members);
  source.members.clear();
  target.minHeight = std::min(target.minHeight, source.minHeight);
  target.maxHeight = std::max(target.maxHeight, source.maxHeight);
  if (target.domain < 0) {
    target.domain = source.domain;
    target.positions = source.positions;
  }
  target.recomputedOps += source.recomputedOps;
  target.hasContraction |= source.hasContraction;
  target.movesElements |= source.movesElements;
  parent[from] = into;
}

/// Those of the kernels that a value of another one of them reaches.
llvm::SmallDenseSet<unsigned>
FusionGraph::Impl::findReached(ArrayRef<Candidate> candidates) {
  // A path to a kernel ends above its lowest member: kernels below all of them
  // need no visit.
  unsigned floor = ~0u;
  SmallVector<unsigned> stack;
  llvm::SmallDenseSet<unsigned> roots, reached;
  for (const Candidate &candidate : candidates) {
    floor = std::min(floor, kernels[candidate.kernel].minHeight);
    stack.push_back(candidate.kernel);
    roots.insert(candidate.kernel);
  }
  ++searches;
  while (!stack.empty()) {
    unsigned kernel = stack.pop_back_val();
    for (unsigned member : kernels[kernel].members) {
      for (const NodeEdge &edge : nodes.nodes[member].consumers) {
        unsigned next = find(edge.node);
        if (next == kernel || visited[next] == searches ||
            kernels[next].maxHeight < floor)
          continue;
        visited[next] = searches;
        // What follows the candidates themselves is on the stack already.
        if (roots.contains(next))
          reached.insert(next);
        else
          stack.push_back(next);
      }
    }
  }
  return reached;
}

/// The kernels of the node's consumers in structural order, but those that a
/// `must` rule asks for first.
SmallVector<FusionGraph::Impl::Candidate>
FusionGraph::Impl::collectCandidates(const FusionNode &node) {
  SmallVector<Candidate> candidates;
  llvm::SmallDenseMap<unsigned, unsigned> numbers;
  for (const NodeEdge &edge : node.consumers) {
    unsigned kernel = find(edge.node);
    auto [it, isNew] = numbers.try_emplace(kernel, candidates.size());
    if (isNew)
      candidates.emplace_back(kernel);
    Candidate &candidate = candidates[it->second];
    candidate.edges.push_back(edge);
    candidate.isRequired |= nodes.isRequired(node, nodes.nodes[edge.node]);
  }
  llvm::sort(candidates, [](const Candidate &a, const Candidate &b) {
    if (a.isRequired != b.isRequired)
      return a.isRequired;
    return a.edges.front().node < b.edges.front().node;
  });
  return candidates;
}

/// Puts a node, all of whose consumers are placed, into a kernel.
void FusionGraph::Impl::place(unsigned number) {
  const FusionNode &node = nodes.nodes[number];
  SmallVector<Candidate> candidates = collectCandidates(node);
  bool isResult = node.escapes || candidates.size() > 1;
  bool anyFits = false;
  for (Candidate &candidate : candidates) {
    if (node.kind == NodeClass::alone ||
        nodes.nodes[candidate.kernel].kind == NodeClass::alone)
      candidate.decision =
          nodes.checkEdge(node, nodes.nodes[candidate.edges.front().node]);
    else
      candidate.decision = checkJoin(number, candidate.kernel, candidate.edges,
                                     isResult, candidate.placement);
    anyFits |= candidate.decision.isFused();
  }

  if (anyFits && candidates.size() > 1) {
    llvm::SmallDenseSet<unsigned> reached = findReached(candidates);
    for (Candidate &candidate : candidates)
      if (candidate.decision && reached.contains(candidate.kernel))
        candidate.decision = FusionDecision::refuse(
            FusionReason::cycle,
            "the kernel also reads what another reader of " +
                FusionNodes::quoteName(node.op) + " computes");
  }

  Candidate *target = nullptr;
  for (Candidate &candidate : candidates) {
    if (!candidate.decision)
      continue;
    if (!target) {
      target = &candidate;
      continue;
    }
    candidate.decision = checkMerge(number, *target, candidate);
    if (!candidate.decision)
      continue;
    target->placement.feedsReduction |= candidate.placement.feedsReduction;
    merge(target->kernel, candidate.kernel);
  }
  if (target)
    join(number, target->kernel, target->edges, std::move(target->placement));
  else
    beginKernel(number);
  for (const Candidate &candidate : candidates)
    if (!candidate.decision)
      for (const NodeEdge &edge : candidate.edges)
        refuse(number, edge.node, candidate.decision);
}

/// Rows that were meant to follow a reduction which the kernel then could not
/// take would be computed for each position: they get a kernel of their own.
/// Only they are read by the others, so nothing can close a cycle.
void FusionGraph::Impl::splitRowsWithoutReduction(unsigned number) {
  Kernel &kernel = kernels[number];
  if (kernel.domain < 0)
    return;
  SmallVector<unsigned> rows, positions;
  for (unsigned member : kernel.members) {
    const FusionNode &node = nodes.nodes[member];
    if (node.kind == NodeClass::reduction || node.kind == NodeClass::row)
      return;
    bool isPerRow =
        llvm::all_of(placements[member].accesses,
                     [&](AccessId access) { return table.isPerRow(access); });
    (isPerRow ? rows : positions).push_back(member);
  }
  if (rows.empty() || positions.empty())
    return;
  for (unsigned member : rows)
    for (const NodeEdge &edge : nodes.nodes[member].consumers)
      if (llvm::is_contained(positions, edge.node))
        refuse(member, edge.node,
               FusionDecision::refuse(
                   FusionReason::wouldRecompute,
                   FusionNodes::quoteName(op(member)) +
                       " would be computed again for each element of a row"));
  // The part that holds the node after which the kernel is numbered stays.
  if (llvm::is_contained(rows, number))
    std::swap(rows, positions);
  unsigned split = rows.front();
  for (unsigned member : rows)
    kernelOf[member] = split;
  for (unsigned member : positions)
    kernelOf[member] = number;
  parent[split] = split;
  kernels[split].domain = -1;
  kernels[split].members = std::move(rows);
  kernel.members = std::move(positions);
}

void FusionGraph::Impl::collectGroups() {
  llvm::DenseMap<unsigned, unsigned> groupOf;
  // Producers come last in structural order and first in a group.
  for (unsigned i = nodes.nodes.size(); i-- > 0;) {
    const FusionNode &node = nodes.nodes[i];
    if (!node.groupable)
      continue;
    auto [it, isNew] = groupOf.try_emplace(find(i), groups.size());
    if (isNew)
      groups.emplace_back();
    FusionGroup &group = groups[it->second];
    group.ops.push_back(node.op);
    group.pattern = std::max(group.pattern, node.pattern.pattern);
  }
}

FusionDecision FusionGraph::Impl::getDecision(Operation *producer,
                                              Operation *consumer) {
  auto from = nodes.numbers.find(producer), to = nodes.numbers.find(consumer);
  if (from == nodes.numbers.end() || to == nodes.numbers.end())
    return FusionDecision::refuse(FusionReason::foreignOp,
                                  "the two are not in one block");
  if (find(from->second) == find(to->second))
    return FusionDecision::fuse();
  auto it = refused.find({from->second, to->second});
  if (it != refused.end())
    return it->second;
  return FusionDecision::refuse(FusionReason::notPostDominated,
                                "other readers of " +
                                    FusionNodes::quoteName(producer) +
                                    " are in another kernel");
}

//===----------------------------------------------------------------------===//
// FusionGraph
//===----------------------------------------------------------------------===//

FusionGraph::FusionGraph(Block &block, ArrayRef<ResolvedPairRule> rules,
                         const FusionOptions &options)
    : impl(std::make_unique<Impl>(block, rules, options)) {}

FusionGraph::~FusionGraph() = default;

ArrayRef<FusionGroup> FusionGraph::getGroups() const { return impl->groups; }

FusionDecision FusionGraph::getDecision(Operation *producer,
                                        Operation *consumer) const {
  return impl->getDecision(producer, consumer);
}
