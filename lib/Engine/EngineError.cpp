//===- EngineError.cpp - Errors with an exit code -------------------------===//

#include "FuseDialect/Engine/EngineError.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::fuse;

char EngineError::ID = 0;

llvm::Error mlir::fuse::makeError(ExitCode code, const llvm::Twine &message) {
  return llvm::make_error<EngineError>(code, message);
}

llvm::Error mlir::fuse::makeError(const llvm::Twine &message) {
  return makeError(ExitCode::failure, message);
}

llvm::Error mlir::fuse::makeReportedError(ExitCode code) {
  return makeError(code, "");
}

int mlir::fuse::reportError(llvm::Error error, llvm::StringRef tool) {
  int code = static_cast<int>(ExitCode::ok);
  auto report = [&](ExitCode errorCode, const std::string &message) {
    if (!code)
      code = static_cast<int>(errorCode);
    if (!message.empty())
      llvm::WithColor::error(llvm::errs(), tool) << message << "\n";
  };
  llvm::handleAllErrors(
      std::move(error),
      [&](const EngineError &engineError) {
        report(engineError.getCode(), engineError.getMessage());
      },
      [&](const llvm::ErrorInfoBase &other) {
        report(ExitCode::failure, other.message());
      });
  return code;
}
