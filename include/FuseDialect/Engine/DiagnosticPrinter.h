//===- DiagnosticPrinter.h - Diagnostics for people -------------*- C++ -*-===//

#ifndef FUSEDIALECT_ENGINE_DIAGNOSTICPRINTER_H
#define FUSEDIALECT_ENGINE_DIAGNOSTICPRINTER_H

#include "mlir/IR/Diagnostics.h"

namespace mlir::fuse {

/// Prints the diagnostics of a context to stderr while it lives: a file
/// position as `FILE:LINE:COLUMN`, a source op by its name in quotes, notes
/// indented. Remarks are not printed.
class DiagnosticPrinter : public ScopedDiagnosticHandler {
public:
  explicit DiagnosticPrinter(MLIRContext *context);
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_ENGINE_DIAGNOSTICPRINTER_H
