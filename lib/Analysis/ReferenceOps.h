//===- ReferenceOps.h - Parts of the reference evaluator --------*- C++ -*-===//
//
// What the families of ops share, and the entry point of each. An evaluation
// takes operand values that fit the op's operand types and fails with a message
// if they do not fit each other.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_LIB_ANALYSIS_REFERENCEOPS_H
#define FUSEDIALECT_LIB_ANALYSIS_REFERENCEOPS_H

#include "FuseDialect/Analysis/ReferenceEvaluator.h"
#include "FuseDialect/IR/FuseDialect.h"

namespace mlir::fuse::reference {

using Values = ReferenceEvaluator::Values;

/// One op with its operand values.
struct Evaluation {
  Operation *op;
  ArrayRef<ReferenceValue> operands;
  ReferenceRounding rounding;
  std::string &error;

  /// Records why the evaluation fails.
  LogicalResult fail(const Twine &message) {
    error = message.str();
    return failure();
  }
  /// A tensor of zeros of the element type of result `index`.
  FailureOr<ReferenceValue> allocate(ArrayRef<int64_t> shape,
                                     unsigned index = 0);
  FailureOr<ReferenceValue> allocate(ArrayRef<int64_t> shape, Type elementType);
};

FailureOr<Values> evaluateElementwise(Evaluation &evaluation);
FailureOr<Values> evaluateReduction(Evaluation &evaluation);
FailureOr<Values> evaluateRow(Evaluation &evaluation);
FailureOr<Values> evaluateInjective(Evaluation &evaluation);

/// "[2, 3]" for messages.
std::string formatShape(ArrayRef<int64_t> shape);

/// Rounds the double result of an op as ReferenceRounding says.
class FloatRounder {
public:
  FloatRounder(ElementKind kind, ReferenceRounding rounding)
      : kind(kind), rounding(rounding) {}
  double operator()(double value) const;

private:
  ElementKind kind;
  ReferenceRounding rounding;
};

/// The bits of an integer kind below its width, extended to 64 bits again. For
/// a boolean: whether the value is not zero.
int64_t wrapInteger(ElementKind kind, int64_t value);
/// As `fuse.cast` converts a float: towards zero, saturated, 0 for NaN.
int64_t saturateToInteger(ElementKind kind, double value);
/// The value of an integer as `getInts` has it, as a double.
double integerToDouble(ElementKind kind, int64_t value);
/// Whether x is below y, both of an integer kind.
bool isIntegerLess(ElementKind kind, int64_t x, int64_t y);

/// Walks the elements of a shape in row-major order, together with the
/// positions of the elements of operands that broadcast to it.
class BroadcastWalk {
public:
  BroadcastWalk(ArrayRef<int64_t> shape,
                ArrayRef<ArrayRef<int64_t>> operandShapes);
  /// The position in operand `index`.
  int64_t operator[](unsigned index) const { return positions[index]; }
  void advance();

private:
  SmallVector<int64_t> shape;
  SmallVector<int64_t> counters;
  /// For each dimension the strides of all operands, 0 where they repeat.
  SmallVector<SmallVector<int64_t>> strides;
  SmallVector<int64_t> positions;
};

} // namespace mlir::fuse::reference

#endif // FUSEDIALECT_LIB_ANALYSIS_REFERENCEOPS_H
