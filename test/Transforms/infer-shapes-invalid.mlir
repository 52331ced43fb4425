// RUN: fuse-opt %s --split-input-file --fuse-infer-shapes --verify-diagnostics

// The types are compatible one by one, but not through the function.

func.func @contradiction(%x: tensor<4xf32>) -> tensor<5xf32> {
  %0 = fuse.exp %x : (tensor<4xf32>) -> tensor<?xf32>
  // expected-error @below {{'fuse.neg' op expected a result that fits the inferred 'tensor<4xf32>' but got 'tensor<5xf32>'}}
  %1 = fuse.neg %0 : (tensor<?xf32>) -> tensor<5xf32>
  return %1 : tensor<5xf32>
}

// -----

func.func @operands_do_not_broadcast(%x: tensor<4xf32>, %y: tensor<3xf32>) -> tensor<?xf32> {
  %0 = fuse.exp %x : (tensor<4xf32>) -> tensor<?xf32>
  // expected-error @below {{expected operand shapes that broadcast but got [4] and [3]}}
  %1 = fuse.add %0, %y : (tensor<?xf32>, tensor<3xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

func.func @wrong_element_count(%x: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %t = fuse.constant dense<[4, 2]> : tensor<2xi64>
  // expected-error @below {{expected a shape of 6 elements but got [4, 2]}}
  %r = fuse.reshape %x, %t : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

func.func @two_inferred(%x: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %t = fuse.constant dense<-1> : tensor<2xi64>
  // expected-error @below {{'fuse.reshape' op expected at most one -1 in the target shape}}
  %r = fuse.reshape %x, %t : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

func.func @negative_extent(%x: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %t = fuse.constant dense<[-2, 3]> : tensor<2xi64>
  // expected-error @below {{'fuse.reshape' op expected extents of at least -1 in the target shape but got -2}}
  %r = fuse.reshape %x, %t : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

func.func @zero_without_dimension(%x: tensor<6xf32>) -> tensor<?x?xf32> {
  %t = fuse.constant dense<[6, 0]> : tensor<2xi64>
  // expected-error @below {{'fuse.reshape' op expected an input dimension 1 for the 0 in the target shape but the input has rank 1}}
  %r = fuse.reshape %x, %t : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

func.func @negative_expand(%x: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %t = fuse.constant dense<[-1, 3]> : tensor<2xi64>
  // expected-error @below {{'fuse.expand' op expected extents of at least 0 in the target shape but got -1}}
  %r = fuse.expand %x, %t : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

func.func @expand_does_not_broadcast(%x: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %t = fuse.constant dense<[2, 4]> : tensor<2xi64>
  // expected-error @below {{'fuse.expand' op expected a target shape that broadcasts with the input's type 'tensor<2x3xf32>'}}
  %r = fuse.expand %x, %t : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
