//===- FusionNodes.cpp - Ops as the fusion graph sees them ----------------===//

#include "FusionNodes.h"
#include "FuseDialect/IR/SourceName.h"
#include "StructuralOrder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::fuse;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

SmallVector<int64_t> RowDomain::getOuterExtents() const {
  SmallVector<int64_t> outer;
  for (auto [dim, extent] : llvm::enumerate(extents))
    if (!reduced.test(dim))
      outer.push_back(extent);
  return outer;
}

SmallVector<int64_t> FusionNodes::getBigExtents(Value value) const {
  SmallVector<int64_t> extents(shapes.get(value));
  llvm::erase(extents, 1);
  return extents;
}

std::optional<int64_t> FusionNodes::countElements(Value value) const {
  int64_t count = 1;
  for (int64_t extent : shapes.get(value))
    if (extent < 0 || llvm::MulOverflow(count, extent, count))
      return std::nullopt;
  return count;
}

/// The dimension of the result that the operand's first dimension goes along.
static int64_t getOperandOffset(Operation *op, unsigned operand,
                                int64_t operandRank, int64_t resultRank) {
  if (isa<BatchNormOp>(op) && operand > 0)
    return resultRank > 1 ? 1 : 0;
  return resultRank - operandRank;
}

std::optional<SmallVector<unsigned>>
FusionNodes::alignOperand(const FusionNode &consumer, unsigned operand) const {
  // Copies: get() may grow the map.
  SmallVector<int64_t> from(shapes.get(consumer.op->getOperand(operand)));
  SmallVector<int64_t> to(shapes.get(consumer.getResult()));
  int64_t offset =
      getOperandOffset(consumer.op, operand, from.size(), to.size());
  SmallVector<unsigned> bigIndex(to.size());
  unsigned count = 0;
  for (auto [dim, extent] : llvm::enumerate(to))
    bigIndex[dim] = extent == 1 ? 0 : count++;
  SmallVector<unsigned> aligned;
  for (auto [dim, extent] : llvm::enumerate(from)) {
    if (extent == 1)
      continue;
    int64_t position = static_cast<int64_t>(dim) + offset;
    if (position < 0 || position >= static_cast<int64_t>(to.size()) ||
        to[position] != extent)
      return std::nullopt;
    aligned.push_back(bigIndex[position]);
  }
  return aligned;
}

bool FusionNodes::movesElements(const FusionNode &node) const {
  if (node.kind != NodeClass::reshape)
    return node.kind == NodeClass::injective;
  return getBigExtents(node.getResult()) !=
         getBigExtents(node.op->getOperand(0));
}

bool FusionNodes::isRowOperand(ArrayRef<unsigned> aligned,
                               const RowDomain &domain) const {
  size_t next = 0;
  for (unsigned dim = 0; dim < domain.extents.size(); ++dim) {
    if (domain.reduced.test(dim))
      continue;
    if (next == aligned.size() || aligned[next] != dim)
      return false;
    ++next;
  }
  return next == aligned.size();
}

std::string FusionNodes::quoteName(Operation *op) {
  return "'" + getSourceName(op->getLoc()) + "'";
}

std::string FusionNodes::printExtents(ArrayRef<int64_t> extents) {
  if (extents.empty())
    return "1";
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(
      extents, stream,
      [&](int64_t extent) {
        if (extent < 0)
          stream << '?';
        else
          stream << extent;
      },
      "x");
  return text;
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

/// Whether a group may have an operand or result of the type.
static bool isGroupType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return false;
  Type element = tensor.getElementType();
  if (isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element))
    return true;
  auto integer = dyn_cast<IntegerType>(element);
  return integer && !integer.isSigned() &&
         (integer.isSignlessInteger(1) ||
          llvm::is_contained({8u, 16u, 32u, 64u}, integer.getWidth()));
}

/// Whether the op may stand in a group: it has no effect, no region that could
/// read values from outside, and only tensors.
static bool isGroupable(Operation *op) {
  if (isa<GroupOp, BarrierOp, LaunchOp>(op))
    return false;
  return op->getNumRegions() == 0 && op->getNumSuccessors() == 0 &&
         op->getNumResults() > 0 && isPure(op) &&
         llvm::all_of(op->getOperandTypes(), isGroupType) &&
         llvm::all_of(op->getResultTypes(), isGroupType);
}

