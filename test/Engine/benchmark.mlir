// RUN: fuse-run %s --benchmark --repeat=5 --warmup=1 --threads=1 --json=%t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// RUN: fuse-run %s --benchmark --repeat=1 --output=-  | FileCheck %s --check-prefixes=OUTPUT

// CHECK: min {{[0-9.]+}} us, median {{[0-9.]+}} us, p99 {{[0-9.]+}} us
// CHECK-SAME: (5 calls, 1 thread)
// JSON: "arena_bytes": 0
// JSON: "compile_s": {{0?\.?[0-9]}}
// JSON: "kernels": 1
// JSON: "median_us":
// JSON: "min_us":
// JSON: "model": "{{.*}}benchmark.mlir"
// JSON: "p99_us":
// JSON: "repeat": 5
// JSON: "threads": 1
// JSON: "warmup": 1
// JSON: "weights_bytes": 0
// OUTPUT: out=2xi32=
// OUTPUT: min

func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = fuse.add %x, %x : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
