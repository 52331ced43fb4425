// RUN: fuse-opt --mlir-print-debuginfo=false %s --fuse-to-linalg | FileCheck %s

// CHECK-DAG: #[[FULL:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROW:.+]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[COLUMN:.+]] = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func @sum
// CHECK: %[[Z:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[E:.+]] = tensor.empty() : tensor<4xf32>
// CHECK: %[[I:.+]] = linalg.fill ins(%[[Z]] : f32) outs(%[[E]] : tensor<4xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[FULL]], #[[ROW]]], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<4x8xf32>) outs(%[[I]] : tensor<4xf32>)
// CHECK-NEXT: ^bb0(%[[X:.+]]: f32, %[[A:.+]]: f32):
// CHECK-NEXT: %[[R:.+]] = arith.addf %[[A]], %[[X]] fastmath<contract> : f32
// CHECK-NEXT: linalg.yield %[[R]]
func.func @sum(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %0 = fuse.reduce_sum %x axes = [1] {keepdims = false} : (tensor<4x8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @keepdims
// CHECK: %[[R:.+]] = linalg.generic {indexing_maps = [#[[FULL]], #[[COLUMN]]], iterator_types = ["reduction", "parallel"]}
// CHECK: tensor.expand_shape %[[R]] {{\[\[}}0, 1]] output_shape [1, 8] : tensor<8xf32> into tensor<1x8xf32>
func.func @keepdims(%x: tensor<4x8xf32>) -> tensor<1x8xf32> {
  %0 = fuse.reduce_max %x axes = [0] : (tensor<4x8xf32>) -> tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

// CHECK-LABEL: func @all_dims
// CHECK: iterator_types = ["reduction", "reduction"]
// CHECK: tensor.expand_shape %{{.+}} [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
func.func @all_dims(%x: tensor<4x8xf32>) -> tensor<1x1xf32> {
  %0 = fuse.reduce_prod %x axes = [0, 1] : (tensor<4x8xf32>) -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}

// Each element is reduced alone.
// CHECK-LABEL: func @no_dims
// CHECK-NOT: linalg.fill
// CHECK: iterator_types = ["parallel", "parallel"]
// CHECK: math.absf
func.func @no_dims(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = fuse.reduce_l1 %x axes = [] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func @half_accumulates_in_f32
// CHECK: arith.extf
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%{{.+}} : tensor<4x8xf32>) outs(%{{.+}} : tensor<4xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.addf
// CHECK-NEXT: linalg.yield
// CHECK: arith.constant 8.000000e+00 : f32
// CHECK: arith.divf
// CHECK: arith.truncf
func.func @half_accumulates_in_f32(%x: tensor<4x8xbf16>) -> tensor<4xbf16> {
  %0 = fuse.reduce_mean %x axes = [1] {keepdims = false} : (tensor<4x8xbf16>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// CHECK-LABEL: func @unsigned_min
// CHECK: arith.constant -1 : i8
// CHECK: arith.minui
func.func @unsigned_min(%x: tensor<4x8xui8>) -> tensor<4xui8> {
  %0 = fuse.reduce_min %x axes = [1] {keepdims = false} : (tensor<4x8xui8>) -> tensor<4xui8>
  return %0 : tensor<4xui8>
}

// CHECK-LABEL: func @any
// CHECK: arith.constant false
// CHECK: arith.ori
func.func @any(%x: tensor<4x8xi1>) -> tensor<4xi1> {
  %0 = fuse.reduce_max %x axes = [1] {keepdims = false} : (tensor<4x8xi1>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// CHECK-LABEL: func @dynamic_mean
// CHECK: %[[D:.+]] = tensor.dim %arg0
// CHECK: arith.index_cast %[[D]]
// CHECK: arith.sitofp
// CHECK: arith.divf
func.func @dynamic_mean(%x: tensor<4x?xf32>) -> tensor<4xf32> {
  %0 = fuse.reduce_mean %x axes = [1] {keepdims = false} : (tensor<4x?xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @argmax
// CHECK-DAG: %[[V:.+]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[I:.+]] = arith.constant 9223372036854775807 : i64
// CHECK-DAG: %[[VF:.+]] = linalg.fill ins(%[[V]]
// CHECK-DAG: %[[IF:.+]] = linalg.fill ins(%[[I]]
// CHECK: %[[R:.+]]:2 = linalg.generic {{.*}} ins(%arg0 : tensor<4x8xf32>) outs(%[[VF]], %[[IF]]
// CHECK: linalg.index 1
// CHECK: return %[[R]]#1
func.func @argmax(%x: tensor<4x8xf32>) -> tensor<4xi64> {
  %0 = fuse.argmax %x axis = 1 {keepdims = false} : (tensor<4x8xf32>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}
