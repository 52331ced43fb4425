//===- ImportReductions.cpp - ONNX reductions and row ops -----------------===//

#include "OpTable.h"

using namespace mlir;
using namespace mlir::fuse;

using Results = SmallVectorImpl<Value>;

/// A Reduce op. `axesInput` is the operator set in which the axes became an
/// input.
template <typename OpT, int64_t axesInput>
static LogicalResult importReduction(NodeContext &node, Results &results) {
  Value input = node.getInput(0);
  int64_t rank = getTensorType(input).getRank();
  bool keepdims = node.getFlag("keepdims", true);
  bool isNoop = node.getOpset() >= axesInput &&
                node.getFlag("noop_with_empty_axes", false);
  std::optional<SmallVector<int64_t>> axes = node.getAxes(1, axesInput);
  if (node.hasFailed())
    return failure();
  // Without axes all dimensions are reduced, or none: then each element is
  // still squared, its absolute value taken and so on.
  SmallVector<int64_t> normalized =
      axes && !axes->empty() ? node.normalizeAxes(*axes, rank)
      : isNoop               ? SmallVector<int64_t>()
                             : llvm::to_vector(llvm::seq<int64_t>(0, rank));
  results.push_back(
      node.create<OpT>(input, {{"axes", node.getI64s(normalized)},
                               {"keepdims", node.getBool(keepdims)}}));
  return success();
}

template <typename OpT>
static LogicalResult importArg(NodeContext &node, Results &results) {
  Value input = node.getInput(0);
  int64_t axis = node.normalizeAxis(node.getInt("axis", 0),
                                    getTensorType(input).getRank());
  SmallVector<std::pair<StringRef, Attribute>, 3> attributes = {
      {"axis", node.getI64(axis)},
      {"keepdims", node.getBool(node.getFlag("keepdims", true))}};
  if (node.getOpset() >= 12 && node.getFlag("select_last_index", false))
    attributes.push_back({"select_last", node.getUnit()});
  results.push_back(node.create<OpT>(input, attributes));
  return success();
}

/// Softmax over several dimensions at once, from its parts. f16 and bf16 are
/// computed in f32, as `fuse.softmax` does.
static Value createRowSoftmax(NodeContext &node, Value input,
                              ArrayRef<int64_t> axes, bool isLog) {
  Type elementType = getTensorType(input).getElementType();
  bool isNarrow = elementType.getIntOrFloatBitWidth() < 32;
  Value x = isNarrow ? node.cast(input, node.getBuilder().getF32Type()) : input;
  std::pair<StringRef, Attribute> attributes[] = {
      {"axes", node.getI64s(axes)}, {"keepdims", node.getBool(true)}};
  Value shifted =
      node.create<SubOp>({x, node.create<ReduceMaxOp>(x, attributes)});
  Value exp = node.create<ExpOp>(shifted);
  Value sum = node.create<ReduceSumOp>(exp, attributes);
  Value result = isLog ? node.create<SubOp>({shifted, node.create<LogOp>(sum)})
                       : node.create<DivOp>({exp, sum});
  return node.cast(result, elementType);
}

template <typename OpT, bool isLog>
static LogicalResult importSoftmax(NodeContext &node, Results &results) {
  Value input = node.getInput(0);
  RankedTensorType type = getTensorType(input);
  bool isFlattened = node.getOpset() < 13;
  int64_t axis = node.normalizeAxis(node.getInt("axis", isFlattened ? 1 : -1),
                                    type.getRank());
  if (node.hasFailed())
    return failure();
  if (!isa<FloatType>(type.getElementType()))
    return node.fail("expected a tensor of floats");
  // Before opset 13 a row is everything from the axis on. Dimensions of extent
  // 1 add nothing to a row.
  SmallVector<int64_t> rowDims;
  for (int64_t dim = axis; isFlattened && dim < type.getRank(); ++dim)
    if (type.getDimSize(dim) != 1)
      rowDims.push_back(dim);
  if (rowDims.empty())
    rowDims.push_back(axis);
  if (rowDims.size() > 1)
    results.push_back(createRowSoftmax(node, input, rowDims, isLog));
  else
    results.push_back(
        node.create<OpT>(input, {{"axis", node.getI64(rowDims.front())}}));
  return success();
}

void mlir::fuse::populateReductionOps(OpTable &table) {
  auto reduction = [&](StringRef opType, NodeHandler handler) {
    table.add(opType, {1, 1, 2, 1, handler});
  };
  reduction("ReduceL1", importReduction<ReduceL1Op, 18>);
  reduction("ReduceL2", importReduction<ReduceL2Op, 18>);
  reduction("ReduceLogSum", importReduction<ReduceLogSumOp, 18>);
  reduction("ReduceLogSumExp", importReduction<ReduceLogSumExpOp, 18>);
  reduction("ReduceMax", importReduction<ReduceMaxOp, 18>);
  reduction("ReduceMean", importReduction<ReduceMeanOp, 18>);
  reduction("ReduceMin", importReduction<ReduceMinOp, 18>);
  reduction("ReduceProd", importReduction<ReduceProdOp, 18>);
  reduction("ReduceSum", importReduction<ReduceSumOp, 13>);
  reduction("ReduceSumSquare", importReduction<ReduceSumSquareOp, 18>);

  table.add("ArgMax", {1, 1, 1, 1, importArg<ArgMaxOp>});
  table.add("ArgMin", {1, 1, 1, 1, importArg<ArgMinOp>});
  table.add("LogSoftmax", {1, 1, 1, 1, importSoftmax<LogSoftmaxOp, true>});
  table.add("Softmax", {1, 1, 1, 1, importSoftmax<SoftmaxOp, false>});
}
