//===- OnnxProto.h - The generated reader of ONNX files ---------*- C++ -*-===//

#ifndef FUSEDIALECT_LIB_IMPORT_ONNXPROTO_H
#define FUSEDIALECT_LIB_IMPORT_ONNXPROTO_H

#include "onnx.pb.h"
#include "llvm/ADT/StringRef.h"

#include <memory>

namespace mlir::fuse {

/// A parsed model. Constants refer into it, so it lives as long as they do.
using ModelPtr = std::shared_ptr<onnx::ModelProto>;

/// The name that messages give to a TensorProto.DataType ("FLOAT8E5M2").
std::string getDataTypeName(int32_t dataType);

} // namespace mlir::fuse

#endif // FUSEDIALECT_LIB_IMPORT_ONNXPROTO_H
