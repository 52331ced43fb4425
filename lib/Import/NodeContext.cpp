//===- NodeContext.cpp - One ONNX node while it is imported ---------------===//

#include "NodeContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;
using namespace mlir::fuse;
using onnx::AttributeProto;

/// Tensors of more dimensions are taken for hostile.
static constexpr int64_t kMaxRank = 64;

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

LogicalResult NodeContext::fail(const Twine &message) {
  // A second error is most likely a consequence of the first.
  if (!hasFailed())
    emitError(location) << "'" << opType << "' op " << message;
  failed = true;
  return failure();
}

LogicalResult NodeContext::failUnsupported(const Twine &reason) {
  if (!hasFailed())
    unsupportedReason = reason.str();
  return failure();
}

LogicalResult NodeContext::failUnknown(StringRef what) {
  if (!hasFailed())
    needsValues = true;
  return failUnsupported(what + " is not known before the model runs (shapes "
                                "or values of its inputs may make it known)");
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

std::optional<SmallVector<int64_t>> NodeContext::getIntegers(unsigned index,
                                                             StringRef what) {
  Value value = getInput(index);
  RankedTensorType type = getTensorType(value);
  if (!isa<IntegerType>(type.getElementType()) || type.getRank() > 1) {
    (void)fail("expected '" + what +
               "' to be integers of rank 1 but got a tensor of rank " +
               Twine(type.getRank()));
    return std::nullopt;
  }
  std::optional<SmallVector<int64_t>> values = state.known.lookupAll(value);
  if (!values)
    (void)failUnknown(("'" + what + "'").str());
  return values;
}

std::optional<SmallVector<double>> NodeContext::getFloats(unsigned index,
                                                          StringRef what) {
  Value value = getInput(index);
  if (!isa<FloatType>(getTensorType(value).getElementType())) {
    (void)fail("expected '" + what + "' to be floats");
    return std::nullopt;
  }
  std::optional<SmallVector<double>> values =
      state.known.lookupAllFloats(value);
  if (!values)
    (void)failUnknown(("'" + what + "'").str());
  return values;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const AttributeProto *
NodeContext::takeAttribute(StringRef name, AttributeProto::AttributeType type) {
  auto it = attributes.find(name);
  if (it == attributes.end())
    return nullptr;
  const AttributeProto *attribute = it->second;
  attributes.erase(it);
  // Files of the first IR version leave the type out.
  if (attribute->type() == type ||
      attribute->type() == AttributeProto::UNDEFINED)
    return attribute;
  (void)fail("expected attribute '" + name + "' of type " +
             AttributeProto::AttributeType_Name(type) + " but got " +
             (AttributeProto::AttributeType_IsValid(attribute->type())
                  ? AttributeProto::AttributeType_Name(attribute->type())
                  : std::to_string(attribute->type())));
  return nullptr;
}

int64_t NodeContext::getInt(StringRef name, int64_t defaultValue) {
  const AttributeProto *attribute = takeAttribute(name, AttributeProto::INT);
  return attribute ? attribute->i() : defaultValue;
}

double NodeContext::getFloat(StringRef name, float defaultValue) {
  const AttributeProto *attribute = takeAttribute(name, AttributeProto::FLOAT);
  return attribute ? attribute->f() : defaultValue;
}

StringRef NodeContext::getString(StringRef name, StringRef defaultValue) {
  const AttributeProto *attribute = takeAttribute(name, AttributeProto::STRING);
  return attribute ? StringRef(attribute->s()) : defaultValue;
}

std::optional<SmallVector<int64_t>> NodeContext::getInts(StringRef name) {
  const AttributeProto *attribute = takeAttribute(name, AttributeProto::INTS);
  if (!attribute)
    return std::nullopt;
  return SmallVector<int64_t>(attribute->ints().begin(),
                              attribute->ints().end());
}

std::optional<SmallVector<float>> NodeContext::getFloats(StringRef name) {
  const AttributeProto *attribute = takeAttribute(name, AttributeProto::FLOATS);
  if (!attribute)
    return std::nullopt;
  return SmallVector<float>(attribute->floats().begin(),
                            attribute->floats().end());
}

int64_t NodeContext::getRequiredInt(StringRef name) {
  if (!hasAttribute(name))
    (void)fail("expected attribute '" + name + "'");
  return getInt(name, 0);
}

ElementsAttr NodeContext::getTensor(StringRef name) {
  auto it = attributes.find(name);
  if (it == attributes.end())
    return nullptr;
  bool isSparse = it->second->type() == AttributeProto::SPARSE_TENSOR;
  const AttributeProto *attribute = takeAttribute(
      name, isSparse ? AttributeProto::SPARSE_TENSOR : AttributeProto::TENSOR);
  if (!attribute)
    return nullptr;
  StringRef resourceName = outputNames.empty() ? name : outputNames.front();
  TensorError error;
  ElementsAttr value =
      isSparse
          ? state.reader.read(attribute->sparse_tensor(), resourceName, error)
          : state.reader.read(attribute->t(), resourceName, error);
  if (!value && error.isUnsupported)
    (void)failUnsupported(error.message);
  else if (!value)
    (void)fail("attribute '" + name + "': " + error.message);
  return value;
}

void NodeContext::checkAllAttributesRead() {
  // The first in order, so that the message does not depend on hashing.
  StringRef first;
  for (StringRef name : attributes.keys())
    if (first.empty() || name < first)
      first = name;
  if (!attributes.empty())
    (void)fail("does not define attribute '" + first + "' in opset " +
               Twine(opset));
}

int64_t NodeContext::normalizeAxis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  (void)fail("expected an axis in [" + Twine(-rank) + ", " + Twine(rank) +
             ") but got " + Twine(axis));
  return 0;
}

SmallVector<int64_t> NodeContext::normalizeAxes(ArrayRef<int64_t> axes,
                                                int64_t rank) {
  SmallVector<int64_t> normalized;
  for (int64_t axis : axes)
    normalized.push_back(normalizeAxis(axis, rank));
  llvm::sort(normalized);
  for (size_t i = 1; i < normalized.size(); ++i)
    if (normalized[i] == normalized[i - 1])
      (void)fail("expected axes without repeats but got " +
                 Twine(normalized[i]) + " twice");
  return normalized;
}

std::optional<SmallVector<int64_t>> NodeContext::getAxes(unsigned index,
                                                         int64_t since) {
  if (opset < since) {
    if (getInput(index)) {
      (void)fail("takes the axes as an attribute in opset " + Twine(opset));
      return std::nullopt;
    }
    return getInts("axes");
  }
  if (!getInput(index))
    return std::nullopt;
  return getIntegers(index, "axes");
}

//===----------------------------------------------------------------------===//
// Building ops
//===----------------------------------------------------------------------===//

/// Infers the result types of an op that is not created yet.
static LogicalResult inferTypes(OperationName name, Location location,
                                ValueRange operands, DictionaryAttr attributes,
                                SmallVectorImpl<Type> &types) {
  auto *interface = name.getInterface<InferTypeOpInterface>();
  if (!interface)
    return failure();
  auto infer = [&](OpaqueProperties properties) {
    return interface->inferReturnTypes(name.getContext(), location, operands,
                                       attributes, properties, {}, types);
  };
  int size = name.getOpPropertyByteSize();
  if (size == 0)
    return infer(nullptr);
  // Only the inference reads the properties: they live in this function.
  std::unique_ptr<char[]> storage(new char[size]);
  OpaqueProperties properties(storage.get());
  name.initOpProperties(properties, nullptr);
  LogicalResult result = name.setOpPropertiesFromAttribute(
      name, properties, attributes, [&] { return emitError(location); });
  if (succeeded(result))
    result = infer(properties);
  name.destroyOpProperties(properties);
  return result;
}

/// Makes types as precise as others; false if they contradict each other.
static bool refineTypes(MutableArrayRef<Type> types, TypeRange declared) {
  if (types.size() != declared.size())
    return false;
  for (auto [type, other] : llvm::zip_equal(types, declared)) {
    auto from = dyn_cast<RankedTensorType>(type);
    auto to = dyn_cast<RankedTensorType>(other);
    if (!from || !to || from.getElementType() != to.getElementType() ||
        failed(verifyCompatibleShape(from, to)))
      return false;
    SmallVector<int64_t> shape;
    for (auto [left, right] : llvm::zip_equal(from.getShape(), to.getShape()))
      shape.push_back(ShapedType::isDynamic(left) ? right : left);
    type = from.clone(shape);
  }
  return true;
}

Operation *NodeContext::createOp(StringRef name, ValueRange operands,
                                 Attributes attributes, TypeRange types,
                                 TypeRange declared) {
  while (!operands.empty() && !operands.back())
    operands = operands.drop_back();
  if (hasFailed() ||
      llvm::any_of(operands, [](Value operand) { return !operand; }))
    return nullptr;
  MLIRContext *context = state.builder.getContext();
  OperationState op(location, name);
  op.addOperands(operands);
  for (auto [attributeName, value] : attributes)
    op.addAttribute(attributeName, value);
  op.addTypes(types);
  // From here on errors come from the dialect, at the same location.
  if (types.empty() && mlir::failed(inferTypes(
                           op.name, location, operands,
                           op.attributes.getDictionary(context), op.types))) {
    failed = true;
    return nullptr;
  }
  if (!declared.empty() && !refineTypes(op.types, declared)) {
    (void)fail("contradicts the types of op '" + name + "' in the op library");
    return nullptr;
  }
  for (Type type : op.types) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && tensor.getRank() > kMaxRank)
      (void)failUnsupported("tensors of more than " + Twine(kMaxRank) +
                            " dimensions");
    else if (tensor && tensor.hasStaticShape() && !getCheckedByteCount(tensor))
      (void)fail("expected results whose size fits 63 bits");
  }
  if (hasFailed())
    return nullptr;
  Operation *created = state.builder.create(op);
  if (mlir::failed(verify(created, /*verifyRecursively=*/false))) {
    failed = true;
    created->erase();
    return nullptr;
  }
  state.known.record(created);
  return created;
}

