// RUN: fuse-opt %s --split-input-file --fuse-infer-shapes --mlir-print-local-scope | FileCheck %s

// Static argument types make all that follows static, and the function's results.

// CHECK-LABEL: func.func @main
// CHECK-SAME: -> tensor<4xf32>
// CHECK-SAME: fuse.signature = {inputs = [{dims = ["N", ""], name = "x", type = tensor<?x8xf32>}], outputs = [{dims = ["N"], name = "y", type = tensor<?xf32>}]}
// CHECK: fuse.exp %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: fuse.add {{.*}} -> tensor<4x8xf32>
// CHECK: fuse.cast {{.*}} -> tensor<4x8xf16>
// CHECK: fuse.barrier %{{.*}} : tensor<4x8xf16>
// CHECK: fuse.cast {{.*}} -> tensor<4x8xf32>
// CHECK: fuse.softmax {{.*}} -> tensor<4x8xf32>
// CHECK: fuse.reduce_sum {{.*}} -> tensor<4xf32>
// CHECK: return %{{.*}} : tensor<4xf32>
func.func @main(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<?xf32> attributes {
    fuse.signature = {inputs = [{dims = ["N", ""], name = "x", type = tensor<?x8xf32>}],
                      outputs = [{dims = ["N"], name = "y", type = tensor<?xf32>}]}} {
  %0 = fuse.exp %x : (tensor<4x8xf32>) -> tensor<?x8xf32>
  %1 = fuse.add %0, %b : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x?xf32>
  %2 = fuse.cast %1 : (tensor<?x?xf32>) -> tensor<?x?xf16>
  %3 = fuse.barrier %2 : tensor<?x?xf16>
  %4 = fuse.cast %3 : (tensor<?x?xf16>) -> tensor<?x?xf32>
  %5 = fuse.softmax %4 axis = 1 : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %6 = fuse.reduce_sum %5 axes = [1] {keepdims = false} : (tensor<?x?xf32>) -> tensor<?xf32>
  return %6 : tensor<?xf32>
}

// -----

// A shape that is computed in the graph, static: the target becomes an attribute.

// CHECK-LABEL: func.func @reshape_to_computed_shape
// CHECK: fuse.reshape %{{.*}} {shape = array<i64: 2, 12>} : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
func.func @reshape_to_computed_shape(%x: tensor<2x3x4xf32>) -> tensor<?x?xf32> {
  %s = fuse.shape_of %x start = 0 end = 3 : (tensor<2x3x4xf32>) -> tensor<3xi64>
  %i = fuse.constant dense<0> : tensor<1xi64>
  %n = fuse.gather %s, %i axis = 0 : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %m = fuse.constant dense<12> : tensor<1xi64>
  %t = fuse.concat %n, %m axis = 0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %r = fuse.reshape %x, %t : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// One dynamic extent follows from the element count: no run-time target is left.

// CHECK-LABEL: func.func @reshape_with_one_dynamic_extent
// CHECK: fuse.reshape %arg0 {shape = array<i64: -1, 12, 2, 2>} : (tensor<?x12x4xf32>) -> tensor<?x12x2x2xf32>
func.func @reshape_with_one_dynamic_extent(%x: tensor<?x12x4xf32>) -> tensor<?x?x?x?xf32> {
  %n = fuse.shape_of %x start = 0 end = 1 : (tensor<?x12x4xf32>) -> tensor<1xi64>
  %m = fuse.constant dense<[12, 2, 2]> : tensor<3xi64>
  %t = fuse.concat %n, %m axis = 0 : (tensor<1xi64>, tensor<3xi64>) -> tensor<4xi64>
  %r = fuse.reshape %x, %t : (tensor<?x12x4xf32>, tensor<4xi64>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// -----

// A dynamic extent beside a -1 leaves both open.

// CHECK-LABEL: func.func @reshape_with_two_open_extents
// CHECK: fuse.reshape %arg0, %{{.*}} : (tensor<?x12x4xf32>, tensor<3xi64>) -> tensor<?x?x4xf32>
func.func @reshape_with_two_open_extents(%x: tensor<?x12x4xf32>) -> tensor<?x?x?xf32> {
  %n = fuse.shape_of %x start = 0 end = 1 : (tensor<?x12x4xf32>) -> tensor<1xi64>
  %m = fuse.constant dense<[-1, 4]> : tensor<2xi64>
  %t = fuse.concat %n, %m axis = 0 : (tensor<1xi64>, tensor<2xi64>) -> tensor<3xi64>
  %r = fuse.reshape %x, %t : (tensor<?x12x4xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// -----

// A zero in the target copies the input's extent.

// CHECK-LABEL: func.func @reshape_zero_copies
// CHECK: fuse.reshape %arg0 {shape = array<i64: 0, -1>} : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
func.func @reshape_zero_copies(%x: tensor<2x3x4xf32>) -> tensor<?x?xf32> {
  %t = fuse.constant dense<[0, -1]> : tensor<2xi64>
  %r = fuse.reshape %x, %t : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// The arithmetic that exporters write for expand: where(equal(shape, -1), ones, shape).

// CHECK-LABEL: func.func @expand_to_computed_shape
// CHECK: fuse.expand %arg0 {shape = array<i64: 1, 3>} : (tensor<2x1xf32>) -> tensor<2x3xf32>
func.func @expand_to_computed_shape(%x: tensor<2x1xf32>) -> tensor<?x?xf32> {
  %s = fuse.constant dense<[-1, 3]> : tensor<2xi64>
  %one = fuse.constant dense<1> : tensor<2xi64>
  %m = fuse.constant dense<-1> : tensor<i64>
  %c = fuse.equal %s, %m : (tensor<2xi64>, tensor<i64>) -> tensor<2xi1>
  %t = fuse.where %c, %one, %s : (tensor<2xi1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %r = fuse.expand %x, %t : (tensor<2x1xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// An extent of 1 takes the target's, which is not known; others stay.

// CHECK-LABEL: func.func @expand_to_partly_known_shape
// CHECK: fuse.expand %arg0, %{{.*}} : (tensor<2x1xf32>, tensor<2xi64>) -> tensor<2x?xf32>
func.func @expand_to_partly_known_shape(%x: tensor<2x1xf32>, %y: tensor<?xf32>) -> tensor<?x?xf32> {
  %one = fuse.constant dense<1> : tensor<1xi64>
  %n = fuse.shape_of %y start = 0 end = 1 : (tensor<?xf32>) -> tensor<1xi64>
  %t = fuse.concat %one, %n axis = 0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %r = fuse.expand %x, %t : (tensor<2x1xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// Shapes are refined through groups, nested ones too.

// CHECK-LABEL: func.func @groups
// CHECK: fuse.group "exp" elementwise(%{{.*}} = %{{.*}} : tensor<4xf32>) -> (tensor<4xf32>)
// CHECK: fuse.group "inner" elementwise(%{{.*}} = %{{.*}} : tensor<4xf32>) -> (tensor<4xf32>)
// CHECK: fuse.exp {{.*}} -> tensor<4xf32>
// CHECK: return %{{.*}} : tensor<4xf32>
func.func @groups(%x: tensor<4xf32>) -> tensor<?xf32> {
  %0 = fuse.neg %x : (tensor<4xf32>) -> tensor<?xf32>
  %1 = fuse.group "exp" elementwise(%a = %0 : tensor<?xf32>) -> (tensor<?xf32>) {
    %2 = fuse.group "inner" elementwise(%b = %a : tensor<?xf32>) -> (tensor<?xf32>) {
      %3 = fuse.exp %b : (tensor<?xf32>) -> tensor<?xf32>
      fuse.yield %3 : tensor<?xf32>
    }
    fuse.yield %2 : tensor<?xf32>
  }
  return %1 : tensor<?xf32>
}

// -----

// An op of another dialect keeps the operand type that it had, at any depth; a
// called function keeps its result types.

// CHECK-LABEL: func.func @callee
// CHECK-SAME: -> tensor<?xf32>
// CHECK: %[[R:.*]] = fuse.exp %{{.*}} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[C:.*]] = fuse.cast %[[R]] : (tensor<4xf32>) -> tensor<?xf32>
// CHECK: return %[[C]]
func.func @callee(%x: tensor<4xf32>) -> tensor<?xf32> {
  %0 = fuse.exp %x : (tensor<4xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @caller
// CHECK: %[[N:.*]] = fuse.neg
// CHECK: %[[C:.*]] = fuse.cast %[[N]] : (tensor<4xf32>) -> tensor<?xf32>
// CHECK: scf.yield %[[C]]
func.func @caller(%x: tensor<4xf32>, %c: i1) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = fuse.neg %x : (tensor<4xf32>) -> tensor<?xf32>
  %1 = scf.if %c -> tensor<?xf32> {
    scf.yield %0 : tensor<?xf32>
  } else {
    %2 = func.call @callee(%x) : (tensor<4xf32>) -> tensor<?xf32>
    scf.yield %2 : tensor<?xf32>
  }
  %3 = func.call @callee(%x) : (tensor<4xf32>) -> tensor<?xf32>
  return %1, %3 : tensor<?xf32>, tensor<?xf32>
}

// -----

// Empty tensors, rank 0 and several results.

// CHECK-LABEL: func.func @corners
// CHECK: fuse.split {{.*}} -> (tensor<0x2xf32>, tensor<0x1xf32>)
// CHECK: fuse.reduce_sum {{.*}} -> tensor<f32>
func.func @corners(%x: tensor<0x3xf32>) -> (tensor<?x1xf32>, tensor<f32>) {
  %0:2 = fuse.split %x axis = 1 sizes = [2, 1] : (tensor<0x3xf32>) -> (tensor<?x2xf32>, tensor<?x1xf32>)
  %1 = fuse.reduce_sum %0#0 axes = [0, 1] {keepdims = false} : (tensor<?x2xf32>) -> tensor<f32>
  return %0#1, %1 : tensor<?x1xf32>, tensor<f32>
}
