// RUN: fuse-opt --mlir-print-debuginfo=false %s --fuse-to-linalg | FileCheck %s

// CHECK-DAG: #[[FULL:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[COLUMN:.+]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-DAG: #[[TRAILING:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[SCALAR:.+]] = affine_map<(d0, d1) -> ()>

// CHECK-LABEL: func @same_shape
// CHECK: %[[E:.+]] = tensor.empty() : tensor<4x8xf32>
// CHECK: linalg.generic {indexing_maps = [#[[FULL]], #[[FULL]]], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME: ins(%arg0 : tensor<4x8xf32>) outs(%[[E]] : tensor<4x8xf32>)
// CHECK: %[[R:.+]] = math.exp %{{.+}} fastmath<contract> : f32
// CHECK: linalg.yield %[[R]] : f32
func.func @same_shape(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = fuse.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func @broadcast
// CHECK: linalg.generic {indexing_maps = [#[[COLUMN]], #[[TRAILING]], #[[SCALAR]], #[[FULL]]]
func.func @broadcast(%c: tensor<4x1xi1>, %x: tensor<8xf32>, %y: tensor<f32>) -> tensor<4x8xf32> {
  %0 = fuse.where %c, %x, %y : (tensor<4x1xi1>, tensor<8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// An extent of 1 that nothing broadcasts is read by its dimension.
// CHECK-LABEL: func @unit_extent
// CHECK: linalg.generic {indexing_maps = [#[[FULL]], #[[FULL]], #[[FULL]]]
func.func @unit_extent(%x: tensor<4x1xf32>, %y: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %0 = fuse.add %x, %y : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

// The extent of the result is the one that is known not to be 1.
// CHECK-LABEL: func @dynamic_extent
// CHECK: %[[C0:.+]] = arith.constant 0 : index
// CHECK: %[[DIM:.+]] = tensor.dim %arg0, %[[C0]]
// CHECK: tensor.empty(%[[DIM]]) : tensor<?x8xf32>
// CHECK: linalg.generic {indexing_maps = [#[[COLUMN]], #[[TRAILING]], #[[FULL]]]
func.func @dynamic_extent(%x: tensor<?x1xf32>, %y: tensor<8xf32>) -> tensor<?x8xf32> {
  %0 = fuse.mul %x, %y : (tensor<?x1xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: func @splat_constant
// CHECK-NOT: arith.constant dense
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%[[X:.+]]: f32,
// CHECK-NEXT: %[[C:.+]] = arith.constant 2.500000e+00 : f32
// CHECK-NEXT: arith.addf %[[X]], %[[C]] fastmath<contract> : f32
func.func @splat_constant(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = fuse.constant dense<2.5> : tensor<f32>
  %0 = fuse.add %x, %c : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func @half_precision
// CHECK: ^bb0(%[[X:.+]]: f16, %[[Y:.+]]: f16,
// CHECK-NEXT: %[[XW:.+]] = arith.extf %[[X]] : f16 to f32
// CHECK-NEXT: %[[YW:.+]] = arith.extf %[[Y]] : f16 to f32
// CHECK-NEXT: %[[R:.+]] = arith.divf %[[XW]], %[[YW]] fastmath<contract> : f32
// CHECK-NEXT: %[[N:.+]] = arith.truncf %[[R]] : f32 to f16
// CHECK-NEXT: linalg.yield %[[N]] : f16
func.func @half_precision(%x: tensor<8xf16>, %y: tensor<8xf16>) -> tensor<8xf16> {
  %0 = fuse.div %x, %y : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  return %0 : tensor<8xf16>
}

// CHECK-LABEL: func @nan_propagates
// CHECK: arith.maximumf
func.func @nan_propagates(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = fuse.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func @nan_is_not_equal
// CHECK: arith.cmpf oeq
func.func @nan_is_not_equal(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xi1> {
  %0 = fuse.equal %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  return %0 : tensor<8xi1>
}

// CHECK-LABEL: func @guarded_division
// CHECK: ^bb0(%[[X:.+]]: i32, %[[Y:.+]]: i32,
// CHECK: %[[UNSAFE:.+]] = arith.ori
// CHECK: %[[D:.+]] = arith.select %[[UNSAFE]], %{{.+}}, %[[Y]] : i32
// CHECK: %[[Q:.+]] = arith.divsi %[[X]], %[[D]] : i32
// CHECK: arith.select %{{.+}}, %{{.+}}, %[[Q]] : i32
func.func @guarded_division(%x: tensor<8xi32>, %y: tensor<8xi32>) -> tensor<8xi32> {
  %0 = fuse.div %x, %y : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// A constant divisor needs no guard.
// CHECK-LABEL: func @constant_divisor
// CHECK: ^bb0
// CHECK-NEXT: arith.constant 3 : i32
// CHECK-NEXT: arith.divsi
// CHECK-NEXT: linalg.yield
func.func @constant_divisor(%x: tensor<8xi32>) -> tensor<8xi32> {
  %c = fuse.constant dense<3> : tensor<i32>
  %0 = fuse.div %x, %c : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// CHECK-LABEL: func @square
// CHECK: ^bb0(%[[X:.+]]: f32,
// CHECK: arith.mulf %[[X]], %[[X]]
// CHECK-NOT: math.powf
func.func @square(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c = fuse.constant dense<2.0> : tensor<f32>
  %0 = fuse.pow %x, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func @saturating_cast
// CHECK: ^bb0(%[[X:.+]]: f32,
// CHECK: %[[R:.+]] = arith.fptosi %[[X]] : f32 to i8
// CHECK: arith.cmpf oge, %[[X]]
// CHECK: arith.cmpf olt, %[[X]]
// CHECK: arith.cmpf uno, %[[X]], %[[X]]
func.func @saturating_cast(%x: tensor<8xf32>) -> tensor<8xi8> {
  %0 = fuse.cast %x : (tensor<8xf32>) -> tensor<8xi8>
  return %0 : tensor<8xi8>
}

// The factor of each channel is computed once a channel.
// CHECK-LABEL: func @batch_norm
// CHECK: %[[F:.+]] = linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%arg1, %arg4 : tensor<3xf32>, tensor<3xf32>)
// CHECK: math.sqrt
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg3, %[[F]], %arg2
func.func @batch_norm(%x: tensor<2x3x4x4xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>) -> tensor<2x3x4x4xf32> {
  %0 = fuse.batch_norm %x, %s, %b, %m, %v : (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x4xf32>
  return %0 : tensor<2x3x4x4xf32>
}

// CHECK-LABEL: func @identity
// CHECK-NEXT: return %arg0
func.func @identity(%x: tensor<8xui8>) -> tensor<8xui8> {
  %0 = fuse.identity %x : (tensor<8xui8>) -> tensor<8xui8>
  return %0 : tensor<8xui8>
}
