//===- FuseElementwiseOps.td - Elementwise ops -----------------------------===//

#ifndef FUSE_ELEMENTWISE_OPS
#define FUSE_ELEMENTWISE_OPS

include "FuseDialect/IR/FuseBase.td"

class Fuse_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : Fuse_InferredOp<mnemonic, [ElementwiseOpInterface] # traits> {
  let patternExpr = "::mlir::fuse::getElementwisePattern(*this)";
}

//===----------------------------------------------------------------------===//
// Unary ops
//===----------------------------------------------------------------------===//

/// A unary op without attributes. `meaning` completes "Computes … for each
/// element x of the input."
class Fuse_UnaryOp<string mnemonic, string meaning, Type type, string example,
                   Type resultType = type,
                   string resultElement = "::mlir::Type()">
    : Fuse_ElementwiseOp<mnemonic> {
  let summary = meaning;
  let description = "Computes " # meaning # [{ for each element `x` of the input.

    Constraints: the result has the input's shape.

    Example:

    ```mlir
    %r = fuse.}] # mnemonic # " %x : " # example # [{
    ```

    Lowers to a `linalg.generic` of scalar `arith` and `math` ops.
  }];
  let arguments = (ins type:$input);
  let results = (outs resultType:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let inferBody = "return ::mlir::fuse::inferElementwise(infer, operands, " #
                  resultElement # ");";
}

class Fuse_FloatUnaryOp<string mnemonic, string meaning>
    : Fuse_UnaryOp<mnemonic, meaning, Fuse_FloatTensor,
                   "(tensor<4x8xf32>) -> tensor<4x8xf32>">;
class Fuse_NumericUnaryOp<string mnemonic, string meaning>
    : Fuse_UnaryOp<mnemonic, meaning, Fuse_NumericTensor,
                   "(tensor<4x8xi32>) -> tensor<4x8xi32>">;

def Fuse_AbsOp : Fuse_NumericUnaryOp<"abs",
  "|x| (the most negative integer stays itself)">;
def Fuse_AcosOp : Fuse_FloatUnaryOp<"acos", "arc cosine of x">;
def Fuse_AcoshOp : Fuse_FloatUnaryOp<"acosh", "inverse hyperbolic cosine of x">;
def Fuse_AsinOp : Fuse_FloatUnaryOp<"asin", "arc sine of x">;
def Fuse_AsinhOp : Fuse_FloatUnaryOp<"asinh", "inverse hyperbolic sine of x">;
def Fuse_AtanOp : Fuse_FloatUnaryOp<"atan", "arc tangent of x">;
def Fuse_AtanhOp : Fuse_FloatUnaryOp<"atanh", "inverse hyperbolic tangent of x">;
def Fuse_BitwiseNotOp : Fuse_UnaryOp<"bitwise_not", "the complement of all bits of x",
  Fuse_IntTensor, "(tensor<4x8xi32>) -> tensor<4x8xi32>">;
def Fuse_CeilOp : Fuse_FloatUnaryOp<"ceil", "the least integer not below x">;
def Fuse_CosOp : Fuse_FloatUnaryOp<"cos", "cosine of x in radians">;
def Fuse_CoshOp : Fuse_FloatUnaryOp<"cosh", "hyperbolic cosine of x">;
def Fuse_ErfOp : Fuse_FloatUnaryOp<"erf", "the Gauss error function of x">;
def Fuse_ExpOp : Fuse_FloatUnaryOp<"exp", "e to the power x">;
def Fuse_FloorOp : Fuse_FloatUnaryOp<"floor", "the greatest integer not above x">;
def Fuse_HardSwishOp : Fuse_FloatUnaryOp<"hard_swish", "x * max(0, min(1, x/6 + 0.5))">;
def Fuse_IdentityOp : Fuse_UnaryOp<"identity", "x itself", Fuse_Tensor,
  "(tensor<4x8xf32>) -> tensor<4x8xf32>"> {
  let hasFolder = 1;
}
def Fuse_IsNaNOp : Fuse_UnaryOp<"is_nan", "whether x is NaN", Fuse_FloatTensor,
  "(tensor<4x8xf32>) -> tensor<4x8xi1>", Fuse_BoolTensor,
  "::mlir::IntegerType::get(context, 1)">;
