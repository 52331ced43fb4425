//===- Diagnostics.cpp - Diagnostics of a tool's run ----------------------===//

#include "FuseDialect/Engine/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

using namespace mlir;
using namespace mlir::fuse;

EngineDiagnostics::EngineDiagnostics(MLIRContext *context)
    : printer(context), watcher(context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
          // Passes and the importer have no other way to say it.
          bool isUnsupported =
              StringRef(diagnostic.str()).contains("not supported");
          (isUnsupported ? hasUnsupported : hasOther) = true;
        }
        // The printer comes next.
        return failure();
      }) {}

llvm::Error EngineDiagnostics::makeError() const {
  return makeReportedError(hasUnsupported && !hasOther ? ExitCode::unsupported
                                                       : ExitCode::failure);
}
