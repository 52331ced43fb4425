// RUN: fuse-opt --mlir-print-debuginfo=false %s --fuse-to-linalg | FileCheck %s

// CHECK-DAG: #[[FULL:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[SWAP:.+]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[COLUMN:.+]] = affine_map<(d0, d1) -> (d0, 0)>

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @collapse
// CHECK: tensor.collapse_shape %arg0 {{\[\[}}0], [1, 2]] : tensor<2x3x4xf32> into tensor<2x12xf32>
func.func @collapse(%x: tensor<2x3x4xf32>) -> tensor<2x12xf32> {
  %0 = fuse.reshape %x {shape = array<i64: 2, 12>} : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  return %0 : tensor<2x12xf32>
}

// CHECK-LABEL: func @expand_dims
// CHECK: tensor.expand_shape %arg0 {{\[\[}}0, 1], [2]] output_shape [2, 3, 4] : tensor<6x4xf32> into tensor<2x3x4xf32>
func.func @expand_dims(%x: tensor<6x4xf32>) -> tensor<2x3x4xf32> {
  %0 = fuse.reshape %x {shape = array<i64: 2, 3, 4>} : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// Both ways, through the finest common shape.
// CHECK-LABEL: func @regroup
// CHECK: %[[C:.+]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>
// CHECK: tensor.expand_shape %[[C]] {{\[\[}}0], [1, 2]] output_shape [6, 2, 2] : tensor<6x4xf32> into tensor<6x2x2xf32>
func.func @regroup(%x: tensor<2x3x4xf32>) -> tensor<6x2x2xf32> {
  %0 = fuse.reshape %x {shape = array<i64: 6, 2, 2>} : (tensor<2x3x4xf32>) -> tensor<6x2x2xf32>
  return %0 : tensor<6x2x2xf32>
}

// CHECK-LABEL: func @through_rank_0
// CHECK: %[[S:.+]] = tensor.collapse_shape %arg0 [] : tensor<1x1xf32> into tensor<f32>
// CHECK: tensor.expand_shape %[[S]] [] output_shape [1, 1, 1] : tensor<f32> into tensor<1x1x1xf32>
func.func @through_rank_0(%x: tensor<1x1xf32>) -> tensor<1x1x1xf32> {
  %0 = fuse.reshape %x {shape = array<i64>} : (tensor<1x1xf32>) -> tensor<f32>
  %1 = fuse.reshape %0 {shape = array<i64: 1, 1, 1>} : (tensor<f32>) -> tensor<1x1x1xf32>
  return %1 : tensor<1x1x1xf32>
}

// CHECK-LABEL: func @no_elements
// CHECK: tensor.empty() : tensor<3x0xf32>
// CHECK-NOT: shape
// CHECK: return
func.func @no_elements(%x: tensor<0x4xf32>) -> tensor<3x0xf32> {
  %0 = fuse.reshape %x {shape = array<i64: 3, 0>, allow_zero} : (tensor<0x4xf32>) -> tensor<3x0xf32>
  return %0 : tensor<3x0xf32>
}

// Static extents at either end match, whatever the dynamic one is.
// CHECK-LABEL: func @dynamic_batch
// CHECK-NOT: expand_shape
// CHECK: tensor.collapse_shape %arg0 {{\[\[}}0], [1, 2]] : tensor<?x3x4xf32> into tensor<?x12xf32>
// CHECK-NOT: expand_shape
func.func @dynamic_batch(%x: tensor<?x3x4xf32>) -> tensor<?x12xf32> {
  %0 = fuse.reshape %x {shape = array<i64: -1, 12>} : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
  return %0 : tensor<?x12xf32>
}

// A 0 copies the extent, which is then known to be equal.
// CHECK-LABEL: func @copied_extent
// CHECK: %[[D:.+]] = tensor.dim %arg0
// CHECK: tensor.expand_shape %arg0 {{\[\[}}0], [1, 2]] output_shape [%{{.+}}, 3, 4] : tensor<?x12xf32> into tensor<?x3x4xf32>
func.func @copied_extent(%x: tensor<?x12xf32>) -> tensor<?x3x4xf32> {
  %0 = fuse.reshape %x {shape = array<i64: 0, 3, 4>} : (tensor<?x12xf32>) -> tensor<?x3x4xf32>
  return %0 : tensor<?x3x4xf32>
}

// CHECK-LABEL: func @squeeze
// CHECK: tensor.collapse_shape %arg0 {{\[\[}}0, 1, 2], [3, 4]] : tensor<1x4x1x8x1xf32> into tensor<4x8xf32>
func.func @squeeze(%x: tensor<1x4x1x8x1xf32>) -> tensor<4x8xf32> {
  %0 = fuse.squeeze %x axes = [0, 2, 4] : (tensor<1x4x1x8x1xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func @unsqueeze
// CHECK: tensor.expand_shape %arg0 {{\[\[}}0, 1], [2, 3]] output_shape [1, %{{.+}}, 8, 1] : tensor<?x8xf32> into tensor<1x?x8x1xf32>
func.func @unsqueeze(%x: tensor<?x8xf32>) -> tensor<1x?x8x1xf32> {
  %0 = fuse.unsqueeze %x axes = [0, 3] : (tensor<?x8xf32>) -> tensor<1x?x8x1xf32>
  return %0 : tensor<1x?x8x1xf32>
}

//===----------------------------------------------------------------------===//
// Affine maps and blocks
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @transpose
// CHECK: linalg.generic {indexing_maps = [#[[SWAP]], #[[FULL]]], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<4x8xf32>)
func.func @transpose(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %0 = fuse.transpose %x permutation = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func @expand
// CHECK: linalg.generic {indexing_maps = [#[[COLUMN]], #[[FULL]]]
func.func @expand(%x: tensor<4x1xf32>) -> tensor<4x8xf32> {
  %0 = fuse.expand %x {shape = array<i64: 4, 8>} : (tensor<4x1xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// A dynamic extent may be the 1 that is repeated.
// CHECK-LABEL: func @expand_dynamic
// CHECK: %[[ONE:.+]] = arith.cmpi eq, %{{.+}}, %{{.+}} : index
// CHECK: %[[P:.+]] = arith.select %[[ONE]]
// CHECK: tensor.extract %arg0[%[[P]]]
func.func @expand_dynamic(%x: tensor<?xf32>) -> tensor<8xf32> {
  %0 = fuse.expand %x {shape = array<i64: 8>} : (tensor<?xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func @tile
// CHECK: %[[G:.+]] = linalg.generic {{.*}} ins(%arg0 : tensor<4x8xf32>) outs(%{{.+}} : tensor<4x3x8xf32>)
// CHECK: tensor.collapse_shape %[[G]] {{\[\[}}0], [1, 2]] : tensor<4x3x8xf32> into tensor<4x24xf32>
func.func @tile(%x: tensor<4x8xf32>) -> tensor<4x24xf32> {
  %0 = fuse.tile %x repeats = [1, 3] : (tensor<4x8xf32>) -> tensor<4x24xf32>
  return %0 : tensor<4x24xf32>
}

// CHECK-LABEL: func @concat
// CHECK: tensor.concat dim(1) %arg0, %arg1 : (tensor<4x3xi8>, tensor<4x?xi8>) -> tensor<4x?xi8>
func.func @concat(%x: tensor<4x3xui8>, %y: tensor<4x?xui8>) -> tensor<4x?xui8> {
  %0 = fuse.concat %x, %y axis = 1 : (tensor<4x3xui8>, tensor<4x?xui8>) -> tensor<4x?xui8>
  return %0 : tensor<4x?xui8>
}

// CHECK-LABEL: func @split
// CHECK: tensor.extract_slice %arg0[0, 0] [4, 2] [1, 1]
// CHECK: tensor.empty() : tensor<4x0xf32>
// CHECK: tensor.extract_slice %arg0[0, 2] [4, 6] [1, 1]
func.func @split(%x: tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x0xf32>, tensor<4x6xf32>) {
  %0:3 = fuse.split %x axis = 1 sizes = [2, 0, 6] : (tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x0xf32>, tensor<4x6xf32>)
  return %0#0, %0#1, %0#2 : tensor<4x2xf32>, tensor<4x0xf32>, tensor<4x6xf32>
}

// CHECK-LABEL: func @shape_of
// CHECK: %[[D:.+]] = tensor.dim %arg0
// CHECK: %[[N:.+]] = arith.index_cast %[[D]] : index to i64
// CHECK: tensor.from_elements %{{.+}}, %[[N]] : tensor<2xi64>
func.func @shape_of(%x: tensor<4x?x8xf32>) -> tensor<2xi64> {
  %0 = fuse.shape_of %x start = 0 end = 2 : (tensor<4x?x8xf32>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

//===----------------------------------------------------------------------===//
// Computed positions
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @slice
// CHECK: tensor.extract_slice %arg0[0, 2] [4, 2] [1, 3] : tensor<4x8xf32> to tensor<4x2xf32>
func.func @slice(%x: tensor<4x8xf32>) -> tensor<4x2xf32> {
  %0 = fuse.slice %x axes = [1] starts = [2] ends = [8] steps = [3] : (tensor<4x8xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// CHECK-LABEL: func @slice_dynamic
// CHECK: %[[D:.+]] = tensor.dim %arg0
// CHECK: arith.addi
// CHECK: tensor.extract_slice %arg0[%{{.+}}] [%{{.+}}] [1] : tensor<?xf32> to tensor<?xf32>
func.func @slice_dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = fuse.slice %x axes = [0] starts = [-3] ends = [9223372036854775807] steps = [1] : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func @slice_backwards
// CHECK: %[[I:.+]] = linalg.index 0
// CHECK: %[[M:.+]] = arith.muli %[[I]], %{{.+}} : index
// CHECK: %[[P:.+]] = arith.addi %[[M]], %{{.+}} : index
// CHECK: tensor.extract %arg0[%[[P]]]
func.func @slice_backwards(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = fuse.slice %x axes = [0] starts = [-1] ends = [-9] steps = [-1] : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func @pad_constant
// CHECK: %[[Z:.+]] = arith.constant 1.500000e+00 : f32
// CHECK: tensor.pad %arg0 low[0, 1] high[0, 2]
// CHECK: tensor.yield %[[Z]]
func.func @pad_constant(%x: tensor<4x8xf32>) -> tensor<4x11xf32> {
  %v = fuse.constant dense<1.5> : tensor<f32>
  %0 = fuse.pad %x, %v low = [0, 1] high = [0, 2] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x11xf32>
  return %0 : tensor<4x11xf32>
}

// CHECK-LABEL: func @pad_runtime_value
// CHECK: linalg.generic {{.*}} ins(%arg1 : tensor<f32>)
// CHECK: ^bb0(%[[V:.+]]: f32,
// CHECK: %[[IN:.+]] = arith.cmpi ult
// CHECK: %[[X:.+]] = tensor.extract %arg0
// CHECK: arith.select %[[IN]], %[[X]], %[[V]]
func.func @pad_runtime_value(%x: tensor<8xf32>, %v: tensor<f32>) -> tensor<11xf32> {
  %0 = fuse.pad %x, %v low = [1] high = [2] : (tensor<8xf32>, tensor<f32>) -> tensor<11xf32>
  return %0 : tensor<11xf32>
}

// CHECK-LABEL: func @pad_negative
// CHECK: %[[S:.+]] = tensor.extract_slice %arg0[3] [5] [1]
// CHECK: tensor.pad %[[S]] low[0] high[1]
func.func @pad_negative(%x: tensor<8xf32>) -> tensor<6xf32> {
  %0 = fuse.pad %x low = [-3] high = [1] : (tensor<8xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// CHECK-LABEL: func @pad_edge
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: tensor.extract %arg0
func.func @pad_edge(%x: tensor<8xf32>) -> tensor<11xf32> {
  %0 = fuse.pad %x low = [1] high = [2] {mode = #fuse.pad_mode<edge>} : (tensor<8xf32>) -> tensor<11xf32>
  return %0 : tensor<11xf32>
}

// Negative indices count from the end, and all are clamped.
// CHECK-LABEL: func @gather
// CHECK: linalg.generic {{.*}} ins(%arg1 : tensor<3xi32>)
// CHECK: ^bb0(%[[I:.+]]: i32,
// CHECK: %[[N:.+]] = arith.index_cast %[[I]] : i32 to index
// CHECK: arith.cmpi slt, %[[N]]
// CHECK: arith.select
// CHECK: arith.maxsi
// CHECK: %[[P:.+]] = arith.minsi
// CHECK: %[[J:.+]] = linalg.index 1
// CHECK: tensor.extract %arg0[%[[P]], %[[J]]]
func.func @gather(%x: tensor<4x8xf32>, %i: tensor<3xi32>) -> tensor<3x8xf32> {
  %0 = fuse.gather %x, %i axis = 0 : (tensor<4x8xf32>, tensor<3xi32>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}
