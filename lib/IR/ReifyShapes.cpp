//===- ReifyShapes.cpp - Run-time extents of the dialect's ops ------------===//

#include "FuseDialect/IR/FuseDialect.h"
#include "FuseDialect/IR/ShapeInference.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fuse;

using Dims = SmallVector<OpFoldResult>;

namespace {

/// Builds index arithmetic on extents, folding constants.
class DimBuilder {
public:
  DimBuilder(OpBuilder &builder, Location location)
      : builder(builder), location(location) {}

  OpFoldResult constant(int64_t value) { return builder.getIndexAttr(value); }
  OpFoldResult add(OpFoldResult left, OpFoldResult right) {
    return binary<arith::AddIOp>(left, right);
  }
  OpFoldResult mul(OpFoldResult left, OpFoldResult right) {
    return binary<arith::MulIOp>(left, right);
  }
  OpFoldResult div(OpFoldResult left, OpFoldResult right) {
    // An extent of zero makes the quotient irrelevant, not undefined.
    return binary<arith::DivSIOp>(left,
                                  binary<arith::MaxSIOp>(right, constant(1)));
  }
  OpFoldResult min(OpFoldResult left, OpFoldResult right) {
    return binary<arith::MinSIOp>(left, right);
  }
  OpFoldResult max(OpFoldResult left, OpFoldResult right) {
    return binary<arith::MaxSIOp>(left, right);
  }
  /// The extent that numpy broadcasting gives: the one that is not 1.
  OpFoldResult broadcast(OpFoldResult left, OpFoldResult right) {
    if (isConstantIntValue(left, 1) || left == right)
      return right;
    if (isConstantIntValue(right, 1) || getConstantIntValue(left))
      return left;
    if (getConstantIntValue(right))
      return right;
    Value isOne =
        arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq,
                              value(left), value(constant(1)));
    return arith::SelectOp::create(builder, location, isOne, value(right),
                                   value(left))
        .getResult();
  }
  /// `then` if `extent` is `number`, else `otherwise`.
  OpFoldResult selectIfEqual(OpFoldResult extent, int64_t number,
                             OpFoldResult then, OpFoldResult otherwise) {
    Value isEqual = builder.createOrFold<arith::CmpIOp>(
        location, arith::CmpIPredicate::eq, value(extent),
        value(constant(number)));
    return getAsOpFoldResult(builder.createOrFold<arith::SelectOp>(
        location, isEqual, value(then), value(otherwise)));
  }
  Value value(OpFoldResult dim) {
    return getValueOrCreateConstantIndexOp(builder, location, dim);
  }

  OpBuilder &builder;
  Location location;

private:
  template <typename Op>
  OpFoldResult binary(OpFoldResult left, OpFoldResult right) {
    return getAsOpFoldResult(
        builder.createOrFold<Op>(location, value(left), value(right)));
  }
};

} // namespace

/// The element of a run-time shape operand, as an index.
static OpFoldResult extractExtent(DimBuilder &dims, Value shape,
                                  int64_t position) {
  Value index = dims.value(dims.constant(position));
  Value extent =
      tensor::ExtractOp::create(dims.builder, dims.location, shape, index);
  return arith::IndexCastOp::create(dims.builder, dims.location,
                                    dims.builder.getIndexType(), extent)
      .getResult();
}

static OpFoldResult product(DimBuilder &dims, ArrayRef<OpFoldResult> extents) {
  OpFoldResult result = dims.constant(1);
  for (OpFoldResult extent : extents)
    result = dims.mul(result, extent);
  return result;
}

/// The result's extents where a run-time operand gives them, in the form of the
/// attribute `shape`: 0 copies an extent and -1 takes what is left.
static Dims reifyReshapeTo(ReshapeOp op, ArrayRef<OpFoldResult> input,
                           DimBuilder &dims) {
  Dims wanted, result;
  OpFoldResult known = dims.constant(1);
  for (int64_t dim = 0; dim < op.getType().getRank(); ++dim) {
    OpFoldResult extent = extractExtent(dims, op.getTarget(), dim);
    if (!op.getAllowZero() && dim < static_cast<int64_t>(input.size()))
      extent = dims.selectIfEqual(extent, 0, input[dim], extent);
    wanted.push_back(extent);
    known = dims.mul(known,
                     dims.selectIfEqual(extent, -1, dims.constant(1), extent));
  }
  OpFoldResult rest = dims.div(product(dims, input), known);
  for (OpFoldResult extent : wanted)
    result.push_back(dims.selectIfEqual(extent, -1, rest, extent));
  return result;
}

