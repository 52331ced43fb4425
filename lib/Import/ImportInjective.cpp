//===- ImportInjective.cpp - ONNX ops that move elements ------------------===//

#include "FuseDialect/IR/ShapeInference.h"
#include "OpTable.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fuse;

using Results = SmallVectorImpl<Value>;
using Elements = KnownElements::Elements;

/// The number of elements of a shape operand (rank 1, int64, static), or none
/// after an error.
static std::optional<int64_t> checkShapeInput(NodeContext &node,
                                              unsigned index) {
  RankedTensorType type = getTensorType(node.getInput(index));
  if (type.getRank() != 1 || !type.getElementType().isInteger(64)) {
    (void)node.fail("expected a shape of type int64 and rank 1");
    return std::nullopt;
  }
  if (type.isDynamicDim(0)) {
    (void)node.failUnknown("the rank of the result");
    return std::nullopt;
  }
  return type.getDimSize(0);
}

//===----------------------------------------------------------------------===//
// Shape changes
//===----------------------------------------------------------------------===//

/// The extents of a reshape with a run-time target, as far as they are known.
static SmallVector<int64_t>
refineReshape(const Elements &target, RankedTensorType input, bool allowZero) {
  SmallVector<int64_t> shape;
  for (auto [dim, element] : llvm::enumerate(target)) {
    if (!element || *element < 0)
      shape.push_back(ShapedType::kDynamic);
    else if (*element > 0 || allowZero)
      shape.push_back(*element);
    else
      shape.push_back(static_cast<int64_t>(dim) < input.getRank()
                          ? input.getDimSize(dim)
                          : ShapedType::kDynamic);
  }
  return shape;
}

/// The shape attribute that means the same as a target of which one element is
/// not known: that one is what is left. None if there is no such attribute.
static std::optional<SmallVector<int64_t>>
inferSingleUnknown(const Elements &target, RankedTensorType input,
                   bool allowZero) {
  SmallVector<int64_t> shape;
  bool hasUnknown = false;
  for (auto [dim, element] : llvm::enumerate(target)) {
    // What is left of nothing is anything.
    bool isZero = element == 0 &&
                  (allowZero || static_cast<int64_t>(dim) >= input.getRank() ||
                   input.getDimSize(dim) == 0);
    if (isZero || element == -1 || (!element && hasUnknown))
      return std::nullopt;
    hasUnknown |= !element;
    shape.push_back(element.value_or(-1));
  }
  return shape;
}

static LogicalResult importReshape(NodeContext &node, Results &results) {
  Value input = node.getInput(0), target = node.getInput(1);
  RankedTensorType type = getTensorType(input);
  bool allowZero = node.getOpset() >= 14 && node.getFlag("allowzero", false);
  std::optional<int64_t> rank = checkShapeInput(node, 1);
  if (!rank)
    return failure();
  SmallVector<std::pair<StringRef, Attribute>, 2> attributes;
  if (allowZero)
    attributes.push_back({"allow_zero", node.getUnit()});
  Elements elements = node.getKnownElements(target).value_or(Elements(*rank));
  std::optional<SmallVector<int64_t>> shape;
  if (llvm::all_of(elements, [](auto element) { return element.has_value(); }))
    shape =
        llvm::map_to_vector(elements, [](auto element) { return *element; });
  else
    shape = inferSingleUnknown(elements, type, allowZero);
  if (shape) {
    attributes.push_back({"shape", node.getI64s(*shape)});
    results.push_back(node.create<ReshapeOp>(input, attributes));
    return success();
  }
  for (auto element : elements)
    if (element && *element < -1)
      return node.fail("expected extents of at least -1 but got " +
                       Twine(*element));
  results.push_back(node.create<ReshapeOp>(
      {input, target}, attributes,
      type.clone(refineReshape(elements, type, allowZero))));
  return success();
}

/// The product of `extents`, or none if one is dynamic or it overflows.
static std::optional<int64_t> getProduct(ArrayRef<int64_t> extents) {
  int64_t product = 1;
  for (int64_t extent : extents)
    if (ShapedType::isDynamic(extent) ||
        llvm::MulOverflow(product, extent, product))
      return std::nullopt;
  return product;
}

/// The product of the extents of `input` in [start, end) as a vector of one.
static Value createProduct(NodeContext &node, Value input, int64_t start,
                           int64_t end) {
  Value extents = node.create<ShapeOfOp>(
      input, {{"start", node.getI64(start)}, {"end", node.getI64(end)}});
  return node.create<ReduceProdOp>(
      extents, {{"axes", node.getI64s({0})}, {"keepdims", node.getBool(true)}});
}

