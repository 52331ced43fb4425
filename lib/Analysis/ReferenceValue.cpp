//===- ReferenceValue.cpp - Values of the reference evaluator -------------===//

#include "ReferenceOps.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fuse;
using namespace mlir::fuse::reference;

//===----------------------------------------------------------------------===//
// ReferenceValue
//===----------------------------------------------------------------------===//

std::optional<ReferenceValue> ReferenceValue::create(ArrayRef<int64_t> shape,
                                                     Type elementType) {
  std::optional<ElementKind> kind = getElementKind(elementType);
  if (!kind)
    return std::nullopt;
  MLIRContext *context = elementType.getContext();
  Type wide = fuse::isFloat(*kind) ? Type(Float64Type::get(context))
                                   : Type(IntegerType::get(context, 64));
  std::optional<HostTensor> tensor = HostTensor::create(shape, wide);
  if (!tensor)
    return std::nullopt;
  ReferenceValue value;
  value.shape.assign(shape.begin(), shape.end());
  value.elementType = elementType;
  value.kind = *kind;
  value.elements = std::make_shared<HostTensor>(std::move(*tensor));
  return value;
}

std::optional<ReferenceValue>
ReferenceValue::fromTensor(const HostTensor &tensor) {
  std::optional<ReferenceValue> value =
      create(tensor.getShape(), tensor.getElementType());
  if (!value)
    return std::nullopt;
  int64_t count = tensor.getNumElements();
  if (value->isFloat()) {
    MutableArrayRef<double> floats = value->getMutableFloats();
    for (int64_t i = 0; i < count; ++i)
      floats[i] = tensor.getDouble(i);
  } else {
    MutableArrayRef<int64_t> ints = value->getMutableInts();
    for (int64_t i = 0; i < count; ++i)
      ints[i] = tensor.getInt(i);
  }
  return value;
}

std::optional<HostTensor> ReferenceValue::toTensor() const {
  std::optional<HostTensor> tensor = HostTensor::create(shape, elementType);
  if (!tensor)
    return std::nullopt;
  int64_t count = getNumElements();
  if (isFloat()) {
    ArrayRef<double> floats = getFloats();
    for (int64_t i = 0; i < count; ++i)
      tensor->setDouble(i, floats[i]);
  } else {
    ArrayRef<int64_t> ints = getInts();
    for (int64_t i = 0; i < count; ++i)
      tensor->setInt(i, ints[i]);
  }
  return tensor;
}

int64_t ReferenceValue::getNumBytes() const {
  return getNumElements() * getElementBytes(kind);
}

ArrayRef<double> ReferenceValue::getFloats() const {
  return std::as_const(*elements).getValues<double>();
}
ArrayRef<int64_t> ReferenceValue::getInts() const {
  return std::as_const(*elements).getValues<int64_t>();
}
MutableArrayRef<double> ReferenceValue::getMutableFloats() {
  return elements->getValues<double>();
}
MutableArrayRef<int64_t> ReferenceValue::getMutableInts() {
  return elements->getValues<int64_t>();
}
const char *ReferenceValue::getBytes() const {
  return static_cast<const char *>(elements->getData());
}
char *ReferenceValue::getMutableBytes() {
  return static_cast<char *>(elements->getData());
}

ReferenceValue ReferenceValue::withShape(ArrayRef<int64_t> newShape) const {
  ReferenceValue value = *this;
  value.shape.assign(newShape.begin(), newShape.end());
  return value;
}

//===----------------------------------------------------------------------===//
// Shared helpers
//===----------------------------------------------------------------------===//

FailureOr<ReferenceValue> Evaluation::allocate(ArrayRef<int64_t> shape,
                                               Type elementType) {
  std::optional<ReferenceValue> value =
      ReferenceValue::create(shape, elementType);
  if (!value)
    return fail("expected enough memory for a tensor of shape " +
                formatShape(shape));
  return *value;
}

FailureOr<ReferenceValue> Evaluation::allocate(ArrayRef<int64_t> shape,
                                               unsigned index) {
  return allocate(
      shape,
      cast<RankedTensorType>(op->getResult(index).getType()).getElementType());
}

