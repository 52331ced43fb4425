// RUN: fuse-opt %s --split-input-file --fuse-fold-constants | FileCheck %s

// What folds away is listed, a constant of the source model too.

// CHECK: module attributes {fuse.eliminated = [
// CHECK-SAME: {op = "mul_1", reason = "constant"}
// CHECK-SAME: {op = "weights", reason = "constant"}
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[C:.*]] = fuse.constant dense<[2, 4, 6]> : tensor<3xi64>
// CHECK-NEXT: return %[[C]]
func.func @main() -> tensor<3xi64> {
  %0 = fuse.constant dense<[1, 2, 3]> : tensor<3xi64> loc("weights")
  %1 = fuse.constant dense<2> : tensor<i64>
  %2 = fuse.mul %0, %1 : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64> loc("mul_1")
  return %2 : tensor<3xi64>
}

// -----

// Shape arithmetic of a static shape.

// CHECK-LABEL: func.func @shape_arithmetic
// CHECK-NEXT: fuse.constant dense<[24, 5]> : tensor<2xi64>
// CHECK-NEXT: return
func.func @shape_arithmetic(%x: tensor<4x6x5xf32>) -> tensor<2xi64> {
  %s = fuse.shape_of %x start = 0 end = 3 : (tensor<4x6x5xf32>) -> tensor<3xi64>
  %i0 = fuse.constant dense<0> : tensor<1xi64>
  %i1 = fuse.constant dense<1> : tensor<1xi64>
  %a = fuse.gather %s, %i0 axis = 0 : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %b = fuse.gather %s, %i1 axis = 0 : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %m = fuse.mul %a, %b : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %f = fuse.cast %m : (tensor<1xi64>) -> tensor<1xf32>
  %c = fuse.ceil %f : (tensor<1xf32>) -> tensor<1xf32>
  %n = fuse.cast %c : (tensor<1xf32>) -> tensor<1xi64>
  %l = fuse.slice %s axes = [0] starts = [-1] ends = [9223372036854775807] steps = [1] : (tensor<3xi64>) -> tensor<1xi64>
  %t = fuse.concat %n, %l axis = 0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  return %t : tensor<2xi64>
}

// -----

// Each op rounds to its own type: 2049 is not an f16.

// CHECK-LABEL: func.func @rounds_every_op
// CHECK: fuse.constant dense<0.000000e+00> : tensor<f16>
func.func @rounds_every_op() -> tensor<f16> {
  %0 = fuse.constant dense<2048.0> : tensor<f16>
  %1 = fuse.constant dense<1.0> : tensor<f16>
  %2 = fuse.add %0, %1 : (tensor<f16>, tensor<f16>) -> tensor<f16>
  %3 = fuse.sub %2, %0 : (tensor<f16>, tensor<f16>) -> tensor<f16>
  return %3 : tensor<f16>
}

// -----

// A constant that only grows stays small; one that a person would call small
// folds.

// CHECK-LABEL: func.func @growth
// CHECK-NEXT: %[[C:.*]] = fuse.constant dense<1.000000e+00> : tensor<1x1024xf32>
// CHECK-NEXT: fuse.constant dense<1.000000e+00> : tensor<2x1024xf32>
// CHECK-NEXT: fuse.tile %[[C]] repeats = [3, 1]
// CHECK-NEXT: fuse.constant dense<2.000000e+00> : tensor<8xf32>
func.func @growth() -> (tensor<2x1024xf32>, tensor<3x1024xf32>, tensor<8xf32>) {
  %0 = fuse.constant dense<1.0> : tensor<1x1024xf32>
  %1 = fuse.tile %0 repeats = [2, 1] : (tensor<1x1024xf32>) -> tensor<2x1024xf32>
  %2 = fuse.tile %0 repeats = [3, 1] : (tensor<1x1024xf32>) -> tensor<3x1024xf32>
  %3 = fuse.constant dense<2.0> : tensor<1xf32>
  %4 = fuse.expand %3 {shape = array<i64: 8>} : (tensor<1xf32>) -> tensor<8xf32>
  return %1, %2, %4 : tensor<2x1024xf32>, tensor<3x1024xf32>, tensor<8xf32>
}

