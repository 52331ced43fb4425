//===- DiagnosticPrinter.cpp - Diagnostics for people ---------------------===//

#include "FuseDialect/Engine/DiagnosticPrinter.h"
#include "FuseDialect/IR/SourceName.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::fuse;

static void print(const Diagnostic &diagnostic, StringRef indent) {
  llvm::raw_ostream &os = llvm::errs();
  os << indent;
  if (auto file = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
    os << file.getFilename().getValue() << ':' << file.getLine() << ':'
       << file.getColumn() << ": ";
  else if (SmallVector<std::string> names =
               getSourceNames(diagnostic.getLocation());
           !names.empty())
    os << '\'' << llvm::join(names, "', '") << "': ";
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Error:
    os << "error: ";
    break;
  case DiagnosticSeverity::Warning:
    os << "warning: ";
    break;
  case DiagnosticSeverity::Note:
    os << "note: ";
    break;
  case DiagnosticSeverity::Remark:
    os << "remark: ";
    break;
  }
  os << diagnostic << '\n';
}

DiagnosticPrinter::DiagnosticPrinter(MLIRContext *context)
    : ScopedDiagnosticHandler(context, [](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Remark) {
          print(diagnostic, "");
          for (const Diagnostic &note : diagnostic.getNotes())
            print(note, "  ");
        }
        return success();
      }) {}