std::string reference::formatShape(ArrayRef<int64_t> shape) {
  return "[" +
         llvm::join(llvm::map_range(
                        shape, [](int64_t e) { return std::to_string(e); }),
                    ", ") +
         "]";
}

/// The nearest value of a float kind.
static double roundToKind(ElementKind kind, double value) {
  switch (kind) {
  case ElementKind::f16:
    return decodeHalf(encodeHalf(value));
  case ElementKind::bf16:
    return decodeBFloat(encodeBFloat(value));
  case ElementKind::f32:
    return static_cast<float>(value);
  default:
    return value;
  }
}

double FloatRounder::operator()(double value) const {
  if (kind == ElementKind::f64)
    return value;
  double rounded = roundToKind(kind, value);
  bool leavesRange = std::isinf(rounded) || rounded == 0;
  return rounding == ReferenceRounding::elementType || leavesRange ? rounded
                                                                   : value;
}

/// Bits of an integer kind.
static unsigned getWidth(ElementKind kind) {
  return static_cast<unsigned>(getElementBytes(kind)) * 8;
}

int64_t reference::wrapInteger(ElementKind kind, int64_t value) {
  if (kind == ElementKind::boolean)
    return value != 0;
  unsigned spare = 64 - getWidth(kind);
  uint64_t shifted = static_cast<uint64_t>(value) << spare;
  return isUnsigned(kind) ? static_cast<int64_t>(shifted >> spare)
                          : static_cast<int64_t>(shifted) >> spare;
}

int64_t reference::saturateToInteger(ElementKind kind, double value) {
  if (kind == ElementKind::boolean)
    return value != 0;
  if (std::isnan(value))
    return 0;
  unsigned width = getWidth(kind);
  if (isUnsigned(kind)) {
    if (value <= 0)
      return 0;
    if (value >= std::ldexp(1.0, width))
      return wrapInteger(kind, -1);
    return static_cast<int64_t>(static_cast<uint64_t>(value));
  }
  auto largest = static_cast<int64_t>(~uint64_t(0) >> (65 - width));
  double limit = std::ldexp(1.0, width - 1);
  if (value >= limit)
    return largest;
  if (value <= -limit)
    return -largest - 1;
  return static_cast<int64_t>(value);
}

double reference::integerToDouble(ElementKind kind, int64_t value) {
  return isUnsigned(kind) ? static_cast<double>(static_cast<uint64_t>(value))
                          : static_cast<double>(value);
}

bool reference::isIntegerLess(ElementKind kind, int64_t x, int64_t y) {
  return isUnsigned(kind) ? static_cast<uint64_t>(x) < static_cast<uint64_t>(y)
                          : x < y;
}

//===----------------------------------------------------------------------===//
// BroadcastWalk
//===----------------------------------------------------------------------===//

BroadcastWalk::BroadcastWalk(ArrayRef<int64_t> shape,
                             ArrayRef<ArrayRef<int64_t>> operandShapes)
    : shape(shape), counters(shape.size(), 0),
      strides(shape.size(), SmallVector<int64_t>(operandShapes.size(), 0)),
      positions(operandShapes.size(), 0) {
  for (auto [operand, operandShape] : llvm::enumerate(operandShapes)) {
    // In unsigned arithmetic: the strides of an empty tensor may overflow.
    uint64_t stride = 1;
    for (size_t back = 1; back <= operandShape.size(); ++back) {
      int64_t extent = operandShape[operandShape.size() - back];
      if (extent != 1)
        strides[shape.size() - back][operand] = static_cast<int64_t>(stride);
      stride *= static_cast<uint64_t>(extent);
    }
  }
}

void BroadcastWalk::advance() {
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (++counters[dim] < shape[dim]) {
      for (auto [position, stride] : llvm::zip_equal(positions, strides[dim]))
        position += stride;
      return;
    }
    for (auto [position, stride] : llvm::zip_equal(positions, strides[dim]))
      position -= stride * (shape[dim] - 1);
    counters[dim] = 0;
  }
}