// -----

// Steps that double do not add up to more: the limit counts from the constants.

// CHECK-LABEL: func.func @growth_in_steps
// CHECK: %[[T:.*]] = fuse.constant {{.*}} : tensor<2x1024xf32>
// CHECK: fuse.tile %[[T]] repeats = [2, 1]
func.func @growth_in_steps() -> tensor<4x1024xf32> {
  %0 = fuse.constant dense<1.0> : tensor<1x1024xf32>
  %1 = fuse.tile %0 repeats = [2, 1] : (tensor<1x1024xf32>) -> tensor<2x1024xf32>
  %2 = fuse.tile %1 repeats = [2, 1] : (tensor<2x1024xf32>) -> tensor<4x1024xf32>
  return %2 : tensor<4x1024xf32>
}

// -----

// More than 1 KiB becomes a resource; reshaping one copies nothing.

// CHECK-LABEL: func.func @resources
// CHECK: fuse.constant dense_resource<constant> : tensor<32x32xf32>
// CHECK: fuse.constant dense_resource<weights> : tensor<2x2xf32>
func.func @resources() -> (tensor<32x32xf32>, tensor<2x2xf32>) {
  %0 = fuse.constant dense_resource<row> : tensor<1x32xf32>
  %c = fuse.constant dense_resource<row> : tensor<32x1xf32>
  %1 = fuse.add %0, %c : (tensor<1x32xf32>, tensor<32x1xf32>) -> tensor<32x32xf32>
  %2 = fuse.constant dense_resource<weights> : tensor<4xf32>
  %3 = fuse.reshape %2 {shape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
  return %1, %3 : tensor<32x32xf32>, tensor<2x2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      row: "0x04000000000000000000803F0000004000004040000080400000A0400000C0400000E0400000004100001041000020410000304100004041000050410000604100007041000080410000884100009041000098410000A0410000A8410000B0410000B8410000C0410000C8410000D0410000D8410000E0410000E8410000F0410000F841",
      weights: "0x040000000000803F000000400000404000008040"
    }
  }
#-}

// -----

// What depends on an argument, a barrier, a group or a dynamic shape stays.

// CHECK-LABEL: func.func @stays
// CHECK-NEXT: fuse.constant
// CHECK-NEXT: fuse.add
// CHECK-NEXT: fuse.barrier
// CHECK-NEXT: fuse.exp
// CHECK-NEXT: fuse.group
// CHECK-NEXT: fuse.constant
// CHECK-NEXT: fuse.exp
// CHECK: fuse.shape_of
func.func @stays(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<f32>, tensor<f32>, tensor<1xi64>) {
  %0 = fuse.constant dense<1.0> : tensor<f32>
  %1 = fuse.add %x, %0 : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %2 = fuse.barrier %0 : tensor<f32>
  %3 = fuse.exp %2 : (tensor<f32>) -> tensor<f32>
  %4 = fuse.group "exp" elementwise() -> (tensor<f32>) {
    %5 = fuse.constant dense<1.0> : tensor<f32>
    %6 = fuse.exp %5 : (tensor<f32>) -> tensor<f32>
    fuse.yield %6 : tensor<f32>
  }
  %7 = fuse.shape_of %x start = 0 end = 1 : (tensor<?xf32>) -> tensor<1xi64>
  return %1, %3, %4, %7 : tensor<?xf32>, tensor<f32>, tensor<f32>, tensor<1xi64>
}

// -----

// A value that a nested region reads is put there.

// CHECK-LABEL: func.func @read_in_region
// CHECK: %[[C:.*]] = fuse.constant dense<-1.000000e+00> : tensor<f32>
// CHECK: scf.if
// CHECK: fuse.add %{{.*}}, %[[C]]
func.func @read_in_region(%c: i1, %x: tensor<f32>) -> tensor<f32> {
  %0 = fuse.constant dense<1.0> : tensor<f32>
  %1 = fuse.neg %0 : (tensor<f32>) -> tensor<f32>
  %2 = scf.if %c -> tensor<f32> {
    %3 = fuse.add %x, %1 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    scf.yield %3 : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  }
  return %2 : tensor<f32>
}
