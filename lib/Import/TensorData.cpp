//===- TensorData.cpp - ONNX tensors as attributes ------------------------===//

#include "TensorData.h"
#include "ExternalData.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace mlir::fuse;
using onnx::TensorProto;

/// A vector register's alignment: kernels may read constants in place.
static constexpr size_t kBlobAlignment = 64;
/// What the importer may make of a file of any size: sparse tensors and ranges
/// are as large as they say.
static constexpr int64_t kFreeBytes = int64_t(1) << 28;
/// What it may make of each byte of the file: a small integer takes one byte
/// there and eight here.
static constexpr int64_t kBytesPerByte = 16;

TensorReader::TensorReader(ModelPtr model, std::optional<std::string> directory,
                           MLIRContext *context)
    : model(std::move(model)), directory(std::move(directory)),
      context(context),
      budget(kFreeBytes + kBytesPerByte * static_cast<int64_t>(
                                              this->model->ByteSizeLong())) {}

bool TensorReader::allow(int64_t bytes, TensorError &error) {
  if (bytes <= budget) {
    budget -= bytes;
    return true;
  }
  error = {"so many bytes made from so small a file", /*isUnsupported=*/true};
  return false;
}

std::string mlir::fuse::getDataTypeName(int32_t dataType) {
  if (onnx::TensorProto_DataType_IsValid(dataType))
    return onnx::TensorProto_DataType_Name(
        static_cast<onnx::TensorProto_DataType>(dataType));
  return std::to_string(dataType);
}

Type mlir::fuse::convertElementType(int32_t dataType, MLIRContext *context) {
  Builder builder(context);
  switch (dataType) {
  case TensorProto::FLOAT:
    return builder.getF32Type();
  case TensorProto::DOUBLE:
    return builder.getF64Type();
  case TensorProto::FLOAT16:
    return builder.getF16Type();
  case TensorProto::BFLOAT16:
    return builder.getBF16Type();
  case TensorProto::BOOL:
    return builder.getI1Type();
  case TensorProto::INT8:
    return builder.getI8Type();
  case TensorProto::INT16:
    return builder.getIntegerType(16);
  case TensorProto::INT32:
    return builder.getI32Type();
  case TensorProto::INT64:
    return builder.getI64Type();
  case TensorProto::UINT8:
    return builder.getIntegerType(8, /*isSigned=*/false);
  case TensorProto::UINT16:
    return builder.getIntegerType(16, /*isSigned=*/false);
  case TensorProto::UINT32:
    return builder.getIntegerType(32, /*isSigned=*/false);
  case TensorProto::UINT64:
    return builder.getIntegerType(64, /*isSigned=*/false);
  default:
    return nullptr;
  }
}

std::optional<int64_t> mlir::fuse::getCheckedByteCount(RankedTensorType type) {
  std::optional<int64_t> count = getElementCount(type);
  int64_t bytes;
  if (!count ||
      llvm::MulOverflow(*count, getElementBytes(type.getElementType()), bytes))
    return std::nullopt;
  return bytes;
}

ElementsAttr mlir::fuse::makeConstant(RankedTensorType type,
                                      ArrayRef<char> bytes, StringRef name) {
  if (type.getNumElements() > kMaxInlineElements)
    return makeConstant(type,
                        HeapAsmResourceBlob::allocateAndCopyWithAlign(
                            bytes, kBlobAlignment, /*dataIsMutable=*/false),
                        name);
  if (type.getElementType().isInteger(1)) {
    SmallVector<bool> values =
        llvm::map_to_vector(bytes, [](char byte) { return byte != 0; });
    return DenseElementsAttr::get(type, values);
  }
  return DenseElementsAttr::getFromRawBuffer(type, bytes);
}

ElementsAttr mlir::fuse::makeConstant(RankedTensorType type,
                                      AsmResourceBlob bytes, StringRef name) {
  if (type.getNumElements() <= kMaxInlineElements)
    return makeConstant(type, bytes.getData(), name);
  return DenseResourceElementsAttr::get(type, name.empty() ? "constant" : name,
                                        std::move(bytes));
}

AsmResourceBlob TensorReader::refer(ArrayRef<char> bytes,
                                    size_t alignment) const {
  if (!llvm::isAddrAligned(llvm::Align(alignment), bytes.data()))
    return HeapAsmResourceBlob::allocateAndCopyWithAlign(
        bytes, kBlobAlignment, /*dataIsMutable=*/false);
  // The deleter does nothing but own the model until it is destroyed.
  return UnmanagedAsmResourceBlob::allocateWithAlign(
      bytes, alignment, [owner = model](void *, size_t, size_t) {});
}

