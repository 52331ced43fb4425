// Bodies of ops of the domain com.acme, for ../op-library.test.

func.func @com.acme.Scale(%x: tensor<?x?xf32>, %bias: tensor<?xf32>,
    %factor: tensor<f32> {fuse.attribute = "factor", fuse.default = 2.0 : f64})
    -> (tensor<?x?xf32>, tensor<?x?xi32>) {
  %0 = fuse.mul %x, %factor : (tensor<?x?xf32>, tensor<f32>) -> tensor<?x?xf32>
  %1 = fuse.add %0, %bias : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  %2 = fuse.cast %1 : (tensor<?x?xf32>) -> tensor<?x?xi32>
  return %1, %2 : tensor<?x?xf32>, tensor<?x?xi32>
}

// The same op for another type.
func.func @scale_f64(%x: tensor<?xf64>) -> tensor<?xf64> attributes {fuse.op = "com.acme.Scale"} {
  %0 = fuse.constant dense<2.0> : tensor<f64>
  %1 = fuse.mul %x, %0 : (tensor<?xf64>, tensor<f64>) -> tensor<?xf64>
  return %1 : tensor<?xf64>
}

// The body says more of the result than its ops do.
func.func @com.acme.Rows(%x: tensor<?x4xf32>, %shape: tensor<2xi64>) -> tensor<8x?xf32> {
  %0 = fuse.reshape %x, %shape : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<8x?xf32>
  return %0 : tensor<8x?xf32>
}

func.func @com.acme.Axis(%x: tensor<?xf32>, %n: tensor<i64> {fuse.attribute = "n"}) -> tensor<?xf32> {
  %0 = fuse.cast %n : (tensor<i64>) -> tensor<f32>
  %1 = fuse.mul %x, %0 : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}
