//===- ImportConstants.cpp - ONNX ops that make constants -----------------===//

#include "OpTable.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fuse;

using Results = SmallVectorImpl<Value>;

/// The elements of a Range that is computed at import.
static constexpr int64_t kMaxRangeElements = 1 << 24;
/// Bytes that are held for each of them: as int64 or double, and as the result.
static constexpr int64_t kRangeElementBytes = 16;

/// Numbers of type T as a constant of rank 0 or 1.
template <typename T>
static Value createNumbers(NodeContext &node, ArrayRef<T> numbers,
                           bool isScalar, Type elementType) {
  SmallVector<int64_t, 1> shape;
  if (!isScalar)
    shape.push_back(numbers.size());
  return node.createConstant(makeConstant(
      RankedTensorType::get(shape, elementType),
      ArrayRef<char>(reinterpret_cast<const char *>(numbers.data()),
                     numbers.size() * sizeof(T)),
      node.getOutputName(0)));
}

static LogicalResult importConstant(NodeContext &node, Results &results) {
  Type f32 = node.getBuilder().getF32Type(),
       i64 = node.getBuilder().getI64Type();
  for (StringRef name : {"value_string", "value_strings"})
    if (node.hasAttribute(name))
      return node.failUnsupported("strings");
  for (StringRef name : {"value", "sparse_value"}) {
    if (node.hasAttribute(name)) {
      results.push_back(node.createConstant(node.getTensor(name)));
      return success();
    }
  }
  if (node.hasAttribute("value_float")) {
    float value = static_cast<float>(node.getFloat("value_float", 0));
    results.push_back(createNumbers<float>(node, value, true, f32));
  } else if (node.hasAttribute("value_int")) {
    int64_t value = node.getInt("value_int", 0);
    results.push_back(createNumbers<int64_t>(node, value, true, i64));
  } else if (auto floats = node.getFloats("value_floats")) {
    results.push_back(createNumbers<float>(node, *floats, false, f32));
  } else if (auto ints = node.getInts("value_ints")) {
    results.push_back(createNumbers<int64_t>(node, *ints, false, i64));
  } else {
    return node.fail("expected one of the value attributes");
  }
  return success();
}

static LogicalResult importConstantOfShape(NodeContext &node,
                                           Results &results) {
  RankedTensorType shapeType = getTensorType(node.getInput(0));
  if (shapeType.getRank() != 1 || !shapeType.getElementType().isInteger(64))
    return node.fail("expected a shape of type int64 and rank 1");
  if (shapeType.isDynamicDim(0))
    return node.failUnknown("the rank of the result");
  auto value = dyn_cast_or_null<DenseElementsAttr>(node.getTensor("value"));
  if (node.hasFailed())
    return failure();
  Builder &builder = node.getBuilder();
  if (!value)
    value = DenseElementsAttr::get(
        RankedTensorType::get({}, builder.getF32Type()), 0.0f);
  if (value.getNumElements() != 1)
    return node.fail("expected a value of one element but got " +
                     Twine(value.getNumElements()));
  Attribute element = *value.value_begin<Attribute>();
  auto known = node.getKnownElements(node.getInput(0))
                   .value_or(KnownElements::Elements(shapeType.getDimSize(0)));
  SmallVector<int64_t> shape;
  for (std::optional<int64_t> extent : known) {
    if (extent && *extent < 0)
      return node.fail("expected extents of at least 0 but got " +
                       Twine(*extent));
    shape.push_back(extent.value_or(ShapedType::kDynamic));
  }
  auto type = RankedTensorType::get(shape, value.getElementType());
  if (!type.hasStaticShape()) {
    Value scalar = node.createConstant(
        DenseElementsAttr::get(type.clone(ArrayRef<int64_t>()), element));
    results.push_back(
        node.create<ExpandOp>({scalar, node.getInput(0)}, {}, type));
    return success();
  }
  if (!getCheckedByteCount(type))
    return node.fail("expected results whose size fits 63 bits");
  // A splat takes no memory, however large the tensor.
  results.push_back(node.createConstant(DenseElementsAttr::get(type, element)));
  return success();
}

