//===- FusionReport.h - Every decision of fusion, for people ----*- C++ -*-===//
//
// One decision for each producer-consumer pair of source ops, and the kernels
// with their source ops. The report stays on the module (`fuse.fusion`), so
// that every later phase and tool can print it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_ANALYSIS_FUSIONREPORT_H
#define FUSEDIALECT_ANALYSIS_FUSIONREPORT_H

#include "FuseDialect/Analysis/FusionDecision.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace mlir::fuse {

/// The module attribute that holds edges and kernels (DictionaryAttr).
inline constexpr llvm::StringLiteral kFusionAttrName = "fuse.fusion";
/// The module attribute that lists source ops which rewrites removed: an array
/// of dictionaries with the strings `op`, `reason` and `into`.
inline constexpr llvm::StringLiteral kEliminatedAttrName = "fuse.eliminated";
/// The module attribute that lists changes of layout: an array of dictionaries
/// with the strings `from`, `to`, `for` and the integer `bytes`.
inline constexpr llvm::StringLiteral kReordersAttrName = "fuse.reorders";

struct FusionReport {
  /// A producer-consumer pair of source ops.
  struct Edge {
    std::string producer, producerOp, consumer, consumerOp;
    FusionDecision decision = FusionDecision::fuse();
  };
  /// A kernel: its name, pattern, source ops in order of execution, and those
  /// of them that other kernels compute too.
  struct Group {
    std::string name, pattern;
    SmallVector<std::string> ops, duplicated;
  };
  struct Reorder {
    std::string from, to, forOp;
    int64_t bytes = 0;
  };
  struct Eliminated {
    std::string op, reason, into;
  };

  SmallVector<Edge> edges;
  SmallVector<Group> groups;
  SmallVector<Reorder> reorders;
  SmallVector<Eliminated> eliminated;

  /// What the module's attributes hold; entries that are not well formed are
  /// left out. Empty before grouping.
  static FusionReport fromModule(ModuleOp module);
  /// The value of `fuse.fusion`: edges and groups.
  DictionaryAttr toAttribute(MLIRContext *context) const;
  /// {"edges": […], "groups": […], "reorders": […], "eliminated": […]}
  llvm::json::Value toJson() const;
  /// A table for people: kernels, edges, eliminated ops.
  void printTable(raw_ostream &os) const;
  /// Writes JSON to a name that ends in `.json`, else the table; `-` is the
  /// standard output. A file is complete or not there. On failure `error` says
  /// why.
  LogicalResult write(StringRef file, std::string &error) const;
};

/// Decides for each pair of source ops from the decisions for the pairs of ops
/// that stand for them: fused if all of them are, else the first reason. Pairs
/// of the imported graph (`fuse.source`) that a rewrite made one op are fused.
SmallVector<FusionReport::Edge> decideSourceEdges(
    ModuleOp module,
    llvm::function_ref<FusionDecision(Operation *producer, Operation *consumer,
                                      bool throughBarrier)>
        decide);

/// The groups in the module's functions, in the order of the IR.
SmallVector<FusionReport::Group> collectGroups(ModuleOp module);

} // namespace mlir::fuse

#endif // FUSEDIALECT_ANALYSIS_FUSIONREPORT_H
