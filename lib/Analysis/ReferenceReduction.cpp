//===- ReferenceReduction.cpp - Reductions and row ops --------------------===//

#include "ReferenceOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::fuse;
using namespace mlir::fuse::reference;

namespace {

/// A sum with the error of each addition kept beside it (Neumaier 1974).
class CompensatedSum {
public:
  void add(double value) {
    double next = sum + value;
    if (std::isfinite(next))
      compensation += std::abs(sum) >= std::abs(value) ? (sum - next) + value
                                                       : (value - next) + sum;
    sum = next;
  }
  double get() const { return std::isfinite(sum) ? sum + compensation : sum; }

private:
  double sum = 0;
  double compensation = 0;
};

/// The rows that a reduction reads: which row each element belongs to.
struct Rows {
  /// The input's shape with 1 for each reduced dimension.
  SmallVector<int64_t> keptShape;
  int64_t numRows = 1;
  /// Elements in a row.
  int64_t length = 1;

  Rows(ArrayRef<int64_t> shape, ArrayRef<int64_t> reduced) : keptShape(shape) {
    for (int64_t dim : reduced)
      keptShape[dim] = 1;
    // The product of an empty result must not overflow.
    if (llvm::is_contained(keptShape, 0)) {
      numRows = 0;
      return;
    }
    // The extents of an empty tensor may have any product.
    for (auto [extent, kept] : llvm::zip_equal(shape, keptShape)) {
      if (llvm::MulOverflow(numRows, kept, numRows) ||
          llvm::MulOverflow(length, extent / kept, length))
        numRows = length = std::numeric_limits<int64_t>::max();
    }
    if (llvm::is_contained(shape, 0))
      length = 0;
  }

  /// Whether there are so many rows, in an input of `count` elements, that what
  /// is kept for each of them would not fit in memory.
  bool areTooMany(int64_t count) const {
    return numRows > std::max<int64_t>(count, int64_t(1) << 26);
  }

  /// Calls `use(element, row)` for each element in row-major order.
  template <typename Use>
  void forEach(ArrayRef<int64_t> shape, int64_t count, Use use) const {
    BroadcastWalk walk(shape, {keptShape});
    for (int64_t i = 0; i < count; ++i, walk.advance())
      use(i, walk[0]);
  }
};

} // namespace

static double maxPropagatingNaN(double x, double y) {
  return std::isnan(x) || x > y ? x : y;
}
static double minPropagatingNaN(double x, double y) {
  return std::isnan(x) || x < y ? x : y;
}

/// The largest element of each row.
static std::vector<double> getRowMaxima(const ReferenceValue &input,
                                        const Rows &rows) {
  std::vector<double> maxima(rows.numRows,
                             -std::numeric_limits<double>::infinity());
  ArrayRef<double> floats = input.getFloats();
  rows.forEach(input.getShape(), input.getNumElements(),
               [&](int64_t i, int64_t row) {
                 maxima[row] = maxPropagatingNaN(floats[i], maxima[row]);
               });
  return maxima;
}