def Fuse_LogOp : Fuse_FloatUnaryOp<"log", "natural logarithm of x">;
def Fuse_MishOp : Fuse_FloatUnaryOp<"mish", "x * tanh(softplus(x))">;
def Fuse_NegOp : Fuse_NumericUnaryOp<"neg", "-x (integers wrap)">;
def Fuse_NotOp : Fuse_UnaryOp<"not", "logical negation of x", Fuse_BoolTensor,
  "(tensor<4x8xi1>) -> tensor<4x8xi1>">;
def Fuse_ReciprocalOp : Fuse_FloatUnaryOp<"reciprocal", "1 / x">;
def Fuse_ReluOp : Fuse_NumericUnaryOp<"relu", "max(x, 0), NaN for NaN">;
def Fuse_RoundOp : Fuse_FloatUnaryOp<"round",
  "the nearest integer to x, halves to the even one">;
def Fuse_RsqrtOp : Fuse_FloatUnaryOp<"rsqrt", "1 / sqrt(x)">;
def Fuse_SigmoidOp : Fuse_FloatUnaryOp<"sigmoid", "1 / (1 + exp(-x))">;
def Fuse_SignOp : Fuse_NumericUnaryOp<"sign",
  "-1, 0 or 1 as x is below, equal to or above zero (NaN for NaN)">;
def Fuse_SinOp : Fuse_FloatUnaryOp<"sin", "sine of x in radians">;
def Fuse_SinhOp : Fuse_FloatUnaryOp<"sinh", "hyperbolic sine of x">;
def Fuse_SoftplusOp : Fuse_FloatUnaryOp<"softplus", "log(1 + exp(x)), without overflow">;
def Fuse_SoftsignOp : Fuse_FloatUnaryOp<"softsign", "x / (1 + |x|)">;
def Fuse_SqrtOp : Fuse_FloatUnaryOp<"sqrt", "square root of x, correctly rounded">;
def Fuse_TanOp : Fuse_FloatUnaryOp<"tan", "tangent of x in radians">;
def Fuse_TanhOp : Fuse_FloatUnaryOp<"tanh", "hyperbolic tangent of x">;

