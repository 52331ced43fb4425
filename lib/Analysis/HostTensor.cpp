//===- HostTensor.cpp - Tensors in the memory of this process -------------===//

#include "FuseDialect/Analysis/HostTensor.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstring>
#include <limits>
#include <new>

using namespace mlir;
using namespace mlir::fuse;

/// The alignment of a tensor's bytes: a cache line and the widest vector.
static constexpr size_t kAlignment = 64;
/// Tensors with more bytes become resources, which are not uniqued.
static constexpr int64_t kMaxInlineBytes = 1024;

//===----------------------------------------------------------------------===//
// Element kinds
//===----------------------------------------------------------------------===//

std::optional<ElementKind> mlir::fuse::getElementKind(Type type) {
  if (type.isF16())
    return ElementKind::f16;
  if (type.isBF16())
    return ElementKind::bf16;
  if (type.isF32())
    return ElementKind::f32;
  if (type.isF64())
    return ElementKind::f64;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.isSigned())
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    if (isUnsigned)
      return std::nullopt;
    return ElementKind::boolean;
  case 8:
    return isUnsigned ? ElementKind::u8 : ElementKind::i8;
  case 16:
    return isUnsigned ? ElementKind::u16 : ElementKind::i16;
  case 32:
    return isUnsigned ? ElementKind::u32 : ElementKind::i32;
  case 64:
    return isUnsigned ? ElementKind::u64 : ElementKind::i64;
  default:
    return std::nullopt;
  }
}

int64_t mlir::fuse::getElementBytes(ElementKind kind) {
  switch (kind) {
  case ElementKind::boolean:
  case ElementKind::i8:
  case ElementKind::u8:
    return 1;
  case ElementKind::i16:
  case ElementKind::u16:
  case ElementKind::f16:
  case ElementKind::bf16:
    return 2;
  case ElementKind::i32:
  case ElementKind::u32:
  case ElementKind::f32:
    return 4;
  case ElementKind::i64:
  case ElementKind::u64:
  case ElementKind::f64:
    return 8;
  }
  llvm_unreachable("all element kinds are handled");
}

bool mlir::fuse::isFloat(ElementKind kind) { return kind >= ElementKind::f16; }

bool mlir::fuse::isUnsigned(ElementKind kind) {
  return kind == ElementKind::boolean ||
         (kind >= ElementKind::u8 && kind <= ElementKind::u64);
}

//===----------------------------------------------------------------------===//
// Sixteen-bit floats
//===----------------------------------------------------------------------===//

namespace {
/// A format of sixteen bits: a sign, an exponent and a mantissa of this width.
template <int mantissaBits> struct SmallFloat {
  static constexpr int bias = (1 << (14 - mantissaBits)) - 1;
  static constexpr uint16_t infinity = 0x7fff >> mantissaBits << mantissaBits;

  static double decode(uint16_t bits) {
    double sign = bits & 0x8000 ? -1.0 : 1.0;
    int exponent = (bits & 0x7fff) >> mantissaBits;
    int mantissa = bits & ((1 << mantissaBits) - 1);
    if ((bits & infinity) == infinity)
      return mantissa ? std::numeric_limits<double>::quiet_NaN()
                      : sign * std::numeric_limits<double>::infinity();
    if (exponent)
      mantissa |= 1 << mantissaBits;
    else
      exponent = 1;
    return sign * std::ldexp(mantissa, exponent - bias - mantissaBits);
  }

  static uint16_t encode(double value) {
    auto bits = llvm::bit_cast<uint64_t>(value);
    uint16_t sign = bits >> 48 & 0x8000;
    if (std::isnan(value))
      return sign | infinity | 1 << (mantissaBits - 1);
    if (std::isinf(value))
      return sign | infinity;
    int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
    // The smallest double beside the denormals is far below half of the
    // format's smallest value.
    if (exponent == -1023)
      return sign;
    uint64_t mantissa =
        (bits & llvm::maskTrailingOnes<uint64_t>(52)) | uint64_t(1) << 52;
    bool isNormal = exponent >= 1 - bias;
    int shift = 52 - mantissaBits + (isNormal ? 0 : 1 - bias - exponent);
    if (shift > 60)
      return sign;
    if (exponent > bias)
      return sign | infinity;
    uint64_t kept = mantissa >> shift;
    uint64_t rest = mantissa & llvm::maskTrailingOnes<uint64_t>(shift);
    uint64_t half = uint64_t(1) << (shift - 1);
    if (rest > half || (rest == half && (kept & 1)))
      ++kept;
    // The mantissa's leading one counts in the exponent, so a carry out of the
    // mantissa arrives there too, up to infinity.
    if (isNormal)
      kept += static_cast<uint64_t>(exponent + bias - 1) << mantissaBits;
    return sign | static_cast<uint16_t>(kept);
  }
};
using Half = SmallFloat<10>;
using BFloat = SmallFloat<7>;
} // namespace

