//===- Passes.td - Passes on graphs of the dialect -------------------------===//

#ifndef FUSEDIALECT_TRANSFORMS_PASSES
#define FUSEDIALECT_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def FoldConstants : Pass<"fuse-fold-constants", "::mlir::ModuleOp"> {
  let summary = "computes at compile time what depends on constants only";
  let description = [{
    Evaluates each op whose operands are all constants with the reference
    evaluator, rounding each op's results to their element types as running it
    would. Results of more than 1 KiB become resources.

    What would only take memory stays: an op whose results are more than
    `growth` times the constants that they come from, unless they are at most
    4 KiB. Barriers and ops in groups stay too.

    The source names of folded ops, and of the constants, are listed in
    `fuse.eliminated` with the reason `constant`.

    Before:

    ```mlir
    %0 = fuse.constant dense<[1, 2, 3]> : tensor<3xi64>
    %1 = fuse.constant dense<2> : tensor<i64>
    %2 = fuse.mul %0, %1 : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
    ```

    After:

    ```mlir
    %0 = fuse.constant dense<[2, 4, 6]> : tensor<3xi64>
    ```
  }];
  let options = [
    Option<"growth", "growth", "int64_t", "2",
           "how many times the bytes of its constants a folded result may take">
  ];
  let dependentDialects = ["::mlir::fuse::FuseDialect"];
}

def InferShapes : Pass<"fuse-infer-shapes", "::mlir::ModuleOp"> {
  let summary = "refines result types from operand types";
  let description = [{
    Goes through each function in order and gives every result of the dialect's
    ops the most precise type that follows from its operands; then the function
    the types that it returns, unless it is called. Static argument types make
    all that follows static. `fuse.signature` stays as the source had it.

    Small tensors that hold shapes are followed element by element, so that a
    `reshape` or `expand` to a shape computed in the graph gets its extents, and
    its `shape` attribute where all are known (a reshape: all but one).

    A type in the IR that contradicts the inferred one is an error at the op. An
    op of another dialect gets operands of the type that it had, through a
    `fuse.cast`.

    Before:

    ```mlir
    func.func @main(%x: tensor<4x8xf32>, %y: tensor<8xf32>) -> tensor<?x?xf32> {
      %0 = fuse.add %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<?x?xf32>
      return %0 : tensor<?x?xf32>
    }
    ```

    After:

    ```mlir
    func.func @main(%x: tensor<4x8xf32>, %y: tensor<8xf32>) -> tensor<4x8xf32> {
      %0 = fuse.add %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
      return %0 : tensor<4x8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::fuse::FuseDialect"];
}

def AssignConfigs : Pass<"fuse-assign-configs", "::mlir::ModuleOp"> {
  let summary = "decides how each kernel is lowered";
  let description = [{
    Gives each kernel function without a `fuse.config` the default one for the
    target: registers of its width, streaming stores for graph outputs that
    exceed the second-level cache, and a grain that makes a task worth its start.

    Before:

    ```mlir
    func.func private @exp(%x: tensor<4096xf32>, %out: tensor<4096xf32> {fuse.final}) -> tensor<4096xf32> attributes {fuse.kernel}
    ```

    After:

    ```mlir
    func.func private @exp(…) -> tensor<4096xf32> attributes {fuse.config = #fuse.config<vector = 64, grain = 16384>, fuse.kernel}
    ```
  }];
  let options = [
    Option<"vectorBytes", "vector-bytes", "int64_t", "64",
           "width of the target's registers in bytes: 16, 32 or 64">,
    Option<"cacheBytes", "cache-bytes", "int64_t", "2097152",
           "bytes of the target's second-level cache">
  ];
}

def OutlineKernels : Pass<"fuse-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "groups become kernel functions";
  let description = [{
    Moves the body of each `fuse.group` into a function with `fuse.kernel` and
    launches it in place. A kernel takes a destination for each result, which the
    caller provides. Equal groups share one function, named after the first;
    `fuse.launch` keeps the name of each.

    Before:

    ```mlir
    %r = fuse.group "exp" elementwise(%a = %x : tensor<8xf32>) -> (tensor<8xf32>) {
      %0 = fuse.exp %a : (tensor<8xf32>) -> tensor<8xf32>
      fuse.yield %0 : tensor<8xf32>
    }
    ```

    After:

    ```mlir
    %d = tensor.empty() : tensor<8xf32>
    %r = fuse.launch @exp "exp" ins(%x : tensor<8xf32>) outs(%d : tensor<8xf32>) -> tensor<8xf32>
    …
    func.func private @exp(%a: tensor<8xf32>, %d: tensor<8xf32>) -> tensor<8xf32> attributes {fuse.kernel} {
      %0 = fuse.exp %a : (tensor<8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // FUSEDIALECT_TRANSFORMS_PASSES
