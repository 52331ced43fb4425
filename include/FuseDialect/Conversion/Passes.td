//===- Passes.td - Conversions out of the fuse dialect ---------------------===//

#ifndef FUSE_CONVERSION_PASSES
#define FUSE_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def FuseToLinalgPass : Pass<"fuse-to-linalg", "::mlir::ModuleOp"> {
  let summary = "lower the ops of the fuse dialect to linalg on tensors";
  let description = [{
    Replaces every op of the dialect, but `fuse.launch`, by `linalg.generic`,
    `linalg.fill` and `tensor` ops whose bodies are scalar `arith` and `math`
    ops. Groups must be outlined before.

    ```mlir
    func.func private @exp(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {fuse.kernel} {
      %0 = fuse.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
      return %0 : tensor<4x8xf32>
    }
    ```

    becomes

    ```mlir
    #map = affine_map<(d0, d1) -> (d0, d1)>
    func.func private @exp(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {fuse.kernel} {
      %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
          ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>) {
      ^bb0(%in: f32, %out: f32):
        %1 = math.exp %in fastmath<contract> : f32
        linalg.yield %1 : f32
      } -> tensor<4x8xf32>
      return %0 : tensor<4x8xf32>
    }
    ```

    - An elementwise op is one `linalg.generic` over the shape of its result. An
      operand's static extent of 1 that broadcasts is read at position 0. A
      dynamic extent is taken to be the extent of the result: models whose
      dynamic extents may be 1 at run time where another operand's are not must
      be specialised to static shapes first. Splat constants become constants of
      the body.
    - f16 and bf16 are computed in f32, and each op's result is rounded.
      Reductions and row ops keep f32 from their input to their result.
    - A reduction's body is one op on the accumulator. What is done to the
      elements before and to the results after is in ops of its own.
    - Integer division by zero and shifts beyond the width are guarded, so that
      nothing traps.
    - Unsigned element types become signless, in function types, too; the ops
      then say how integers are read. `fuse.signature` keeps the model's types.
    - In a function with `fuse.kernel`, the trailing arguments are destinations,
      one for each result. A result computed by a `linalg.generic` is computed
      into its destination; the body never reads it.
    - `tensor.cast` adapts a result whose declared type is more or less precise
      than what its op gives.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

#endif // FUSE_CONVERSION_PASSES
