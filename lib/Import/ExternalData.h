//===- ExternalData.h - Tensor data beside a model --------------*- C++ -*-===//

#ifndef FUSEDIALECT_LIB_IMPORT_EXTERNALDATA_H
#define FUSEDIALECT_LIB_IMPORT_EXTERNALDATA_H

#include "TensorData.h"

namespace mlir::fuse {

/// Reads the `byteCount` bytes that a tensor's `external_data` describes, from
/// a regular file in `directory` or below (symbolic links are followed before
/// the check). None and an error if the description is bad, points elsewhere,
/// or beyond the end of the file. `bytesRead` counts the bytes of each file:
/// tensors may share data, but reading a file over and over is an error.
std::optional<AsmResourceBlob>
readExternalData(const onnx::TensorProto &tensor, StringRef directory,
                 int64_t byteCount, size_t alignment,
                 llvm::StringMap<uint64_t> &bytesRead, TensorError &error);

} // namespace mlir::fuse

#endif // FUSEDIALECT_LIB_IMPORT_EXTERNALDATA_H
