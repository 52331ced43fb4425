//===- Passes.td - Conversions out of the fuse dialect ---------------------===//

#ifndef FUSE_CONVERSION_PASSES
#define FUSE_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def ExpandMathPass : Pass<"fuse-expand-math"> {
  let summary = "expand math functions into vector arithmetic";
  let description = [{
    Rewrites the functions of the `math` dialect, and the `arith` ops that have
    no vector instruction or that trap, into arithmetic on the type of their
    operands: scalars or vectors, f32 or f64 (f16 and bf16 are computed in f32).
    The result calls no library function and is never scalarised.

    Results are within 4 units in the last place over the whole range, and
    within 2 for `exp`, `log`, `pow` and their relatives; infinities, NaN,
    denormals and the sign of zero are those of C99. Integer division is total:
    `x / 0` is 0, `x % 0` is 0, and the smallest integer divided by -1 is
    itself.

    ```mlir
    %y = math.exp2 %x : vector<4xf32>
    ```
    becomes

    ```mlir
    %z = arith.addf %x, %magic : vector<4xf32>   // round to an integer
    %n = arith.subf %z, %magic : vector<4xf32>
    %r = arith.subf %x, %n : vector<4xf32>
    ...                                          // polynomial in %r, times 2^n
    ```

    Ops with direct instructions stay: `math.sqrt`, `math.fma`, `math.absf`,
    `math.copysign`, integer bit counts, and the roundings if `has-round`.
    Ops on tensors are left alone.
  }];
  let options = [
    Option<"hasFma", "has-fma", "bool", /*default=*/"true",
           "The target multiplies and adds in one instruction">,
    Option<"hasRound", "has-round", "bool", /*default=*/"true",
           "The target rounds to an integer in one instruction (SSE4.1)">,
    Option<"hasF16C", "has-f16c", "bool", /*default=*/"true",
           "The target converts between f16 and f32 in one instruction">,
    Option<"avx512", "avx512", "bool", /*default=*/"false",
           "Use AVX-512 intrinsics (F, BW, DQ, VL) on vectors of 512 bits">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

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

def VectorizeKernels : Pass<"fuse-vectorize-kernels", "::mlir::ModuleOp"> {
  let summary = "kernels on tensors become loops over registers";
  let description = [{
    Replaces each function with `fuse.kernel` whose body is linalg on tensors by a
    function on buffers: loops over the kernel's iteration domain whose innermost
    one handles `unroll` registers at a time, with a mask in the last register of
    a row only. Its two last arguments are the range of parallel iterations to
    compute; `fuse.iterations` and `fuse.grain` say how many there are and how
    many are worth a task.

    Everything that the code depends on by number is in the kernel's `fuse.config`.

    Before:

    ```mlir
    func.func private @exp(%x: tensor<4096xf32>, %out: tensor<4096xf32>) -> tensor<4096xf32> attributes {fuse.kernel, …} {
      %0 = linalg.generic … ins(%x) outs(%out) { … math.exp … }
      return %0 : tensor<4096xf32>
    }
    ```

    After:

    ```mlir
    func.func private @exp(%x: memref<4096xf32>, %out: memref<4096xf32>, %begin: index, %end: index) attributes {fuse.kernel, fuse.iterations = 1, …} {
      scf.for … {
        %v = vector.load %x[%i] : memref<4096xf32>, vector<16xf32>
        %e = math.exp %v : vector<16xf32>
        vector.store %e, %out[%i] : memref<4096xf32>, vector<16xf32>
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def PlanMemory : Pass<"fuse-plan-memory", "::mlir::ModuleOp"> {
  let summary = "intermediate tensors get places in one arena";
  let description = [{
    Rewrites the entry functions, whose bodies launch kernels on tensors, to
    buffers: arguments for the weights, the arena, the inputs and the outputs.
    Intermediates that live at different times share memory, placed largest first
    at the lowest offset that is free while they live (Pisarchyk and Lee,
    "Efficient Memory Management for Deep Neural Net Inference", 2020). Constants
    are gathered in one blob, the module attribute `fuse.weights`;
    `fuse.arena_bytes` is the arena's size. All offsets are multiples of 64.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def LowerLaunches : Pass<"fuse-lower-launches", "::mlir::ModuleOp"> {
  let summary = "kernels and entries get their binary interface";
  let description = [{
    Kernel functions take bare pointers without aliases and 64-bit bounds; entry
    functions become `fuse_entry_NAME` with the interface of FuseRuntime.h; each
    `fuse.launch` becomes a call, or, for kernels with enough iterations, a call
    of `fuse_rt_parallel_for` with a task that unpacks the kernel's arguments.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

#endif // FUSE_CONVERSION_PASSES
