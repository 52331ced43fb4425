//===- Compare.cpp - Are two tensors equal enough? ------------------------===//

#include "FuseDialect/Engine/Compare.h"
#include "FuseDialect/Engine/TensorSpec.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::fuse;

Tolerance mlir::fuse::getDefaultTolerance(Type elementType) {
  if (elementType.isF16())
    return {2e-3, 1e-5};
  if (elementType.isBF16())
    return {2e-2, 1e-5};
  if (isa<FloatType>(elementType))
    return {1e-5, 1e-8};
  return {0, 0};
}

/// How far beyond the tolerance an element is; at most 0 if it is within.
static double getExcess(const HostTensor &got, const HostTensor &want,
                        int64_t index, Tolerance tolerance,
                        double &difference) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!isFloat(got.getKind())) {
    // As integers: 64 bits do not fit a double.
    uint64_t a = got.getUInt(index), b = want.getUInt(index);
    bool isLess = isUnsigned(got.getKind())
                      ? a < b
                      : static_cast<int64_t>(a) < static_cast<int64_t>(b);
    difference = static_cast<double>(isLess ? b - a : a - b);
    return difference - tolerance.atol -
           tolerance.rtol * std::abs(want.getDouble(index));
  }
  double a = got.getDouble(index), b = want.getDouble(index);
  difference = 0;
  if (a == b || (std::isnan(a) && std::isnan(b)))
    return 0;
  difference =
      std::isfinite(a) && std::isfinite(b) ? std::abs(a - b) : infinity;
  if (!std::isfinite(difference))
    return infinity;
  return difference - (tolerance.atol + tolerance.rtol * std::abs(b));
}

Comparison mlir::fuse::compareTensors(const HostTensor &got,
                                      const HostTensor &want,
                                      Tolerance tolerance) {
  Comparison result;
  double worst = 0;
  for (int64_t i = 0; i < got.getNumElements(); ++i) {
    double difference;
    double excess = getExcess(got, want, i, tolerance, difference);
    result.maxDifference = std::max(result.maxDifference, difference);
    if (!(excess > 0))
      continue;
    ++result.numDifferent;
    if (excess > worst) {
      worst = excess;
      result.worst = i;
    }
  }
  return result;
}

/// Prints the position of an element: [0, 1].
static void printIndex(llvm::raw_ostream &os, ArrayRef<int64_t> shape,
                       int64_t element) {
  SmallVector<int64_t> index(shape.size());
  for (int64_t dim = static_cast<int64_t>(shape.size()) - 1; dim >= 0; --dim) {
    index[dim] = element % shape[dim];
    element /= shape[dim];
  }
  os << "[";
  llvm::interleaveComma(index, os);
  os << "]";
}

std::string mlir::fuse::describeDifference(StringRef name,
                                           const HostTensor &got,
                                           const HostTensor &want,
                                           Tolerance tolerance) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (got.getType() != want.getType()) {
    os << "expected output '" << name << "' to be "
       << formatTensorType(want.getShape(), want.getElementType())
       << " but got " << formatTensorType(got.getShape(), got.getElementType());
    return text;
  }
  Comparison comparison = compareTensors(got, want, tolerance);
  if (!comparison.numDifferent)
    return text;
  os << "output '" << name << "' differs in " << comparison.numDifferent
     << " of " << got.getNumElements() << " elements (rtol "
     << llvm::format("%g", tolerance.rtol) << ", atol "
     << llvm::format("%g", tolerance.atol) << "), most at ";
  printIndex(os, got.getShape(), comparison.worst);
  os << ": expected ";
  printElement(os, want, comparison.worst);
  os << " but got ";
  printElement(os, got, comparison.worst);
  return text;
}
