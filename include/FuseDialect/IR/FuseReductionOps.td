//===- FuseReductionOps.td - Reductions and row ops ------------------------===//

#ifndef FUSE_REDUCTION_OPS
#define FUSE_REDUCTION_OPS

include "FuseDialect/IR/FuseBase.td"

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// A reduction over `axes`. `meaning` completes "Computes …".
class Fuse_ReductionOp<string mnemonic, string meaning, Type type, string empty>
    : Fuse_InferredOp<mnemonic, [
        ReductionOpInterface]> {
  let summary = meaning;
  let description = "Computes " # meaning # [{ over the dimensions `axes` of the input. With
    `keepdims` (the default) these stay with extent 1, else they go. f16 and
    bf16 accumulate in f32, integers in their own type, where they wrap. Over no
    elements the result is }] # empty # [{.

    Constraints: the axes are sorted, unique and in [0, rank). Without axes, each
    element is reduced alone.

    Example:

    ```mlir
    %r = fuse.}] # mnemonic # [{ %x axes = [1] {keepdims = false} : (tensor<4x8xf32>) -> tensor<4xf32>
    ```

    Lowers to a `linalg.generic` with reduction iterators.
  }];
  let arguments = (ins type:$input, DenseI64ArrayAttr:$axes,
                       DefaultValuedAttr<BoolAttr, "true">:$keepdims);
  let results = (outs type:$result);
  let assemblyFormat =
    "$input `axes` `=` $axes attr-dict `:` functional-type(operands, results)";
  let inferBody = [{ return ::mlir::fuse::inferReduction(
      infer, adaptor.getInput(), adaptor.getAxes(), adaptor.getKeepdims()); }];
  let patternExpr = "::mlir::fuse::PatternKind::reduction";
  let extraClassDeclaration = [{
    ::llvm::SmallVector<int64_t> getReducedDims() {
      return ::llvm::SmallVector<int64_t>(getAxes());
    }
    bool getKeepReducedDims() { return getKeepdims(); }
  }];
}

def Fuse_ReduceSumOp : Fuse_ReductionOp<"reduce_sum", "the sum", Fuse_NumericTensor, "0">;
def Fuse_ReduceMeanOp : Fuse_ReductionOp<"reduce_mean",
  "the mean (integers add up in 64 bits, and the quotient truncates toward zero)",
  Fuse_NumericTensor, "NaN, or 0 for integers">;
def Fuse_ReduceMaxOp : Fuse_ReductionOp<"reduce_max", "the largest element, NaN if any is",
  Fuse_Tensor, "-inf, the smallest integer, or false">;
def Fuse_ReduceMinOp : Fuse_ReductionOp<"reduce_min", "the smallest element, NaN if any is",
  Fuse_Tensor, "inf, the largest integer, or true">;
def Fuse_ReduceProdOp : Fuse_ReductionOp<"reduce_prod", "the product", Fuse_NumericTensor, "1">;
def Fuse_ReduceL1Op : Fuse_ReductionOp<"reduce_l1", "the sum of |x|", Fuse_NumericTensor, "0">;
def Fuse_ReduceL2Op : Fuse_ReductionOp<"reduce_l2", "the square root of the sum of x * x",
  Fuse_NumericTensor, "0">;
def Fuse_ReduceLogSumOp : Fuse_ReductionOp<"reduce_log_sum", "the logarithm of the sum",
  Fuse_NumericTensor, "-inf">;
def Fuse_ReduceLogSumExpOp : Fuse_ReductionOp<"reduce_log_sum_exp",
  "the logarithm of the sum of exp(x), without overflow", Fuse_NumericTensor, "-inf">;
def Fuse_ReduceSumSquareOp : Fuse_ReductionOp<"reduce_sum_square", "the sum of x * x",
  Fuse_NumericTensor, "0">;

class Fuse_ArgOp<string mnemonic, string what>
    : Fuse_InferredOp<mnemonic, [
        ReductionOpInterface]> {
  let summary = "position of the " # what # " element along an axis";
  let description = "Computes the position of the " # what # [{ element along `axis`: the first one
    of several equal, or the last with `select_last`. A NaN counts as the }] # what # [{ element.
    With `keepdims` (the default) the axis stays with extent 1.

    Constraints: the axis is in [0, rank); its extent is not zero.

    Example:

    ```mlir
    %r = fuse.}] # mnemonic # [{ %x axis = 1 {keepdims = false} : (tensor<4x8xf32>) -> tensor<4xi64>
    ```
  }];
  let arguments = (ins Fuse_NumericTensor:$input, I64Attr:$axis,
                       DefaultValuedAttr<BoolAttr, "true">:$keepdims,
                       UnitAttr:$select_last);
  let results = (outs RankedTensorOf<[I64]>:$result);
  let assemblyFormat =
    "$input `axis` `=` $axis attr-dict `:` functional-type(operands, results)";
  let inferBody = [{ return ::mlir::fuse::inferReduction(
      infer, adaptor.getInput(), {static_cast<int64_t>(adaptor.getAxis())}, adaptor.getKeepdims(),
      ::mlir::IntegerType::get(context, 64)); }];
  let patternExpr = "::mlir::fuse::PatternKind::reduction";
  let extraClassDeclaration = [{
    ::llvm::SmallVector<int64_t> getReducedDims() {
      return {static_cast<int64_t>(getAxis())};
    }
    bool getKeepReducedDims() { return getKeepdims(); }
  }];
}
def Fuse_ArgMaxOp : Fuse_ArgOp<"argmax", "largest">;
def Fuse_ArgMinOp : Fuse_ArgOp<"argmin", "smallest">;