/// The type of a tensor, or null and an error.
static RankedTensorType getTensorType(const TensorProto &tensor,
                                      MLIRContext *context,
                                      TensorError &error) {
  Type elementType = convertElementType(tensor.data_type(), context);
  if (!elementType) {
    error = {
        "tensors of element type '" + getDataTypeName(tensor.data_type()) +
            "' are not supported",
        /*isUnsupported=*/TensorProto::DataType_IsValid(tensor.data_type()) &&
            tensor.data_type() != TensorProto::UNDEFINED};
    if (!error.isUnsupported)
      error.message = "expected an element type but got " +
                      std::to_string(tensor.data_type());
    return nullptr;
  }
  for (int64_t extent : tensor.dims()) {
    if (extent < 0) {
      error.message =
          "expected extents of at least 0 but got " + std::to_string(extent);
      return nullptr;
    }
  }
  auto type = RankedTensorType::get(
      ArrayRef<int64_t>(tensor.dims().data(), tensor.dims_size()), elementType);
  if (!getCheckedByteCount(type)) {
    error.message = "expected a tensor whose size fits 63 bits";
    return nullptr;
  }
  return type;
}

/// A typed field of a tensor, converted to the element type's width, if its
/// size is right and `allow` agrees.
template <typename Field, typename Element>
static std::optional<AsmResourceBlob>
convertField(const google::protobuf::RepeatedField<Field> &field, int64_t count,
             TensorError &error, llvm::function_ref<bool()> allow) {
  if (field.size() != count) {
    error.message = "expected " + std::to_string(count) + " elements but got " +
                    std::to_string(field.size());
    return std::nullopt;
  }
  if (!allow())
    return std::nullopt;
  AsmResourceBlob blob =
      HeapAsmResourceBlob::allocate(count * sizeof(Element), kBlobAlignment);
  MutableArrayRef<char> data = blob.getMutableData();
  for (int64_t i = 0; i < count; ++i) {
    Element element = static_cast<Element>(field.Get(i));
    std::memcpy(data.data() + i * sizeof(Element), &element, sizeof(Element));
  }
  return blob;
}

/// The typed field that holds a tensor's elements.
static std::optional<AsmResourceBlob>
loadField(const TensorProto &tensor, int64_t count, TensorError &error,
          llvm::function_ref<bool()> allow) {
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
    return convertField<float, float>(tensor.float_data(), count, error, allow);
  case TensorProto::DOUBLE:
    return convertField<double, double>(tensor.double_data(), count, error,
                                        allow);
  case TensorProto::INT64:
    return convertField<int64_t, int64_t>(tensor.int64_data(), count, error,
                                          allow);
  case TensorProto::UINT64:
    return convertField<uint64_t, uint64_t>(tensor.uint64_data(), count, error,
                                            allow);
  case TensorProto::UINT32:
    return convertField<uint64_t, uint32_t>(tensor.uint64_data(), count, error,
                                            allow);
  case TensorProto::INT32:
    return convertField<int32_t, int32_t>(tensor.int32_data(), count, error,
                                          allow);
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
  case TensorProto::INT16:
  case TensorProto::UINT16:
    return convertField<int32_t, uint16_t>(tensor.int32_data(), count, error,
                                           allow);
  default:
    return convertField<int32_t, uint8_t>(tensor.int32_data(), count, error,
                                          allow);
  }
}

/// Booleans may be any byte in a file; the IR has only zeros and ones.
static AsmResourceBlob normalizeBooleans(AsmResourceBlob blob) {
  if (llvm::all_of(blob.getData(), [](char c) { return c == 0 || c == 1; }))
    return blob;
  AsmResourceBlob copy = HeapAsmResourceBlob::allocateAndCopyWithAlign(
      blob.getData(), kBlobAlignment);
  for (char &byte : copy.getMutableData())
    byte = byte != 0;
  return copy;
}

