//===- ImportElementwise.cpp - Elementwise ONNX ops -----------------------===//

#include "FuseDialect/IR/ShapeInference.h"
#include "OpTable.h"

using namespace mlir;
using namespace mlir::fuse;

using Results = SmallVectorImpl<Value>;

//===----------------------------------------------------------------------===//
// Unary ops
//===----------------------------------------------------------------------===//

template <typename OpT>
static LogicalResult importUnary(NodeContext &node, Results &results) {
  results.push_back(node.create<OpT>(node.getInput(0)));
  return success();
}

/// A unary op with the float attribute `alpha`; the default is a constant of
/// the ONNX specification, in millionths so that it can be an argument.
template <typename OpT, int defaultMillionths>
static LogicalResult importWithAlpha(NodeContext &node, Results &results) {
  float alpha = static_cast<float>(defaultMillionths / 1e6);
  results.push_back(node.create<OpT>(
      node.getInput(0),
      {{"alpha", node.getF64(node.getFloat("alpha", alpha))}}));
  return success();
}

static LogicalResult importGelu(NodeContext &node, Results &results) {
  StringRef approximate = node.getString("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    return node.fail("expected 'approximate' to be 'none' or 'tanh' but got '" +
                     approximate + "'");
  SmallVector<std::pair<StringRef, Attribute>, 1> attributes;
  if (approximate == "tanh")
    attributes.push_back({"tanh_approximation", node.getUnit()});
  results.push_back(node.create<GeluOp>(node.getInput(0), attributes));
  return success();
}

static LogicalResult importHardSigmoid(NodeContext &node, Results &results) {
  Attribute alpha = node.getF64(node.getFloat("alpha", 0.2f));
  Attribute beta = node.getF64(node.getFloat("beta", 0.5f));
  results.push_back(node.create<HardSigmoidOp>(
      node.getInput(0), {{"alpha", alpha}, {"beta", beta}}));
  return success();
}

static LogicalResult importSelu(NodeContext &node, Results &results) {
  // The specification gives the defaults as these floats.
  Attribute alpha =
      node.getF64(node.getFloat("alpha", 1.67326319217681884765625f));
  Attribute gamma =
      node.getF64(node.getFloat("gamma", 1.05070102214813232421875f));
  results.push_back(node.create<SeluOp>(node.getInput(0),
                                        {{"alpha", alpha}, {"gamma", gamma}}));
  return success();
}

static LogicalResult importShrink(NodeContext &node, Results &results) {
  Attribute bias = node.getF64(node.getFloat("bias", 0.0f));
  Attribute lambd = node.getF64(node.getFloat("lambd", 0.5f));
  results.push_back(node.create<ShrinkOp>(node.getInput(0),
                                          {{"bias", bias}, {"lambd", lambd}}));
  return success();
}

static LogicalResult importIsInf(NodeContext &node, Results &results) {
  Attribute negative = node.getBool(node.getFlag("detect_negative", true));
  Attribute positive = node.getBool(node.getFlag("detect_positive", true));
  results.push_back(
      node.create<IsInfOp>(node.getInput(0), {{"detect_negative", negative},
                                              {"detect_positive", positive}}));
  return success();
}

static LogicalResult importCast(NodeContext &node, Results &results) {
  int64_t to = node.getRequiredInt("to");
  // Only conversions to floats of eight bits read these.
  if (node.getOpset() >= 19)
    node.ignoreAttributes({"saturate"});
  if (node.getOpset() >= 24)
    node.ignoreAttributes({"round_mode"});
  if (node.hasFailed())
    return failure();
  Type elementType =
      convertElementType(static_cast<int32_t>(to), node.getLoc().getContext());
  if (!elementType)
    return node.failUnsupported(
        "element type '" + getDataTypeName(static_cast<int32_t>(to)) + "'");
  Value input = node.getInput(0);
  results.push_back(
      node.create<CastOp>(input, {}, getTensorType(input).clone(elementType)));
  return success();
}

static LogicalResult importCastLike(NodeContext &node, Results &results) {
  node.ignoreAttributes({"saturate"});
  if (node.getOpset() >= 24)
    node.ignoreAttributes({"round_mode"});
  Value input = node.getInput(0);
  Type elementType = getTensorType(node.getInput(1)).getElementType();
  results.push_back(
      node.create<CastOp>(input, {}, getTensorType(input).clone(elementType)));
  return success();
}

