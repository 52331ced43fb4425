//===- FusionNodes.h - Ops as the fusion graph sees them --------*- C++ -*-===//

#ifndef FUSEDIALECT_LIB_ANALYSIS_FUSIONNODES_H
#define FUSEDIALECT_LIB_ANALYSIS_FUSIONNODES_H

#include "FuseDialect/Analysis/FusionGraph.h"
#include "FuseDialect/Analysis/SymbolicShapes.h"
#include "IndexAccess.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::fuse {

/// What an op does with element positions.
enum class NodeClass {
  /// Computes each element from elements at the same place after broadcasting.
  elementwise,
  /// Keeps all elements in row-major order.
  reshape,
  /// Moves elements.
  injective,
  /// Reduces dimensions of its first operand.
  reduction,
  /// Needs a row of its first operand for each element.
  row,
  /// Is alone in its kernel, or in none.
  alone,
};

/// What it costs to compute an element again.
enum class RecomputeCost { nothing, cheap, expensive };

/// The loops of a kernel with reductions: the extents of the reductions' input
/// that are not 1, and which of them are reduced. Kernels with equal extents
/// and dimensions have equal loops, wherever extents of 1 stand.
struct RowDomain {
  SmallVector<int64_t> extents;
  llvm::SmallBitVector reduced;
  /// Bytes of a row, or none if an extent is a symbol.
  std::optional<int64_t> rowBytes;

  bool operator==(const RowDomain &other) const {
    return extents == other.extents && reduced == other.reduced;
  }
  /// The extents without the reduced ones.
  SmallVector<int64_t> getOuterExtents() const;
};

/// How an op relates to a reduction that it follows (or is).
struct RowRole {
  /// An index of FusionNodes::domains, or -1 if it follows none.
  int domain = -1;
  /// Whether it has one element for each row, not one for each position.
  bool perRow = false;

  bool isNone() const { return domain < 0; }
};

/// The other end of an edge, and the operand of the consumer that it is; the
/// latter is kNoOperand for what a nested region reads and for the order of ops
/// with effects.
struct NodeEdge {
  unsigned node;
  unsigned operand;
};
inline constexpr unsigned kNoOperand = ~0u;

struct FusionNode {
  Operation *op = nullptr;
  ResolvedPattern pattern;
  NodeClass kind = NodeClass::alone;
  RecomputeCost cost = RecomputeCost::expensive;
  /// Why it is alone.
  FusionDecision aloneReason = FusionDecision::fuse();
  /// Whether it may be in a group at all.
  bool groupable = true;
  /// Whether a terminator reads it.
  bool escapes = false;
  RowRole role;
  unsigned height = 0;
  SmallVector<NodeEdge, 2> producers;
  SmallVector<NodeEdge, 2> consumers;

  Value getResult() const { return op->getResult(0); }
};

/// The ops of a block and the edges between them.
class FusionNodes {
public:
  FusionNodes(Block &block, ArrayRef<ResolvedPairRule> rules,
              const FusionOptions &options);

  /// Nodes in structural order: consumers before producers.
  SmallVector<FusionNode, 0> nodes;
  SmallVector<RowDomain, 0> domains;
  llvm::DenseMap<Operation *, unsigned> numbers;
  mutable SymbolicShapes shapes;
  ArrayRef<ResolvedPairRule> rules;

  /// Whether patterns and kinds of the two ends let the edge be in a kernel.
  FusionDecision checkEdge(const FusionNode &producer,
                           const FusionNode &consumer) const;
  /// Whether a `must` rule asks for the edge.
  bool isRequired(const FusionNode &producer, const FusionNode &consumer) const;
  /// The extents of a value that are not 1.
  SmallVector<int64_t> getBigExtents(Value value) const;
  /// The dimensions of the consumer's result, counted among those that are not
  /// 1, that the not-1 dimensions of an operand go along; none if an extent is
  /// not known to be equal.
  std::optional<SmallVector<unsigned>> alignOperand(const FusionNode &consumer,
                                                    unsigned operand) const;
  /// Whether the operand, aligned as given, has one element for each row of the
  /// domain, its consumer one for each position.
  bool isRowOperand(ArrayRef<unsigned> aligned, const RowDomain &domain) const;
  /// The product of the extents, or none if one is a symbol.
  std::optional<int64_t> countElements(Value value) const;
  /// "'a/sub'": the op's source name, quoted.
  static std::string quoteName(Operation *op);
  /// Extents as people write them: "100x120x120".
  static std::string printExtents(ArrayRef<int64_t> extents);

  /// Whether the op changes which element stands at which place of the loops.
  bool movesElements(const FusionNode &node) const;
  /// Whether the producer's rows are too long to be read again by `consumer`.
  bool isLongRow(const FusionNode &producer, const FusionNode &consumer) const;

private:
  void addEdges(Block &block);
  void classify(FusionNode &node, const FusionOptions &options);
  void assignRole(FusionNode &node);
  int getDomain(Value input, ArrayRef<int64_t> reducedDims);
  std::optional<bool> fitsDomain(const FusionNode &node, int domain) const;
};

/// Rows above this many bytes do not stay in the first-level cache between the
/// passes of a kernel.
inline constexpr int64_t kMaxRowBytes = 64 * 1024;

} // namespace mlir::fuse

#endif // FUSEDIALECT_LIB_ANALYSIS_FUSIONNODES_H
