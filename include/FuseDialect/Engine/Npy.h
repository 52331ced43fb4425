//===- Npy.h - numpy's file format ------------------------------*- C++ -*-===//
//
// The .npy format, versions 1 to 3: a header that is a Python literal, then the
// elements (numpy.lib.format).
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_ENGINE_NPY_H
#define FUSEDIALECT_ENGINE_NPY_H

#include "FuseDialect/Analysis/HostTensor.h"
#include "llvm/Support/Error.h"

namespace mlir::fuse {

/// Reads a tensor from the bytes of a file, which are untrusted; `name` is for
/// messages. Elements are those of the dialect in little-endian order; Fortran
/// order is rearranged. The format has no bfloat16: where `elementType` is one,
/// two-byte void (what ml_dtypes writes) and uint16 are taken as its bits. Else
/// `elementType` is not used and may be null.
llvm::Expected<HostTensor> parseNpy(llvm::StringRef bytes, llvm::StringRef name,
                                    Type elementType, MLIRContext *context);
llvm::Expected<HostTensor> readNpy(llvm::StringRef path, Type elementType,
                                   MLIRContext *context);

/// Writes a tensor in version 1, bfloat16 as two-byte void. The file is whole
/// or not there.
llvm::Error writeNpy(llvm::StringRef path, const HostTensor &tensor);

} // namespace mlir::fuse

#endif // FUSEDIALECT_ENGINE_NPY_H
