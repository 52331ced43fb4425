//===- FuseToLinalgReductions.cpp - Reductions to linalg ------------------===//
//
// The steps are those of Reducer.h. Reduced dimensions go, and come back with
// extent 1 by tensor.expand_shape where the op keeps them.
//
//===----------------------------------------------------------------------===//

#include "FuseDialect/IR/FuseDialect.h"
#include "FuseToLinalg.h"
#include "Reducer.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fuse;

//===----------------------------------------------------------------------===//
// Arithmetic reductions
//===----------------------------------------------------------------------===//

/// The float type in which the logarithm or root of an integer is taken: it
/// holds every integer of up to 32 bits.
static Type getFloatFor(Type type) {
  if (isa<FloatType>(type))
    return getComputeType(type);
  return type.getIntOrFloatBitWidth() <= 16
             ? Type(Float32Type::get(type.getContext()))
             : Type(Float64Type::get(type.getContext()));
}

/// log(sum(exp(x - max))) + max. A row whose largest element is infinite is
/// not shifted: inf - inf would be NaN.
static Value emitLogSumExp(const Reducer &reducer, Value input, Type type) {
  Value wide = reducer.convert(input, type);
  Value largest = reducer.mapRows(
      reducer.largest(wide), type, [&](ScalarBuilder &b, Value x) {
        Value isInfinite = b.equal(b.abs(x), b.highest(type));
        return b.select(isInfinite, b.constant(type, 0), x);
      });
  Value exps = reducer.full.createMap(
      reducer.full.getType(type),
      {reducer.full.full(wide), reducer.full.row(largest, reducer.dims)},
      [](ScalarBuilder &b, ValueRange args) {
        return b.math<math::ExpOp>(b.sub(args[0], args[1]));
      });
  Value sum = reducer.sum(exps);
  return reducer.rows.createMap(
      reducer.rows.getType(type),
      {reducer.rows.full(sum), reducer.rows.full(largest)},
      [](ScalarBuilder &b, ValueRange args) {
        return b.add(b.math<math::LogOp>(args[0]), args[1]);
      });
}

/// The mean. Integers add up in 64 bits, so that narrow ones do not wrap.
static Value emitMean(const Reducer &reducer, Value input, Type type) {
  Type wideType = isa<FloatType>(type)
                      ? getComputeType(type)
                      : IntegerType::get(type.getContext(), 64);
  return reducer.divideByCount(reducer.sum(reducer.convert(input, wideType)),
                               type);
}

/// The values of the rows, before reduced dimensions come back.
static Value emitReduction(Operation *op, const Reducer &reducer, Value input) {
  Type type = getElementTypeOrSelf(input);
  Type compute = getComputeType(type);
  Type floatType = getFloatFor(type);
  if (isa<ReduceMeanOp>(op))
    return emitMean(reducer, input, type);
  Value result;
  if (isa<ReduceLogSumExpOp>(op)) {
    result = emitLogSumExp(reducer, input, floatType);
  } else {
    Value wide = reducer.convert(input, compute);
    auto squares = [&] {
      return reducer.mapFull(
          wide, compute, [](ScalarBuilder &b, Value x) { return b.mul(x, x); });
    };
    if (isa<ReduceMaxOp>(op))
      result = reducer.largest(wide);
    else if (isa<ReduceMinOp>(op))
      result = reducer.smallest(wide);
    else if (isa<ReduceProdOp>(op))
      result = reducer.product(wide);
    else if (isa<ReduceL1Op>(op))
      result = reducer.sum(reducer.mapFull(
          wide, compute, [](ScalarBuilder &b, Value x) { return b.abs(x); }));
    else if (isa<ReduceL2Op, ReduceSumSquareOp>(op))
      result = reducer.sum(squares());
    else if (isa<ReduceSumOp, ReduceLogSumOp>(op))
      result = reducer.sum(wide);
    else
      return {};
  }
  bool isRoot = isa<ReduceL2Op>(op), isLog = isa<ReduceLogSumOp>(op);
  if (!isRoot && !isLog && getElementTypeOrSelf(result) == type)
    return result;
  return reducer.mapRows(result, type, [&](ScalarBuilder &b, Value x) {
    if (isRoot || isLog)
      x = b.cast(x, floatType, reducer.isUnsigned, false);
    if (isRoot)
      x = b.math<math::SqrtOp>(x);
    if (isLog)
      x = b.math<math::LogOp>(x);
    return b.cast(x, type, false, reducer.isUnsigned);
  });
}

