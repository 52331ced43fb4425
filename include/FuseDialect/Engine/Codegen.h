//===- Codegen.h - From the LLVM dialect to machine code --------*- C++ -*-===//

#ifndef FUSEDIALECT_ENGINE_CODEGEN_H
#define FUSEDIALECT_ENGINE_CODEGEN_H

#include "FuseDialect/Engine/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::fuse {

/// Prefix of the symbol of an entry function's compiled form.
inline constexpr llvm::StringLiteral kEntryPrefix = "fuse_entry_";

enum class CodeKind { llvm, assembly, object };

/// Writes the code of a module in the LLVM dialect, optimised for `target`.
/// Private functions are not exported; a kernel is called `NAME.kernel`. What
/// cannot be translated is an error at its location.
llvm::Error emitCode(ModuleOp module, const Target &target, CodeKind kind,
                     llvm::raw_pwrite_stream &os);

} // namespace mlir::fuse

#endif // FUSEDIALECT_ENGINE_CODEGEN_H
