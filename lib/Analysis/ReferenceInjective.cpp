//===- ReferenceInjective.cpp - Ops that move elements --------------------===//

#include "FuseDialect/IR/ShapeInference.h"
#include "ReferenceOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cstring>

using namespace mlir;
using namespace mlir::fuse;
using namespace mlir::fuse::reference;

/// Bytes of an element of a ReferenceValue.
static constexpr int64_t kCell = 8;
/// In a position table: the element does not come from the input.
static constexpr int64_t kOutside = -1;

/// Where the elements of a result come from: the element at [i, j, …] is the
/// input's element number tables[0][i] + tables[1][j] + …
using PositionTables = SmallVector<SmallVector<int64_t>>;

/// The row-major strides of a shape; of an empty one they mean nothing.
static SmallVector<int64_t> getStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] =
        static_cast<int64_t>(static_cast<uint64_t>(strides[dim]) *
                             static_cast<uint64_t>(shape[dim]));
  return strides;
}

/// The elements that the tables name, or `fill` (one element, or null for
/// zero) where an entry is kOutside. `getEntry(dim, i)` is an entry. Tables are
/// only built for a result that is not empty, whose extents fit in memory.
static FailureOr<Values>
moveElements(Evaluation &evaluation, ArrayRef<int64_t> shape,
             function_ref<int64_t(int64_t, int64_t)> getEntry,
             unsigned resultIndex = 0, const char *fill = nullptr) {
  const ReferenceValue &input = evaluation.operands.front();
  FailureOr<ReferenceValue> result = evaluation.allocate(shape, resultIndex);
  if (failed(result))
    return failure();
  int64_t count = result->getNumElements();
  if (count == 0)
    return Values{*result};
  PositionTables tables;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    SmallVector<int64_t> &table = tables.emplace_back();
    for (int64_t i = 0; i < extent; ++i)
      table.push_back(getEntry(dim, i));
  }
  SmallVector<int64_t> counters(shape.size(), 0);
  char *to = result->getMutableBytes();
  for (int64_t element = 0; element < count; ++element, to += kCell) {
    int64_t position = 0;
    for (auto [table, counter] : llvm::zip_equal(tables, counters)) {
      if (table[counter] == kOutside) {
        position = kOutside;
        break;
      }
      position += table[counter];
    }
    if (position != kOutside)
      std::memcpy(to, input.getBytes() + position * kCell, kCell);
    else if (fill)
      std::memcpy(to, fill, kCell);
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (++counters[dim] < shape[dim])
        break;
      counters[dim] = 0;
    }
  }
  return Values{*result};
}

/// The shape that a reshape gives, with its zeros and -1 resolved.
static FailureOr<SmallVector<int64_t>> resolveReshape(Evaluation &evaluation,
                                                      ArrayRef<int64_t> target,
                                                      bool allowZero) {
  const ReferenceValue &input = evaluation.operands.front();
  SmallVector<int64_t> shape;
  std::optional<size_t> inferred;
  int64_t known = 1;
  bool overflows = false, isEmpty = false;
  for (auto [dim, given] : llvm::enumerate(target)) {
    int64_t extent = given;
    if (extent == 0 && !allowZero) {
      if (static_cast<int64_t>(dim) >= input.getRank())
        return evaluation.fail("expected an input dimension " + Twine(dim) +
                               " for the 0 in the shape " +
                               formatShape(target));
      extent = input.getShape()[dim];
    }
    shape.push_back(extent);
    if (extent == -1 && !inferred) {
      inferred = dim;
      continue;
    }
    if (extent < 0)
      return evaluation.fail(
          "expected at most one -1 and no other negative extent but got " +
          formatShape(target));
    isEmpty |= extent == 0;
    overflows |= llvm::MulOverflow(known, extent, known);
  }
  if (isEmpty)
    known = 0;
  int64_t count = input.getNumElements();
  if (!isEmpty && overflows)
    known = kOutside;
  if (inferred && known > 0 && count % known == 0)
    shape[*inferred] = count / known;
  else if (inferred || known != count)
    return evaluation.fail("expected a shape of " + Twine(count) +
                           " elements but got " + formatShape(target));
  return shape;
}