static Dims reifyReshape(ReshapeOp op, ArrayRef<OpFoldResult> input,
                         DimBuilder &dims) {
  if (op.getTarget())
    return reifyReshapeTo(op, input, dims);
  Dims result(op.getType().getRank());
  std::optional<size_t> inferred;
  OpFoldResult known = dims.constant(1);
  for (auto [dim, extent] : llvm::enumerate(*op.getShape())) {
    if (extent == -1) {
      inferred = dim;
      continue;
    }
    bool isCopy = extent == 0 && !op.getAllowZero();
    result[dim] = isCopy ? input[dim] : dims.constant(extent);
    known = dims.mul(known, result[dim]);
  }
  if (inferred)
    result[*inferred] = dims.div(product(dims, input), known);
  return result;
}

/// The extent of a sliced dimension whose size is dynamic, as clampSlice.
static OpFoldResult reifySliceCount(DimBuilder &dims, OpFoldResult extent,
                                    int64_t start, int64_t end, int64_t step) {
  if (std::optional<int64_t> known = getConstantIntValue(extent))
    return dims.constant(clampSlice(*known, start, end, step).count);
  auto normalize = [&](int64_t position, OpFoldResult low, OpFoldResult high) {
    OpFoldResult value = position < 0
                             ? dims.add(dims.constant(position), extent)
                             : dims.constant(position);
    return dims.min(dims.max(value, low), high);
  };
  // A position at the limit of int64 would overflow when the extent is added.
  start = std::max(start, INT64_MIN / 2);
  end = std::max(end, INT64_MIN / 2);
  OpFoldResult low = dims.constant(step > 0 ? 0 : -1);
  OpFoldResult high = step > 0 ? extent : dims.add(extent, dims.constant(-1));
  OpFoldResult from = normalize(start, low, high),
               to = normalize(end, low, high);
  if (step < 0)
    std::swap(from, to);
  OpFoldResult length = dims.max(
      dims.add(to, dims.mul(from, dims.constant(-1))), dims.constant(0));
  // Rounding up by adding the stride would overflow for one near the limit.
  int64_t stride = step == INT64_MIN ? INT64_MAX : std::abs(step);
  OpFoldResult rest =
      dims.max(dims.add(length, dims.constant(-1)), dims.constant(0));
  return dims.add(dims.min(length, dims.constant(1)),
                  dims.div(rest, dims.constant(stride)));
}