/// What computing an element of an elementwise op again costs. Cheap ops take
/// about one vector instruction.
static RecomputeCost getRecomputeCost(Operation *op) {
  if (isa<InjectiveOpInterface>(op) || isa<IdentityOp>(op))
    return RecomputeCost::nothing;
  if (isa<AbsOp, AddOp, AndOp, BitwiseAndOp, BitwiseNotOp, BitwiseOrOp,
          BitwiseXorOp, CastOp, CeilOp, ClipOp, EqualOp, FloorOp, GreaterOp,
          GreaterEqualOp, IsInfOp, IsNaNOp, LeakyReluOp, LessOp, LessEqualOp,
          MaxOp, MinOp, MulOp, NegOp, NotOp, OrOp, PReluOp, ReluOp, RoundOp,
          SubOp, WhereOp, XorOp>(op))
    return RecomputeCost::cheap;
  return RecomputeCost::expensive;
}

/// Whether the op's run-time operand gives its result's shape.
static bool hasRuntimeShape(Operation *op) {
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return static_cast<bool>(reshape.getTarget());
  if (auto expand = dyn_cast<ExpandOp>(op))
    return static_cast<bool>(expand.getTarget());
  return false;
}

/// Whether a transpose moves dimensions of extent 1 only.
static bool keepsOrder(TransposeOp transpose) {
  int64_t last = -1;
  ArrayRef<int64_t> shape = transpose.getInput().getType().getShape();
  for (int64_t dim : transpose.getPermutation()) {
    if (shape[dim] == 1)
      continue;
    if (dim < last)
      return false;
    last = dim;
  }
  return true;
}

void FusionNodes::classify(FusionNode &node, const FusionOptions &options) {
  Operation *op = node.op;
  StringRef name = getShortOpName(op);
  node.pattern = getResolvedPattern(op);
  node.groupable = isGroupable(op);
  auto alone = [&](FusionReason reason, const Twine &detail) {
    node.kind = NodeClass::alone;
    node.aloneReason = FusionDecision::refuse(reason, detail);
  };
  if (auto group = dyn_cast<GroupOp>(op))
    return alone(FusionReason::existingGroup,
                 "'" + group.getName() + "' was a group before");
  if (isa<BarrierOp>(op))
    return alone(FusionReason::barrier, "a barrier lies between");
  if (node.pattern.isOverridden() &&
      node.pattern.pattern == PatternKind::opaque)
    return alone(FusionReason::opaquePattern,
                 name + " is " + node.pattern.describe());
  if (!node.groupable)
    return alone(FusionReason::foreignOp,
                 "'" + op->getName().getStringRef() +
                     "' is not an op that a kernel may hold");
  if (isa<ShapeOfOp>(op))
    return alone(FusionReason::dataDependent,
                 name + " reads extents and no elements");
  if (hasRuntimeShape(op))
    return alone(FusionReason::dataDependent,
                 "the shape of " + quoteName(op) + " is computed at run time");
  if (options.disabled)
    return alone(FusionReason::disabled, "fusion is off");
  if (!isa<FusibleOpInterface>(op))
    return alone(FusionReason::opaquePattern,
                 "'" + op->getName().getStringRef() +
                     "' has no fusion pattern, so it is opaque");
  if (node.pattern.pattern == PatternKind::opaque)
    return alone(FusionReason::opaquePattern, name + " is opaque");
  if (op->getNumResults() != 1)
    return alone(FusionReason::patternOrder, quoteName(op) + " has " +
                                                 Twine(op->getNumResults()) +
                                                 " results");

  node.cost = getRecomputeCost(op);
  if (isa<ReductionOpInterface>(op)) {
    node.kind = NodeClass::reduction;
  } else if (isa<RowOpInterface>(op)) {
    node.kind = NodeClass::row;
  } else if (isa<ReshapeOp, SqueezeOp, UnsqueezeOp>(op)) {
    node.kind = NodeClass::reshape;
  } else if (auto transpose = dyn_cast<TransposeOp>(op);
             transpose && keepsOrder(transpose)) {
    node.kind = NodeClass::reshape;
  } else if (isa<ElementwiseOpInterface, ExpandOp>(op)) {
    node.kind = NodeClass::elementwise;
  } else if (isa<InjectiveOpInterface>(op)) {
    node.kind = NodeClass::injective;
  } else if (node.pattern.builtin <= PatternKind::broadcast) {
    node.kind = NodeClass::elementwise;
  } else {
    alone(FusionReason::patternOrder,
          "'" + op->getName().getStringRef() + "' is " +
              stringifyPatternKind(node.pattern.builtin) +
              " but does not say how it reads its operands");
  }
}

//===----------------------------------------------------------------------===//
// Edges
//===----------------------------------------------------------------------===//

/// A rule of the kind that chooses both ends of an edge, or null.
static const ResolvedPairRule *findPairRule(ArrayRef<ResolvedPairRule> rules,
                                            PairRule::Kind kind,
                                            Operation *producer,
                                            Operation *consumer) {
  ArrayRef<int64_t> consumerRules = getConsumerRules(consumer);
  if (consumerRules.empty())
    return nullptr;
  for (int64_t index : getProducerRules(producer))
    if (index >= 0 && index < static_cast<int64_t>(rules.size()) &&
        rules[index].kind == kind && llvm::is_contained(consumerRules, index))
      return &rules[index];
  return nullptr;
}

