// RUN: fuse-run %s --input=x=2x3xf32=0,1,2,3,4,5 --input=m=2x1xf32=0,3 --output=- | FileCheck %s --check-prefix=PRINT
// RUN: fuse-run %s --output=y=@%t.npy --input=x=random:1:0:1
// RUN: fuse-run %s --expect=@%t.npy --input=x=random:1:0:1
// RUN: fuse-run %s --verify
// RUN: fuse-run %s --verify --no-fusion
// RUN: fuse-run %s --threads=2 | FileCheck %s --check-prefix=SUMMARY
// RUN: fuse-run %s --no-fusion --threads=1 | FileCheck %s --check-prefix=UNFUSED
// RUN: fuse-run %s --fusion-report=- --pattern-override=exp:opaque | FileCheck %s --check-prefix=REPORT

// Stopping after a phase and going on gives the same.
// RUN: fuse-compile %s --compile-to=group -o %t.group.mlir
// RUN: fuse-run %t.group.mlir --input=x=random:1:0:1 --expect=y=@%t.npy --verify
// RUN: fuse-compile %s --compile-to=memory -o %t.memory.mlirbc
// RUN: fuse-run %t.memory.mlirbc --input=x=random:1:0:1 --expect=y=@%t.npy
// RUN: fuse-compile %s -o %t.llvm.mlir
// RUN: fuse-run %t.llvm.mlir --input=x=random:1:0:1 --expect=y=@%t.npy

// PRINT: y=2x3xf32=1,2.7182817,7.389056,1,2.7182817,7.389056
// SUMMARY: 2 ops -> 1 kernel, {{.*}}, 2 threads
// UNFUSED: 2 ops -> 2 kernels, {{.*}}, 1 thread;
// REPORT: 2 kernels
// REPORT: opaque-pattern: {{.*}}exp

func.func @main(%x: tensor<2x3xf32>, %m: tensor<2x1xf32>) -> tensor<2x3xf32>
    attributes {fuse.signature = {
      inputs = [{name = "x", type = tensor<2x3xf32>, dims = ["", ""]},
                {name = "m", type = tensor<2x1xf32>, dims = ["", ""]}],
      outputs = [{name = "y", type = tensor<2x3xf32>, dims = ["", ""]}]}} {
  %0 = fuse.sub %x, %m : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %1 = fuse.exp %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
