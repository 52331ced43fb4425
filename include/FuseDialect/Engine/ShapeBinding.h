//===- ShapeBinding.h - Extents for a model's dynamic inputs ----*- C++ -*-===//

#ifndef FUSEDIALECT_ENGINE_SHAPEBINDING_H
#define FUSEDIALECT_ENGINE_SHAPEBINDING_H

#include "FuseDialect/Analysis/HostTensor.h"
#include "FuseDialect/IR/Signature.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace mlir::fuse {

/// Extents that a person gives: `--shape=NAME:1x3x320x320`, `--dim=SYMBOL=N`.
struct ShapeOptions {
  llvm::StringMap<SmallVector<int64_t>> shapes;
  llvm::StringMap<int64_t> dims;

  /// Parses the texts behind the flags. Malformed and repeated ones are usage
  /// errors.
  static llvm::Expected<ShapeOptions> parse(ArrayRef<std::string> shapes,
                                            ArrayRef<std::string> dims);
};

/// The shapes of all inputs: those of the tensors at hand (`given`, null where
/// there is none), else `options`, else what dimensions of the same symbol
/// have. What nothing decides stays dynamic.
///
/// Errors: a shape that does not fit the input or another one of the same
/// symbol, an element type that is not the input's, a name that the model does
/// not have.
llvm::Expected<SmallVector<RankedTensorType>>
bindShapes(const Signature &signature, const ShapeOptions &options,
           ArrayRef<const HostTensor *> given);

/// A usage error that says how to give the first extent that is dynamic, or
/// success if all are known.
llvm::Error checkShapesKnown(const Signature &signature,
                             ArrayRef<RankedTensorType> types);

} // namespace mlir::fuse

#endif // FUSEDIALECT_ENGINE_SHAPEBINDING_H