/// A unary float op with parameters.
class Fuse_ParametricUnaryOp<string mnemonic, string meaning, string exampleAttrs,
                             dag parameters>
    : Fuse_ElementwiseOp<mnemonic> {
  let summary = meaning;
  let description = "Computes " # meaning # [{ for each element `x` of the input.

    Constraints: the result has the input's shape.

    Example:

    ```mlir
    %r = fuse.}] # mnemonic # " %x " # exampleAttrs # [{ : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    Lowers to a `linalg.generic` of scalar `arith` and `math` ops.
  }];
  let arguments = !con((ins Fuse_FloatTensor:$input), parameters);
  let results = (outs Fuse_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let inferBody = "return ::mlir::fuse::inferElementwise(infer, operands);";
}

def Fuse_CeluOp : Fuse_ParametricUnaryOp<"celu",
  "max(0, x) + min(0, alpha * (exp(x / alpha) - 1))", "{alpha = 2.0 : f64}",
  (ins DefaultValuedAttr<F64Attr, "1.0">:$alpha)>;
def Fuse_EluOp : Fuse_ParametricUnaryOp<"elu",
  "x if x > 0, else alpha * (exp(x) - 1)", "{alpha = 2.0 : f64}",
  (ins DefaultValuedAttr<F64Attr, "1.0">:$alpha)>;
def Fuse_GeluOp : Fuse_ParametricUnaryOp<"gelu",
  "0.5 * x * (1 + erf(x / sqrt(2))), or with `tanh_approximation` "
  "0.5 * x * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x^3)))",
  "{tanh_approximation}", (ins UnitAttr:$tanh_approximation)>;
def Fuse_HardSigmoidOp : Fuse_ParametricUnaryOp<"hard_sigmoid",
  "max(0, min(1, alpha * x + beta))", "{alpha = 0.25 : f64, beta = 0.5 : f64}",
  (ins DefaultValuedAttr<F64Attr, "0.2">:$alpha, DefaultValuedAttr<F64Attr, "0.5">:$beta)>;
def Fuse_LeakyReluOp : Fuse_ParametricUnaryOp<"leaky_relu",
  "x if x >= 0, else alpha * x", "{alpha = 0.1 : f64}",
  (ins DefaultValuedAttr<F64Attr, "0.01">:$alpha)>;
def Fuse_SeluOp : Fuse_ParametricUnaryOp<"selu",
  "gamma * x if x > 0, else gamma * alpha * (exp(x) - 1)", "{gamma = 2.0 : f64}",
  (ins DefaultValuedAttr<F64Attr, "1.67326319217681884765625">:$alpha,
       DefaultValuedAttr<F64Attr, "1.05070102214813232421875">:$gamma)>;
def Fuse_SwishOp : Fuse_ParametricUnaryOp<"swish",
  "x * sigmoid(alpha * x)", "{alpha = 1.5 : f64}",
  (ins DefaultValuedAttr<F64Attr, "1.0">:$alpha)>;
def Fuse_ThresholdedReluOp : Fuse_ParametricUnaryOp<"thresholded_relu",
  "x if x > alpha, else 0", "{alpha = 2.0 : f64}",
  (ins DefaultValuedAttr<F64Attr, "1.0">:$alpha)>;

def Fuse_ShrinkOp : Fuse_ElementwiseOp<"shrink"> {
  let summary = "soft shrinkage";
  let description = [{
    Computes `x + bias` where `x < -lambd`, `x - bias` where `x > lambd`, else 0.

    Constraints: the result has the input's shape.

    Example:

    ```mlir
    %r = fuse.shrink %x {bias = 1.5 : f64, lambd = 1.5 : f64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Fuse_NumericTensor:$input,
                       DefaultValuedAttr<F64Attr, "0.0">:$bias,
                       DefaultValuedAttr<F64Attr, "0.5">:$lambd);
  let results = (outs Fuse_NumericTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let inferBody = "return ::mlir::fuse::inferElementwise(infer, operands);";
}

def Fuse_IsInfOp : Fuse_ElementwiseOp<"is_inf"> {
  let summary = "whether x is infinite";
  let description = [{
    Whether each element is +inf (unless `detect_positive` is false) or -inf
    (unless `detect_negative` is false).

    Example:

    ```mlir
    %r = fuse.is_inf %x {detect_negative = false} : (tensor<4x8xf32>) -> tensor<4x8xi1>
    ```
  }];
  let arguments = (ins Fuse_FloatTensor:$input,
                       DefaultValuedAttr<BoolAttr, "true">:$detect_negative,
                       DefaultValuedAttr<BoolAttr, "true">:$detect_positive);
  let results = (outs Fuse_BoolTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let inferBody = [{ return ::mlir::fuse::inferElementwise(
      infer, operands, ::mlir::IntegerType::get(context, 1)); }];
}

def Fuse_CastOp : Fuse_Op<"cast", [
    Pure, ElementwiseOpInterface,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<FusibleOpInterface, ["getFusionPattern"]>]> {
  let summary = "element type conversion";
  let description = [{
    Converts each element to the result's element type. Float to integer
    truncates toward zero; NaN gives 0 and what does not fit gives the nearest
    value of the integer type. Integer to integer wraps. To boolean is "not equal
    to zero". To a narrower float rounds to nearest, halves to even.

    Constraints: the result's shape is compatible with the input's.

    Example:

    ```mlir
    %r = fuse.cast %x : (tensor<4x8xf32>) -> tensor<4x8xi32>
    ```
  }];
  let arguments = (ins Fuse_Tensor:$input);
  let results = (outs Fuse_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Binary and ternary ops
//===----------------------------------------------------------------------===//

/// A binary op with numpy broadcasting.
class Fuse_BinaryOp<string mnemonic, string meaning, Type type,
                    string element = "f32", list<Trait> traits = [],
                    Type resultType = type, string exampleResult = element,
                    string resultElement = "::mlir::Type()">
    : Fuse_ElementwiseOp<mnemonic, [SameOperandsElementType] # traits> {
  let summary = meaning;
  let description = "Computes " # meaning # [{ for each pair of elements `x` and `y`.

    Constraints:

    1. Both operands have one element type.
    2. Their shapes broadcast as in numpy; the result has the broadcast shape.

    Example:

    ```mlir
    %r = fuse.}] # mnemonic # " %x, %y : (tensor<4x8x" # element #
    ">, tensor<8x" # element # ">) -> tensor<4x8x" # exampleResult # [{>
    ```

    Lowers to a `linalg.generic` of scalar `arith` and `math` ops.
  }];
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs resultType:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let inferBody = "return ::mlir::fuse::inferElementwise(infer, operands, " #
                  resultElement # ");";
}

class Fuse_ComparisonOp<string mnemonic, string meaning, Type type = Fuse_NumericTensor>
    : Fuse_BinaryOp<mnemonic, meaning, type, "f32", [], Fuse_BoolTensor, "i1",
                    "::mlir::IntegerType::get(context, 1)">;

def Fuse_AddOp : Fuse_BinaryOp<"add", "x + y", Fuse_NumericTensor, "f32", [Commutative]>;
def Fuse_SubOp : Fuse_BinaryOp<"sub", "x - y", Fuse_NumericTensor>;
def Fuse_MulOp : Fuse_BinaryOp<"mul", "x * y", Fuse_NumericTensor, "f32", [Commutative]>;
def Fuse_DivOp : Fuse_BinaryOp<"div",
  "x / y (integers truncate toward zero; a zero divisor gives 0, the most negative "
  "integer divided by -1 gives itself)", Fuse_NumericTensor>;
def Fuse_PowOp : Fuse_BinaryOp<"pow",
  "x to the power y (integers: wraps; a negative exponent gives the truncated quotient, "
  "0 for a zero base)", Fuse_NumericTensor>;
def Fuse_ModOp : Fuse_BinaryOp<"mod",
  "the remainder of x / y with the sign of y (0 for an integer zero divisor)",
  Fuse_NumericTensor>;
def Fuse_RemOp : Fuse_BinaryOp<"rem",
  "the remainder of x / y with the sign of x, C's fmod (0 for an integer zero divisor)",
  Fuse_NumericTensor>;
def Fuse_MinOp : Fuse_BinaryOp<"min", "the smaller of x and y, NaN if either is",
  Fuse_NumericTensor, "f32", [Commutative]>;
def Fuse_MaxOp : Fuse_BinaryOp<"max", "the larger of x and y, NaN if either is",
  Fuse_NumericTensor, "f32", [Commutative]>;
def Fuse_PReluOp : Fuse_BinaryOp<"prelu", "x if x >= 0, else y * x", Fuse_NumericTensor>;
def Fuse_AndOp : Fuse_BinaryOp<"and", "x and y", Fuse_BoolTensor, "i1", [Commutative]>;
def Fuse_OrOp : Fuse_BinaryOp<"or", "x or y", Fuse_BoolTensor, "i1", [Commutative]>;
def Fuse_XorOp : Fuse_BinaryOp<"xor", "x unequal to y", Fuse_BoolTensor, "i1", [Commutative]>;
def Fuse_BitwiseAndOp : Fuse_BinaryOp<"bitwise_and", "the bitwise and of x and y",
  Fuse_IntTensor, "i32", [Commutative]>;
def Fuse_BitwiseOrOp : Fuse_BinaryOp<"bitwise_or", "the bitwise or of x and y",
  Fuse_IntTensor, "i32", [Commutative]>;
def Fuse_BitwiseXorOp : Fuse_BinaryOp<"bitwise_xor", "the bitwise exclusive or of x and y",
  Fuse_IntTensor, "i32", [Commutative]>;
def Fuse_ShiftLeftOp : Fuse_BinaryOp<"shift_left",
  "x shifted left by y bits (0 if y is negative or not below the width)",
  Fuse_IntTensor, "ui32">;
def Fuse_ShiftRightOp : Fuse_BinaryOp<"shift_right",
  "x shifted right by y bits, keeping the sign of a signed x (0, or -1 for a negative x, "
  "if y is negative or not below the width)", Fuse_IntTensor, "ui32">;
def Fuse_EqualOp : Fuse_ComparisonOp<"equal", "whether x equals y", Fuse_Tensor>;
def Fuse_LessOp : Fuse_ComparisonOp<"less", "whether x is below y">;
def Fuse_LessEqualOp : Fuse_ComparisonOp<"less_equal", "whether x is not above y">;
def Fuse_GreaterOp : Fuse_ComparisonOp<"greater", "whether x is above y">;
def Fuse_GreaterEqualOp : Fuse_ComparisonOp<"greater_equal", "whether x is not below y">;

def Fuse_WhereOp : Fuse_ElementwiseOp<"where", [
    AllElementTypesMatch<["on_true", "on_false", "result"]>]> {
  let summary = "choice by a condition";
  let description = [{
    Takes the element of `on_true` where the condition holds, else that of
    `on_false`.

    Constraints:

    1. Both values have one element type.
    2. All three shapes broadcast as in numpy.

    Example:

    ```mlir
    %r = fuse.where %c, %x, %y : (tensor<4x1xi1>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Fuse_BoolTensor:$condition, Fuse_Tensor:$on_true, Fuse_Tensor:$on_false);
  let results = (outs Fuse_Tensor:$result);
  let assemblyFormat =
    "$condition `,` $on_true `,` $on_false attr-dict `:` functional-type(operands, results)";
  let inferBody = [{ return ::mlir::fuse::inferElementwise(
      infer, operands, ::mlir::getElementTypeOrSelf(adaptor.getOnTrue())); }];
}

def Fuse_ClipOp : Fuse_ElementwiseOp<"clip", [SameOperandsElementType]> {
  let summary = "limits to a range";
  let description = [{
    Computes `min(max(x, min), max)`; NaN stays NaN. Where `min` exceeds `max`,
    the result is `max`.

    Constraints: all operands have one element type, and their shapes broadcast
    as in numpy.

    Example:

    ```mlir
    %r = fuse.clip %x, %lo, %hi : (tensor<4x8xf32>, tensor<f32>, tensor<f32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Fuse_NumericTensor:$input, Fuse_NumericTensor:$min, Fuse_NumericTensor:$max);
  let results = (outs Fuse_NumericTensor:$result);
  let assemblyFormat =
    "$input `,` $min `,` $max attr-dict `:` functional-type(operands, results)";
  let inferBody = "return ::mlir::fuse::inferElementwise(infer, operands);";
}

def Fuse_BatchNormOp : Fuse_ElementwiseOp<"batch_norm", [
    AllElementTypesMatch<["input", "result"]>]> {
  let summary = "inference batch normalization";
  let description = [{
    Computes `(x - mean) / sqrt(variance + epsilon) * scale + bias` with
    parameters along dimension 1.

    Constraints: the input has rank 2 or more (rank 1 is taken as one channel);
    each parameter has shape `[C]`, C being the input's extent in dimension 1.

    Example:

    ```mlir
    %r = fuse.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-3 : f64} : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
    ```
  }];
  let arguments = (ins Fuse_FloatTensor:$input, Fuse_FloatTensor:$scale, Fuse_FloatTensor:$bias,
                       Fuse_FloatTensor:$mean, Fuse_FloatTensor:$variance,
                       DefaultValuedAttr<F64Attr, "1.0e-5">:$epsilon);
  let results = (outs Fuse_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $scale `,` $bias `,` $mean `,` $variance attr-dict `:`
    functional-type(operands, results)
  }];
  let inferBody = "return ::mlir::fuse::inferSameAs(infer, adaptor.getInput());";
  let patternExpr = "::mlir::fuse::PatternKind::broadcast";
  let hasVerifier = 1;
}

#endif // FUSE_ELEMENTWISE_OPS
