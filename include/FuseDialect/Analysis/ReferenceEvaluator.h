//===- ReferenceEvaluator.h - Evaluates ops in double precision -*- C++ -*-===//
//
// What each op of the dialect means, computed one op at a time on host tensors:
// the oracle that compiled code is checked against, and what folds constants.
//
// Floats are computed in double precision with the C library's functions, and
// sums are compensated (Neumaier 1974). Integers are computed in the width and
// signedness of their type, with the results that the ops' descriptions define
// for overflow, division by zero and shifts out of range. NaN, infinities,
// signed zeros and empty tensors behave as in numpy.
//
// Untrusted IR is safe to evaluate: shapes are checked when values are known,
// allocations may fail, and nothing recurses on the depth of the IR.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_ANALYSIS_REFERENCEEVALUATOR_H
#define FUSEDIALECT_ANALYSIS_REFERENCEEVALUATOR_H

#include "FuseDialect/Analysis/HostTensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::fuse {

/// A tensor as the evaluator computes with it: doubles for a float type, 64-bit
/// integers for all others, beside the element type that they stand for. Copies
/// share the elements.
class ReferenceValue {
public:
  ReferenceValue() = default;
  /// A tensor of zeros. None if there is not enough memory or the element type
  /// is not one of the dialect's.
  static std::optional<ReferenceValue> create(ArrayRef<int64_t> shape,
                                              Type elementType);
  /// The exact values of a tensor. None if there is not enough memory.
  static std::optional<ReferenceValue> fromTensor(const HostTensor &tensor);
  /// The tensor of the element type, each element rounded to it. None if there
  /// is not enough memory.
  std::optional<HostTensor> toTensor() const;

  explicit operator bool() const { return elements != nullptr; }
  ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getRank() const { return static_cast<int64_t>(shape.size()); }
  Type getElementType() const { return elementType; }
  ElementKind getKind() const { return kind; }
  int64_t getNumElements() const { return elements->getNumElements(); }
  /// Bytes of a tensor of the element type.
  int64_t getNumBytes() const;
  bool isFloat() const { return fuse::isFloat(kind); }

  /// The elements of a float type.
  ArrayRef<double> getFloats() const;
  /// The elements of any other type: sign- or zero-extended as it is, ui64 as
  /// its bits, a boolean as 0 or 1.
  ArrayRef<int64_t> getInts() const;
  /// To fill a value after create(), before it is copied.
  MutableArrayRef<double> getMutableFloats();
  MutableArrayRef<int64_t> getMutableInts();
  /// The elements, eight bytes each, for ops that only move them.
  const char *getBytes() const;
  char *getMutableBytes();

  /// The same elements in another shape of as many.
  ReferenceValue withShape(ArrayRef<int64_t> newShape) const;

private:
  SmallVector<int64_t, 4> shape;
  Type elementType;
  ElementKind kind = ElementKind::f64;
  std::shared_ptr<HostTensor> elements;
};

/// How the results of each op are rounded.
enum class ReferenceRounding {
  /// Not at all, as an oracle needs it. Only the range is the element type's:
  /// what is too large for it becomes an infinity, what is too small a zero.
  none,
  /// To the element type, so that evaluating op by op gives what running op by
  /// op gives.
  elementType
};

class ReferenceEvaluator {
public:
  using Values = SmallVector<ReferenceValue, 1>;
  /// Called with the results of each op that is not a group or a terminator, in
  /// order; failure stops the evaluation.
  using Observer =
      function_ref<LogicalResult(Operation *, ArrayRef<ReferenceValue>)>;

  explicit ReferenceEvaluator(
      ReferenceRounding rounding = ReferenceRounding::none)
      : rounding(rounding) {}

  /// Whether evaluate() knows the op (a group: whether it may descend into it).
  static bool isSupported(Operation *op);

  /// Evaluates one op without regions. Fails with getError() set if the op is
  /// not supported, the values do not fit it, or there is not enough memory.
  FailureOr<Values> evaluate(Operation *op, ArrayRef<ReferenceValue> operands);

  /// Evaluates a function of one block on its arguments and returns its
  /// results. Descends into groups. A value is dropped after its last use. On
  /// failure emits an error at the op, unless the observer failed.
  FailureOr<Values> evaluate(FunctionOpInterface function,
                             ArrayRef<ReferenceValue> arguments,
                             Observer observer = {});

  /// Why the last evaluate(Operation *, …) failed.
  StringRef getError() const { return error; }

private:
  ReferenceRounding rounding;
  std::string error;
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_ANALYSIS_REFERENCEEVALUATOR_H