/// The number of elements of a range, or none if it is not finite or too large.
static std::optional<int64_t> getRangeCount(double start, double limit,
                                            double delta) {
  double count = std::ceil((limit - start) / delta);
  if (!(count <= kMaxRangeElements))
    return std::nullopt;
  return std::max<int64_t>(0, static_cast<int64_t>(std::max(count, 0.0)));
}

/// An integer range; none if it has too many elements.
static std::optional<SmallVector<int64_t>>
getIntegerRange(int64_t start, int64_t limit, int64_t delta) {
  SmallVector<int64_t> numbers;
  // Unsigned, so that the last step may pass the limits of int64.
  uint64_t distance = delta > 0 ? uint64_t(limit) - uint64_t(start)
                                : uint64_t(start) - uint64_t(limit);
  uint64_t step = delta > 0 ? uint64_t(delta) : -uint64_t(delta);
  if (delta > 0 ? start >= limit : start <= limit)
    return numbers;
  uint64_t count = (distance - 1) / step + 1;
  if (count > kMaxRangeElements)
    return std::nullopt;
  for (uint64_t i = 0; i < count; ++i)
    numbers.push_back(
        static_cast<int64_t>(uint64_t(start) + i * uint64_t(delta)));
  return numbers;
}

static LogicalResult importRange(NodeContext &node, Results &results) {
  if (node.getOpset() >= 27)
    node.ignoreAttributes({"stash_type"});
  RankedTensorType type = getTensorType(node.getInput(0));
  for (Value input : node.getInputs())
    if (input.getType() != type || type.getRank() != 0)
      return node.fail("expected scalars of one type");
  auto tooMany = [&] {
    return node.failUnsupported("a range of more than " +
                                Twine(kMaxRangeElements) + " elements");
  };
  Type elementType = type.getElementType();
  Value range;
  if (isa<IntegerType>(elementType)) {
    std::optional<SmallVector<int64_t>> start = node.getIntegers(0, "start"),
                                        limit = node.getIntegers(1, "limit"),
                                        delta = node.getIntegers(2, "delta");
    if (node.hasFailed())
      return failure();
    if (delta->front() == 0)
      return node.fail("expected a delta other than 0");
    auto numbers =
        getIntegerRange(start->front(), limit->front(), delta->front());
    if (!numbers)
      return tooMany();
    if (failed(node.allowBytes(numbers->size() * kRangeElementBytes)))
      return failure();
    range = createNumbers<int64_t>(node, *numbers, false,
                                   node.getBuilder().getI64Type());
  } else {
    std::optional<SmallVector<double>> start = node.getFloats(0, "start"),
                                       limit = node.getFloats(1, "limit"),
                                       delta = node.getFloats(2, "delta");
    if (node.hasFailed())
      return failure();
    if (delta->front() == 0)
      return node.fail("expected a delta other than 0");
    std::optional<int64_t> count =
        getRangeCount(start->front(), limit->front(), delta->front());
    if (!count)
      return tooMany();
    if (failed(node.allowBytes(*count * kRangeElementBytes)))
      return failure();
    // f16 and bf16 are computed in f32 (the default `stash_type`).
    if (elementType.isF64()) {
      SmallVector<double> numbers;
      for (int64_t i = 0; i < *count; ++i)
        numbers.push_back(start->front() + i * delta->front());
      range = createNumbers<double>(node, numbers, false, elementType);
    } else {
      SmallVector<float> numbers;
      for (int64_t i = 0; i < *count; ++i)
        numbers.push_back(static_cast<float>(start->front()) +
                          static_cast<float>(i) *
                              static_cast<float>(delta->front()));
      range = createNumbers<float>(node, numbers, false,
                                   node.getBuilder().getF32Type());
    }
  }
  results.push_back(node.cast(range, elementType));
  return success();
}

void mlir::fuse::populateConstantOps(OpTable &table) {
  table.add("Constant", {1, 0, 0, 1, importConstant});
  table.add("ConstantOfShape", {9, 1, 1, 1, importConstantOfShape});
  table.add("Range", {11, 3, 3, 1, importRange});
}
