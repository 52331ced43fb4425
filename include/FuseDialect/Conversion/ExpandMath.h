//===- ExpandMath.h - Vector expansions of math functions -------*- C++ -*-===//
//
// What the pass fuse-expand-math does, as a function for pipelines.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_CONVERSION_EXPANDMATH_H
#define FUSEDIALECT_CONVERSION_EXPANDMATH_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::fuse {

/// What the expansions may assume of the target.
struct ExpandMathOptions {
  /// Fused multiply-add of f32 and f64 is one instruction. Without it, error
  /// terms are computed by splitting operands.
  bool hasFma = true;
  /// floor, ceil, trunc and roundeven are one instruction.
  bool hasRound = true;
  /// Conversions between f16 and f32 are one instruction.
  bool hasF16C = true;
  /// AVX-512 F, BW, DQ and VL: vectors of a multiple of 512 bits use
  /// intrinsics for scaling, exponents and tables.
  bool avx512 = false;

  /// The options for a target's feature string as LLVM writes it
  /// ("+avx2,+fma,-avx512f"); a feature that is not named is absent.
  static ExpandMathOptions fromFeatures(llvm::StringRef features);
};

/// Expands every op below `root` that the pass fuse-expand-math describes, in
/// place. Ops on tensors and on element types other than f16, bf16, f32 and
/// f64 are left alone.
void expandMath(Operation *root, const ExpandMathOptions &options);

} // namespace mlir::fuse

#endif // FUSEDIALECT_CONVERSION_EXPANDMATH_H