bool FusionNodes::isRequired(const FusionNode &producer,
                             const FusionNode &consumer) const {
  return findPairRule(rules, PairRule::Kind::must, producer.op, consumer.op);
}

FusionDecision FusionNodes::checkEdge(const FusionNode &producer,
                                      const FusionNode &consumer) const {
  if (producer.kind == NodeClass::alone &&
      producer.aloneReason.getReason() != FusionReason::foreignOp)
    return producer.aloneReason;
  if (consumer.kind == NodeClass::alone)
    return consumer.aloneReason;
  if (producer.kind == NodeClass::alone)
    return producer.aloneReason;
  if (const ResolvedPairRule *rule =
          findPairRule(rules, PairRule::Kind::never, producer.op, consumer.op))
    return FusionDecision::refuse(FusionReason::ruleNever,
                                  "'" + rule->text + "' (" + rule->source +
                                      ") keeps them apart");

  PatternKind from = producer.pattern.pattern;
  PatternKind to = consumer.pattern.pattern;
  auto refuse = [&](const Twine &why) {
    return FusionDecision::refuse(FusionReason::patternOrder, why);
  };
  auto describe = [](const FusionNode &node) {
    return (getShortOpName(node.op) + " is " + node.pattern.describe()).str();
  };
  if (to == PatternKind::contraction)
    return refuse(describe(consumer) + ", which takes no computed operand");
  if (from == PatternKind::contraction && to > PatternKind::broadcast)
    return refuse(describe(producer) +
                  ", after which a kernel computes only elementwise and "
                  "broadcast ops, but " +
                  describe(consumer));
  if (to == PatternKind::reduction && consumer.kind != NodeClass::reduction &&
      consumer.kind != NodeClass::row && from > PatternKind::broadcast)
    return refuse(
        describe(consumer) +
        ", which takes only elementwise and broadcast operands, but " +
        describe(producer));
  if (from == PatternKind::reduction) {
    if (producer.kind != NodeClass::reduction &&
        producer.kind != NodeClass::row)
      return refuse(describe(producer) + ", whose result is complete only "
                                         "when its kernel ends");
    bool keepsPlaces =
        consumer.kind != NodeClass::injective &&
        (consumer.kind == NodeClass::reshape || to != PatternKind::injective);
    if (!keepsPlaces)
      return refuse(describe(consumer) +
                    ", and a kernel moves elements only before it reduces");
  }
  return FusionDecision::fuse();
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

int FusionNodes::getDomain(Value input, ArrayRef<int64_t> reducedDims) {
  RowDomain domain;
  int64_t rowElements = 1;
  bool isKnown = true;
  for (auto [dim, extent] : llvm::enumerate(shapes.get(input))) {
    if (extent == 1)
      continue;
    domain.extents.push_back(extent);
    bool isReduced = llvm::is_contained(reducedDims, dim);
    domain.reduced.push_back(isReduced);
    if (isReduced &&
        (extent < 0 || llvm::MulOverflow(rowElements, extent, rowElements)))
      isKnown = false;
  }
  auto type = cast<RankedTensorType>(input.getType());
  int64_t bytes;
  if (isKnown &&
      !llvm::MulOverflow(rowElements, getElementBytes(type.getElementType()),
                         bytes))
    domain.rowBytes = bytes;
  auto *it = llvm::find(domains, domain);
  if (it != domains.end())
    return it - domains.begin();
  domains.push_back(std::move(domain));
  return domains.size() - 1;
}

bool FusionNodes::isLongRow(const FusionNode &producer,
                            const FusionNode &consumer) const {
  if (!producer.role.perRow)
    return false;
  // An element for each position after the reduction: the row is read twice.
  const RowDomain &domain = domains[producer.role.domain];
  return getBigExtents(consumer.getResult()) == domain.extents &&
         domain.rowBytes && *domain.rowBytes > kMaxRowBytes &&
         !isRequired(producer, consumer);
}

/// Whether the node's loops are those of the domain: true for one element per
/// row, false for one per position, none if they are not or if an operand that
/// follows the domain's reductions is read elsewhere.
std::optional<bool> FusionNodes::fitsDomain(const FusionNode &node,
                                            int domainNumber) const {
  const RowDomain &domain = domains[domainNumber];
  SmallVector<int64_t> extents = getBigExtents(node.getResult());
  bool isFull = extents == domain.extents;
  if (!isFull && extents != domain.getOuterExtents())
    return std::nullopt;
  for (const NodeEdge &edge : node.producers) {
    const FusionNode &producer = nodes[edge.node];
    if (edge.operand == kNoOperand || producer.role.domain != domainNumber ||
        !checkEdge(producer, node))
      continue;
    if (node.kind == NodeClass::reshape) {
      if (getBigExtents(producer.getResult()) != extents)
        return std::nullopt;
      continue;
    }
    std::optional<SmallVector<unsigned>> aligned =
        alignOperand(node, edge.operand);
    if (!aligned)
      return std::nullopt;
    bool fits = isFull && producer.role.perRow
                    ? isRowOperand(*aligned, domain)
                    : isFull != producer.role.perRow &&
                          aligned->size() == extents.size();
    if (!fits)
      return std::nullopt;
    if (isLongRow(producer, node))
      return std::nullopt;
  }
  return !isFull;
}

void FusionNodes::assignRole(FusionNode &node) {
  if (node.kind == NodeClass::reduction) {
    auto reduction = cast<ReductionOpInterface>(node.op);
    node.role.domain =
        getDomain(node.op->getOperand(0), reduction.getReducedDims());
    node.role.perRow = true;
  } else if (node.kind == NodeClass::row) {
    auto row = cast<RowOpInterface>(node.op);
    node.role.domain = getDomain(node.op->getOperand(0), row.getRowDims());
  } else if (node.kind == NodeClass::elementwise ||
             node.kind == NodeClass::reshape) {
    bool keepsPlaces = node.kind == NodeClass::reshape ||
                       node.pattern.pattern <= PatternKind::broadcast;
    if (!keepsPlaces)
      return;
    // The domain that most operands follow; of several, the first.
    SmallVector<std::pair<int, unsigned>> votes;
    for (const NodeEdge &edge : node.producers) {
      const FusionNode &producer = nodes[edge.node];
      if (producer.role.isNone() || !checkEdge(producer, node))
        continue;
      auto *it = llvm::find_if(votes, [&](auto &vote) {
        return vote.first == producer.role.domain;
      });
      if (it == votes.end())
        votes.emplace_back(producer.role.domain, 1);
      else
        ++it->second;
    }
    llvm::sort(votes, [](auto &a, auto &b) {
      return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    for (auto &vote : votes) {
      if (std::optional<bool> perRow = fitsDomain(node, vote.first)) {
        node.role = {vote.first, *perRow};
        break;
      }
    }
  }
  // Rows of one element: their row is their position.
  if (!node.role.isNone() && domains[node.role.domain].reduced.none())
    node.role.perRow = false;
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

void FusionNodes::addEdges(Block &block) {
  auto connect = [&](unsigned producer, unsigned consumer, unsigned operand) {
    nodes[consumer].producers.push_back({producer, operand});
    nodes[producer].consumers.push_back({consumer, operand});
  };
  for (unsigned number = 0; number < nodes.size(); ++number) {
    Operation *op = nodes[number].op;
    for (OpOperand &operand : op->getOpOperands()) {
      auto it = numbers.find(operand.get().getDefiningOp());
      if (it != numbers.end())
        connect(it->second, number, operand.getOperandNumber());
    }
    for (Operation *user : op->getUsers()) {
      if (numbers.contains(user))
        continue;
      // What a nested region reads, the op around it reads.
      auto it = numbers.find(block.findAncestorOpInBlock(*user));
      if (it == numbers.end())
        nodes[number].escapes = true;
      else
        connect(number, it->second, kNoOperand);
    }
  }
}

FusionNodes::FusionNodes(Block &block, ArrayRef<ResolvedPairRule> rules,
                         const FusionOptions &options)
    : shapes(block), rules(rules) {
  SmallVector<Operation *> ops, withEffects;
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::ConstantLike>() ||
        op.hasTrait<OpTrait::IsTerminator>())
      continue;
    ops.push_back(&op);
    if (!isPure(&op))
      withEffects.push_back(&op);
  }
  StructuralOrder order(block, ops, withEffects);
  nodes.resize(ops.size());
  for (auto [number, op] : llvm::enumerate(order.getOrder())) {
    FusionNode &node = nodes[number];
    node.op = op;
    node.height = order.getHeight(op);
    numbers[op] = number;
    classify(node, options);
  }
  addEdges(block);
  for (size_t i = 1; i < withEffects.size(); ++i) {
    unsigned before = numbers[withEffects[i - 1]];
    unsigned after = numbers[withEffects[i]];
    nodes[before].consumers.push_back({after, kNoOperand});
    nodes[after].producers.push_back({before, kNoOperand});
  }
  for (FusionNode &node : llvm::reverse(nodes))
    assignRole(node);
}
