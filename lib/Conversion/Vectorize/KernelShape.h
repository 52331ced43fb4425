//===- KernelShape.h - Iteration domain and passes of a kernel --*- C++ -*-===//

#ifndef FUSEDIALECT_CONVERSION_VECTORIZE_KERNELSHAPE_H
#define FUSEDIALECT_CONVERSION_VECTORIZE_KERNELSHAPE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::fuse {

/// Consecutive dimensions of the domain that one loop runs over.
struct LoopDim {
  int64_t first, last;
  /// Product of the dimensions' extents.
  OpFoldResult extent;
  bool isReduced;
};

/// What a kernel in linalg form computes, and in which order. All its values
/// live on one iteration domain; a row is what the reduced dimensions span. A
/// row is passed over once for each level of reductions that depend on each
/// other, and once more for the results.
struct KernelShape {
  /// Extents of the domain's dimensions, and which of them are reduced.
  SmallVector<OpFoldResult> extents;
  SmallVector<bool> isReduced;
  /// The domain as loops: dimensions that no op tells apart are merged.
  SmallVector<LoopDim> loops;
  /// The reductions of each pass.
  SmallVector<SmallVector<linalg::GenericOp>> reductions;
  /// The number of reduction levels that each value depends on.
  DenseMap<Value, unsigned> levels;
  /// Per-row values: results of reductions and what is computed from them
  /// alone.
  DenseSet<Value> rowValues;
  /// Bits of the widest element type.
  unsigned maxBits = 8;
  /// Scalar ops that one element takes, a measure of code size and time.
  unsigned scalarOps = 0;

  bool hasReductions() const { return !reductions.empty(); }
};

/// Analyses a kernel in linalg form whose results are returned. Emits an error
/// at the op that does not fit a kernel.
FailureOr<KernelShape> analyzeKernel(func::FuncOp kernel, OpBuilder &builder);

/// Whether computing an element of `value` again costs more than writing it to
/// the row's scratch memory and reading it back.
bool isExpensive(Value value);

} // namespace mlir::fuse

#endif // FUSEDIALECT_CONVERSION_VECTORIZE_KERNELSHAPE_H
