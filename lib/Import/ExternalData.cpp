//===- ExternalData.cpp - Tensor data beside a model ----------------------===//

#include "ExternalData.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::fuse;

/// How often tensors may share the bytes of a file, on average.
static constexpr uint64_t kMaxReads = 8;

namespace {

struct Extent {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

} // namespace

/// Reads the key-value pairs, or none and an error.
static std::optional<Extent> parseExtent(const onnx::TensorProto &tensor,
                                         TensorError &error) {
  Extent extent;
  for (const onnx::StringStringEntryProto &entry : tensor.external_data()) {
    StringRef key = entry.key(), value = entry.value();
    uint64_t number = 0;
    if (key == "location") {
      extent.location = value.str();
    } else if (key == "offset" || key == "length") {
      if (value.getAsInteger(10, number)) {
        error.message = "expected '" + key.str() +
                        "' of external data to be a number but got '" +
                        value.str() + "'";
        return std::nullopt;
      }
      if (key == "offset")
        extent.offset = number;
      else
        extent.length = number;
    }
    // Checksums and what exporters add are left alone.
  }
  if (extent.location.empty()) {
    error.message = "expected a 'location' of external data";
    return std::nullopt;
  }
  return extent;
}

/// The real path of `location`, or none and an error if it leaves `directory`.
static std::optional<std::string>
resolve(StringRef directory, StringRef location, TensorError &error) {
  auto fail = [&](const Twine &message) {
    error.message = message.str();
    return std::nullopt;
  };
  // Without this, a name with a zero byte would be checked whole and opened
  // cut.
  if (location.contains('\0') || llvm::sys::path::is_absolute(location))
    return fail("expected external data below the model's directory but got '" +
                location + "'");
  SmallString<128> root, path(directory), real;
  if (std::error_code code = llvm::sys::fs::real_path(
          directory.empty() ? StringRef(".") : directory, root))
    return fail("cannot find the model's directory '" + directory +
                "': " + code.message());
  llvm::sys::path::append(path, location);
  if (std::error_code code = llvm::sys::fs::real_path(path, real))
    return fail("cannot find external data '" + location +
                "': " + code.message());
  StringRef relative = real;
  if (!relative.consume_front(root) ||
      (root.str() != "/" && !relative.starts_with("/")))
    return fail("expected external data below the model's directory but got '" +
                location + "'");
  return real.str().str();
}

std::optional<AsmResourceBlob> mlir::fuse::readExternalData(
    const onnx::TensorProto &tensor, StringRef directory, int64_t byteCount,
    size_t alignment, llvm::StringMap<uint64_t> &bytesRead,
    TensorError &error) {
  std::optional<Extent> extent = parseExtent(tensor, error);
  if (!extent)
    return std::nullopt;
  std::optional<std::string> path = resolve(directory, extent->location, error);
  if (!path)
    return std::nullopt;
  auto fail = [&](const Twine &message) {
    error.message =
        ("external data '" + extent->location + "': " + message).str();
    return std::nullopt;
  };
  if (extent->length && *extent->length != static_cast<uint64_t>(byteCount))
    return fail("expected a length of " + Twine(byteCount) +
                " bytes for the tensor's type but got " +
                Twine(*extent->length));
  // Opening a pipe would wait for a writer.
  if (!llvm::sys::fs::is_regular_file(*path))
    return fail("expected a regular file");
  llvm::Expected<llvm::sys::fs::file_t> file =
      llvm::sys::fs::openNativeFileForRead(*path);
  if (!file)
    return fail(llvm::toString(file.takeError()));
  auto close = llvm::scope_exit([&] { llvm::sys::fs::closeFile(*file); });
  llvm::sys::fs::file_status status;
  if (std::error_code code = llvm::sys::fs::status(*file, status))
    return fail(code.message());
  // Checked before anything is allocated.
  if (extent->offset > status.getSize() ||
      static_cast<uint64_t>(byteCount) > status.getSize() - extent->offset)
    return fail("expected " + Twine(byteCount) + " bytes at offset " +
                Twine(extent->offset) + " but the file has " +
                Twine(status.getSize()));
  uint64_t &total = bytesRead[*path];
  if ((total += byteCount) > kMaxReads * status.getSize())
    return fail("expected tensors that take at most " + Twine(kMaxReads) +
                " times the file's size");
  // Read and not mapped: a mapping dies with a signal when the file shrinks.
  AsmResourceBlob blob = HeapAsmResourceBlob::allocate(byteCount, alignment);
  MutableArrayRef<char> rest = blob.getMutableData();
  uint64_t position = extent->offset;
  while (!rest.empty()) {
    llvm::Expected<size_t> count =
        llvm::sys::fs::readNativeFileSlice(*file, rest, position);
    if (!count)
      return fail(llvm::toString(count.takeError()));
    if (*count == 0)
      return fail("the file shrank while it was read");
    rest = rest.drop_front(*count);
    position += *count;
  }
  return blob;
}