/// The shape attribute of a reshape or expand, or its run-time target.
template <typename Op>
static SmallVector<int64_t> getTarget(Op op, Evaluation &evaluation) {
  if (op.getShape())
    return SmallVector<int64_t>(*op.getShape());
  return SmallVector<int64_t>(evaluation.operands[1].getInts());
}

static FailureOr<Values> evaluateExpand(ExpandOp op, Evaluation &evaluation) {
  const ReferenceValue &input = evaluation.operands.front();
  SmallVector<int64_t> target = getTarget(op, evaluation);
  FailureOr<SmallVector<int64_t>> shape = failure();
  if (llvm::all_of(target, [](int64_t extent) { return extent >= 0; }))
    shape = broadcastShapes({input.getShape(), target});
  if (failed(shape))
    return evaluation.fail("expected a shape that " +
                           formatShape(input.getShape()) +
                           " broadcasts with but got " + formatShape(target));
  SmallVector<int64_t> strides = getStrides(input.getShape());
  int64_t added = shape->size() - input.getRank();
  return moveElements(evaluation, *shape, [&](int64_t dim, int64_t i) {
    bool isRepeated = dim < added || input.getShape()[dim - added] == 1;
    return isRepeated ? 0 : i * strides[dim - added];
  });
}

static FailureOr<Values> evaluateTranspose(TransposeOp op,
                                           Evaluation &evaluation) {
  const ReferenceValue &input = evaluation.operands.front();
  ArrayRef<int64_t> permutation = op.getPermutation();
  SmallVector<int64_t> strides = getStrides(input.getShape()), shape;
  for (int64_t dim : permutation)
    shape.push_back(input.getShape()[dim]);
  return moveElements(evaluation, shape, [&](int64_t dim, int64_t i) {
    return i * strides[permutation[dim]];
  });
}

static FailureOr<Values> evaluateSlice(SliceOp op, Evaluation &evaluation) {
  const ReferenceValue &input = evaluation.operands.front();
  SmallVector<int64_t> strides = getStrides(input.getShape());
  SmallVector<int64_t> shape(input.getShape());
  SmallVector<int64_t> starts(shape.size(), 0), steps(shape.size(), 1);
  for (auto [axis, start, end, step] : llvm::zip_equal(
           op.getAxes(), op.getStarts(), op.getEnds(), op.getSteps())) {
    SliceRange range = clampSlice(shape[axis], start, end, step);
    starts[axis] = range.start;
    shape[axis] = range.count;
    // With one element the step may be of any size.
    steps[axis] = range.count > 1 ? step : 0;
  }
  return moveElements(evaluation, shape, [&](int64_t dim, int64_t i) {
    return (starts[dim] + i * steps[dim]) * strides[dim];
  });
}

static FailureOr<Values> evaluateConcat(ConcatOp op, Evaluation &evaluation) {
  ArrayRef<ReferenceValue> operands = evaluation.operands;
  auto axis = static_cast<int64_t>(op.getAxis());
  SmallVector<int64_t> shape(operands.front().getShape());
  shape[axis] = 0;
  for (const ReferenceValue &operand : operands) {
    SmallVector<int64_t> expected(shape);
    expected[axis] = operand.getShape()[axis];
    if (operand.getShape() != ArrayRef(expected))
      return evaluation.fail("expected inputs that agree outside dimension " +
                             Twine(axis) + " but got " +
                             formatShape(operands.front().getShape()) +
                             " and " + formatShape(operand.getShape()));
    if (llvm::AddOverflow(shape[axis], expected[axis], shape[axis]))
      return evaluation.fail("expected an extent that fits 64 bits");
  }
  FailureOr<ReferenceValue> result = evaluation.allocate(shape);
  if (failed(result))
    return failure();
  if (result->getNumElements() == 0)
    return Values{*result};
  int64_t outer = 1;
  for (int64_t extent : ArrayRef(shape).take_front(axis))
    outer *= extent;
  char *to = result->getMutableBytes();
  for (int64_t i = 0; i < outer; ++i)
    for (const ReferenceValue &operand : operands) {
      int64_t bytes = operand.getNumElements() / outer * kCell;
      std::memcpy(to, operand.getBytes() + i * bytes, bytes);
      to += bytes;
    }
  return Values{*result};
}