Value NodeContext::cast(Value value, Type elementType) {
  if (!value || getTensorType(value).getElementType() == elementType)
    return value;
  return create<CastOp>(value, {}, getTensorType(value).clone(elementType));
}

Value NodeContext::createConstant(ElementsAttr value) {
  return value ? create<ConstantOp>({}, {{"value", value}}) : Value();
}

Value NodeContext::createScalar(Type elementType, double value) {
  auto type = RankedTensorType::get({}, elementType);
  if (isa<FloatType>(elementType))
    return createConstant(DenseElementsAttr::get(
        type, state.builder.getFloatAttr(elementType, value)));
  return createConstant(DenseElementsAttr::get(
      type,
      Attribute(IntegerAttr::get(elementType, static_cast<int64_t>(value)))));
}

Value NodeContext::createAttribute(StringRef name) {
  auto it = attributes.find(name);
  auto type =
      it == attributes.end() ? AttributeProto::UNDEFINED : it->second->type();
  auto makeVector = [&](auto numbers, Type elementType) {
    ArrayRef<char> bytes(reinterpret_cast<const char *>(numbers.data()),
                         numbers.size() * sizeof(numbers[0]));
    return createConstant(
        makeConstant(RankedTensorType::get(
                         {static_cast<int64_t>(numbers.size())}, elementType),
                     bytes, name));
  };
  switch (type) {
  case AttributeProto::FLOAT:
    return createScalar(state.builder.getF32Type(), getFloat(name, 0));
  case AttributeProto::INT:
    return createConstant(DenseElementsAttr::get(
        RankedTensorType::get({}, state.builder.getI64Type()),
        APInt(64, getInt(name, 0), /*isSigned=*/true)));
  case AttributeProto::FLOATS:
    return makeVector(*getFloats(name), state.builder.getF32Type());
  case AttributeProto::INTS:
    return makeVector(*getInts(name), state.builder.getI64Type());
  case AttributeProto::TENSOR:
  case AttributeProto::SPARSE_TENSOR:
    return createConstant(getTensor(name));
  default:
    (void)fail("expected attribute '" + name + "' to be numbers or a tensor");
    return Value();
  }
}

Value NodeContext::createIntegers(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    state.builder.getI64Type());
  return createConstant(
      makeConstant(type,
                   ArrayRef<char>(reinterpret_cast<const char *>(values.data()),
                                  values.size() * sizeof(int64_t)),
                   "integers"));
}

LogicalResult NodeContext::allowBytes(int64_t bytes) {
  TensorError error;
  return state.reader.allow(bytes, error) ? success()
                                          : failUnsupported(error.message);
}
