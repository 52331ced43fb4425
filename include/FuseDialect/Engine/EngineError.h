//===- EngineError.h - Errors with an exit code -----------------*- C++ -*-===//

#ifndef FUSEDIALECT_ENGINE_ENGINEERROR_H
#define FUSEDIALECT_ENGINE_ENGINEERROR_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlir::fuse {

/// What a tool returns to the shell.
enum class ExitCode : int {
  ok = 0,
  /// Something in a file, in the model, or in the system.
  failure = 1,
  /// The command line.
  usage = 2,
  /// Outputs differ from what was expected.
  differs = 3,
  /// The model is right, but needs what is not supported.
  unsupported = 4
};

/// An error of the engine. An empty message means that diagnostics have told
/// what is wrong already.
class EngineError : public llvm::ErrorInfo<EngineError> {
public:
  static char ID;
  EngineError(ExitCode code, const llvm::Twine &message)
      : code(code), message(message.str()) {}

  ExitCode getCode() const { return code; }
  const std::string &getMessage() const { return message; }
  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  ExitCode code;
  std::string message;
};

llvm::Error makeError(ExitCode code, const llvm::Twine &message);
/// An error of ExitCode::failure.
llvm::Error makeError(const llvm::Twine &message);
/// An error whose diagnostics were emitted already.
llvm::Error makeReportedError(ExitCode code = ExitCode::failure);

/// Prints `TOOL: error: MESSAGE` to stderr for each error that has a message.
/// Returns the exit code: that of the first error, ok for success.
int reportError(llvm::Error error, llvm::StringRef tool);

} // namespace mlir::fuse

#endif // FUSEDIALECT_ENGINE_ENGINEERROR_H
