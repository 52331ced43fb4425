//===- CompileModel.h - What fuse-compile does ------------------*- C++ -*-===//

#ifndef FUSEDIALECT_ENGINE_COMPILEMODEL_H
#define FUSEDIALECT_ENGINE_COMPILEMODEL_H

#include "FuseDialect/Engine/Model.h"

namespace mlir::fuse {

struct CompileOptions {
  ModelOptions model;
  std::string output;
  /// A phase's name: the output is the IR after it.
  std::string compileTo;
  /// `llvm`, `asm`, `obj` or `so`.
  std::string emit;
};

/// Compiles a model to a file. Without a phase or a kind of code the extension
/// of the output decides: `.mlir` and `.mlirbc` are the IR after phase `group`,
/// `.ll` is LLVM IR, `.s` assembly, `.o` an object.
llvm::Error compileModel(const CompileOptions &options);

} // namespace mlir::fuse

#endif // FUSEDIALECT_ENGINE_COMPILEMODEL_H