std::optional<AsmResourceBlob> TensorReader::load(const TensorProto &tensor,
                                                  RankedTensorType type,
                                                  TensorError &error) {
  int64_t byteCount = *getCheckedByteCount(type);
  std::optional<AsmResourceBlob> blob;
  if (tensor.has_segment()) {
    error = {"tensors in segments are not supported", /*isUnsupported=*/true};
  } else if (tensor.data_location() == TensorProto::EXTERNAL) {
    if (directory)
      blob = readExternalData(tensor, *directory, byteCount, kBlobAlignment,
                              externalBytes, error);
    else
      error.message = "expected no external data in a model in memory";
  } else if (tensor.has_raw_data()) {
    const std::string &data = tensor.raw_data();
    if (static_cast<int64_t>(data.size()) == byteCount)
      blob = refer(data, getElementBytes(type.getElementType()));
    else
      error.message = "expected " + std::to_string(byteCount) +
                      " bytes of data but got " + std::to_string(data.size());
  } else {
    blob = loadField(tensor, type.getNumElements(), error,
                     [&] { return allow(byteCount, error); });
  }
  if (blob && type.getElementType().isInteger(1))
    return normalizeBooleans(std::move(*blob));
  return blob;
}

ElementsAttr TensorReader::read(const TensorProto &tensor, StringRef name,
                                TensorError &error) {
  RankedTensorType type = getTensorType(tensor, context, error);
  if (!type)
    return nullptr;
  std::optional<AsmResourceBlob> blob = load(tensor, type, error);
  if (!blob)
    return nullptr;
  return makeConstant(type, std::move(*blob), name);
}

/// The row-major position that one entry of a sparse tensor's indices names,
/// or none if it is out of range. `index` holds one number, the position, or
/// one for each dimension.
static std::optional<int64_t> linearize(ArrayRef<int64_t> index,
                                        RankedTensorType type) {
  if (index.size() == 1 && type.getRank() != 1) {
    if (index[0] < 0 || index[0] >= type.getNumElements())
      return std::nullopt;
    return index[0];
  }
  int64_t position = 0;
  for (auto [i, extent] : llvm::zip_equal(index, type.getShape())) {
    if (i < 0 || i >= extent)
      return std::nullopt;
    position = position * extent + i;
  }
  return position;
}

ElementsAttr TensorReader::read(const onnx::SparseTensorProto &tensor,
                                StringRef name, TensorError &error) {
  RankedTensorType valueType = getTensorType(tensor.values(), context, error);
  if (!valueType)
    return nullptr;
  RankedTensorType indexType = getTensorType(tensor.indices(), context, error);
  if (!indexType)
    return nullptr;
  // The dense type has the sparse tensor's dims and the values' element type.
  TensorProto dense;
  dense.set_data_type(tensor.values().data_type());
  *dense.mutable_dims() = tensor.dims();
  RankedTensorType type = getTensorType(dense, context, error);
  if (!type)
    return nullptr;
  int64_t count = valueType.getNumElements(), rank = type.getRank();
  bool isLinear = indexType.getRank() == 1;
  if (valueType.getRank() != 1 || !indexType.getElementType().isInteger(64) ||
      indexType.getRank() < 1 || indexType.getRank() > 2 ||
      indexType.getDimSize(0) != count ||
      (!isLinear && indexType.getDimSize(1) != rank)) {
    error.message =
        "expected one int64 index for each value of a sparse tensor";
    return nullptr;
  }
  if (!allow(*getCheckedByteCount(type), error))
    return nullptr;
  std::optional<AsmResourceBlob> values =
      load(tensor.values(), valueType, error);
  if (!values)
    return nullptr;
  std::optional<AsmResourceBlob> indices =
      load(tensor.indices(), indexType, error);
  if (!indices)
    return nullptr;
  size_t width = getElementBytes(type.getElementType());
  AsmResourceBlob blob =
      HeapAsmResourceBlob::allocate(*getCheckedByteCount(type), kBlobAlignment);
  MutableArrayRef<char> data = blob.getMutableData();
  llvm::fill(data, 0);
  int64_t indexWidth = isLinear ? 1 : rank;
  SmallVector<int64_t> index(indexWidth);
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(index.data(),
                indices->getData().data() + i * indexWidth * sizeof(int64_t),
                indexWidth * sizeof(int64_t));
    std::optional<int64_t> position = linearize(index, type);
    if (!position) {
      error.message = "expected the indices of a sparse tensor to be in range";
      return nullptr;
    }
    std::memcpy(data.data() + *position * width,
                values->getData().data() + i * width, width);
  }
  return makeConstant(type, std::move(blob), name);
}