//===----------------------------------------------------------------------===//
// Binary ops
//===----------------------------------------------------------------------===//

template <typename OpT>
static LogicalResult importBinary(NodeContext &node, Results &results) {
  results.push_back(node.create<OpT>(node.getInputs()));
  return success();
}

static LogicalResult importBitShift(NodeContext &node, Results &results) {
  StringRef direction = node.getString("direction", "");
  if (direction == "LEFT")
    results.push_back(node.create<ShiftLeftOp>(node.getInputs()));
  else if (direction == "RIGHT")
    results.push_back(node.create<ShiftRightOp>(node.getInputs()));
  else
    return node.fail("expected 'direction' to be 'LEFT' or 'RIGHT' but got '" +
                     direction + "'");
  return success();
}

static LogicalResult importMod(NodeContext &node, Results &results) {
  bool fmod = node.getFlag("fmod", false);
  Type elementType = getTensorType(node.getInput(0)).getElementType();
  if (!fmod && isa<FloatType>(elementType) && node.getOpset() < 28)
    return node.fail("expected 'fmod' to be 1 for floats in opset " +
                     Twine(node.getOpset()));
  results.push_back(fmod ? node.create<RemOp>(node.getInputs())
                         : node.create<ModOp>(node.getInputs()));
  return success();
}

/// The type in which a power of mixed types is computed, wide enough for both
/// operands; the result is brought back to the base's type.
static Type getPowerType(Type base, Type exponent, OpBuilder &builder) {
  unsigned baseWidth = base.getIntOrFloatBitWidth();
  unsigned exponentWidth = exponent.getIntOrFloatBitWidth();
  if (isa<FloatType>(base)) {
    bool isWider = isa<FloatType>(exponent) && exponentWidth > baseWidth;
    bool isOtherHalf = isa<FloatType>(exponent) && exponent != base &&
                       exponentWidth == baseWidth;
    return isWider ? exponent : isOtherHalf ? builder.getF32Type() : base;
  }
  // As numpy: 32 and more bits of integer need a double.
  if (isa<FloatType>(exponent))
    return baseWidth >= 32 || exponentWidth == 64 ? Type(builder.getF64Type())
                                                  : Type(builder.getF32Type());
  // Wrapping at a larger width and cutting off gives the same bits.
  unsigned width = std::max(baseWidth, exponentWidth);
  return exponent.isUnsignedInteger() && base.isUnsignedInteger()
             ? builder.getIntegerType(width, /*isSigned=*/false)
             : builder.getIntegerType(width);
}

static LogicalResult importPow(NodeContext &node, Results &results) {
  Type base = getTensorType(node.getInput(0)).getElementType();
  Type exponent = getTensorType(node.getInput(1)).getElementType();
  if (base == exponent || base.isInteger(1) || exponent.isInteger(1))
    return importBinary<PowOp>(node, results);
  Type type = getPowerType(base, exponent, node.getBuilder());
  Value power = node.create<PowOp>(
      {node.cast(node.getInput(0), type), node.cast(node.getInput(1), type)});
  results.push_back(node.cast(power, base));
  return success();
}

static LogicalResult importPRelu(NodeContext &node, Results &results) {
  Value result = node.create<PReluOp>(node.getInputs());
  if (!result)
    return failure();
  // The slope broadcasts to the input and not the other way.
  RankedTensorType input = getTensorType(node.getInput(0));
  RankedTensorType type = getTensorType(result);
  if (type.getRank() != input.getRank() ||
      failed(verifyCompatibleShape(type, input)))
    return node.fail("expected a slope that broadcasts to the input");
  results.push_back(result);
  return success();
}

//===----------------------------------------------------------------------===//
// Ops of more operands
//===----------------------------------------------------------------------===//

/// A chain of binary ops from left to right; of one operand, the operand.
template <typename OpT> static Value createChain(NodeContext &node) {
  Value result = node.getInput(0);
  if (node.getNumInputs() == 1)
    return node.create<IdentityOp>(result);
  for (Value input : node.getInputs().drop_front())
    result = node.create<OpT>({result, input});
  return result;
}

template <typename OpT>
static LogicalResult importVariadic(NodeContext &node, Results &results) {
  results.push_back(createChain<OpT>(node));
  return success();
}

