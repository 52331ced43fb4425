//===- FuseInterfaces.td - Interfaces of ops that take part in fusion ------===//

#ifndef FUSE_INTERFACES
#define FUSE_INTERFACES

include "mlir/IR/OpBase.td"

def FusibleOpInterface : OpInterface<"FusibleOpInterface"> {
  let cppNamespace = "::mlir::fuse";
  let description = [{
    What the fusion analysis must know of an op. An op of another dialect takes
    part in fusion through an external model of this interface; an op without it
    is opaque.
  }];
  let methods = [
    InterfaceMethod<[{
        The built-in pattern of this instance (level 10). It may depend on the
        operand types: an `add` of two equal shapes is elementwise, with
        broadcasting it is broadcast.
      }], "::mlir::fuse::PatternKind", "getFusionPattern">,
    InterfaceMethod<[{
        Arithmetic operations of one evaluation, counted as the op's direct
        formula has them (a multiply-add is two), or none if a size is dynamic.
      }], "::std::optional<int64_t>", "getFlops", (ins), [{}], [{
        return ::mlir::fuse::getElementCount($_op->getResult(0).getType());
      }]>,
    InterfaceMethod<[{
        Bytes of the tensor operands, or none if a size is dynamic.
      }], "::std::optional<int64_t>", "getBytesRead", (ins), [{}], [{
        return ::mlir::fuse::getByteCount($_op->getOperandTypes());
      }]>,
    InterfaceMethod<[{
        Bytes of the results, or none if a size is dynamic.
      }], "::std::optional<int64_t>", "getBytesWritten", (ins), [{}], [{
        return ::mlir::fuse::getByteCount($_op->getResultTypes());
      }]>
  ];
}

def ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::mlir::fuse";
  let description = [{
    Marks the ops whose result element depends only on the elements of the
    operands at the same position after numpy broadcasting.
  }];
}

def ReductionOpInterface : OpInterface<"ReductionOpInterface"> {
  let cppNamespace = "::mlir::fuse";
  let description = [{
    The ops that reduce one input along dimensions of it: the `reduce_*` ops and
    `argmax`/`argmin`.
  }];
  let methods = [
    InterfaceMethod<"The reduced dimensions, sorted, each in [0, rank).",
      "::llvm::SmallVector<int64_t>", "getReducedDims">,
    InterfaceMethod<[{
        Whether a reduced dimension stays in the result with extent 1.
      }], "bool", "getKeepReducedDims">
  ];
}

def RowOpInterface : OpInterface<"RowOpInterface"> {
  let cppNamespace = "::mlir::fuse";
  let description = [{
    The ops that need a whole row of their input for each element of a result of
    the same shape: softmax and its relatives, layer and RMS norm.
  }];
  let methods = [
    InterfaceMethod<"The dimensions that make up a row, sorted.",
      "::llvm::SmallVector<int64_t>", "getRowDims">
  ];
}

def InjectiveOpInterface : OpInterface<"InjectiveOpInterface"> {
  let cppNamespace = "::mlir::fuse";
  let description = [{
    The ops whose result elements are copies of operand elements at computed
    positions: reshape, transpose, slice, concat, pad, gather and so on.
  }];
}

#endif // FUSE_INTERFACES
