// RUN: fuse-opt --mlir-print-debuginfo=false %s --fuse-to-linalg --split-input-file --verify-diagnostics | FileCheck %s

// Unsigned elements become signless in every type; bodies say how they are read.

// CHECK-LABEL: func private @unsigned_kernel
// CHECK-SAME: (%{{.+}}: tensor<8xi8>, %{{.+}}: tensor<8xi8>, %[[D:.+]]: tensor<8xi8>) -> tensor<8xi8>
// CHECK: linalg.generic {{.*}} outs(%[[D]] : tensor<8xi8>)
// CHECK: arith.maxui
func.func private @unsigned_kernel(%x: tensor<8xui8>, %y: tensor<8xui8>, %d: tensor<8xui8>) -> tensor<8xui8> attributes {fuse.kernel} {
  %0 = fuse.max %x, %y : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xui8>
  return %0 : tensor<8xui8>
}

// CHECK-LABEL: func @main
// CHECK-SAME: (%[[X:.+]]: tensor<8xi8>) -> tensor<8xi8>
// CHECK-DAG: %[[W:.+]] = arith.constant dense_resource<weights> : tensor<8xi8>
// CHECK-DAG: %[[E:.+]] = tensor.empty() : tensor<8xi8>
// CHECK: %[[R:.+]] = fuse.launch @unsigned_kernel "max" ins(%[[X]], %[[W]] : tensor<8xi8>, tensor<8xi8>) outs(%[[E]] : tensor<8xi8>) -> tensor<8xi8>
// CHECK: return %[[R]]
func.func @main(%x: tensor<8xui8>) -> tensor<8xui8> {
  %w = fuse.constant dense_resource<weights> : tensor<8xui8>
  %e = tensor.empty() : tensor<8xui8>
  %r = fuse.launch @unsigned_kernel "max" ins(%x, %w : tensor<8xui8>, tensor<8xui8>) outs(%e : tensor<8xui8>) -> tensor<8xui8>
  return %r : tensor<8xui8>
}

// CHECK-LABEL: func @constants
// CHECK-DAG: arith.constant dense<[1, -1]> : tensor<2xi8>
// CHECK-DAG: arith.constant dense<-16> : tensor<3xi32>
// CHECK-DAG: arith.constant dense<[true, false]> : tensor<2xi1>
func.func @constants() -> (tensor<2xui8>, tensor<3xui32>, tensor<2xi1>) {
  %0 = fuse.constant dense<[1, 255]> : tensor<2xui8>
  %1 = fuse.constant dense<4294967280> : tensor<3xui32>
  %2 = fuse.constant dense<[true, false]> : tensor<2xi1>
  return %0, %1, %2 : tensor<2xui8>, tensor<3xui32>, tensor<2xi1>
}

// CHECK-LABEL: func @call
// CHECK: call @callee(%{{.+}}) : (tensor<8xi16>) -> tensor<8xi16>
func.func private @callee(%x: tensor<8xui16>) -> tensor<8xui16>
func.func @call(%x: tensor<8xui16>) -> tensor<8xui16> {
  %0 = call @callee(%x) : (tensor<8xui16>) -> tensor<8xui16>
  return %0 : tensor<8xui16>
}

// Destinations

// CHECK-LABEL: func private @two_results
// CHECK-SAME: (%{{.+}}: tensor<4x8xf32>, %[[D0:.+]]: tensor<4x8xf32>, %[[D1:.+]]: tensor<4xf32>)
// CHECK: linalg.generic {{.*}} outs(%[[D0]] : tensor<4x8xf32>)
// CHECK: linalg.fill {{.*}} outs(%[[D1]] : tensor<4xf32>)
func.func private @two_results(%x: tensor<4x8xf32>, %d0: tensor<4x8xf32>, %d1: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) attributes {fuse.kernel} {
  %0 = fuse.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = fuse.reduce_sum %0 axes = [1] {keepdims = false} : (tensor<4x8xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<4xf32>
}

// A function that is no kernel has no destinations.
// CHECK-LABEL: func private @no_kernel
// CHECK: %[[E:.+]] = tensor.empty
// CHECK: linalg.generic {{.*}} outs(%[[E]] : tensor<8xf32>)
func.func private @no_kernel(%x: tensor<8xf32>, %d: tensor<8xf32>) -> tensor<8xf32> {
  %0 = fuse.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

{-# dialect_resources: { builtin: { weights: "0x040000000102030405060708" } } #-}

// -----

func.func @group(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{expected group 'exp' to be outlined before the lowering to linalg}}
  %0 = fuse.group "exp" elementwise(%a = %x : tensor<8xf32>) -> (tensor<8xf32>) {
    %1 = fuse.exp %a : (tensor<8xf32>) -> tensor<8xf32>
    fuse.yield %1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

func.func @region(%c: i1, %x: tensor<8xui8>) -> tensor<8xui8> {
  // expected-error @below {{expected no unsigned tensors to pass through control flow}}
  %0 = scf.if %c -> tensor<8xui8> {
    %1 = fuse.add %x, %x : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xui8>
    scf.yield %1 : tensor<8xui8>
  } else {
    scf.yield %x : tensor<8xui8>
  }
  return %0 : tensor<8xui8>
}

// -----

func.func @branch(%x: tensor<8xui8>, %c: i1) -> tensor<8xui8> {
  // expected-error @below {{expected no unsigned tensors to pass through control flow}}
  cf.br ^bb1(%x : tensor<8xui8>)
^bb1(%0: tensor<8xui8>):
  return %0 : tensor<8xui8>
}