/// The extents of an op's single result.
static FailureOr<Dims>
reifySingle(Operation *op, DimBuilder &dims,
            function_ref<SmallVector<OpFoldResult>(Value)> getDims) {
  auto broadcastOperands = [&](ValueRange operands) {
    Dims result;
    for (Value operand : operands) {
      Dims extents = getDims(operand);
      if (extents.size() > result.size())
        result.insert(result.begin(), extents.size() - result.size(),
                      dims.constant(1));
      size_t offset = result.size() - extents.size();
      for (auto [dim, extent] : llvm::enumerate(extents))
        result[offset + dim] = dims.broadcast(result[offset + dim], extent);
    }
    return result;
  };
  return llvm::TypeSwitch<Operation *, FailureOr<Dims>>(op)
      .Case<BatchNormOp>([&](auto bn) { return getDims(bn.getInput()); })
      .Case<ElementwiseOpInterface>(
          [&](auto) { return broadcastOperands(op->getOperands()); })
      .Case<RowOpInterface, BarrierOp>(
          [&](auto) { return getDims(op->getOperand(0)); })
      .Case<ReductionOpInterface>([&](ReductionOpInterface reduction) {
        Dims input = getDims(op->getOperand(0)), result;
        SmallVector<int64_t> reduced = reduction.getReducedDims();
        for (auto [dim, extent] : llvm::enumerate(input)) {
          if (!llvm::is_contained(reduced, static_cast<int64_t>(dim)))
            result.push_back(extent);
          else if (reduction.getKeepReducedDims())
            result.push_back(dims.constant(1));
        }
        return result;
      })
      .Case([&](ReshapeOp reshape) {
        return reifyReshape(reshape, getDims(reshape.getInput()), dims);
      })
      .Case([&](SqueezeOp squeeze) {
        Dims result;
        for (auto [dim, extent] : llvm::enumerate(getDims(squeeze.getInput())))
          if (!llvm::is_contained(squeeze.getAxes(), static_cast<int64_t>(dim)))
            result.push_back(extent);
        return result;
      })
      .Case([&](UnsqueezeOp unsqueeze) {
        Dims input = getDims(unsqueeze.getInput()), result;
        int64_t rank = unsqueeze.getType().getRank();
        for (int64_t dim = 0, source = 0; dim < rank; ++dim)
          result.push_back(llvm::is_contained(unsqueeze.getAxes(), dim)
                               ? dims.constant(1)
                               : input[source++]);
        return result;
      })
      .Case([&](TransposeOp transpose) {
        Dims input = getDims(transpose.getInput());
        return Dims(llvm::map_range(transpose.getPermutation(),
                                    [&](int64_t dim) { return input[dim]; }));
      })
      .Case([&](ExpandOp expand) {
        Dims input = getDims(expand.getInput()), result;
        int64_t rank = expand.getType().getRank();
        int64_t targetRank =
            expand.getShape()
                ? expand.getShape()->size()
                : cast<RankedTensorType>(expand.getTarget().getType())
                      .getDimSize(0);
        for (int64_t dim = 0; dim < rank; ++dim) {
          int64_t source = dim - (rank - static_cast<int64_t>(input.size()));
          int64_t position = dim - (rank - targetRank);
          OpFoldResult from = source < 0 ? dims.constant(1) : input[source];
          OpFoldResult to =
              position < 0 ? dims.constant(1)
              : expand.getShape()
                  ? dims.constant((*expand.getShape())[position])
                  : extractExtent(dims, expand.getTarget(), position);
          result.push_back(dims.broadcast(from, to));
        }
        return result;
      })
      .Case([&](SliceOp slice) {
        Dims result = getDims(slice.getInput());
        for (auto [axis, start, end, step] :
             llvm::zip_equal(slice.getAxes(), slice.getStarts(),
                             slice.getEnds(), slice.getSteps()))
          result[axis] = reifySliceCount(dims, result[axis], start, end, step);
        return result;
      })
      .Case([&](ConcatOp concat) {
        Dims result = getDims(concat.getInputs().front());
        for (Value input : concat.getInputs().drop_front()) {
          Dims extents = getDims(input);
          result[concat.getAxis()] =
              dims.add(result[concat.getAxis()], extents[concat.getAxis()]);
        }
        return result;
      })
      .Case([&](PadOp pad) {
        Dims result = getDims(pad.getInput());
        for (auto [extent, low, high] :
             llvm::zip_equal(result, pad.getLow(), pad.getHigh()))
          extent = dims.max(dims.add(extent, dims.constant(low + high)),
                            dims.constant(0));
        return result;
      })
      .Case([&](GatherOp gather) {
        Dims input = getDims(gather.getInput());
        Dims result(ArrayRef(input).take_front(gather.getAxis()));
        llvm::append_range(result, getDims(gather.getIndices()));
        llvm::append_range(result,
                           ArrayRef(input).drop_front(gather.getAxis() + 1));
        return result;
      })
      .Case([&](TileOp tile) {
        Dims result = getDims(tile.getInput());
        for (auto [extent, repeat] : llvm::zip_equal(result, tile.getRepeats()))
          extent = dims.mul(extent, dims.constant(repeat));
        return result;
      })
      .Default([](Operation *) { return failure(); });
}

LogicalResult mlir::fuse::reifyResultShapes(
    Operation *op, OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes,
    function_ref<SmallVector<OpFoldResult>(Value)> getDims) {
  DimBuilder dims(builder, op->getLoc());
  if (auto split = dyn_cast<SplitOp>(op)) {
    for (int64_t size : split.getSizes()) {
      Dims result = getDims(split.getInput());
      result[split.getAxis()] = dims.constant(size);
      shapes.push_back(std::move(result));
    }
  } else if (op->getNumResults() == 1 &&
             cast<RankedTensorType>(op->getResult(0).getType())
                 .hasStaticShape()) {
    shapes.emplace_back();
  } else {
    FailureOr<Dims> result = reifySingle(op, dims, getDims);
    if (failed(result))
      return failure();
    shapes.push_back(std::move(*result));
  }
  // What the type says statically stands.
  for (auto [result, extents] : llvm::zip_equal(op->getResults(), shapes)) {
    auto type = cast<RankedTensorType>(result.getType());
    extents.resize(type.getRank());
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (!type.isDynamicDim(dim))
        extents[dim] = dims.constant(type.getDimSize(dim));
  }
  return success();
}

LogicalResult
mlir::fuse::reifyResultShapes(Operation *op, OpBuilder &builder,
                              ReifiedRankedShapedTypeDims &shapes) {
  return reifyResultShapes(op, builder, shapes, [&](Value operand) {
    return tensor::getMixedSizes(builder, op->getLoc(), operand);
  });
}
