//===- Reducer.h - The steps of reductions in linalg ------------*- C++ -*-===//
//
// A reduction is up to three steps: an elementwise linalg.generic over the
// whole input (widening, |x|, x * x, exp(x - max)), one with reduction
// iterators whose body is a single op on the accumulator, and an elementwise
// one over the rows' results (division by the count, sqrt, log, rounding).
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_LIB_CONVERSION_REDUCER_H
#define FUSEDIALECT_LIB_CONVERSION_REDUCER_H

#include "FuseToLinalg.h"

namespace mlir::fuse {

/// Builds the steps of reductions over the dimensions `dims` of one domain.
class Reducer {
public:
  /// The domain is the shape of `input`. `isUnsigned` says how its integers are
  /// read.
  Reducer(OpBuilder &builder, Location location, Value input,
          ArrayRef<int64_t> dims, bool isUnsigned)
      : full(builder, location, getExtents(builder, location, input),
             isUnsigned),
        rows(full.without(dims)), dims(dims), isUnsigned(isUnsigned) {}

  /// An elementwise op over a tensor of the input's shape, with results of the
  /// element type `type`.
  Value mapFull(Value input, Type type,
                function_ref<Value(ScalarBuilder &, Value)> body) const;
  /// As above, over a tensor of one element a row.
  Value mapRows(Value input, Type type,
                function_ref<Value(ScalarBuilder &, Value)> body) const;
  /// The input with its elements converted to the type.
  Value convert(Value input, Type type) const;

  /// The reductions proper, in the input's own type, whose results have one
  /// element a row. Over no dimensions each element is its own result.
  Value sum(Value input) const;
  Value product(Value input) const;
  Value largest(Value input) const;
  /// The largest float that is a number, -inf if there is none: one instruction
  /// an element, for ops that a NaN reaches in another way.
  Value largestNumber(Value input) const;
  Value smallest(Value input) const;

  /// Divides each row's sum by the number of elements of a row, and converts to
  /// the element type `to`.
  Value divideByCount(Value sums, Type to) const;

  GenericBuilder full, rows;
  SmallVector<int64_t> dims;
  bool isUnsigned;

private:
  /// The product of the static extents of a row, and that of the dynamic ones
  /// as a scalar of the type, or null without any.
  std::pair<uint64_t, Value> count(Type type) const;
  Value reduce(Value input, function_ref<Value(ScalarBuilder &, Type)> identity,
               GenericBuilder::Body combine) const;
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_LIB_CONVERSION_REDUCER_H