static LogicalResult importMean(NodeContext &node, Results &results) {
  Value sum = createChain<AddOp>(node);
  if (!sum)
    return failure();
  if (node.getNumInputs() > 1)
    sum = node.create<DivOp>(
        {sum, node.createScalar(getTensorType(sum).getElementType(),
                                node.getNumInputs())});
  results.push_back(sum);
  return success();
}

/// The least or greatest value of a type: infinity for floats, so that a
/// missing bound changes nothing.
static Value createLimit(NodeContext &node, Type elementType, bool isUpper) {
  auto type = RankedTensorType::get({}, elementType);
  if (auto floatType = dyn_cast<FloatType>(elementType))
    return node.createConstant(DenseElementsAttr::get(
        type,
        APFloat::getInf(floatType.getFloatSemantics(), /*Negative=*/!isUpper)));
  unsigned width = elementType.getIntOrFloatBitWidth();
  bool isUnsigned = elementType.isUnsignedInteger();
  APInt limit = isUpper ? (isUnsigned ? APInt::getMaxValue(width)
                                      : APInt::getSignedMaxValue(width))
                        : (isUnsigned ? APInt::getMinValue(width)
                                      : APInt::getSignedMinValue(width));
  return node.createConstant(DenseElementsAttr::get(type, limit));
}

/// A bound of Clip: a tensor of rank 0. Of rank 1 with one element is common.
static Value getBound(NodeContext &node, unsigned index, bool isUpper) {
  Value bound = node.getInput(index);
  if (!bound)
    return createLimit(node, getTensorType(node.getInput(0)).getElementType(),
                       isUpper);
  RankedTensorType type = getTensorType(bound);
  if (type.getRank() == 1 && type.getDimSize(0) == 1)
    return node.create<SqueezeOp>(bound, {{"axes", node.getI64s({0})}});
  if (type.getRank() != 0)
    (void)node.fail("expected a bound of rank 0 but got rank " +
                    Twine(type.getRank()));
  return bound;
}

static LogicalResult importClip(NodeContext &node, Results &results) {
  Value input = node.getInput(0), min, max;
  Type elementType = getTensorType(input).getElementType();
  if (node.getOpset() < 11) {
    if (node.getNumInputs() > 1)
      return node.fail("takes its bounds as attributes in opset " +
                       Twine(node.getOpset()));
    if (!isa<FloatType>(elementType))
      return node.fail("expected floats in opset " + Twine(node.getOpset()));
    float limit = std::numeric_limits<float>::max();
    bool hasMin = node.hasAttribute("min"), hasMax = node.hasAttribute("max");
    double low = node.getFloat("min", -limit),
           high = node.getFloat("max", limit);
    // The default bounds are floats: they do not limit a half or a double.
    bool isSingle = elementType.isF32();
    min = hasMin || isSingle ? node.createScalar(elementType, low)
                             : createLimit(node, elementType, false);
    max = hasMax || isSingle ? node.createScalar(elementType, high)
                             : createLimit(node, elementType, true);
  } else {
    min = getBound(node, 1, /*isUpper=*/false);
    max = getBound(node, 2, /*isUpper=*/true);
  }
  results.push_back(node.create<ClipOp>({input, min, max}));
  return success();
}

static LogicalResult importSwiGlu(NodeContext &node, Results &results) {
  RankedTensorType gate = getTensorType(node.getInput(0));
  if (failed(verifyCompatibleShape(gate, getTensorType(node.getInput(1)))))
    return node.fail("expected inputs of one shape");
  Value swish = node.create<SwishOp>(
      node.getInput(0), {{"alpha", node.getF64(node.getFloat("alpha", 1.0f))}});
  results.push_back(node.create<MulOp>({swish, node.getInput(1)}));
  return success();
}

