// Booleans take a byte, unsigned integers keep their type.
// RUN: fuse-run %s --input=3xui8=1,200,255 --input=3xui8=2,100,255 --output=- --output=- | FileCheck %s
// RUN: fuse-run %s --output=sum=@%t.sum.npy --output=less=@%t.less.npy
// RUN: %python -c "import numpy as n, sys; print(n.load(sys.argv[1]).dtype, n.load(sys.argv[2]).dtype)" %t.sum.npy %t.less.npy | FileCheck %s --check-prefix=NUMPY

// CHECK: less=3xi1=1,0,0
// CHECK: sum=3xui8=3,44,254
// NUMPY: uint8 bool

func.func @main(%a: tensor<3xui8>, %b: tensor<3xui8>) -> (tensor<3xi1>, tensor<3xui8>)
    attributes {fuse.signature = {
      inputs = [{name = "a", type = tensor<3xui8>, dims = [""]},
                {name = "b", type = tensor<3xui8>, dims = [""]}],
      outputs = [{name = "less", type = tensor<3xi1>, dims = [""]},
                 {name = "sum", type = tensor<3xui8>, dims = [""]}]}} {
  %0 = fuse.less %a, %b : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xi1>
  %1 = fuse.add %a, %b : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xui8>
  return %0, %1 : tensor<3xi1>, tensor<3xui8>
}
