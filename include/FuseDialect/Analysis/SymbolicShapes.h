//===- SymbolicShapes.h - Which extents are equal ---------------*- C++ -*-===//

#ifndef FUSEDIALECT_ANALYSIS_SYMBOLICSHAPES_H
#define FUSEDIALECT_ANALYSIS_SYMBOLICSHAPES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::fuse {

/// Extents of tensors, with a symbol for each that is not known: a number of at
/// least 0 is a static extent, a negative one a symbol. Two extents with the
/// same number are equal at run time; different symbols may or may not be.
class SymbolicShapes {
public:
  /// Derives the shapes of all tensors in the block. Arguments of an entry
  /// function share symbols as its `fuse.signature` says.
  explicit SymbolicShapes(Block &block);

  /// The extents of a ranked tensor defined in the block or of its arguments,
  /// or fresh symbols for another value.
  ArrayRef<int64_t> get(Value value);

private:
  SmallVector<int64_t> fresh(Value value);
  void nameArguments(Block &block);
  void derive(Operation *op);

  llvm::DenseMap<Value, SmallVector<int64_t>> shapes;
  int64_t nextSymbol = -1;
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_ANALYSIS_SYMBOLICSHAPES_H
