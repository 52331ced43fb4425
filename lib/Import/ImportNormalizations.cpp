//===- ImportNormalizations.cpp - ONNX normalizations and Dropout ---------===//

#include "OpTable.h"

using namespace mlir;
using namespace mlir::fuse;

using Results = SmallVectorImpl<Value>;

/// Inference with one parameter for each element of a sample instead of one for
/// each channel (`spatial` = 0, until opset 8), from its parts.
static Value createElementwiseBatchNorm(NodeContext &node, double epsilon) {
  Value input = node.getInput(0), scale = node.getInput(1),
        bias = node.getInput(2), mean = node.getInput(3),
        variance = node.getInput(4);
  Type elementType = getTensorType(input).getElementType();
  Value deviation = node.create<SqrtOp>(
      node.create<AddOp>({variance, node.createScalar(elementType, epsilon)}));
  Value normalized =
      node.create<DivOp>({node.create<SubOp>({input, mean}), deviation});
  return node.create<AddOp>({node.create<MulOp>({normalized, scale}), bias});
}

static LogicalResult importBatchNorm(NodeContext &node, Results &results) {
  double epsilon = node.getFloat("epsilon", 1e-5f);
  node.ignoreAttributes({"momentum"});
  bool isSpatial = node.getOpset() >= 9 || node.getFlag("spatial", true);
  if (node.getOpset() >= 14 && node.getFlag("training_mode", false))
    return node.failUnsupported("training mode");
  for (unsigned i = 1; i < node.getNumOutputs(); ++i)
    if (node.hasOutput(i))
      return node.failUnsupported("outputs of training mode");
  if (!isSpatial)
    results.push_back(createElementwiseBatchNorm(node, epsilon));
  else
    results.push_back(node.create<BatchNormOp>(
        node.getInputs(), {{"epsilon", node.getF64(epsilon)}}));
  return success();
}

/// Reads `axis` and `epsilon`, which layer norm and RMS norm share, and checks
/// `stash_type`: the type in which the statistics are computed. Null after an
/// error.
static Type readRowNorm(NodeContext &node, int64_t &axis, double &epsilon) {
  axis = node.normalizeAxis(node.getInt("axis", -1),
                            getTensorType(node.getInput(0)).getRank());
  epsilon = node.getFloat("epsilon", 1e-5f);
  int64_t stash = node.getInt("stash_type", onnx::TensorProto::FLOAT);
  Type stashType = convertElementType(static_cast<int32_t>(stash),
                                      node.getLoc().getContext());
  if (!isa_and_nonnull<FloatType>(stashType)) {
    (void)node.fail("expected 'stash_type' to be a float type but got " +
                    getDataTypeName(static_cast<int32_t>(stash)));
    return nullptr;
  }
  return stashType;
}

/// Mean and 1 / sqrt(variance + epsilon) of each row, in the stash type.
static void createRowStatistics(NodeContext &node, int64_t axis, double epsilon,
                                Type stashType, Results &results) {
  RankedTensorType type = getTensorType(node.getInput(0));
  std::pair<StringRef, Attribute> attributes[] = {
      {"axes",
       node.getI64s(llvm::to_vector(llvm::seq<int64_t>(axis, type.getRank())))},
      {"keepdims", node.getBool(true)}};
  Value x = node.cast(node.getInput(0), stashType);
  Value mean = node.create<ReduceMeanOp>(x, attributes);
  Value deviation = node.create<SubOp>({x, mean});
  Value variance = node.create<ReduceMeanOp>(
      node.create<MulOp>({deviation, deviation}), attributes);
  Value inverse = node.create<ReciprocalOp>(node.create<SqrtOp>(
      node.create<AddOp>({variance, node.createScalar(stashType, epsilon)})));
  results.push_back(mean);
  results.push_back(inverse);
}

static LogicalResult importLayerNorm(NodeContext &node, Results &results) {
  int64_t axis;
  double epsilon;
  Type stashType = readRowNorm(node, axis, epsilon);
  if (node.hasFailed())
    return failure();
  results.push_back(node.create<LayerNormOp>(
      node.getInputs(),
      {{"axis", node.getI64(axis)}, {"epsilon", node.getF64(epsilon)}}));
  if (node.hasOutput(1) || node.hasOutput(2))
    createRowStatistics(node, axis, epsilon, stashType, results);
  return success();
}

static LogicalResult importRmsNorm(NodeContext &node, Results &results) {
  int64_t axis;
  double epsilon;
  (void)readRowNorm(node, axis, epsilon);
  if (node.hasFailed())
    return failure();
  results.push_back(node.create<RmsNormOp>(
      node.getInputs(),
      {{"axis", node.getI64(axis)}, {"epsilon", node.getF64(epsilon)}}));
  return success();
}

/// A mask of ones in the shape of `input`.
static Value createMask(NodeContext &node, Value input) {
  RankedTensorType type = getTensorType(input);
  Type boolean = node.getBuilder().getI1Type();
  if (type.hasStaticShape())
    return node.createConstant(
        DenseElementsAttr::get(cast<ShapedType>(type.clone(boolean)), true));
  Value shape = node.create<ShapeOfOp>(
      input, {{"start", node.getI64(0)}, {"end", node.getI64(type.getRank())}});
  return node.create<ExpandOp>({node.createScalar(boolean, 1), shape}, {},
                               type.clone(boolean));
}

/// Training drops elements at random, unless the ratio is zero.
static LogicalResult checkNothingIsDropped(NodeContext &node) {
  if (!node.getInput(1))
    return node.failUnsupported("training mode");
  std::optional<SmallVector<double>> ratio = node.getFloats(1, "ratio");
  if (!ratio)
    return failure();
  if (ratio->size() != 1)
    return node.fail("expected 'ratio' to be one number");
  return ratio->front() == 0 ? success()
                             : node.failUnsupported("training mode");
}

static LogicalResult importDropout(NodeContext &node, Results &results) {
  int64_t opset = node.getOpset();
  if (opset < 12) {
    node.ignoreAttributes({"ratio"});
    if (node.getNumInputs() > 1)
      return node.fail("expected 1 input in opset " + Twine(opset));
    if (opset < 10 && node.hasOutput(1))
      return node.failUnsupported("the mask before opset 10");
  } else {
    node.ignoreAttributes({"seed"});
    if (node.getInput(2)) {
      std::optional<SmallVector<int64_t>> training =
          node.getIntegers(2, "training_mode");
      if (!training)
        return failure();
      if (training->size() != 1)
        return node.fail("expected 'training_mode' to be one boolean");
      if (training->front() != 0 && failed(checkNothingIsDropped(node)))
        return failure();
    }
  }
  results.push_back(node.create<IdentityOp>(node.getInput(0)));
  if (node.hasOutput(1))
    results.push_back(createMask(node, node.getInput(0)));
  return success();
}

void mlir::fuse::populateNormalizationOps(OpTable &table) {
  table.add("BatchNormalization", {1, 5, 5, 5, importBatchNorm});
  table.add("Dropout", {1, 1, 3, 2, importDropout});
  table.add("LayerNormalization", {17, 2, 3, 3, importLayerNorm});
  table.add("RMSNormalization", {23, 2, 2, 1, importRmsNorm});
}
