//===- TensorData.h - ONNX tensors as attributes ----------------*- C++ -*-===//

#ifndef FUSEDIALECT_LIB_IMPORT_TENSORDATA_H
#define FUSEDIALECT_LIB_IMPORT_TENSORDATA_H

#include "OnnxProto.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::fuse {

/// Constants of at most this many elements are written in the IR, larger ones
/// are resources.
inline constexpr int64_t kMaxInlineElements = 16;

/// The element type of the dialect for a TensorProto.DataType, or null if the
/// dialect has none (strings, complex numbers, floats and integers of less than
/// eight bits).
Type convertElementType(int32_t dataType, MLIRContext *context);

/// Bytes of a tensor of static shape (booleans take one byte each), or none if
/// the count does not fit 63 bits.
std::optional<int64_t> getCheckedByteCount(RankedTensorType type);

/// A constant of `type` whose elements are given by their little-endian bytes
/// (booleans: one byte each). A resource is called `name`.
ElementsAttr makeConstant(RankedTensorType type, AsmResourceBlob bytes,
                          StringRef name);
ElementsAttr makeConstant(RankedTensorType type, ArrayRef<char> bytes,
                          StringRef name);

/// Why a tensor could not be read. `isUnsupported` tells a tensor that the
/// dialect cannot hold from a broken one.
struct TensorError {
  std::string message;
  bool isUnsupported = false;
};

/// Reads the tensors of one model.
class TensorReader {
public:
  /// `directory` is where external data lie; none: there can be none.
  TensorReader(ModelPtr model, std::optional<std::string> directory,
               MLIRContext *context);

  /// The value of `tensor`, a part of the model, or null and an error.
  /// Resources are called `name`. Large data are referred to in place, where
  /// their layout allows it.
  ElementsAttr read(const onnx::TensorProto &tensor, StringRef name,
                    TensorError &error);
  /// The dense value of a sparse tensor, or null and an error.
  ElementsAttr read(const onnx::SparseTensorProto &tensor, StringRef name,
                    TensorError &error);

  /// Counts bytes that are made from fewer bytes of the file. Fails once there
  /// are so many that the file can only be hostile.
  bool allow(int64_t bytes, TensorError &error);

private:
  /// The bytes of a tensor's elements, booleans as zeros and ones.
  std::optional<AsmResourceBlob> load(const onnx::TensorProto &tensor,
                                      RankedTensorType type,
                                      TensorError &error);
  /// Bytes that stay where they are in the model, if they are aligned.
  AsmResourceBlob refer(ArrayRef<char> bytes, size_t alignment) const;

  ModelPtr model;
  std::optional<std::string> directory;
  MLIRContext *context;
  int64_t budget;
  /// Bytes that were read of each file beside the model.
  llvm::StringMap<uint64_t> externalBytes;
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_LIB_IMPORT_TENSORDATA_H
