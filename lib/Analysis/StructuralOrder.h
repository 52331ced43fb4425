//===- StructuralOrder.h - An order of ops free of position -----*- C++ -*-===//

#ifndef FUSEDIALECT_LIB_ANALYSIS_STRUCTURALORDER_H
#define FUSEDIALECT_LIB_ANALYSIS_STRUCTURALORDER_H

#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::fuse {

/// Orders ops of a block by their height (the longest path to an op without
/// users, least first: consumers before producers), then by name and structure:
/// a hash of the op, its attributes and types, all that it reads and all that
/// reads it. Ops that agree in all of that are told apart by their source
/// names, and last by position. The order is the same for each order of
/// independent ops in the block, and on each machine.
class StructuralOrder {
public:
  /// `ops` are in the block's order; what they read outside of `ops` is ignored
  /// but for block arguments and constants. Of `chain`, some of the ops in the
  /// block's order, each counts as a user of the one before.
  StructuralOrder(Block &block, ArrayRef<Operation *> ops,
                  ArrayRef<Operation *> chain);

  /// The ops, ordered.
  ArrayRef<Operation *> getOrder() const { return order; }
  unsigned getHeight(Operation *op) const { return heights.lookup(op); }

private:
  SmallVector<Operation *> order;
  llvm::DenseMap<Operation *, unsigned> heights;
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_LIB_ANALYSIS_STRUCTURALORDER_H