void mlir::fuse::populateElementwiseOps(OpTable &table) {
  auto unary = [&](StringRef opType, int64_t since, NodeHandler handler) {
    table.add(opType, {since, 1, 1, 1, handler});
  };
  auto binary = [&](StringRef opType, int64_t since, NodeHandler handler) {
    table.add(opType, {since, 2, 2, 1, handler});
  };
  unary("Abs", 1, importUnary<AbsOp>);
  unary("Acos", 7, importUnary<AcosOp>);
  unary("Acosh", 9, importUnary<AcoshOp>);
  unary("Asin", 7, importUnary<AsinOp>);
  unary("Asinh", 9, importUnary<AsinhOp>);
  unary("Atan", 7, importUnary<AtanOp>);
  unary("Atanh", 9, importUnary<AtanhOp>);
  unary("BitwiseNot", 18, importUnary<BitwiseNotOp>);
  unary("Cast", 1, importCast);
  unary("Ceil", 1, importUnary<CeilOp>);
  unary("Celu", 12, importWithAlpha<CeluOp, 1000000>);
  unary("Cos", 7, importUnary<CosOp>);
  unary("Cosh", 9, importUnary<CoshOp>);
  unary("Elu", 1, importWithAlpha<EluOp, 1000000>);
  unary("Erf", 9, importUnary<ErfOp>);
  unary("Exp", 1, importUnary<ExpOp>);
  unary("Floor", 1, importUnary<FloorOp>);
  unary("Gelu", 20, importGelu);
  unary("HardSigmoid", 1, importHardSigmoid);
  unary("HardSwish", 14, importUnary<HardSwishOp>);
  unary("Identity", 1, importUnary<IdentityOp>);
  unary("IsInf", 10, importIsInf);
  unary("IsNaN", 9, importUnary<IsNaNOp>);
  unary("LeakyRelu", 1, importWithAlpha<LeakyReluOp, 10000>);
  unary("Log", 1, importUnary<LogOp>);
  unary("Mish", 18, importUnary<MishOp>);
  unary("Neg", 1, importUnary<NegOp>);
  unary("Not", 1, importUnary<NotOp>);
  unary("Reciprocal", 1, importUnary<ReciprocalOp>);
  unary("Relu", 1, importUnary<ReluOp>);
  unary("Round", 11, importUnary<RoundOp>);
  unary("Selu", 1, importSelu);
  unary("Shrink", 9, importShrink);
  unary("Sigmoid", 1, importUnary<SigmoidOp>);
  unary("Sign", 9, importUnary<SignOp>);
  unary("Sin", 7, importUnary<SinOp>);
  unary("Sinh", 9, importUnary<SinhOp>);
  unary("Softplus", 1, importUnary<SoftplusOp>);
  unary("Softsign", 1, importUnary<SoftsignOp>);
  unary("Sqrt", 1, importUnary<SqrtOp>);
  unary("Swish", 24, importWithAlpha<SwishOp, 1000000>);
  unary("Tan", 7, importUnary<TanOp>);
  unary("Tanh", 1, importUnary<TanhOp>);
  unary("ThresholdedRelu", 10, importWithAlpha<ThresholdedReluOp, 1000000>);

  binary("Add", 1, importBinary<AddOp>);
  binary("And", 1, importBinary<AndOp>);
  binary("BitShift", 11, importBitShift);
  binary("BitwiseAnd", 18, importBinary<BitwiseAndOp>);
  binary("BitwiseOr", 18, importBinary<BitwiseOrOp>);
  binary("BitwiseXor", 18, importBinary<BitwiseXorOp>);
  binary("CastLike", 15, importCastLike);
  binary("Div", 1, importBinary<DivOp>);
  binary("Equal", 1, importBinary<EqualOp>);
  binary("Greater", 1, importBinary<GreaterOp>);
  binary("GreaterOrEqual", 12, importBinary<GreaterEqualOp>);
  binary("Less", 1, importBinary<LessOp>);
  binary("LessOrEqual", 12, importBinary<LessEqualOp>);
  binary("Mod", 10, importMod);
  binary("Mul", 1, importBinary<MulOp>);
  binary("Or", 1, importBinary<OrOp>);
  binary("PRelu", 1, importPRelu);
  binary("Pow", 1, importPow);
  binary("Sub", 1, importBinary<SubOp>);
  binary("SwiGLU", 28, importSwiGlu);
  binary("Xor", 1, importBinary<XorOp>);

  table.add("Clip", {1, 1, 3, 1, importClip});
  table.add("Max", {1, 1, kVariadic, 1, importVariadic<MaxOp>});
  table.add("Mean", {1, 1, kVariadic, 1, importMean});
  table.add("Min", {1, 1, kVariadic, 1, importVariadic<MinOp>});
  table.add("Sum", {1, 1, kVariadic, 1, importVariadic<AddOp>});
  table.add("Where", {9, 3, 3, 1, importBinary<WhereOp>});
}
