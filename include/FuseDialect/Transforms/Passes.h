//===- Passes.h - Passes on graphs of the dialect ----------------*- C++
//-*-===//

#ifndef FUSEDIALECT_TRANSFORMS_PASSES_H
#define FUSEDIALECT_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace mlir::fuse {

#define GEN_PASS_DECL
#include "FuseDialect/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "FuseDialect/Transforms/Passes.h.inc"

} // namespace mlir::fuse

#endif // FUSEDIALECT_TRANSFORMS_PASSES_H
