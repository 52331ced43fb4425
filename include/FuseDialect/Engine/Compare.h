//===- Compare.h - Are two tensors equal enough? ----------------*- C++ -*-===//

#ifndef FUSEDIALECT_ENGINE_COMPARE_H
#define FUSEDIALECT_ENGINE_COMPARE_H

#include "FuseDialect/Analysis/HostTensor.h"
#include <string>

namespace mlir::fuse {

/// An element differs if |got - want| > atol + rtol * |want|, as numpy's
/// allclose has it, with NaN equal to NaN and an infinity only to itself.
struct Tolerance {
  double rtol = 0;
  double atol = 0;
};

/// What --expect allows without flags: numpy's 1e-5 and 1e-8 for f32 and f64,
/// the rounding of a few operations for f16 and bf16, nothing for integers.
Tolerance getDefaultTolerance(Type elementType);

struct Comparison {
  int64_t numDifferent = 0;
  /// The element furthest beyond its tolerance, in row-major order; the first
  /// of several.
  int64_t worst = -1;
  double maxDifference = 0;
};

/// Compares two tensors of one type.
Comparison compareTensors(const HostTensor &got, const HostTensor &want,
                          Tolerance tolerance);

/// `output 'y' differs in 3 of 60 elements (rtol 1e-05, atol 1e-08), most at
/// [0, 1]: expected 2 but got 1.5`. Tensors of different types or shapes are
/// described as such. Empty if the two agree.
std::string describeDifference(llvm::StringRef name, const HostTensor &got,
                               const HostTensor &want, Tolerance tolerance);

} // namespace mlir::fuse

#endif // FUSEDIALECT_ENGINE_COMPARE_H
