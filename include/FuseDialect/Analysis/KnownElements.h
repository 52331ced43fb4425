//===- KnownElements.h - Elements known at compile time ---------*- C++ -*-===//
//
// Models compute shapes in the graph (Shape, Gather, Concat, …). This follows
// such small tensors through the ops, element by element: an element that comes
// from a static extent is known even beside one that comes from a dynamic one.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_ANALYSIS_KNOWNELEMENTS_H
#define FUSEDIALECT_ANALYSIS_KNOWNELEMENTS_H

#include "FuseDialect/Analysis/ReferenceEvaluator.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::fuse {

class KnownElements {
public:
  /// The elements of an integer tensor in row-major order, ui64 as its bits.
  using Elements = SmallVector<std::optional<int64_t>>;

  /// Tensors of more elements are data, not shapes: they are not followed.
  static constexpr int64_t kMaxElements = 1024;

  /// Evaluates an op whose operands were recorded before, as far as they are
  /// known. Does nothing for ops that the reference evaluator does not know and
  /// for results whose size is dynamic or too large. A static shape that
  /// `fuse.shape_of` reads is taken from the operand's type.
  void record(Operation *op);
  /// Records the elements of a value that is computed elsewhere, if it is small.
  void assume(Value value, const HostTensor &tensor);
  /// Records that `to` has the elements of `from`.
  void alias(Value to, Value from);

  /// What is known of an integer tensor, or none if nothing is.
  std::optional<Elements> lookup(Value value) const;
  /// All elements of an integer tensor, or none if one of them is not known.
  std::optional<SmallVector<int64_t>> lookupAll(Value value) const;
  /// All elements of a tensor of floats, or none if one of them is not known.
  std::optional<SmallVector<double>> lookupAllFloats(Value value) const;

private:
  struct Entry {
    /// With zero where an element is not known.
    ReferenceValue value;
    /// The elements that are not known; empty if all are.
    llvm::BitVector unknown;
  };

  void recordShape(Operation *op);
  void evaluate(Operation *op);
  void store(Value value, ReferenceValue elements, llvm::BitVector unknown);

  llvm::DenseMap<Value, Entry> entries;
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_ANALYSIS_KNOWNELEMENTS_H
