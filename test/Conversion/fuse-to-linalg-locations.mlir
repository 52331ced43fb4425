// RUN: fuse-opt --mlir-print-debuginfo=false %s --fuse-to-linalg --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// Each op, and each op of its body, has the location of the source op.

// CHECK-LABEL: func @location
// CHECK: linalg.generic
// CHECK: math.exp {{.*}} loc("Exp_1")
// CHECK: } -> tensor<8xf32> loc("Exp_1")
// CHECK: linalg.generic
// CHECK: arith.addf {{.*}} loc("Sum_2")
// CHECK: } -> tensor<f32> loc("Sum_2")
// CHECK: linalg.generic
// CHECK: arith.divf {{.*}} loc("Sum_2")
// CHECK: } -> tensor<f32> loc("Sum_2")
func.func @location(%x: tensor<8xf32>) -> tensor<f32> {
  %0 = fuse.exp %x : (tensor<8xf32>) -> tensor<8xf32> loc("Exp_1")
  %1 = fuse.reduce_mean %0 axes = [0] {keepdims = false} : (tensor<8xf32>) -> tensor<f32> loc("Sum_2")
  return %1 : tensor<f32>
}
