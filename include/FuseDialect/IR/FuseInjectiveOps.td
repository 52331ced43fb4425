//===- FuseInjectiveOps.td - Ops that move elements ------------------------===//

#ifndef FUSE_INJECTIVE_OPS
#define FUSE_INJECTIVE_OPS

include "FuseDialect/IR/FuseBase.td"

class Fuse_InjectiveOp<string mnemonic, list<Trait> traits = []>
    : Fuse_InferredOp<mnemonic, [
        InjectiveOpInterface] # traits> {
  let patternExpr = "::mlir::fuse::PatternKind::injective";
  let extraClassDeclaration = [{
    /// Moves elements, computes nothing.
    ::std::optional<int64_t> getFlops() { return 0; }
  }];
}

def Fuse_ReshapeOp : Fuse_InjectiveOp<"reshape"> {
  let summary = "the same elements in another shape";
  let description = [{
    The elements of the input in row-major order, in the shape that `shape`
    gives: an extent; 0 for the input's extent at the same position (unless
    `allow_zero`, where it is zero); -1, at most once, for what is left.
    Alternatively the run-time operand `target` gives the shape in the same form.

    Constraints: exactly one of `shape` and `target` is present; the element
    counts agree.

    Example:

    ```mlir
    %r = fuse.reshape %x {shape = array<i64: 2, -1>} : (tensor<4x8xf32>) -> tensor<2x16xf32>
    ```
  }];
  let arguments = (ins Fuse_Tensor:$input, Optional<Fuse_ShapeTensor>:$target,
                       OptionalAttr<DenseI64ArrayAttr>:$shape, UnitAttr:$allow_zero);
  let results = (outs Fuse_Tensor:$result);
  let assemblyFormat =
    "$input (`,` $target^)? attr-dict `:` functional-type(operands, results)";
  let inferBody = "return ::mlir::fuse::inferReshape(infer, adaptor);";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Fuse_SqueezeOp : Fuse_InjectiveOp<"squeeze"> {
  let summary = "drops dimensions of extent 1";
  let description = [{
    The input without the dimensions `axes`.

    Constraints: the axes are sorted, unique, in [0, rank), and of extent 1.

    Example:

    ```mlir
    %r = fuse.squeeze %x axes = [1] : (tensor<4x1xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Fuse_Tensor:$input, DenseI64ArrayAttr:$axes);
  let results = (outs Fuse_Tensor:$result);
  let assemblyFormat =
    "$input `axes` `=` $axes attr-dict `:` functional-type(operands, results)";
  let inferBody =
    "return ::mlir::fuse::inferSqueeze(infer, adaptor.getInput(), adaptor.getAxes());";
}

def Fuse_UnsqueezeOp : Fuse_InjectiveOp<"unsqueeze"> {
  let summary = "inserts dimensions of extent 1";
  let description = [{
    The input with dimensions of extent 1 at the positions `axes` of the result.

    Constraints: the axes are sorted, unique and in [0, result rank).

    Example:

    ```mlir
    %r = fuse.unsqueeze %x axes = [1] : (tensor<4xf32>) -> tensor<4x1xf32>
    ```
  }];
  let arguments = (ins Fuse_Tensor:$input, DenseI64ArrayAttr:$axes);
  let results = (outs Fuse_Tensor:$result);
  let assemblyFormat =
    "$input `axes` `=` $axes attr-dict `:` functional-type(operands, results)";
  let inferBody =
    "return ::mlir::fuse::inferUnsqueeze(infer, adaptor.getInput(), adaptor.getAxes());";
}

def Fuse_TransposeOp : Fuse_InjectiveOp<"transpose"> {
  let summary = "permutes dimensions";
  let description = [{
    Dimension `i` of the result is dimension `permutation[i]` of the input.

    Constraints: `permutation` is a permutation of [0, rank).

    Example:

    ```mlir
    %r = fuse.transpose %x permutation = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Fuse_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs Fuse_Tensor:$result);
  let assemblyFormat =
    "$input `permutation` `=` $permutation attr-dict `:` functional-type(operands, results)";
  let inferBody = [{ return ::mlir::fuse::inferTranspose(
      infer, adaptor.getInput(), adaptor.getPermutation()); }];
  let hasFolder = 1;
}

def Fuse_ExpandOp : Fuse_InjectiveOp<"expand"> {
  let summary = "broadcasts to a shape";
  let description = [{
    Repeats the input as numpy broadcasting with a tensor of shape `shape` would:
    an extent of 1 on either side takes the other's. Alternatively the run-time
    operand `target` gives the shape.

    Constraints: exactly one of `shape` and `target` is present; the shapes
    broadcast.

    Example:

    ```mlir
    %r = fuse.expand %x {shape = array<i64: 4, 8>} : (tensor<4x1xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Fuse_Tensor:$input, Optional<Fuse_ShapeTensor>:$target,
                       OptionalAttr<DenseI64ArrayAttr>:$shape);
  let results = (outs Fuse_Tensor:$result);
  let assemblyFormat =
    "$input (`,` $target^)? attr-dict `:` functional-type(operands, results)";
  let inferBody = "return ::mlir::fuse::inferExpand(infer, adaptor);";
  let patternExpr = "::mlir::fuse::PatternKind::broadcast";
  let hasVerifier = 1;
}

def Fuse_SliceOp : Fuse_InjectiveOp<"slice"> {
  let summary = "a strided range of each dimension";
  let description = [{
    For each `axes[i]`, the elements from `starts[i]` up to but not including
    `ends[i]`, every `steps[i]`-th; a negative step runs backwards. Negative
    positions count from the end, and positions out of range are clamped, as in
    numpy and ONNX. Other dimensions stay whole.

    Constraints: the four arrays have one length; axes are unique and in
    [0, rank); steps are not zero.

    Example:

    ```mlir
    %r = fuse.slice %x axes = [1] starts = [0] ends = [8] steps = [2] : (tensor<4x8xf32>) -> tensor<4x4xf32>
    ```
  }];
  let arguments = (ins Fuse_Tensor:$input, DenseI64ArrayAttr:$axes, DenseI64ArrayAttr:$starts,
                       DenseI64ArrayAttr:$ends, DenseI64ArrayAttr:$steps);
  let results = (outs Fuse_Tensor:$result);
  let assemblyFormat = [{
    $input `axes` `=` $axes `starts` `=` $starts `ends` `=` $ends `steps` `=` $steps
    attr-dict `:` functional-type(operands, results)
  }];
  let inferBody = "return ::mlir::fuse::inferSlice(infer, adaptor);";
}

def Fuse_ConcatOp : Fuse_InjectiveOp<"concat"> {
  let summary = "joins tensors along a dimension";
  let description = [{
    The inputs one after the other along `axis`.

    Constraints: there is at least one input; the axis is in [0, rank); the
    inputs agree in rank and in all other extents.

    Example:

    ```mlir
    %r = fuse.concat %x, %y axis = 0 : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<6x8xf32>
    ```
  }];
  let arguments = (ins Variadic<Fuse_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs Fuse_Tensor:$result);
  let assemblyFormat =
    "$inputs `axis` `=` $axis attr-dict `:` functional-type(operands, results)";
  let inferBody = [{ return ::mlir::fuse::inferConcat(
      infer, adaptor.getInputs(), adaptor.getAxis()); }];
  let hasFolder = 1;
}

def Fuse_SplitOp : Fuse_InjectiveOp<"split"> {
  let summary = "cuts a tensor along a dimension";
  let description = [{
    Result `i` holds the next `sizes[i]` slices of the input along `axis`.

    Constraints: the axis is in [0, rank); the sizes are not negative and add up
    to the input's extent; there is one result for each.

    Example:

    ```mlir
    %r:2 = fuse.split %x axis = 1 sizes = [2, 6] : (tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x6xf32>)
    ```
  }];
  let arguments = (ins Fuse_Tensor:$input, I64Attr:$axis, DenseI64ArrayAttr:$sizes);
  let results = (outs Variadic<Fuse_Tensor>:$results);
  let assemblyFormat = [{
    $input `axis` `=` $axis `sizes` `=` $sizes attr-dict `:`
    functional-type(operands, results)
  }];
  let inferBody = [{ return ::mlir::fuse::inferSplit(
      infer, adaptor.getInput(), adaptor.getAxis(), adaptor.getSizes()); }];
}

def Fuse_PadMode : I32EnumAttr<"PadMode", "what surrounds a padded tensor", [
      I32EnumAttrCase<"constant", 0>,
      I32EnumAttrCase<"reflect", 1>,
      I32EnumAttrCase<"edge", 2>,
      I32EnumAttrCase<"wrap", 3>]> {
  let cppNamespace = "::mlir::fuse";
  let genSpecializedAttr = 0;
}
def Fuse_PadModeAttr : EnumAttr<Fuse_Dialect, Fuse_PadMode, "pad_mode"> {
  let assemblyFormat = "`<` $value `>`";
}

def Fuse_PadOp : Fuse_InjectiveOp<"pad"> {
  let summary = "surrounds a tensor";
  let description = [{
    Adds `low[i]` elements before and `high[i]` after the input in each dimension;
    negative numbers remove elements. The added elements are `value` (zero if
    absent) in mode `constant`, the mirror image without the border element in
    mode `reflect`, the border element in mode `edge`, and the other end in mode
    `wrap`.

    Constraints: `low` and `high` have one entry for each dimension; the value
    has rank 0 and the input's element type; extents of the result are not
    negative; modes other than `constant` need a non-empty input.

    Example:

    ```mlir
    %r = fuse.pad %x, %v low = [0, 1] high = [0, 2] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x11xf32>
    ```
  }];
  let arguments = (ins Fuse_Tensor:$input, Optional<Fuse_Tensor>:$value,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high,
                       DefaultValuedAttr<Fuse_PadModeAttr, "::mlir::fuse::PadMode::constant">:$mode);
  let results = (outs Fuse_Tensor:$result);
  let assemblyFormat = [{
    $input (`,` $value^)? `low` `=` $low `high` `=` $high attr-dict `:`
    functional-type(operands, results)
  }];
  let inferBody = "return ::mlir::fuse::inferPad(infer, adaptor);";
  let hasVerifier = 1;
}

def Fuse_GatherOp : Fuse_InjectiveOp<"gather"> {
  let summary = "picks slices by index";
  let description = [{
    `result[a…, i…, b…] = input[a…, indices[i…], b…]`, the index standing at
    `axis`. Negative indices count from the end. An index out of range is clamped
    to the range, so that no byte outside the input is read.

    Constraints: the axis is in [0, rank).

    Example:

    ```mlir
    %r = fuse.gather %x, %i axis = 0 : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<3x8xf32>
    ```
  }];
  let arguments = (ins Fuse_Tensor:$input, Fuse_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs Fuse_Tensor:$result);
  let assemblyFormat =
    "$input `,` $indices `axis` `=` $axis attr-dict `:` functional-type(operands, results)";
  let inferBody = [{ return ::mlir::fuse::inferGather(
      infer, adaptor.getInput(), adaptor.getIndices(), adaptor.getAxis()); }];
}

def Fuse_TileOp : Fuse_InjectiveOp<"tile"> {
  let summary = "repeats a tensor";
  let description = [{
    The input repeated `repeats[i]` times along each dimension.

    Constraints: one repeat, not negative, for each dimension.

    Example:

    ```mlir
    %r = fuse.tile %x repeats = [1, 3] : (tensor<4x8xf32>) -> tensor<4x24xf32>
    ```
  }];
  let arguments = (ins Fuse_Tensor:$input, DenseI64ArrayAttr:$repeats);
  let results = (outs Fuse_Tensor:$result);
  let assemblyFormat =
    "$input `repeats` `=` $repeats attr-dict `:` functional-type(operands, results)";
  let inferBody = [{ return ::mlir::fuse::inferTile(
      infer, adaptor.getInput(), adaptor.getRepeats()); }];
}

def Fuse_ShapeOfOp : Fuse_InferredOp<"shape_of"> {
  let summary = "the extents of a tensor";
  let description = [{
    The extents of the input's dimensions in [start, end) as a vector.

    Constraints: 0 <= start <= end <= rank.

    Example:

    ```mlir
    %r = fuse.shape_of %x start = 0 end = 2 : (tensor<4x8xf32>) -> tensor<2xi64>
    ```
  }];
  let arguments = (ins Fuse_Tensor:$input, I64Attr:$start, I64Attr:$end);
  let results = (outs Fuse_ShapeTensor:$result);
  let assemblyFormat = [{
    $input `start` `=` $start `end` `=` $end attr-dict `:`
    functional-type(operands, results)
  }];
  let inferBody = "return ::mlir::fuse::inferShapeOf(infer, adaptor);";
  let hasFolder = 1;
}

#endif // FUSE_INJECTIVE_OPS
