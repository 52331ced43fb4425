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

//===----------------------------------------------------------------------===//
// Phase group
//===----------------------------------------------------------------------===//

def FuseOps : Pass<"fuse-ops", "::mlir::ModuleOp"> {
  let summary = "form the groups of ops that become kernels";
  let description = [{
    Puts every op of the module's functions except constants into a
    `fuse.group`, and records for each pair of a producer and a consumer why
    they are in one group or not.

    ```mlir
    func.func @main(%x: tensor<4x8xf32>, %m: tensor<4x1xf32>) -> tensor<4x8xf32> {
      %0 = fuse.sub %x, %m : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
      %1 = fuse.exp %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
      return %1 : tensor<4x8xf32>
    }
    ```

    becomes

    ```mlir
    func.func @main(%x: tensor<4x8xf32>, %m: tensor<4x1xf32>) -> tensor<4x8xf32> {
      %0 = fuse.group "fused_sub_exp" broadcast(%a = %x : tensor<4x8xf32>, %b = %m : tensor<4x1xf32>) -> (tensor<4x8xf32>) {
        %1 = fuse.sub %a, %b : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
        %2 = fuse.exp %1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
        fuse.yield %2 : tensor<4x8xf32>
      }
      return %0 : tensor<4x8xf32>
    }
    ```

    What a group may hold is what one kernel can compute; see FusionGraph.h for
    the algorithm. Legality never depends on profit, and a group never computes
    an expensive op again. Constants of one element are cloned into the groups
    that read them, larger ones are operands. `fuse.barrier` keeps what is before
    it from what is after it and is removed. `fuse.split` becomes one
    `fuse.slice` for each result. Existing groups stay as they are, and running
    the pass again changes nothing.

    The name of a group is that of its op, or `fused_` and the names of its ops;
    past 80 characters it is cut and ends in a hash; a number makes it unique. The
    location is a fused location of all source ops, in order of execution.

    The decisions are remarks of the category `fuse-ops` (`--remarks-filter`),
    the module attribute `fuse.fusion`, and the file `report`.

    Overrides and rules are resolved first, as by `fuse-resolve-patterns`; in a
    pipeline that rewrites ops before grouping, run that pass on the imported ops
    instead.
  }];
  let options = [
    ListOption<"patternOverride", "pattern-override", "std::string",
      "SELECTOR:PATTERN[:LEVEL], the pattern of the ops that are selected">,
    ListOption<"fuseRules", "fuse-rules", "std::string",
      "files of rules: opaque, pattern, never, must">,
    Option<"report", "report", "std::string", /*default=*/"",
      "file for the report: JSON if it ends in .json, else a table">,
    Option<"maxGroupOps", "max-group-ops", "unsigned", /*default=*/"64",
      "the most ops that a group may hold">,
    Option<"noFusion", "no-fusion", "bool", /*default=*/"false",
      "leave every op alone in its group">
  ];
  let dependentDialects = ["::mlir::fuse::FuseDialect"];
}

def ResolvePatterns : Pass<"fuse-resolve-patterns", "::mlir::ModuleOp"> {
  let summary = "fix the fusion pattern of each op and the rules that choose it";
  let description = [{
    Decides the pattern of every op from what is built in (level 10), its
    attribute `fuse.pattern` (20), rules files (30) and overrides (40), and
    records it for the rewrites and for `fuse-ops` after it. It runs on the
    imported ops: selectors choose source ops, whatever becomes of them.

    With `pattern-override=exp:opaque`,

    ```mlir
    %r = fuse.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    becomes

    ```mlir
    %r = fuse.exp %x {fuse.resolved = {level = 40 : i64, pattern = #fuse.pattern<opaque>, source = "--pattern-override=exp:opaque"}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    Two different patterns at the highest level are an error that names both
    sources; a selector that chooses no op is a warning. The module keeps pair
    rules in `fuse.pair_rules`, and the source ops with their edges in
    `fuse.source`. Ops without a source name get one.
  }];
  let options = [
    ListOption<"patternOverride", "pattern-override", "std::string",
      "SELECTOR:PATTERN[:LEVEL], the pattern of the ops that are selected">,
    ListOption<"fuseRules", "fuse-rules", "std::string",
      "files of rules: opaque, pattern, never, must">
  ];
}

def Simplify : Pass<"fuse-simplify", "::mlir::ModuleOp"> {
  let summary = "removes ops that do nothing";
  let description = [{
    Ops that give their input back (identity, a cast or reshape to the same type,
    a transpose in order) and ops whose results nothing reads go. Their source
    names are listed in `fuse.eliminated` with the reason `identity` or `dead`.
    An op that a fusion rule names stays.

    Before:

    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = fuse.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      %1 = fuse.identity %0 : (tensor<4xf32>) -> tensor<4xf32>
      return %1 : tensor<4xf32>
    }
    ```

    After:

    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = fuse.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
}

#endif // FUSEDIALECT_TRANSFORMS_PASSES