static LogicalResult importFlatten(NodeContext &node, Results &results) {
  Value input = node.getInput(0);
  RankedTensorType type = getTensorType(input);
  int64_t rank = type.getRank(), axis = node.getInt("axis", 1);
  // Unlike elsewhere the rank itself is allowed: everything goes to the left.
  if (axis < -rank || axis > rank)
    return node.fail("expected an axis in [" + Twine(-rank) + ", " +
                     Twine(rank) + "] but got " + Twine(axis));
  if (axis < 0)
    axis += rank;
  std::optional<int64_t> left = getProduct(type.getShape().take_front(axis));
  std::optional<int64_t> right = getProduct(type.getShape().drop_front(axis));
  bool isNonZero = left.value_or(1) != 0 && right.value_or(1) != 0;
  std::pair<StringRef, Attribute> allowZero{"allow_zero", node.getUnit()};
  if ((left && right) || ((left || right) && isNonZero)) {
    int64_t shape[] = {left.value_or(-1), right.value_or(-1)};
    results.push_back(node.create<ReshapeOp>(
        input, {{"shape", node.getI64s(shape)}, allowZero}));
    return success();
  }
  Value target = node.create<ConcatOp>({createProduct(node, input, 0, axis),
                                        createProduct(node, input, axis, rank)},
                                       {{"axis", node.getI64(0)}});
  results.push_back(node.create<ReshapeOp>(
      {input, target}, {allowZero},
      type.clone({left.value_or(ShapedType::kDynamic),
                  right.value_or(ShapedType::kDynamic)})));
  return success();
}

static LogicalResult importSqueeze(NodeContext &node, Results &results) {
  Value input = node.getInput(0);
  RankedTensorType type = getTensorType(input);
  std::optional<SmallVector<int64_t>> axes = node.getAxes(1, 13);
  if (node.hasFailed())
    return failure();
  SmallVector<int64_t> normalized;
  if (axes) {
    normalized = node.normalizeAxes(*axes, type.getRank());
  } else {
    if (!type.hasStaticShape())
      return node.failUnknown("which extents are 1");
    for (auto [dim, extent] : llvm::enumerate(type.getShape()))
      if (extent == 1)
        normalized.push_back(dim);
  }
  results.push_back(
      node.create<SqueezeOp>(input, {{"axes", node.getI64s(normalized)}}));
  return success();
}

static LogicalResult importUnsqueeze(NodeContext &node, Results &results) {
  Value input = node.getInput(0);
  std::optional<SmallVector<int64_t>> axes = node.getAxes(1, 13);
  if (node.hasFailed())
    return failure();
  if (!axes)
    return node.fail("expected axes");
  int64_t rank = getTensorType(input).getRank() + axes->size();
  results.push_back(node.create<UnsqueezeOp>(
      input, {{"axes", node.getI64s(node.normalizeAxes(*axes, rank))}}));
  return success();
}

static LogicalResult importTranspose(NodeContext &node, Results &results) {
  Value input = node.getInput(0);
  SmallVector<int64_t> permutation =
      node.getInts("perm").value_or(llvm::to_vector(llvm::reverse(
          llvm::seq<int64_t>(0, getTensorType(input).getRank()))));
  results.push_back(node.create<TransposeOp>(
      input, {{"permutation", node.getI64s(permutation)}}));
  return success();
}

//===----------------------------------------------------------------------===//
// Repetition
//===----------------------------------------------------------------------===//

static LogicalResult importExpand(NodeContext &node, Results &results) {
  Value input = node.getInput(0), target = node.getInput(1);
  RankedTensorType type = getTensorType(input);
  std::optional<int64_t> rank = checkShapeInput(node, 1);
  if (!rank)
    return failure();
  Elements elements = node.getKnownElements(target).value_or(Elements(*rank));
  SmallVector<int64_t> shape;
  for (auto element : elements) {
    if (element && *element < 0)
      return node.fail("expected extents of at least 0 but got " +
                       Twine(*element));
    shape.push_back(element.value_or(ShapedType::kDynamic));
  }
  if (!llvm::is_contained(shape, ShapedType::kDynamic)) {
    results.push_back(
        node.create<ExpandOp>(input, {{"shape", node.getI64s(shape)}}));
    return success();
  }
  FailureOr<SmallVector<int64_t>> result =
      broadcastShapes({type.getShape(), shape});
  if (failed(result))
    return node.fail("expected a shape that broadcasts with the input");
  results.push_back(
      node.create<ExpandOp>({input, target}, {}, type.clone(*result)));
  return success();
}

