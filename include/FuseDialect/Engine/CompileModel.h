//===- CompileModel.h - Compile a model to a file ---------------*- C++ -*-===//

#ifndef FUSEDIALECT_ENGINE_COMPILEMODEL_H
#define FUSEDIALECT_ENGINE_COMPILEMODEL_H

#include "FuseDialect/Engine/Codegen.h"
#include "FuseDialect/Engine/CompileOptions.h"
#include "llvm/Support/Error.h"
#include <variant>

namespace mlir::fuse {

/// What fuse-compile is asked to do.
struct EmitOptions {
  CompileOptions compile;
  std::string output;
  /// MLIR after a phase, or code.
  std::variant<Phase, CodeKind> form = Phase::Llvm;

  /// The form from the texts of --compile-to and --emit, of which one at most
  /// is not empty, or from the output's extension. Usage errors hold the text
  /// that is wrong.
  static llvm::Expected<std::variant<Phase, CodeKind>>
  parseForm(StringRef lastPhase, StringRef emit, StringRef output);
};

/// Compiles the model and writes the file, which is whole or not there. MLIR
/// has locations; it is bytecode if the name ends in `.mlirbc`. Dynamic shapes
/// can be compiled up to phase `group`.
llvm::Error compileModel(const EmitOptions &options);

} // namespace mlir::fuse

#endif // FUSEDIALECT_ENGINE_COMPILEMODEL_H
