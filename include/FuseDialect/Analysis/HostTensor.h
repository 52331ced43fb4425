//===- HostTensor.h - Tensors in the memory of this process -----*- C++ -*-===//
//
// A shape, an element type and bytes: what constant folding and the reference
// evaluator compute with, and what compiled code reads and writes.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_ANALYSIS_HOSTTENSOR_H
#define FUSEDIALECT_ANALYSIS_HOSTTENSOR_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <memory>
#include <optional>
#include <string>

namespace mlir::fuse {

/// The element types of the dialect, for switches that run once per element.
enum class ElementKind : uint8_t {
  boolean,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f16,
  bf16,
  f32,
  f64
};

/// The kind of an element type (signless integers are signed), or none if the
/// dialect has no such type.
std::optional<ElementKind> getElementKind(Type type);
/// Bytes of one element; a boolean takes one.
int64_t getElementBytes(ElementKind kind);
bool isFloat(ElementKind kind);
/// True for u8 to u64 and boolean.
bool isUnsigned(ElementKind kind);

/// The value of an IEEE half (bfloat16) given by its bits; exact.
double decodeHalf(uint16_t bits);
double decodeBFloat(uint16_t bits);
/// The nearest half (bfloat16), ties to even, too large a value becomes an
/// infinity and a NaN a quiet NaN. One rounding, where a conversion by way of
/// float would make two.
uint16_t encodeHalf(double value);
uint16_t encodeBFloat(double value);

/// A dense tensor in row-major order that owns its bytes. They are aligned to
/// 64 bytes; a boolean is one byte, 0 or 1. Moved, or copied by clone().
class HostTensor {
public:
  /// A zeroed tensor. None if the element type is not one of the dialect's, an
  /// extent is negative or dynamic, the size does not fit 63 bits, or there is
  /// not enough memory.
  static std::optional<HostTensor> create(ArrayRef<int64_t> shape,
                                          Type elementType);
  static std::optional<HostTensor> create(RankedTensorType type);
  /// A copy of a dense, splat or resource attribute. None if create() fails, or
  /// the attribute's data is missing or of another size.
  static std::optional<HostTensor> fromElements(ElementsAttr elements);
  /// None if there is not enough memory.
  std::optional<HostTensor> clone() const;

  /// The tensor as an attribute; its type has the tensor's shape and element
  /// type. Up to 1 KiB becomes a `dense` attribute, more a `dense_resource`
  /// whose key starts with `name` and which takes over the bytes.
  ElementsAttr takeElements(StringRef name = "constant") &&;

  ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getRank() const { return static_cast<int64_t>(shape.size()); }
  Type getElementType() const { return elementType; }
  ElementKind getKind() const { return kind; }
  RankedTensorType getType() const;
  int64_t getNumElements() const { return numElements; }
  int64_t getNumBytes() const;
  void *getData() { return bytes.get(); }
  const void *getData() const { return bytes.get(); }
  /// The elements in memory; sizeof(T) is the size of an element.
  template <typename T> MutableArrayRef<T> getValues() {
    assert(sizeof(T) == static_cast<size_t>(getElementBytes(kind)));
    return {static_cast<T *>(getData()), static_cast<size_t>(numElements)};
  }
  template <typename T> ArrayRef<T> getValues() const {
    assert(sizeof(T) == static_cast<size_t>(getElementBytes(kind)));
    return {static_cast<const T *>(getData()),
            static_cast<size_t>(numElements)};
  }

  /// One element by its position in row-major order. Integers of 64 bits lose
  /// digits in a double; a float becomes the integer towards zero, saturated,
  /// and 0 if it is a NaN. An unsigned integer beyond the signed range wraps in
  /// getInt, a negative one in getUInt.
  double getDouble(int64_t index) const;
  int64_t getInt(int64_t index) const;
  uint64_t getUInt(int64_t index) const;
  /// Sets one element. Floats round to nearest, ties to even. Integers from
  /// integers wrap, from floats truncate towards zero and saturate (a NaN gives
  /// 0). A boolean is true for anything but zero.
  void setDouble(int64_t index, double value);
  void setInt(int64_t index, int64_t value);
  void setUInt(int64_t index, uint64_t value);

  /// Changes the shape to one with as many elements.
  void reshape(ArrayRef<int64_t> newShape);

private:
  struct Free {
    void operator()(std::byte *bytes) const;
  };
  HostTensor(ArrayRef<int64_t> shape, Type elementType, ElementKind kind,
             int64_t numElements)
      : shape(shape), elementType(elementType), kind(kind),
        numElements(numElements) {}

  SmallVector<int64_t, 4> shape;
  Type elementType;
  ElementKind kind;
  int64_t numElements;
  std::unique_ptr<std::byte[], Free> bytes;
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_ANALYSIS_HOSTTENSOR_H
