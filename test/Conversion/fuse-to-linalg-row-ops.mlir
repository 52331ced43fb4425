// RUN: fuse-opt --mlir-print-debuginfo=false %s --fuse-to-linalg | FileCheck %s

// CHECK-DAG: #[[FULL:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROW:.+]] = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func private @softmax
// CHECK-SAME: (%[[X:.+]]: tensor<4x8xf32>, %[[D:.+]]: tensor<4x8xf32>)
// CHECK: %[[MAX:.+]] = linalg.generic {indexing_maps = [#[[FULL]], #[[ROW]]], iterator_types = ["parallel", "reduction"]} ins(%[[X]]
// CHECK: arith.cmpf ogt
// CHECK-NEXT: arith.select
// CHECK: %[[EXP:.+]] = linalg.generic {indexing_maps = [#[[FULL]], #[[ROW]], #[[FULL]]], iterator_types = ["parallel", "parallel"]} ins(%[[X]], %[[MAX]]
// CHECK: arith.subf
// CHECK: math.exp
// CHECK: %[[SUM:.+]] = linalg.generic {{.*}} ["parallel", "reduction"]} ins(%[[EXP]]
// CHECK: arith.addf
// CHECK: %[[INVERSE:.+]] = linalg.generic {{.*}} ["parallel"]} ins(%[[SUM]]
// CHECK: arith.divf
// CHECK: linalg.generic {{.*}} ["parallel", "parallel"]} ins(%[[EXP]], %[[INVERSE]] : tensor<4x8xf32>, tensor<4xf32>) outs(%[[D]]
// CHECK: arith.mulf
func.func private @softmax(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {fuse.kernel} {
  %0 = fuse.softmax %x axis = 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func @log_softmax
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: math.log
// CHECK: arith.subf
func.func @log_softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = fuse.log_softmax %x axis = 0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func @layer_norm
// CHECK: arith.extf
// CHECK: %[[D:.+]] = linalg.generic {{.*}} ins(%{{.+}}, %{{.+}} : tensor<?x8xf32>, tensor<?xf32>)
// CHECK: arith.subf
// CHECK: linalg.generic {{.*}} ins(%[[D]]
// CHECK: arith.mulf
// CHECK: math.sqrt
// CHECK-NEXT: arith.divf
// CHECK: linalg.generic {{.*}} ins(%[[D]], %{{.+}}, %arg1, %arg2 : tensor<?x8xf32>, tensor<?xf32>, tensor<8xf16>, tensor<1xf16>)
// CHECK: arith.truncf
// CHECK-NEXT: linalg.yield
func.func @layer_norm(%x: tensor<?x8xf16>, %s: tensor<8xf16>, %b: tensor<1xf16>) -> tensor<?x8xf16> {
  %0 = fuse.layer_norm %x, %s, %b axis = 1 : (tensor<?x8xf16>, tensor<8xf16>, tensor<1xf16>) -> tensor<?x8xf16>
  return %0 : tensor<?x8xf16>
}

// CHECK-LABEL: func @rms_norm
// CHECK-NOT: arith.subf
// CHECK: return
func.func @rms_norm(%x: tensor<4x8xf32>, %s: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = fuse.rms_norm %x, %s axis = 1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
