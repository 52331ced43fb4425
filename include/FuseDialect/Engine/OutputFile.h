//===- OutputFile.h - Files that are whole or not there ---------*- C++ -*-===//

#ifndef FUSEDIALECT_ENGINE_OUTPUTFILE_H
#define FUSEDIALECT_ENGINE_OUTPUTFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::fuse {

/// Writes a file by way of a temporary one beside it, which takes its name once
/// `write` has succeeded and every byte is out. On failure nothing is left, and
/// a file that was there stays as it was. `-` is the standard output; devices
/// and pipes are written directly.
llvm::Error
writeFile(llvm::StringRef path,
          llvm::function_ref<llvm::Error(llvm::raw_pwrite_stream &)> write);

} // namespace mlir::fuse

#endif // FUSEDIALECT_ENGINE_OUTPUTFILE_H
