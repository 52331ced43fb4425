//===- SourceGraph.h - Source ops and the edges between them ----*- C++ -*-===//
//
// A source op is what the model's author named: one or several ops of the IR
// that share a name in their locations. The graph of the imported model is kept
// on the module while rewrites fold and replace ops, so that fusion can account
// for each producer-consumer pair of the model.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_ANALYSIS_SOURCEGRAPH_H
#define FUSEDIALECT_ANALYSIS_SOURCEGRAPH_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::fuse {

/// The module attribute that holds the imported graph: `names`, `ops` (the
/// names of the ops) and `edges` (pairs of indices, flat).
inline constexpr llvm::StringLiteral kSourceAttrName = "fuse.source";

/// An op of the source model.
struct SourceOp {
  std::string name;
  /// The name of its first op in the IR: "fuse.exp".
  std::string opName;
};

struct SourceGraph {
  SmallVector<SourceOp> ops;
  /// Producer and consumer, as indices of `ops`; each pair once.
  SmallVector<std::pair<unsigned, unsigned>> edges;

  /// The graph that `fuse.source` holds; empty without one.
  static SourceGraph fromModule(ModuleOp module);
  DictionaryAttr toAttribute(MLIRContext *context) const;
};

/// A pair of ops of which the second reads a value that the first computes,
/// directly or through barriers and the borders of groups.
struct SourceEdge {
  Operation *producer;
  Operation *consumer;
  bool throughBarrier;
};

/// Whether `op` computes something for the model: not a constant, a barrier, a
/// group, or a terminator.
bool isSourceOp(Operation *op);
/// Calls `visit` for the source ops in the module's functions except kernels,
/// in the order of the IR, ops in groups and nested regions included.
void forEachSourceOp(ModuleOp module,
                     llvm::function_ref<void(Operation *)> visit);
/// All edges between source ops, in the order of the consumers. A pair appears
/// once for each of its ways (with or without a barrier).
SmallVector<SourceEdge> collectSourceEdges(ModuleOp module);
/// Names the source ops that have no name after their op (`exp#1`), and writes
/// `fuse.source` unless the module has one.
void recordSourceGraph(ModuleOp module);

} // namespace mlir::fuse

#endif // FUSEDIALECT_ANALYSIS_SOURCEGRAPH_H