static LogicalResult importTile(NodeContext &node, Results &results) {
  std::optional<SmallVector<int64_t>> repeats = node.getIntegers(1, "repeats");
  if (!repeats)
    return failure();
  results.push_back(node.create<TileOp>(node.getInput(0),
                                        {{"repeats", node.getI64s(*repeats)}}));
  return success();
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

static LogicalResult importSlice(NodeContext &node, Results &results) {
  Value input = node.getInput(0);
  int64_t rank = getTensorType(input).getRank();
  std::optional<SmallVector<int64_t>> starts, ends, axes, steps;
  if (node.getOpset() < 10) {
    if (node.getNumInputs() > 1)
      return node.fail("takes its bounds as attributes in opset " +
                       Twine(node.getOpset()));
    starts = node.getInts("starts");
    ends = node.getInts("ends");
    axes = node.getInts("axes");
    if (!starts || !ends)
      return node.fail("expected attributes 'starts' and 'ends'");
  } else {
    if (node.getNumInputs() < 3 || !node.getInput(1))
      return node.fail("expected inputs 'starts' and 'ends'");
    starts = node.getIntegers(1, "starts");
    ends = node.getIntegers(2, "ends");
    if (node.getInput(3))
      axes = node.getIntegers(3, "axes");
    if (node.getInput(4))
      steps = node.getIntegers(4, "steps");
    if (node.hasFailed())
      return failure();
  }
  if (!axes)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, starts->size()));
  if (!steps)
    steps.emplace(starts->size(), 1);
  for (int64_t &axis : *axes)
    axis = node.normalizeAxis(axis, rank);
  results.push_back(
      node.create<SliceOp>(input, {{"axes", node.getI64s(*axes)},
                                   {"starts", node.getI64s(*starts)},
                                   {"ends", node.getI64s(*ends)},
                                   {"steps", node.getI64s(*steps)}}));
  return success();
}

static LogicalResult importGather(NodeContext &node, Results &results) {
  int64_t axis = node.normalizeAxis(node.getInt("axis", 0),
                                    getTensorType(node.getInput(0)).getRank());
  results.push_back(
      node.create<GatherOp>(node.getInputs(), {{"axis", node.getI64(axis)}}));
  return success();
}

/// Cuts `extent` into `count` parts of equal size; the last one may be smaller
/// (and even empty).
static SmallVector<int64_t> cutEvenly(int64_t extent, int64_t count) {
  int64_t size = llvm::divideCeil(extent, count);
  SmallVector<int64_t> sizes;
  for (int64_t i = 0; i < count; ++i) {
    sizes.push_back(std::min(size, extent));
    extent -= sizes.back();
  }
  return sizes;
}

static LogicalResult importSplit(NodeContext &node, Results &results) {
  Value input = node.getInput(0);
  RankedTensorType type = getTensorType(input);
  int64_t axis = node.normalizeAxis(node.getInt("axis", 0), type.getRank());
  int64_t count = node.getNumOutputs();
  bool hasCount = node.getOpset() >= 18 && node.hasAttribute("num_outputs");
  if (hasCount && node.getInt("num_outputs", 0) != count)
    return node.fail("expected as many outputs as 'num_outputs' says but got " +
                     Twine(count));
  std::optional<SmallVector<int64_t>> sizes;
  if (node.getOpset() < 13)
    sizes = node.getInts("split");
  else if (node.getInput(1))
    sizes = node.getIntegers(1, "split");
  if (node.hasFailed())
    return failure();
  if (!sizes) {
    int64_t extent = type.getDimSize(axis);
    if (ShapedType::isDynamic(extent))
      return node.failUnknown("the extent that is cut into equal parts");
    if (!hasCount && (count == 0 || extent % count != 0))
      return node.fail("expected an extent that " + Twine(count) +
                       " equal parts divide but got " + Twine(extent));
    sizes = cutEvenly(extent, count);
  }
  if (static_cast<int64_t>(sizes->size()) != count)
    return node.fail("expected one output for each of " + Twine(sizes->size()) +
                     " parts but got " + Twine(count));
  if (Operation *split = node.createOp(
          SplitOp::getOperationName(), input,
          {{"axis", node.getI64(axis)}, {"sizes", node.getI64s(*sizes)}}))
    llvm::append_range(results, split->getResults());
  return success();
}

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

static LogicalResult importConcat(NodeContext &node, Results &results) {
  int64_t axis = node.normalizeAxis(node.getRequiredInt("axis"),
                                    getTensorType(node.getInput(0)).getRank());
  results.push_back(
      node.create<ConcatOp>(node.getInputs(), {{"axis", node.getI64(axis)}}));
  return success();
}

/// The value that surrounds the input in mode `constant`, as a tensor of rank
/// 0; null for zero.
static Value getPadValue(NodeContext &node) {
  if (node.getOpset() < 11) {
    bool hasValue = node.hasAttribute("value");
    double value = node.getFloat("value", 0.0f);
    return hasValue
               ? node.createScalar(
                     getTensorType(node.getInput(0)).getElementType(), value)
               : Value();
  }
  Value value = node.getInput(2);
  if (!value)
    return value;
  RankedTensorType type = getTensorType(value);
  if (type.getRank() == 1 && type.getDimSize(0) == 1)
    return node.create<SqueezeOp>(value, {{"axes", node.getI64s({0})}});
  return value;
}