//===----------------------------------------------------------------------===//
// Row ops
//===----------------------------------------------------------------------===//

class Fuse_RowOp<string mnemonic, list<Trait> traits = []>
    : Fuse_InferredOp<mnemonic, [
        RowOpInterface] # traits> {
  let inferBody = "return ::mlir::fuse::inferSameAs(infer, adaptor.getInput());";
  let patternExpr = "::mlir::fuse::PatternKind::reduction";
}

class Fuse_SoftmaxLikeOp<string mnemonic, string formula> : Fuse_RowOp<mnemonic> {
  let summary = mnemonic # " along an axis";
  let description = "Computes " # formula # [{ along `axis`, with the sums taken after
    subtracting the row's largest element, so that finite rows do not overflow. A
    row that holds NaN or inf, or only -inf, gives NaN as numpy does.

    Constraints: the axis is in [0, rank); input and result have one shape.

    Example:

    ```mlir
    %r = fuse.}] # mnemonic # [{ %x axis = 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    Lowers to reductions and elementwise `linalg.generic` ops over the row.
  }];
  let arguments = (ins Fuse_FloatTensor:$input, I64Attr:$axis);
  let results = (outs Fuse_FloatTensor:$result);
  let assemblyFormat =
    "$input `axis` `=` $axis attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<int64_t> getRowDims() {
      return {static_cast<int64_t>(getAxis())};
    }
  }];
}
def Fuse_SoftmaxOp : Fuse_SoftmaxLikeOp<"softmax", "`exp(x) / sum(exp(x))`">;
def Fuse_LogSoftmaxOp : Fuse_SoftmaxLikeOp<"log_softmax", "`x - log(sum(exp(x)))`">;

def Fuse_LayerNormOp : Fuse_RowOp<"layer_norm"> {
  let summary = "layer normalization";
  let description = [{
    Computes `(x - mean) / sqrt(variance + epsilon) * scale + bias`, mean and
    variance (by deviations from the mean) taken over the dimensions from `axis`
    on, in f32 for f16 and bf16.

    Constraints: the axis is in [0, rank); scale and bias broadcast to the
    input's shape.

    Example:

    ```mlir
    %r = fuse.layer_norm %x, %s, %b axis = 1 {epsilon = 1.0e-12 : f64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Fuse_FloatTensor:$input, Fuse_FloatTensor:$scale,
                       Optional<Fuse_FloatTensor>:$bias, I64Attr:$axis,
                       DefaultValuedAttr<F64Attr, "1.0e-5">:$epsilon);
  let results = (outs Fuse_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $scale (`,` $bias^)? `axis` `=` $axis attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<int64_t> getRowDims() {
      return ::llvm::to_vector(
          ::llvm::seq<int64_t>(getAxis(), getInput().getType().getRank()));
    }
  }];
}

def Fuse_RmsNormOp : Fuse_RowOp<"rms_norm"> {
  let summary = "root mean square normalization";
  let description = [{
    Computes `x / sqrt(mean(x * x) + epsilon) * scale`, the mean taken over the
    dimensions from `axis` on, in f32 for f16 and bf16.

    Constraints: the axis is in [0, rank); the scale broadcasts to the input's
    shape.

    Example:

    ```mlir
    %r = fuse.rms_norm %x, %s axis = 1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Fuse_FloatTensor:$input, Fuse_FloatTensor:$scale, I64Attr:$axis,
                       DefaultValuedAttr<F64Attr, "1.0e-5">:$epsilon);
  let results = (outs Fuse_FloatTensor:$result);
  let assemblyFormat =
    "$input `,` $scale `axis` `=` $axis attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<int64_t> getRowDims() {
      return ::llvm::to_vector(
          ::llvm::seq<int64_t>(getAxis(), getInput().getType().getRank()));
    }
  }];
}

#endif // FUSE_REDUCTION_OPS
