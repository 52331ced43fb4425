// RUN: fuse-opt --split-input-file --fuse-ops --mlir-print-debuginfo %s | FileCheck %s

// CHECK: fuse.fusion = {edges = [{consumer = "a/Exp", consumer_op = "fuse.exp", producer = "a/sub", producer_op = "fuse.sub"}]
// CHECK-SAME: groups = [{name = "fused_sub_exp", ops = ["a/sub", "a/Exp"], pattern = "broadcast"}]
// CHECK-LABEL: func.func @elementwise_chain_is_one_group
// CHECK: %[[G:.*]] = fuse.group "fused_sub_exp" broadcast(%[[A:.*]] = %arg0 : tensor<4x8xf32>, %[[B:.*]] = %arg1 : tensor<4x1xf32>) -> (tensor<4x8xf32>) {
// CHECK:   %[[S:.*]] = fuse.sub %[[A]], %[[B]]
// CHECK:   %[[E:.*]] = fuse.exp %[[S]]
// CHECK:   fuse.yield %[[E]]
// CHECK: } loc(#[[LOC:.*]])
// CHECK: return %[[G]]
// CHECK-DAG: #[[SUB:.*]] = loc("a/sub")
// CHECK-DAG: #[[EXP:.*]] = loc("a/Exp")
// CHECK: #[[LOC]] = loc(fused[#[[SUB]], #[[EXP]]])
func.func @elementwise_chain_is_one_group(%x: tensor<4x8xf32>, %m: tensor<4x1xf32>) -> tensor<4x8xf32> {
  %0 = fuse.sub %x, %m : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32> loc("a/sub")
  %1 = fuse.exp %0 : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("a/Exp")
  return %1 : tensor<4x8xf32>
}