/// The sum of map(element, row) over each row.
template <typename Map>
static std::vector<double> getRowSums(const ReferenceValue &input,
                                      const Rows &rows, Map map) {
  std::vector<CompensatedSum> sums(rows.numRows);
  rows.forEach(input.getShape(), input.getNumElements(),
               [&](int64_t i, int64_t row) { sums[row].add(map(i, row)); });
  std::vector<double> results;
  for (const CompensatedSum &sum : sums)
    results.push_back(sum.get());
  return results;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The reduction of each row of doubles; `getFloat(i)` is an element.
template <typename GetFloat>
static std::vector<double> reduceFloats(Operation *op,
                                        const ReferenceValue &input,
                                        const Rows &rows, GetFloat getFloat) {
  using Row = std::vector<double>;
  auto sumOf = [&](auto map) {
    return getRowSums(input, rows,
                      [&](int64_t i, int64_t) { return map(getFloat(i)); });
  };
  auto combine = [&](double start, auto reduce) {
    Row results(rows.numRows, start);
    rows.forEach(input.getShape(), input.getNumElements(),
                 [&](int64_t i, int64_t row) {
                   results[row] = reduce(results[row], getFloat(i));
                 });
    return results;
  };
  auto mapRows = [](Row row, auto map) {
    for (double &value : row)
      value = map(value);
    return row;
  };
  constexpr double inf = std::numeric_limits<double>::infinity();
  auto same = [](double x) { return x; };
  auto square = [](double x) { return x * x; };
  return llvm::TypeSwitch<Operation *, Row>(op)
      .Case([&](ReduceSumOp) { return sumOf(same); })
      .Case([&](ReduceMeanOp) {
        auto length = static_cast<double>(rows.length);
        return mapRows(sumOf(same), [&](double x) { return x / length; });
      })
      .Case([&](ReduceMaxOp) { return combine(-inf, maxPropagatingNaN); })
      .Case([&](ReduceMinOp) { return combine(inf, minPropagatingNaN); })
      .Case([&](ReduceProdOp) { return combine(1, std::multiplies<double>()); })
      .Case([&](ReduceL1Op) {
        return sumOf([](double x) { return std::abs(x); });
      })
      .Case([&](ReduceL2Op) {
        return mapRows(sumOf(square), [](double x) { return std::sqrt(x); });
      })
      .Case([&](ReduceLogSumOp) {
        return mapRows(sumOf(same), [](double x) { return std::log(x); });
      })
      .Case([&](ReduceLogSumExpOp) {
        Row maxima = combine(-inf, maxPropagatingNaN);
        // Subtracting an infinite maximum from itself would give NaN.
        Row shifts =
            mapRows(maxima, [](double x) { return std::isfinite(x) ? x : 0; });
        Row sums = getRowSums(input, rows, [&](int64_t i, int64_t row) {
          return std::exp(getFloat(i) - shifts[row]);
        });
        for (auto [sum, shift] : llvm::zip_equal(sums, shifts))
          sum = std::log(sum) + shift;
        return sums;
      })
      .Case([&](ReduceSumSquareOp) { return sumOf(square); })
      .Default([&](Operation *) { return Row(rows.numRows); });
}

/// The integer reductions that stay exact: they wrap in 64 bits, of which the
/// result keeps its own.
static std::vector<int64_t>
reduceInts(Operation *op, const ReferenceValue &input, const Rows &rows) {
  using Row = std::vector<int64_t>;
  ElementKind kind = input.getKind();
  ArrayRef<int64_t> ints = input.getInts();
  auto combine = [&](int64_t start, auto reduce) {
    Row results(rows.numRows, start);
    rows.forEach(input.getShape(), input.getNumElements(),
                 [&](int64_t i, int64_t row) {
                   results[row] = reduce(results[row], ints[i]);
                 });
    return results;
  };
  auto add = [](int64_t x, int64_t y) {
    return static_cast<int64_t>(static_cast<uint64_t>(x) +
                                static_cast<uint64_t>(y));
  };
  auto multiply = [](int64_t x, int64_t y) {
    return static_cast<int64_t>(static_cast<uint64_t>(x) *
                                static_cast<uint64_t>(y));
  };
  int64_t smallest = saturateToInteger(kind, -HUGE_VAL);
  int64_t largest = saturateToInteger(kind, HUGE_VAL);
  if (kind == ElementKind::boolean)
    smallest = 0;
  return llvm::TypeSwitch<Operation *, Row>(op)
      .Case([&](ReduceSumOp) { return combine(0, add); })
      .Case([&](ReduceMeanOp) {
        Row sums = combine(0, add);
        for (int64_t &sum : sums) {
          if (rows.length == 0)
            sum = 0;
          else if (isUnsigned(kind))
            sum = static_cast<int64_t>(static_cast<uint64_t>(sum) /
                                       static_cast<uint64_t>(rows.length));
          else
            sum /= rows.length;
        }
        return sums;
      })
      .Case([&](ReduceMaxOp) {
        return combine(smallest, [&](int64_t x, int64_t y) {
          return isIntegerLess(kind, x, y) ? y : x;
        });
      })
      .Case([&](ReduceMinOp) {
        return combine(largest, [&](int64_t x, int64_t y) {
          return isIntegerLess(kind, y, x) ? y : x;
        });
      })
      .Case([&](ReduceProdOp) { return combine(1, multiply); })
      .Case([&](ReduceL1Op) {
        return combine(0, [&](int64_t sum, int64_t x) {
          bool isNegative = !isUnsigned(kind) && x < 0;
          return add(sum, isNegative ? multiply(x, -1) : x);
        });
      })
      .Case([&](ReduceSumSquareOp) {
        return combine(0, [&](int64_t sum, int64_t x) {
          return add(sum, multiply(x, x));
        });
      })
      .Default([&](Operation *) { return Row(rows.numRows); });
}

/// Whether `candidate` beats `best` in the search for the largest (or smallest)
/// element, in which a NaN beats everything.
static bool isBetter(const ReferenceValue &input, int64_t candidate,
                     int64_t best, bool largest, bool select_last) {
  if (!input.isFloat()) {
    int64_t x = input.getInts()[candidate], y = input.getInts()[best];
    if (x == y)
      return select_last;
    return isIntegerLess(input.getKind(), y, x) == largest;
  }
  double x = input.getFloats()[candidate], y = input.getFloats()[best];
  if (std::isnan(x) || std::isnan(y))
    return std::isnan(x) && (select_last || !std::isnan(y));
  if (x == y)
    return select_last;
  return (y < x) == largest;
}

/// The position of the largest or smallest element of each row along `axis`.
static FailureOr<Values> evaluateArg(Evaluation &evaluation, int64_t axis,
                                     bool largest, bool selectLast,
                                     ArrayRef<int64_t> shape,
                                     const Rows &rows) {
  const ReferenceValue &input = evaluation.operands.front();
  if (rows.length == 0 && rows.numRows != 0)
    return evaluation.fail("expected a dimension " + Twine(axis) +
                           " that is not empty");
  FailureOr<ReferenceValue> result = evaluation.allocate(shape);
  if (failed(result))
    return failure();
  int64_t inner = 1;
  if (rows.numRows != 0)
    for (int64_t extent : input.getShape().drop_front(axis + 1))
      inner *= extent;
  std::vector<int64_t> best(rows.numRows, -1);
  rows.forEach(
      input.getShape(), input.getNumElements(), [&](int64_t i, int64_t row) {
        if (best[row] < 0 || isBetter(input, i, best[row], largest, selectLast))
          best[row] = i;
      });
  MutableArrayRef<int64_t> positions = result->getMutableInts();
  for (int64_t row = 0; row < rows.numRows; ++row)
    positions[row] = best[row] / inner % input.getShape()[axis];
  return Values{*result};
}

FailureOr<Values> reference::evaluateReduction(Evaluation &evaluation) {
  Operation *op = evaluation.op;
  const ReferenceValue &input = evaluation.operands.front();
  auto reduction = cast<ReductionOpInterface>(op);
  SmallVector<int64_t> reduced = reduction.getReducedDims();
  Rows rows(input.getShape(), reduced);
  if (rows.areTooMany(input.getNumElements()))
    return evaluation.fail(
        "expected enough memory to reduce a tensor of shape " +
        formatShape(input.getShape()));
  SmallVector<int64_t> shape;
  for (auto [dim, extent] : llvm::enumerate(rows.keptShape))
    if (reduction.getKeepReducedDims() ||
        !llvm::is_contained(reduced, static_cast<int64_t>(dim)))
      shape.push_back(extent);
  if (auto arg = dyn_cast<ArgMaxOp>(op))
    return evaluateArg(evaluation, reduced.front(), true, arg.getSelectLast(),
                       shape, rows);
  if (auto arg = dyn_cast<ArgMinOp>(op))
    return evaluateArg(evaluation, reduced.front(), false, arg.getSelectLast(),
                       shape, rows);

  FailureOr<ReferenceValue> result = evaluation.allocate(shape);
  if (failed(result))
    return failure();
  ElementKind kind = input.getKind();
  if (input.isFloat()) {
    FloatRounder round(kind, evaluation.rounding);
    std::vector<double> reducedRows = reduceFloats(
        op, input, rows, [&](int64_t i) { return input.getFloats()[i]; });
    llvm::transform(reducedRows, result->getMutableFloats().begin(), round);
  } else if (isa<ReduceL2Op, ReduceLogSumOp, ReduceLogSumExpOp>(op)) {
    std::vector<double> reducedRows =
        reduceFloats(op, input, rows, [&](int64_t i) {
          return integerToDouble(kind, input.getInts()[i]);
        });
    llvm::transform(
        reducedRows, result->getMutableInts().begin(),
        [&](double value) { return saturateToInteger(kind, value); });
  } else {
    std::vector<int64_t> reducedRows = reduceInts(op, input, rows);
    llvm::transform(reducedRows, result->getMutableInts().begin(),
                    [&](int64_t value) { return wrapInteger(kind, value); });
  }
  return Values{*result};
}

//===----------------------------------------------------------------------===//
// Row ops
//===----------------------------------------------------------------------===//

/// softmax, or log_softmax with `isLog`.
static void evaluateSoftmax(const ReferenceValue &input, const Rows &rows,
                            bool isLog, MutableArrayRef<double> results) {
  ArrayRef<double> floats = input.getFloats();
  std::vector<double> maxima = getRowMaxima(input, rows);
  std::vector<double> sums =
      getRowSums(input, rows, [&](int64_t i, int64_t row) {
        return std::exp(floats[i] - maxima[row]);
      });
  rows.forEach(input.getShape(), input.getNumElements(),
               [&](int64_t i, int64_t row) {
                 double shifted = floats[i] - maxima[row];
                 results[i] = isLog ? shifted - std::log(sums[row])
                                    : std::exp(shifted) / sums[row];
               });
}

/// layer_norm, or rms_norm which subtracts no mean.
static void evaluateNorm(ArrayRef<ReferenceValue> operands, const Rows &rows,
                         bool isRms, double epsilon,
                         MutableArrayRef<double> results) {
  const ReferenceValue &input = operands[0];
  ArrayRef<double> floats = input.getFloats();
  auto length = static_cast<double>(rows.length);
  std::vector<double> means(rows.numRows, 0);
  if (!isRms)
    means =
        getRowSums(input, rows, [&](int64_t i, int64_t) { return floats[i]; });
  for (double &mean : means)
    mean /= length;
  std::vector<double> squares =
      getRowSums(input, rows, [&](int64_t i, int64_t row) {
        double deviation = floats[i] - means[row];
        return deviation * deviation;
      });
  SmallVector<ArrayRef<int64_t>> shapes{rows.keptShape};
  for (const ReferenceValue &parameter : operands.drop_front())
    shapes.push_back(parameter.getShape());
  BroadcastWalk walk(input.getShape(), shapes);
  for (int64_t i = 0; i < input.getNumElements(); ++i, walk.advance()) {
    int64_t row = walk[0];
    double value = (floats[i] - means[row]) /
                   std::sqrt(squares[row] / length + epsilon) *
                   operands[1].getFloats()[walk[1]];
    if (operands.size() > 2)
      value += operands[2].getFloats()[walk[2]];
    results[i] = value;
  }
}

FailureOr<Values> reference::evaluateRow(Evaluation &evaluation) {
  Operation *op = evaluation.op;
  ArrayRef<ReferenceValue> operands = evaluation.operands;
  const ReferenceValue &input = operands.front();
  // The parameters' sizes may have been dynamic when they were verified.
  for (const ReferenceValue &parameter : operands.drop_front()) {
    ArrayRef<int64_t> extents = parameter.getShape();
    bool isWrong = extents.size() > input.getShape().size();
    for (size_t back = 1; !isWrong && back <= extents.size(); ++back) {
      int64_t extent = extents[extents.size() - back];
      isWrong = extent != 1 &&
                extent != input.getShape()[input.getShape().size() - back];
    }
    if (isWrong)
      return evaluation.fail("expected a parameter that broadcasts to " +
                             formatShape(input.getShape()) + " but got " +
                             formatShape(extents));
  }
  FailureOr<ReferenceValue> result = evaluation.allocate(input.getShape());
  if (failed(result))
    return failure();
  Rows rows(input.getShape(), cast<RowOpInterface>(op).getRowDims());
  // Without elements there is nothing to compute, however many rows.
  if (input.getNumElements() == 0)
    return Values{*result};
  MutableArrayRef<double> results = result->getMutableFloats();
  if (isa<SoftmaxOp, LogSoftmaxOp>(op))
    evaluateSoftmax(input, rows, isa<LogSoftmaxOp>(op), results);
  else if (auto norm = dyn_cast<LayerNormOp>(op))
    evaluateNorm(operands, rows, /*isRms=*/false,
                 norm.getEpsilon().convertToDouble(), results);
  else if (auto norm = dyn_cast<RmsNormOp>(op))
    evaluateNorm(operands, rows, /*isRms=*/true,
                 norm.getEpsilon().convertToDouble(), results);
  else
    return evaluation.fail("expected an op that the reference evaluator knows");
  FloatRounder round(input.getKind(), evaluation.rounding);
  for (double &value : results)
    value = round(value);
  return Values{*result};
}
