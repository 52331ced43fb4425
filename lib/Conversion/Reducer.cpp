//===- Reducer.cpp - The steps of reductions in linalg --------------------===//

#include "Reducer.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::fuse;

static Value map(const GenericBuilder &generic, Value input, Type type,
                 function_ref<Value(ScalarBuilder &, Value)> body) {
  return generic.createMap(
      generic.getType(type), {generic.full(input)},
      [&](ScalarBuilder &b, ValueRange args) { return body(b, args.front()); });
}

Value Reducer::mapFull(Value input, Type type,
                       function_ref<Value(ScalarBuilder &, Value)> body) const {
  return map(full, input, type, body);
}

Value Reducer::mapRows(Value input, Type type,
                       function_ref<Value(ScalarBuilder &, Value)> body) const {
  return map(rows, input, type, body);
}

Value Reducer::convert(Value input, Type type) const {
  if (getElementTypeOrSelf(input) == type)
    return input;
  return mapFull(input, type, [&](ScalarBuilder &b, Value x) {
    return b.cast(x, type, isUnsigned, isUnsigned);
  });
}

Value Reducer::reduce(Value input,
                      function_ref<Value(ScalarBuilder &, Type)> identity,
                      GenericBuilder::Body combine) const {
  return dims.empty() ? input
                      : full.createReduction(input, dims, identity, combine);
}

Value Reducer::sum(Value input) const {
  return reduce(
      input, [](ScalarBuilder &b, Type type) { return b.constant(type, 0); },
      [](ScalarBuilder &b, ValueRange args) {
        return b.add(args[1], args[0]);
      });
}

Value Reducer::product(Value input) const {
  return reduce(
      input, [](ScalarBuilder &b, Type type) { return b.constant(type, 1); },
      [](ScalarBuilder &b, ValueRange args) {
        return b.mul(args[1], args[0]);
      });
}

Value Reducer::largest(Value input) const {
  bool isBool = getElementTypeOrSelf(input).isInteger(1);
  return reduce(
      input, [](ScalarBuilder &b, Type type) { return b.lowest(type); },
      [&](ScalarBuilder &b, ValueRange args) {
        return isBool ? b.bitOr(args[1], args[0])
                      : b.maxOfAnyZero(args[1], args[0]);
      });
}

Value Reducer::largestNumber(Value input) const {
  return reduce(
      input, [](ScalarBuilder &b, Type type) { return b.lowest(type); },
      [&](ScalarBuilder &b, ValueRange args) {
        Value isLarger = b.compare(arith::CmpFPredicate::OGT, args[0], args[1]);
        return b.select(isLarger, args[0], args[1]);
      });
}

Value Reducer::smallest(Value input) const {
  bool isBool = getElementTypeOrSelf(input).isInteger(1);
  return reduce(
      input, [](ScalarBuilder &b, Type type) { return b.highest(type); },
      [&](ScalarBuilder &b, ValueRange args) {
        return isBool ? b.bitAnd(args[1], args[0])
                      : b.minOfAnyZero(args[1], args[0]);
      });
}

std::pair<uint64_t, Value> Reducer::count(Type type) const {
  OpBuilder &builder = full.builder;
  Location location = full.location;
  // Unsigned, since the extents of a hostile type may overflow.
  uint64_t known = 1;
  Value dynamic;
  for (int64_t dim : dims) {
    OpFoldResult extent = full.getDomain()[dim];
    if (std::optional<int64_t> constant = getConstantIntValue(extent)) {
      known *= *constant;
      continue;
    }
    Value value = getValueOrCreateConstantIndexOp(builder, location, extent);
    dynamic = dynamic ? arith::MulIOp::create(builder, location, dynamic, value)
                            .getResult()
                      : value;
  }
  if (!dynamic)
    return {known, Value()};
  Type i64 = builder.getI64Type();
  Value wide = arith::IndexCastOp::create(builder, location, i64, dynamic);
  ScalarBuilder scalar(builder, location);
  return {known, scalar.cast(wide, type, false, false)};
}

Value Reducer::divideByCount(Value sums, Type to) const {
  Type type = getElementTypeOrSelf(sums);
  auto [known, dynamic] = count(type);
  return mapRows(
      sums, to,
      [&, known = known, dynamic = dynamic](ScalarBuilder &b, Value x) {
        Value divisor = b.constant(type, known);
        if (dynamic)
          divisor = b.mul(dynamic, divisor);
        return b.cast(b.div(x, divisor), to, isUnsigned, isUnsigned);
      });
}
