// RUN: fuse-opt %s --split-input-file --fuse-fold-constants --verify-diagnostics

func.func @wrong_target() -> tensor<2x3xf32> {
  %0 = fuse.constant dense<1.0> : tensor<6xf32>
  %t = fuse.constant dense<[3, 2]> : tensor<2xi64>
  %x = fuse.neg %0 : (tensor<6xf32>) -> tensor<6xf32>
  // expected-error @below {{'fuse.reshape' op expected result 0 of type tensor<2x3xf32> but got tensor<3x2xf32>}}
  %1 = fuse.reshape %x, %t : (tensor<6xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// -----

func.func @wrong_element_count() -> tensor<2x3xf32> {
  %0 = fuse.constant dense<1.0> : tensor<6xf32>
  %t = fuse.constant dense<[2, 4]> : tensor<2xi64>
  %x = fuse.neg %0 : (tensor<6xf32>) -> tensor<6xf32>
  // expected-error @below {{'fuse.reshape' op expected a shape of 6 elements but got [2, 4]}}
  %1 = fuse.reshape %x, %t : (tensor<6xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
