//===- OnnxImport.cpp - ONNX models as fuse modules -----------------------===//

#include "FuseDialect/Import/OnnxImport.h"
#include "ModelImporter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

using namespace mlir;
using namespace mlir::fuse;

/// Messages may nest this deep: protobuf's parser is recursive.
static constexpr int kMaxMessageDepth = 100;

namespace {

/// An open file as protobuf reads it. Unlike a mapping, it survives that the
/// file shrinks, and it needs no second copy of the file in memory.
class FileStream : public google::protobuf::io::CopyingInputStream {
public:
  explicit FileStream(llvm::sys::fs::file_t file) : file(file) {}

  int Read(void *buffer, int size) override {
    llvm::Expected<size_t> count = llvm::sys::fs::readNativeFile(
        file, MutableArrayRef<char>(static_cast<char *>(buffer), size));
    if (count)
      return *count;
    error = llvm::toString(count.takeError());
    return -1;
  }

  std::string error;

private:
  llvm::sys::fs::file_t file;
};

} // namespace

static InFlightDiagnostic emitFileError(MLIRContext *context, StringRef path) {
  return emitError(UnknownLoc::get(context)) << "'" << path << "': ";
}

/// Parses a whole stream as a model; null if it is none.
static ModelPtr parseModel(google::protobuf::io::ZeroCopyInputStream &stream) {
  auto model = std::make_shared<onnx::ModelProto>();
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetRecursionLimit(kMaxMessageDepth);
  if (!model->ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage())
    return nullptr;
  return model;
}

static OnnxImportResult importModel(ModelPtr model,
                                    std::optional<std::string> directory,
                                    StringRef path, MLIRContext *context,
                                    const OnnxImportOptions &options) {
  if (!model) {
    emitFileError(context, path) << "expected an ONNX model but the file is "
                                    "broken or something else";
    return {nullptr, OnnxImportStatus::BadInput};
  }
  context->loadDialect<FuseDialect, func::FuncDialect>();
  OnnxImportResult result =
      ModelImporter(std::move(model), std::move(directory), path, context,
                    options)
          .run();
  // Each op was verified as it was made; this is for what spans them.
  if (result.module && failed(verify(*result.module)))
    return {nullptr, OnnxImportStatus::BadInput};
  return result;
}

OnnxImportResult mlir::fuse::importOnnx(StringRef path, MLIRContext *context,
                                        const OnnxImportOptions &options) {
  auto fail = [&](const Twine &message) {
    emitFileError(context, path) << message;
    return OnnxImportResult{nullptr, OnnxImportStatus::BadInput};
  };
  llvm::sys::fs::file_status status;
  if (std::error_code code = llvm::sys::fs::status(path, status))
    return fail("cannot read: " + code.message());
  if (llvm::sys::fs::is_directory(status))
    return fail("expected a file but got a directory");
  if (status.getSize() > static_cast<uint64_t>(INT32_MAX))
    return fail("expected a file of at most 2 GiB (protobuf's limit); larger "
                "models keep their weights in external data");
  llvm::Expected<llvm::sys::fs::file_t> file =
      llvm::sys::fs::openNativeFileForRead(path);
  if (!file)
    return fail("cannot read: " + llvm::toString(file.takeError()));
  auto close = llvm::scope_exit([&] { llvm::sys::fs::closeFile(*file); });
  FileStream stream(*file);
  google::protobuf::io::CopyingInputStreamAdaptor adaptor(&stream, 1 << 20);
  ModelPtr model = parseModel(adaptor);
  if (!stream.error.empty())
    return fail("cannot read: " + stream.error);
  return importModel(std::move(model), llvm::sys::path::parent_path(path).str(),
                     path, context, options);
}

OnnxImportResult mlir::fuse::importOnnx(ArrayRef<char> data, StringRef name,
                                        MLIRContext *context,
                                        const OnnxImportOptions &options) {
  ModelPtr model;
  if (data.size() <= static_cast<size_t>(INT32_MAX)) {
    google::protobuf::io::ArrayInputStream stream(data.data(), data.size());
    model = parseModel(stream);
  }
  return importModel(std::move(model), std::nullopt, name, context, options);
}