static LogicalResult importPad(NodeContext &node, Results &results) {
  Value input = node.getInput(0);
  int64_t rank = getTensorType(input).getRank();
  StringRef name = node.getString("mode", "constant");
  std::optional<PadMode> mode = symbolizePadMode(name);
  if (!mode || (mode == PadMode::wrap && node.getOpset() < 19))
    return node.fail("expected a mode of opset " + Twine(node.getOpset()) +
                     " but got '" + name + "'");
  std::optional<SmallVector<int64_t>> pads, axes;
  if (node.getOpset() < 11) {
    pads = node.getInts("pads");
    if (!pads || node.getNumInputs() > 1)
      return node.fail("expected its pads as an attribute in opset " +
                       Twine(node.getOpset()));
  } else {
    if (!node.getInput(1))
      return node.fail("expected an input 'pads'");
    pads = node.getIntegers(1, "pads");
  }
  if (node.getInput(3)) {
    if (node.getOpset() < 18)
      return node.fail("takes no axes in opset " + Twine(node.getOpset()));
    axes = node.getIntegers(3, "axes");
  }
  if (node.hasFailed())
    return failure();
  if (!axes)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (pads->size() != 2 * axes->size())
    return node.fail("expected " + Twine(2 * axes->size()) + " pads but got " +
                     Twine(pads->size()));
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  llvm::SmallBitVector seen(rank);
  for (auto [i, axis] : llvm::enumerate(*axes)) {
    int64_t dim = node.normalizeAxis(axis, rank);
    if (node.hasFailed())
      return failure();
    if (seen[dim])
      return node.fail("expected axes without repeats but got " + Twine(dim) +
                       " twice");
    seen.set(dim);
    low[dim] = (*pads)[i];
    high[dim] = (*pads)[axes->size() + i];
  }
  Value value = getPadValue(node);
  results.push_back(node.create<PadOp>(
      {input, mode == PadMode::constant ? value : Value()},
      {{"low", node.getI64s(low)},
       {"high", node.getI64s(high)},
       {"mode", PadModeAttr::get(node.getLoc().getContext(), *mode)}}));
  return success();
}

//===----------------------------------------------------------------------===//
// Extents as data
//===----------------------------------------------------------------------===//

static LogicalResult importShape(NodeContext &node, Results &results) {
  Value input = node.getInput(0);
  int64_t rank = getTensorType(input).getRank(), start = 0, end = rank;
  if (node.getOpset() >= 15) {
    auto clamp = [&](int64_t position) {
      return std::clamp<int64_t>(position < 0 ? position + rank : position, 0,
                                 rank);
    };
    start = clamp(node.getInt("start", 0));
    end = std::max(clamp(node.getInt("end", rank)), start);
  }
  results.push_back(node.create<ShapeOfOp>(
      input, {{"start", node.getI64(start)}, {"end", node.getI64(end)}}));
  return success();
}

static LogicalResult importSize(NodeContext &node, Results &results) {
  Value input = node.getInput(0);
  Value shape = node.create<ShapeOfOp>(
      input, {{"start", node.getI64(0)},
              {"end", node.getI64(getTensorType(input).getRank())}});
  results.push_back(node.create<ReduceProdOp>(
      shape, {{"axes", node.getI64s({0})}, {"keepdims", node.getBool(false)}}));
  return success();
}

void mlir::fuse::populateInjectiveOps(OpTable &table) {
  table.add("Concat", {1, 1, kVariadic, 1, importConcat});
  table.add("Expand", {8, 2, 2, 1, importExpand});
  table.add("Flatten", {1, 1, 1, 1, importFlatten});
  table.add("Gather", {1, 2, 2, 1, importGather});
  table.add("Pad", {1, 1, 4, 1, importPad});
  table.add("Reshape", {5, 2, 2, 1, importReshape});
  table.add("Shape", {1, 1, 1, 1, importShape});
  table.add("Size", {1, 1, 1, 1, importSize});
  table.add("Slice", {1, 1, 5, 1, importSlice});
  table.add("Split", {1, 1, 2, kVariadic, importSplit});
  table.add("Squeeze", {1, 1, 2, 1, importSqueeze});
  table.add("Tile", {6, 2, 2, 1, importTile});
  table.add("Transpose", {1, 1, 1, 1, importTranspose});
  table.add("Unsqueeze", {1, 1, 2, 1, importUnsqueeze});
}
