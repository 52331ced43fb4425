//===- OpLibrary.h - Bodies of ops that ONNX does not define ----*- C++ -*-===//
//
// A library is a module of functions on tensors. Each gives the body of an op:
//
//   func.func @com.acme.Scale(
//       %x: tensor<?x?xf32>,
//       %factor: tensor<f32> {fuse.attribute = "factor", fuse.default = 2.0 :
//       f32})
//       -> tensor<?x?xf32> {
//     %0 = fuse.mul %x, %factor : (tensor<?x?xf32>, tensor<f32>) ->
//     tensor<?x?xf32> return %0 : tensor<?x?xf32>
//   }
//
// The function's name is the op's: domain, dot, type. Several functions of one
// op, for other types, have any name and the attribute `fuse.op` =
// "domain.Type". Arguments with `fuse.attribute` are the node's attributes, all
// others are its inputs, in order.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_LIB_IMPORT_OPLIBRARY_H
#define FUSEDIALECT_LIB_IMPORT_OPLIBRARY_H

#include "NodeContext.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::fuse {

class OpLibrary {
public:
  /// Reads and checks the functions of a file; errors are reported.
  LogicalResult load(StringRef path, MLIRContext *context);

  /// The functions for an op ("com.acme.Scale"); empty if there are none.
  ArrayRef<func::FuncOp> lookup(StringRef op) const;

  /// Inlines the first of `candidates` whose argument types fit the node's
  /// inputs. Result types follow from the inputs' types.
  static LogicalResult import(NodeContext &node,
                              ArrayRef<func::FuncOp> candidates,
                              SmallVectorImpl<Value> &results);

private:
  std::vector<OwningOpRef<ModuleOp>> modules;
  llvm::StringMap<SmallVector<func::FuncOp, 1>> functions;
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_LIB_IMPORT_OPLIBRARY_H
