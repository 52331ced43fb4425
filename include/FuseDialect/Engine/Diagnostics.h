//===- Diagnostics.h - Diagnostics of a tool's run --------------*- C++ -*-===//

#ifndef FUSEDIALECT_ENGINE_DIAGNOSTICS_H
#define FUSEDIALECT_ENGINE_DIAGNOSTICS_H

#include "FuseDialect/Engine/DiagnosticPrinter.h"
#include "FuseDialect/Engine/EngineError.h"

namespace mlir::fuse {

/// Prints a context's diagnostics while it lives, and remembers whether an
/// error was about something that is not supported.
class EngineDiagnostics {
public:
  explicit EngineDiagnostics(MLIRContext *context);

  /// An error for what the diagnostics have told: ExitCode::unsupported if all
  /// errors were about something not supported.
  llvm::Error makeError() const;

private:
  DiagnosticPrinter printer;
  bool hasUnsupported = false, hasOther = false;
  ScopedDiagnosticHandler watcher;
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_ENGINE_DIAGNOSTICS_H