double mlir::fuse::decodeHalf(uint16_t bits) { return Half::decode(bits); }
double mlir::fuse::decodeBFloat(uint16_t bits) { return BFloat::decode(bits); }
uint16_t mlir::fuse::encodeHalf(double value) { return Half::encode(value); }
uint16_t mlir::fuse::encodeBFloat(double value) {
  return BFloat::encode(value);
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

void HostTensor::Free::operator()(std::byte *bytes) const {
  ::operator delete(bytes, std::align_val_t(kAlignment));
}

std::optional<HostTensor> HostTensor::create(ArrayRef<int64_t> shape,
                                             Type elementType) {
  std::optional<ElementKind> kind = fuse::getElementKind(elementType);
  if (!kind || llvm::any_of(shape, [](int64_t extent) { return extent < 0; }))
    return std::nullopt;
  int64_t count = 1;
  // An extent of zero makes the tensor empty whatever the others multiply to.
  if (llvm::is_contained(shape, 0))
    count = 0;
  for (int64_t extent : shape)
    if (count && llvm::MulOverflow(count, extent, count))
      return std::nullopt;
  int64_t numBytes;
  if (llvm::MulOverflow(count, fuse::getElementBytes(*kind), numBytes) ||
      numBytes > std::numeric_limits<int64_t>::max() - 64)
    return std::nullopt;

  HostTensor tensor(shape, elementType, *kind, count);
  // A whole number of lines, at least one: the data pointer is never null.
  size_t allocated = llvm::alignTo(std::max<int64_t>(numBytes, 1), kAlignment);
  tensor.bytes.reset(static_cast<std::byte *>(
      ::operator new(allocated, std::align_val_t(kAlignment), std::nothrow)));
  if (!tensor.bytes)
    return std::nullopt;
  std::memset(tensor.bytes.get(), 0, allocated);
  return tensor;
}

std::optional<HostTensor> HostTensor::create(RankedTensorType type) {
  return create(type.getShape(), type.getElementType());
}

std::optional<HostTensor> HostTensor::clone() const {
  std::optional<HostTensor> copy = create(shape, elementType);
  if (copy)
    std::memcpy(copy->getData(), getData(), getNumBytes());
  return copy;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// Fills `tensor` from the bytes of an attribute, which hold one element or
/// all.
static bool fill(HostTensor &tensor, ArrayRef<char> raw, bool isSplat) {
  size_t size = getElementBytes(tensor.getKind());
  auto *to = static_cast<char *>(tensor.getData());
  if (!isSplat) {
    if (raw.size() != static_cast<size_t>(tensor.getNumBytes()))
      return false;
    std::memcpy(to, raw.data(), raw.size());
    return true;
  }
  if (raw.size() != size)
    return false;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    std::memcpy(to + i * size, raw.data(), size);
  return true;
}

std::optional<HostTensor> HostTensor::fromElements(ElementsAttr elements) {
  ShapedType type = elements.getShapedType();
  if (!type.hasStaticShape())
    return std::nullopt;
  std::optional<HostTensor> tensor =
      create(type.getShape(), type.getElementType());
  if (!tensor)
    return std::nullopt;
  bool isBoolean = tensor->getKind() == ElementKind::boolean;
  if (auto dense = dyn_cast<DenseElementsAttr>(elements)) {
    // The attribute packs booleans into bits.
    if (isBoolean) {
      MutableArrayRef<uint8_t> values = tensor->getValues<uint8_t>();
      for (auto [index, value] : llvm::enumerate(dense.getValues<bool>()))
        values[index] = value;
      return tensor;
    }
    if (!fill(*tensor, dense.getRawData(), dense.isSplat()))
      return std::nullopt;
    return tensor;
  }
  auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
  AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob || !fill(*tensor, blob->getData(), /*isSplat=*/false))
    return std::nullopt;
  // Whoever wrote the resource may hold any nonzero byte to be true.
  if (isBoolean)
    for (uint8_t &value : tensor->getValues<uint8_t>())
      value = value != 0;
  return tensor;
}

ElementsAttr HostTensor::takeElements(StringRef name) && {
  RankedTensorType type = getType();
  int64_t numBytes = getNumBytes();
  if (numBytes <= kMaxInlineBytes) {
    if (kind == ElementKind::boolean)
      return DenseElementsAttr::get(
          type, ArrayRef(static_cast<const bool *>(getData()), numElements));
    return DenseElementsAttr::getFromRawBuffer(
        type, ArrayRef(static_cast<const char *>(getData()), numBytes));
  }
  ArrayRef<char> data(static_cast<const char *>(getData()), numBytes);
  bytes.release();
  return DenseResourceElementsAttr::get(
      type, name,
      AsmResourceBlob(
          data, kAlignment,
          [](void *owned, size_t, size_t) {
            Free()(static_cast<std::byte *>(owned));
          },
          /*dataIsMutable=*/true));
}

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

RankedTensorType HostTensor::getType() const {
  return RankedTensorType::get(shape, elementType);
}

int64_t HostTensor::getNumBytes() const {
  return numElements * fuse::getElementBytes(kind);
}

void HostTensor::reshape(ArrayRef<int64_t> newShape) {
  shape.assign(newShape.begin(), newShape.end());
}

/// Truncates towards zero; saturates, and gives 0 for a NaN.
template <typename Int> static Int toInteger(double value) {
  if (std::isnan(value))
    return 0;
  // 2^digits is a double; the largest integer may round up to it.
  constexpr double limit =
      2.0 * (uint64_t(1) << (std::numeric_limits<Int>::digits - 1));
  if (value >= limit)
    return std::numeric_limits<Int>::max();
  if (value <= static_cast<double>(std::numeric_limits<Int>::min()))
    return std::numeric_limits<Int>::min();
  return static_cast<Int>(value);
}

/// Calls `use` with a reference to element `index` as the C++ type that stores
/// it. Sixteen-bit floats are left to the caller.
template <typename Data, typename Use>
static auto visit(ElementKind kind, Data *data, int64_t index, Use use) {
  auto at = [&]<typename T>(T) -> decltype(auto) {
    using Element = std::conditional_t<std::is_const_v<Data>, const T, T>;
    return static_cast<Element *>(data)[index];
  };
  switch (kind) {
  case ElementKind::boolean:
  case ElementKind::u8:
    return use(at(uint8_t()));
  case ElementKind::i8:
    return use(at(int8_t()));
  case ElementKind::i16:
    return use(at(int16_t()));
  case ElementKind::i32:
    return use(at(int32_t()));
  case ElementKind::i64:
    return use(at(int64_t()));
  case ElementKind::f16:
  case ElementKind::bf16:
  case ElementKind::u16:
    return use(at(uint16_t()));
  case ElementKind::u32:
    return use(at(uint32_t()));
  case ElementKind::u64:
    return use(at(uint64_t()));
  case ElementKind::f32:
    return use(at(float()));
  case ElementKind::f64:
    return use(at(double()));
  }
  llvm_unreachable("all element kinds are handled");
}

double HostTensor::getDouble(int64_t index) const {
  if (kind == ElementKind::f16)
    return Half::decode(getValues<uint16_t>()[index]);
  if (kind == ElementKind::bf16)
    return BFloat::decode(getValues<uint16_t>()[index]);
  return visit(kind, getData(), index,
               [](auto value) { return static_cast<double>(value); });
}

int64_t HostTensor::getInt(int64_t index) const {
  if (isFloat(kind))
    return toInteger<int64_t>(getDouble(index));
  return visit(kind, getData(), index,
               [](auto value) { return static_cast<int64_t>(value); });
}

uint64_t HostTensor::getUInt(int64_t index) const {
  if (isFloat(kind))
    return toInteger<uint64_t>(getDouble(index));
  return visit(kind, getData(), index,
               [](auto value) { return static_cast<uint64_t>(value); });
}

void HostTensor::setDouble(int64_t index, double value) {
  if (kind == ElementKind::boolean) {
    getValues<uint8_t>()[index] = value != 0;
    return;
  }
  if (kind == ElementKind::f16 || kind == ElementKind::bf16) {
    getValues<uint16_t>()[index] =
        kind == ElementKind::f16 ? Half::encode(value) : BFloat::encode(value);
    return;
  }
  visit(kind, getData(), index, [&](auto &element) {
    using T = std::remove_reference_t<decltype(element)>;
    if constexpr (std::is_integral_v<T>)
      element = toInteger<T>(value);
    else
      element = static_cast<T>(value);
  });
}

/// Sets an element from an integer of 64 bits, signed or not.
template <typename Int>
static void setInteger(HostTensor &tensor, int64_t index, Int value) {
  ElementKind kind = tensor.getKind();
  if (kind == ElementKind::boolean) {
    tensor.getValues<uint8_t>()[index] = value != 0;
    return;
  }
  if (kind == ElementKind::f16 || kind == ElementKind::bf16) {
    // One rounding: by way of a double there would be two.
    APFloat number(kind == ElementKind::f16 ? APFloat::IEEEhalf()
                                            : APFloat::BFloat());
    number.convertFromAPInt(APInt(64, static_cast<uint64_t>(value)),
                            std::is_signed_v<Int>,
                            APFloat::rmNearestTiesToEven);
    tensor.getValues<uint16_t>()[index] =
        static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
    return;
  }
  visit(kind, tensor.getData(), index, [&](auto &element) {
    element = static_cast<std::remove_reference_t<decltype(element)>>(value);
  });
}

void HostTensor::setInt(int64_t index, int64_t value) {
  setInteger(*this, index, value);
}

void HostTensor::setUInt(int64_t index, uint64_t value) {
  setInteger(*this, index, value);
}
