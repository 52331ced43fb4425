//===- OutputFile.cpp - Files that are whole or not there -----------------===//

#include "FuseDialect/Engine/OutputFile.h"
#include "FuseDialect/Engine/EngineError.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir::fuse;
namespace fs = llvm::sys::fs;

static llvm::Error makeWriteError(llvm::StringRef path, std::error_code code) {
  return makeError("cannot write '" + path + "': " + code.message());
}

/// Runs `write` and flushes. The stream's own error, which would end the
/// process in the stream's destructor, is taken out of it.
static llvm::Error
writeTo(llvm::raw_fd_ostream &stream, llvm::StringRef path,
        llvm::function_ref<llvm::Error(llvm::raw_pwrite_stream &)> write) {
  llvm::Error error = write(stream);
  stream.flush();
  std::error_code code = stream.error();
  stream.clear_error();
  if (error)
    return error;
  return code ? makeWriteError(path, code) : llvm::Error::success();
}

/// Writes to a standard output, device or pipe. A stream that cannot seek is
/// fed from memory, since `write` may patch what it wrote.
static llvm::Error writeDirectly(
    llvm::StringRef path,
    llvm::function_ref<llvm::Error(llvm::raw_pwrite_stream &)> write) {
  llvm::SmallString<0> buffer;
  llvm::raw_svector_ostream memory(buffer);
  if (llvm::Error error = write(memory))
    return error;
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (code)
    return makeWriteError(path, code);
  return writeTo(stream, path, [&](llvm::raw_pwrite_stream &os) {
    os << buffer;
    return llvm::Error::success();
  });
}

llvm::Error mlir::fuse::writeFile(
    llvm::StringRef path,
    llvm::function_ref<llvm::Error(llvm::raw_pwrite_stream &)> write) {
  fs::file_status status;
  bool exists = path != "-" && !fs::status(path, status);
  if (path == "-" || (exists && status.type() != fs::file_type::regular_file &&
                      status.type() != fs::file_type::directory_file))
    return writeDirectly(path, write);
  if (exists && status.type() == fs::file_type::directory_file)
    return makeWriteError(path,
                          std::make_error_code(std::errc::is_a_directory));

  // Renaming onto a symbolic link would replace the link.
  llvm::SmallString<256> target(path);
  if (exists)
    if (std::error_code code = fs::real_path(path, target))
      return makeWriteError(path, code);
  unsigned mode = exists ? static_cast<unsigned>(status.permissions())
                         : static_cast<unsigned>(fs::all_read | fs::all_write);
  llvm::Expected<fs::TempFile> file =
      fs::TempFile::create(target + ".tmp-%%%%%%%%", mode);
  if (!file)
    return makeWriteError(path, llvm::errorToErrorCode(file.takeError()));
  llvm::Error error = llvm::Error::success();
  {
    llvm::raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
    error = llvm::joinErrors(std::move(error), writeTo(stream, path, write));
  }
  if (error)
    return llvm::joinErrors(std::move(error), file->discard());
  if (llvm::Error kept = file->keep(target))
    return makeWriteError(path, llvm::errorToErrorCode(std::move(kept)));
  return llvm::Error::success();
}