static FailureOr<Values> evaluateSplit(SplitOp op, Evaluation &evaluation) {
  const ReferenceValue &input = evaluation.operands.front();
  auto axis = static_cast<int64_t>(op.getAxis());
  SmallVector<int64_t> strides = getStrides(input.getShape());
  int64_t start = 0;
  for (int64_t size : op.getSizes())
    start += size;
  if (start != input.getShape()[axis])
    return evaluation.fail("expected sizes that add up to " +
                           Twine(input.getShape()[axis]) + " but got " +
                           formatShape(op.getSizes()));
  Values results;
  start = 0;
  for (auto [index, size] : llvm::enumerate(op.getSizes())) {
    SmallVector<int64_t> shape(input.getShape());
    shape[axis] = size;
    FailureOr<Values> part = moveElements(
        evaluation, shape,
        [&](int64_t dim, int64_t i) {
          return (dim == axis ? start + i : i) * strides[dim];
        },
        index);
    if (failed(part))
      return failure();
    results.push_back(part->front());
    start += size;
  }
  return results;
}

/// The position of the input that stands at `position`, which may be outside
/// [0, extent), in a padded dimension.
static int64_t getPaddedPosition(PadMode mode, int64_t position,
                                 int64_t extent) {
  if (position >= 0 && position < extent)
    return position;
  switch (mode) {
  case PadMode::constant:
    return kOutside;
  case PadMode::reflect:
    return position < 0 ? -position : (extent - 1 - position) + extent - 1;
  case PadMode::edge:
    return position < 0 ? 0 : extent - 1;
  case PadMode::wrap:
    return (position % extent + extent) % extent;
  }
  llvm_unreachable("all modes are handled");
}

static FailureOr<Values> evaluatePad(PadOp op, Evaluation &evaluation) {
  const ReferenceValue &input = evaluation.operands.front();
  ArrayRef<int64_t> low = op.getLow(), high = op.getHigh();
  PadMode mode = op.getMode();
  SmallVector<int64_t> shape(input.getShape());
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    int64_t whole = extent, widest = std::max(low[dim], high[dim]);
    if (llvm::AddOverflow(extent, low[dim], extent) ||
        llvm::AddOverflow(extent, high[dim], extent) || extent < 0)
      return evaluation.fail(
          "expected padding that leaves an extent of at least 0 in dimension " +
          Twine(dim) + " but got " + Twine(whole) + " with " + Twine(low[dim]) +
          " and " + Twine(high[dim]));
    if (mode == PadMode::constant || widest <= 0)
      continue;
    if (whole == 0)
      return evaluation.fail("expected a non-empty dimension " + Twine(dim) +
                             " to pad in mode '" + stringifyPadMode(mode) +
                             "'");
    if (mode == PadMode::reflect && widest >= whole)
      return evaluation.fail("expected padding below the extent " +
                             Twine(whole) + " of dimension " + Twine(dim) +
                             " in mode 'reflect' but got " + Twine(widest));
  }
  SmallVector<int64_t> strides = getStrides(input.getShape());
  const char *fill =
      op.getValue() ? evaluation.operands[1].getBytes() : nullptr;
  return moveElements(
      evaluation, shape,
      [&](int64_t dim, int64_t i) {
        int64_t position;
        if (llvm::SubOverflow(i, low[dim], position))
          position = std::numeric_limits<int64_t>::max();
        position = getPaddedPosition(mode, position, input.getShape()[dim]);
        return position == kOutside ? kOutside : position * strides[dim];
      },
      0, fill);
}