//===----------------------------------------------------------------------===//
// argmax and argmin
//===----------------------------------------------------------------------===//

/// One op with two results, the value and its position. The body takes an
/// element `x` at position `n` and the best so far, `v` at `i`:
///
///   better = (x > v or one of them is NaN) and v is not NaN
///   same   = x == v or both are NaN
///   take   = better or (same and n < i)         [n > i to select the last]
///
/// and it starts from a `v` that nothing is below and an `i` that every
/// position replaces. Two partial results combine by the same body, reading one
/// of them as `x` and its position as `n`.
static Value emitArg(const Reducer &reducer, Value input, int64_t axis,
                     bool isMax, bool selectLast) {
  const GenericBuilder &full = reducer.full;
  OpBuilder &builder = full.builder;
  Location location = full.location;
  Value wide =
      reducer.convert(input, getComputeType(getElementTypeOrSelf(input)));
  Type type = getElementTypeOrSelf(wide);
  Type i64 = builder.getI64Type();
  ScalarBuilder outer(builder, location, reducer.isUnsigned);
  Value firstValue =
      reducer.rows.createFill(isMax ? outer.lowest(type) : outer.highest(type));
  Value firstIndex = reducer.rows.createFill(
      selectLast ? outer.constant(i64, -1)
                 : outer.integer(i64, APInt::getSignedMaxValue(64)));

  SmallVector<utils::IteratorType> iterators(full.getDomain().size(),
                                             utils::IteratorType::parallel);
  iterators[axis] = utils::IteratorType::reduction;
  AffineMap rowMap = full.row(firstValue, axis).map;
  auto op = linalg::GenericOp::create(
      builder, location, {firstValue.getType(), firstIndex.getType()}, wide,
      {firstValue, firstIndex}, {full.full(wide).map, rowMap, rowMap},
      iterators, [&](OpBuilder &nested, Location loc, ValueRange args) {
        ScalarBuilder b(nested, loc, reducer.isUnsigned);
        ScalarBuilder position(nested, loc);
        Value x = args[0], v = args[1], i = args[2];
        Value n = arith::IndexCastOp::create(
            nested, loc, i64, linalg::IndexOp::create(nested, loc, axis));
        Value better = isMax ? b.greater(x, v) : b.less(x, v);
        Value same = b.equal(x, v);
        if (isa<FloatType>(type)) {
          Value xIsNaN = b.isNaN(x), vIsNaN = b.isNaN(v);
          better = b.bitOr(better, b.bitAnd(xIsNaN, b.logicalNot(vIsNaN)));
          same = b.bitOr(same, b.bitAnd(xIsNaN, vIsNaN));
        }
        Value wins = selectLast ? position.greater(n, i) : position.less(n, i);
        Value take = b.bitOr(better, b.bitAnd(same, wins));
        linalg::YieldOp::create(
            nested, loc,
            ValueRange{b.select(take, x, v), b.select(take, n, i)});
      });
  return op.getResult(1);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

/// A reduction, argmax or argmin.
struct LowerReduction
    : public OpInterfaceConversionPattern<ReductionOpInterface> {
  using OpInterfaceConversionPattern::OpInterfaceConversionPattern;

  LogicalResult
  matchAndRewrite(ReductionOpInterface op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op->getLoc();
    SmallVector<int64_t> dims = op.getReducedDims();
    Reducer reducer(rewriter, loc, operands.front(), dims,
                    hasUnsignedElements(op->getOperand(0)));
    auto emitArgOf = [&](auto arg, bool isMax) {
      return emitArg(reducer, operands.front(), arg.getAxis(), isMax,
                     arg.getSelectLast());
    };
    Value rows = TypeSwitch<Operation *, Value>(op)
                     .Case([&](ArgMaxOp arg) { return emitArgOf(arg, true); })
                     .Case([&](ArgMinOp arg) { return emitArgOf(arg, false); })
                     .Default([&](Operation *other) {
                       return emitReduction(other, reducer, operands.front());
                     });
    if (!rows)
      return rewriter.notifyMatchFailure(op, "no linalg form of the reduction");
    if (op.getKeepReducedDims())
      rows =
          insertUnitDims(rewriter, loc, rows, reducer.rows.getDomain(), dims);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    rewriter.replaceOp(op, castTo(rewriter, loc, rows, toSignless(type)));
    return success();
  }
};

} // namespace

void mlir::fuse::populateReductionsToLinalg(RewritePatternSet &patterns,
                                            const TypeConverter &converter) {
  patterns.add<LowerReduction>(converter, patterns.getContext());
}
