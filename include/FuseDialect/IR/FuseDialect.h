//===- FuseDialect.h - The fuse dialect -------------------------*- C++ -*-===//
//
// The dialect with its attributes, interfaces and ops. See docs/ for the
// generated reference.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_IR_FUSEDIALECT_H
#define FUSEDIALECT_IR_FUSEDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "FuseDialect/IR/FuseDialect.h.inc"
#include "FuseDialect/IR/FuseEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "FuseDialect/IR/FuseAttrs.h.inc"

namespace mlir::fuse {

/// The name of the discardable attribute that overrides an op's pattern.
inline constexpr llvm::StringLiteral kPatternAttrName = "fuse.pattern";
/// The module attribute that names the last phase that ran (StringAttr).
inline constexpr llvm::StringLiteral kPhaseAttrName = "fuse.phase";
/// The entry function's attribute that Signature.h reads and writes.
inline constexpr llvm::StringLiteral kSignatureAttrName = "fuse.signature";
/// The unit attribute of functions that are kernels.
inline constexpr llvm::StringLiteral kKernelAttrName = "fuse.kernel";
/// The attribute of a kernel function that holds its ConfigAttr.
inline constexpr llvm::StringLiteral kConfigAttrName = "fuse.config";

/// A kernel function on buffers computes a range of this many parallel
/// iterations (IntegerAttr); its last two arguments are the range.
inline constexpr llvm::StringLiteral kIterationsAttrName = "fuse.iterations";
/// Iterations that are worth a task of their own (IntegerAttr).
inline constexpr llvm::StringLiteral kGrainAttrName = "fuse.grain";
/// Unit attribute of a kernel's destination argument that is a graph output
/// which nothing in the graph reads again.
inline constexpr llvm::StringLiteral kFinalAttrName = "fuse.final";
/// Module attributes after memory planning: bytes of scratch memory that a call
/// needs (IntegerAttr), and the constants as one blob (ElementsAttr of i8).
inline constexpr llvm::StringLiteral kArenaBytesAttrName = "fuse.arena_bytes";
inline constexpr llvm::StringLiteral kWeightsAttrName = "fuse.weights";

/// Number of elements of a ranked shaped type, or none if a size is dynamic or
/// the count does not fit 64 bits.
std::optional<int64_t> getElementCount(Type type);
/// Bytes that tensors of these types hold (boolean: one byte an element), or
/// none if a size is dynamic.
std::optional<int64_t> getByteCount(TypeRange types);
/// Bytes of one element in memory; i1 takes one byte.
int64_t getElementBytes(Type elementType);
/// Elementwise, if all operands have the result's shape or one element; else
/// broadcast.
PatternKind getElementwisePattern(Operation *op);
/// Parses a pattern's name or its TVM spelling (kElemWise, kInjective, …), case
/// sensitive. None if unknown.
std::optional<PatternKind> parsePatternName(llvm::StringRef name);
/// Reifies the extents of every result of one of the dialect's ops from the
/// extents of its operands, as `index` values or attributes.
LogicalResult reifyResultShapes(Operation *op, OpBuilder &builder,
                                ReifiedRankedShapedTypeDims &shapes);
/// As above, for callers that know the extents of the operands already:
/// `getDims` returns all extents of an operand.
LogicalResult
reifyResultShapes(Operation *op, OpBuilder &builder,
                  ReifiedRankedShapedTypeDims &shapes,
                  llvm::function_ref<SmallVector<OpFoldResult>(Value)> getDims);

} // namespace mlir::fuse

#include "FuseDialect/IR/FuseInterfaces.h.inc"

#define GET_OP_CLASSES
#include "FuseDialect/IR/FuseOps.h.inc"

#endif // FUSEDIALECT_IR_FUSEDIALECT_H
