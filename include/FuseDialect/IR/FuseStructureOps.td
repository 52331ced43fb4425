//===- FuseStructureOps.td - Constants, barriers, groups and launches ------===//

#ifndef FUSE_STRUCTURE_OPS
#define FUSE_STRUCTURE_OPS

include "FuseDialect/IR/FuseBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"

def Fuse_ConstantOp : Fuse_Op<"constant", [
    Pure, ConstantLike,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "a constant tensor";
  let description = [{
    The value of an elements attribute. Large constants are
    `dense_resource` attributes, so that they are neither uniqued nor copied.

    Constraints: the result has the attribute's type.

    Example:

    ```mlir
    %r = fuse.constant dense<[1.0, 2.0]> : tensor<2xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Fuse_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Fuse_BarrierOp : Fuse_Op<"barrier", [
    Pure, SameOperandsAndResultType]> {
  let summary = "an identity that no group crosses";
  let description = [{
    Keeps what is computed before it and what is computed after it in different
    groups. Grouping removes it.

    Constraints: operand and result have one type.

    Example:

    ```mlir
    %r = fuse.barrier %x : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Fuse_Tensor:$input);
  let results = (outs Fuse_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def Fuse_GroupOp : Fuse_Op<"group", [
    IsolatedFromAbove, SingleBlock, Pure]> {
  let summary = "ops that become one kernel";
  let description = [{
    The ops of the region are compiled into one kernel. The region sees only the
    group's operands, as block arguments. Its location is a fused location of all
    source ops in it, in order.

    Constraints: block arguments have the operands' types; `fuse.yield` gives one
    value of each result's type.

    Example:

    ```mlir
    %r = fuse.group "fused_sub_exp" broadcast(%a = %x : tensor<4x8xf32>, %b = %m : tensor<4x1xf32>) -> (tensor<4x8xf32>) {
      %0 = fuse.sub %a, %b : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
      %1 = fuse.exp %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
      fuse.yield %1 : tensor<4x8xf32>
    }
    ```

    Lowers to a kernel function and a `fuse.launch` of it.
  }];
  let arguments = (ins Variadic<Fuse_Tensor>:$inputs, StrAttr:$name,
                       Fuse_PatternAttr:$pattern, OptionalAttr<Fuse_ConfigAttr>:$config);
  let results = (outs Variadic<Fuse_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::fuse::YieldOp getYield();
  }];
}

def Fuse_YieldOp : Fuse_Op<"yield", [
    Pure, Terminator, ReturnLike, HasParent<"GroupOp">]> {
  let summary = "the results of a group";
  let description = [{
    Ends the region of a `fuse.group` with the values that it returns.
  }];
  let arguments = (ins Variadic<Fuse_Tensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def Fuse_LaunchOp : Fuse_Op<"launch", [
    AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "calls a kernel";
  let description = [{
    Calls the kernel function with the inputs and, after them, the destinations
    that it writes. On tensors there is one result for each destination; on
    buffers there is none. `name` names this call in reports: kernels that are
    equal share one function.

    Constraints: the kernel exists and takes operands of these shapes and element
    types (it may already work on buffers while the caller is still on tensors).

    Example:

    ```mlir
    %r = fuse.launch @fused_sub_exp "fused_sub_exp" ins(%x, %m : tensor<4x8xf32>, tensor<4x1xf32>) outs(%d : tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, StrAttr:$name,
                       Variadic<AnyShaped>:$inputs, Variadic<AnyShaped>:$outputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $kernel $name (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
  }];
}

#endif // FUSE_STRUCTURE_OPS