static FailureOr<Values> evaluateGather(GatherOp op, Evaluation &evaluation) {
  const ReferenceValue &input = evaluation.operands[0];
  const ReferenceValue &indices = evaluation.operands[1];
  auto axis = static_cast<int64_t>(op.getAxis());
  int64_t extent = input.getShape()[axis], count = indices.getNumElements();
  if (extent == 0 && count != 0)
    return evaluation.fail("expected a non-empty dimension " + Twine(axis) +
                           " to gather from");
  // The indices stand in one dimension first.
  SmallVector<int64_t> flat(input.getShape());
  flat[axis] = count;
  SmallVector<int64_t> strides = getStrides(input.getShape());
  FailureOr<Values> result =
      moveElements(evaluation, flat, [&](int64_t dim, int64_t i) {
        if (dim != axis)
          return i * strides[dim];
        int64_t index = indices.getInts()[i];
        index = index < 0 ? std::max(index, -extent) + extent : index;
        return std::min(index, extent - 1) * strides[dim];
      });
  if (failed(result))
    return failure();
  SmallVector<int64_t> shape(input.getShape().take_front(axis));
  llvm::append_range(shape, indices.getShape());
  llvm::append_range(shape, input.getShape().drop_front(axis + 1));
  return Values{result->front().withShape(shape)};
}

static FailureOr<Values> evaluateTile(TileOp op, Evaluation &evaluation) {
  const ReferenceValue &input = evaluation.operands.front();
  SmallVector<int64_t> strides = getStrides(input.getShape()), shape;
  for (auto [extent, repeat] :
       llvm::zip_equal(input.getShape(), op.getRepeats()))
    if (llvm::MulOverflow(extent, repeat, shape.emplace_back()))
      return evaluation.fail("expected extents that fit 64 bits");
  return moveElements(evaluation, shape, [&](int64_t dim, int64_t i) {
    return i % input.getShape()[dim] * strides[dim];
  });
}

FailureOr<Values> reference::evaluateInjective(Evaluation &evaluation) {
  const ReferenceValue &input = evaluation.operands.front();
  return llvm::TypeSwitch<Operation *, FailureOr<Values>>(evaluation.op)
      .Case([&](ReshapeOp op) -> FailureOr<Values> {
        FailureOr<SmallVector<int64_t>> shape = resolveReshape(
            evaluation, getTarget(op, evaluation), op.getAllowZero());
        if (failed(shape))
          return failure();
        return Values{input.withShape(*shape)};
      })
      .Case([&](SqueezeOp op) -> FailureOr<Values> {
        SmallVector<int64_t> shape;
        for (auto [index, extent] : llvm::enumerate(input.getShape())) {
          auto dim = static_cast<int64_t>(index);
          if (!llvm::is_contained(op.getAxes(), dim))
            shape.push_back(extent);
          else if (extent != 1)
            return evaluation.fail("expected dimension " + Twine(dim) +
                                   " to have extent 1 but got " +
                                   Twine(extent));
        }
        return Values{input.withShape(shape)};
      })
      .Case([&](UnsqueezeOp op) -> FailureOr<Values> {
        SmallVector<int64_t> shape(input.getShape());
        for (int64_t axis : op.getAxes())
          shape.insert(shape.begin() + axis, 1);
        return Values{input.withShape(shape)};
      })
      .Case([&](TransposeOp op) { return evaluateTranspose(op, evaluation); })
      .Case([&](ExpandOp op) { return evaluateExpand(op, evaluation); })
      .Case([&](SliceOp op) { return evaluateSlice(op, evaluation); })
      .Case([&](ConcatOp op) { return evaluateConcat(op, evaluation); })
      .Case([&](SplitOp op) { return evaluateSplit(op, evaluation); })
      .Case([&](PadOp op) { return evaluatePad(op, evaluation); })
      .Case([&](GatherOp op) { return evaluateGather(op, evaluation); })
      .Case([&](TileOp op) { return evaluateTile(op, evaluation); })
      .Default([&](Operation *) -> FailureOr<Values> {
        return evaluation.fail(
            "expected an op that the reference evaluator knows");
      });
}
