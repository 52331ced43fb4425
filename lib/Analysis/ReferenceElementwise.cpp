//===- ReferenceElementwise.cpp - Elementwise ops -------------------------===//

#include "FuseDialect/IR/ShapeInference.h"
#include "ReferenceOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <cstring>
#include <functional>
#include <numbers>

using namespace mlir;
using namespace mlir::fuse;
using namespace mlir::fuse::reference;

using FloatUnary = std::function<double(double)>;
using FloatBinary = std::function<double(double, double)>;
using FloatPredicate = std::function<bool(double)>;
using IntUnary = std::function<int64_t(int64_t)>;
using IntBinary = std::function<int64_t(int64_t, int64_t)>;

//===----------------------------------------------------------------------===//
// Float functions
//===----------------------------------------------------------------------===//

/// max(0, min(1, x)), NaN for NaN.
static double clampToUnit(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }
static double softplus(double x) {
  return std::isnan(x) ? x
                       : std::fmax(x, 0) + std::log1p(std::exp(-std::abs(x)));
}
static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// The function of a unary op without attributes.
static FloatUnary getPlainFloatUnary(Operation *op) {
  using Plain = double (*)(double);
  Plain function =
      llvm::TypeSwitch<Operation *, Plain>(op)
          .Case([](AbsOp) { return Plain(std::fabs); })
          .Case([](AcosOp) { return Plain(std::acos); })
          .Case([](AcoshOp) { return Plain(std::acosh); })
          .Case([](AsinOp) { return Plain(std::asin); })
          .Case([](AsinhOp) { return Plain(std::asinh); })
          .Case([](AtanOp) { return Plain(std::atan); })
          .Case([](AtanhOp) { return Plain(std::atanh); })
          .Case([](CeilOp) { return Plain(std::ceil); })
          .Case([](CosOp) { return Plain(std::cos); })
          .Case([](CoshOp) { return Plain(std::cosh); })
          .Case([](ErfOp) { return Plain(std::erf); })
          .Case([](ExpOp) { return Plain(std::exp); })
          .Case([](FloorOp) { return Plain(std::floor); })
          .Case([](HardSwishOp) {
            return [](double x) { return x * clampToUnit(x / 6 + 0.5); };
          })
          .Case([](LogOp) { return Plain(std::log); })
          .Case([](MishOp) {
            return [](double x) { return x * std::tanh(softplus(x)); };
          })
          .Case([](NegOp) { return [](double x) { return -x; }; })
          .Case([](ReciprocalOp) { return [](double x) { return 1 / x; }; })
          .Case([](ReluOp) { return [](double x) { return x < 0 ? 0 : x; }; })
          // In the default rounding mode: halves to even.
          .Case([](RoundOp) { return Plain(std::nearbyint); })
          .Case(
              [](RsqrtOp) { return [](double x) { return 1 / std::sqrt(x); }; })
          .Case([](SigmoidOp) { return Plain(sigmoid); })
          .Case([](SignOp) {
            return [](double x) {
              return x > 0 ? 1.0 : x < 0 ? -1.0 : x == 0 ? 0.0 : x;
            };
          })
          .Case([](SinOp) { return Plain(std::sin); })
          .Case([](SinhOp) { return Plain(std::sinh); })
          .Case([](SoftplusOp) { return Plain(softplus); })
          .Case([](SoftsignOp) {
            return [](double x) { return x / (1 + std::abs(x)); };
          })
          .Case([](SqrtOp) { return Plain(std::sqrt); })
          .Case([](TanOp) { return Plain(std::tan); })
          .Case([](TanhOp) { return Plain(std::tanh); })
          .Default([](Operation *) { return Plain(nullptr); });
  return function ? FloatUnary(function) : FloatUnary();
}

/// The function of a unary op with attributes.
static FloatUnary getParametricFloatUnary(Operation *op) {
  return llvm::TypeSwitch<Operation *, FloatUnary>(op)
      .Case([](CeluOp op) {
        double alpha = op.getAlpha().convertToDouble();
        return [=](double x) {
          double negative = alpha * std::expm1(x / alpha);
          return (x > 0 ? x : 0) + (negative > 0 ? 0 : negative);
        };
      })
      .Case([](EluOp op) {
        double alpha = op.getAlpha().convertToDouble();
        return [=](double x) { return x > 0 ? x : alpha * std::expm1(x); };
      })
      .Case([](GeluOp op) -> FloatUnary {
        // 1 + erf(x) and 1 + tanh(x) cancel for negative x; these forms are
        // equal and do not.
        if (!op.getTanhApproximation())
          return [](double x) {
            return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
          };
        return [](double x) {
          double scale = std::sqrt(2 / std::numbers::pi);
          return x * sigmoid(2 * scale * (x + 0.044715 * x * x * x));
        };
      })
      .Case([](HardSigmoidOp op) {
        double alpha = op.getAlpha().convertToDouble();
        double beta = op.getBeta().convertToDouble();
        return [=](double x) { return clampToUnit(alpha * x + beta); };
      })
      .Case([](LeakyReluOp op) {
        double alpha = op.getAlpha().convertToDouble();
        return [=](double x) { return x >= 0 ? x : alpha * x; };
      })
      .Case([](SeluOp op) {
        double alpha = op.getAlpha().convertToDouble();
        double gamma = op.getGamma().convertToDouble();
        return [=](double x) {
          return x > 0 ? gamma * x : gamma * alpha * std::expm1(x);
        };
      })
      .Case([](ShrinkOp op) {
        double bias = op.getBias().convertToDouble();
        double lambd = op.getLambd().convertToDouble();
        return [=](double x) {
          return x < -lambd ? x + bias : x > lambd ? x - bias : 0.0;
        };
      })
      .Case([](SwishOp op) {
        double alpha = op.getAlpha().convertToDouble();
        return [=](double x) { return x * sigmoid(alpha * x); };
      })
      .Case([](ThresholdedReluOp op) {
        double alpha = op.getAlpha().convertToDouble();
        return [=](double x) { return x > alpha ? x : 0.0; };
      })
      .Default([](Operation *) { return FloatUnary(); });
}

static FloatPredicate getFloatPredicate(Operation *op) {
  if (isa<IsNaNOp>(op))
    return [](double x) { return std::isnan(x); };
  auto isInf = dyn_cast<IsInfOp>(op);
  if (!isInf)
    return {};
  bool positive = isInf.getDetectPositive();
  bool negative = isInf.getDetectNegative();
  return [=](double x) {
    return std::isinf(x) && (std::signbit(x) ? negative : positive);
  };
}

/// The smaller of both, -0 below +0, NaN if either is.
static double minFloat(double x, double y) {
  if (std::isnan(x) || std::isnan(y))
    return x + y;
  return x < y || (x == y && std::signbit(x)) ? x : y;
}
static double maxFloat(double x, double y) { return -minFloat(-x, -y); }

/// Python's and numpy's %: the sign of the divisor, also of a zero.
static double floorMod(double x, double y) {
  double remainder = std::fmod(x, y);
  if (remainder == 0)
    return std::copysign(0.0, y);
  return (remainder < 0) != (y < 0) ? remainder + y : remainder;
}

static FloatBinary getFloatBinary(Operation *op) {
  using Plain = double (*)(double, double);
  Plain function =
      llvm::TypeSwitch<Operation *, Plain>(op)
          .Case([](AddOp) { return [](double x, double y) { return x + y; }; })
          .Case([](SubOp) { return [](double x, double y) { return x - y; }; })
          .Case([](MulOp) { return [](double x, double y) { return x * y; }; })
          .Case([](DivOp) { return [](double x, double y) { return x / y; }; })
          .Case([](PowOp) { return Plain(std::pow); })
          .Case([](ModOp) { return Plain(floorMod); })
          .Case([](RemOp) { return Plain(std::fmod); })
          .Case([](MinOp) { return Plain(minFloat); })
          .Case([](MaxOp) { return Plain(maxFloat); })
          .Case([](PReluOp) {
            return [](double x, double y) { return x >= 0 ? x : y * x; };
          })
          .Default([](Operation *) { return Plain(nullptr); });
  return function ? FloatBinary(function) : FloatBinary();
}

//===----------------------------------------------------------------------===//
// Integer functions: on 64 bits, of which the result keeps its own width
//===----------------------------------------------------------------------===//

static int64_t addInt(int64_t x, int64_t y) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) +
                              static_cast<uint64_t>(y));
}
static int64_t mulInt(int64_t x, int64_t y) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) *
                              static_cast<uint64_t>(y));
}
static int64_t negInt(int64_t x) { return mulInt(x, -1); }

/// Towards zero; a zero divisor gives 0, and INT64_MIN / -1 itself.
static int64_t divInt(bool isUnsigned, int64_t x, int64_t y) {
  if (y == 0)
    return 0;
  if (isUnsigned)
    return static_cast<int64_t>(static_cast<uint64_t>(x) /
                                static_cast<uint64_t>(y));
  return y == -1 ? negInt(x) : x / y;
}

/// With the sign of x; a zero divisor gives 0.
static int64_t remInt(bool isUnsigned, int64_t x, int64_t y) {
  if (y == 0)
    return 0;
  if (isUnsigned)
    return static_cast<int64_t>(static_cast<uint64_t>(x) %
                                static_cast<uint64_t>(y));
  return y == -1 ? 0 : x % y;
}

static int64_t modInt(bool isUnsigned, int64_t x, int64_t y) {
  int64_t remainder = remInt(isUnsigned, x, y);
  bool differ = !isUnsigned && remainder != 0 && (remainder < 0) != (y < 0);
  return differ ? remainder + y : remainder;
}

static int64_t powInt(bool isUnsigned, int64_t base, int64_t exponent) {
  if (!isUnsigned && exponent < 0) {
    if (base == -1)
      return exponent % 2 == 0 ? 1 : -1;
    return base == 1;
  }
  int64_t result = 1;
  for (auto rest = static_cast<uint64_t>(exponent); rest; rest >>= 1) {
    if (rest & 1)
      result = mulInt(result, base);
    base = mulInt(base, base);
  }
  return result;
}

static IntUnary getIntUnary(Operation *op, ElementKind kind) {
  bool isUnsigned = fuse::isUnsigned(kind);
  if (auto shrink = dyn_cast<ShrinkOp>(op)) {
    FloatUnary function = getParametricFloatUnary(op);
    return [=](int64_t x) {
      return saturateToInteger(kind, function(integerToDouble(kind, x)));
    };
  }
  return llvm::TypeSwitch<Operation *, IntUnary>(op)
      .Case([&](AbsOp) {
        return [=](int64_t x) { return !isUnsigned && x < 0 ? negInt(x) : x; };
      })
      .Case([](BitwiseNotOp) { return [](int64_t x) { return ~x; }; })
      .Case([](NegOp) { return negInt; })
      .Case([](NotOp) { return [](int64_t x) { return int64_t(x == 0); }; })
      .Case([&](ReluOp) {
        return [=](int64_t x) { return !isUnsigned && x < 0 ? 0 : x; };
      })
      .Case([&](SignOp) {
        return [=](int64_t x) -> int64_t {
          return x == 0 ? 0 : !isUnsigned && x < 0 ? -1 : 1;
        };
      })
      .Default([](Operation *) { return IntUnary(); });
}

static IntBinary getIntBinary(Operation *op, ElementKind kind) {
  bool isUnsigned = fuse::isUnsigned(kind);
  int64_t width = getElementBytes(kind) * 8;
  auto less = [=](int64_t x, int64_t y) { return isIntegerLess(kind, x, y); };
  auto isOutside = [=](int64_t shift) {
    return static_cast<uint64_t>(shift) >= static_cast<uint64_t>(width);
  };
  return llvm::TypeSwitch<Operation *, IntBinary>(op)
      .Case([](AddOp) { return addInt; })
      .Case([](SubOp) {
        return [](int64_t x, int64_t y) { return addInt(x, negInt(y)); };
      })
      .Case([](MulOp) { return mulInt; })
      .Case([&](DivOp) { return std::bind_front(divInt, isUnsigned); })
      .Case([&](PowOp) { return std::bind_front(powInt, isUnsigned); })
      .Case([&](ModOp) { return std::bind_front(modInt, isUnsigned); })
      .Case([&](RemOp) { return std::bind_front(remInt, isUnsigned); })
      .Case([&](MinOp) {
        return [=](int64_t x, int64_t y) { return less(y, x) ? y : x; };
      })
      .Case([&](MaxOp) {
        return [=](int64_t x, int64_t y) { return less(x, y) ? y : x; };
      })
      .Case([&](PReluOp) {
        return [=](int64_t x, int64_t y) {
          return !isUnsigned && x < 0 ? mulInt(x, y) : x;
        };
      })
      .Case<AndOp, BitwiseAndOp>(
          [](auto) { return [](int64_t x, int64_t y) { return x & y; }; })
      .Case<OrOp, BitwiseOrOp>(
          [](auto) { return [](int64_t x, int64_t y) { return x | y; }; })
      .Case<XorOp, BitwiseXorOp>(
          [](auto) { return [](int64_t x, int64_t y) { return x ^ y; }; })
      .Case([&](ShiftLeftOp) {
        return [=](int64_t x, int64_t y) {
          return isOutside(y)
                     ? 0
                     : static_cast<int64_t>(static_cast<uint64_t>(x) << y);
        };
      })
      .Case([&](ShiftRightOp) {
        return [=](int64_t x, int64_t y) -> int64_t {
          if (isUnsigned)
            return isOutside(y)
                       ? 0
                       : static_cast<int64_t>(static_cast<uint64_t>(x) >> y);
          return x >> (isOutside(y) ? 63 : y);
        };
      })
      .Default([](Operation *) { return IntBinary(); });
}

/// The result of a comparison op, given how x and y stand to each other.
static bool compare(Operation *op, bool isLess, bool isEqual, bool isGreater) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](EqualOp) { return isEqual; })
      .Case([&](LessOp) { return isLess; })
      .Case([&](LessEqualOp) { return isLess || isEqual; })
      .Case([&](GreaterOp) { return isGreater; })
      .Case([&](GreaterEqualOp) { return isGreater || isEqual; })
      .Default([](Operation *) { return false; });
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static FailureOr<Values> evaluateCast(Evaluation &evaluation) {
  const ReferenceValue &input = evaluation.operands.front();
  auto type = cast<RankedTensorType>(evaluation.op->getResult(0).getType());
  // Through a tensor of the result type, whose setters round once.
  std::optional<HostTensor> tensor =
      HostTensor::create(input.getShape(), type.getElementType());
  if (!tensor)
    return evaluation.fail("expected enough memory for a tensor of shape " +
                           formatShape(input.getShape()));
  int64_t count = input.getNumElements();
  for (int64_t i = 0; i < count; ++i) {
    if (input.isFloat())
      tensor->setDouble(i, input.getFloats()[i]);
    else if (isUnsigned(input.getKind()))
      tensor->setUInt(i, static_cast<uint64_t>(input.getInts()[i]));
    else
      tensor->setInt(i, input.getInts()[i]);
  }
  std::optional<ReferenceValue> result = ReferenceValue::fromTensor(*tensor);
  if (!result)
    return evaluation.fail("expected enough memory for a tensor of shape " +
                           formatShape(input.getShape()));
  return Values{*result};
}

static FailureOr<Values> evaluateBatchNorm(BatchNormOp op,
                                           Evaluation &evaluation) {
  const ReferenceValue &input = evaluation.operands.front();
  int64_t channels = input.getRank() > 1 ? input.getShape()[1] : 1;
  for (const ReferenceValue &parameter : evaluation.operands.drop_front())
    if (parameter.getNumElements() != channels)
      return evaluation.fail("expected one entry for each of the " +
                             Twine(channels) + " channels but got " +
                             Twine(parameter.getNumElements()));
  FailureOr<ReferenceValue> result = evaluation.allocate(input.getShape());
  if (failed(result))
    return failure();
  int64_t count = input.getNumElements(), inner = 1;
  if (count != 0 && input.getRank() > 2)
    for (int64_t extent : input.getShape().drop_front(2))
      inner *= extent;
  double epsilon = op.getEpsilon().convertToDouble();
  FloatRounder round(input.getKind(), evaluation.rounding);
  MutableArrayRef<double> floats = result->getMutableFloats();
  auto parameter = [&](unsigned index) {
    return evaluation.operands[index].getFloats();
  };
  for (int64_t i = 0; i < count; ++i) {
    int64_t channel = i / inner % channels;
    floats[i] = round((input.getFloats()[i] - parameter(3)[channel]) /
                          std::sqrt(parameter(4)[channel] + epsilon) *
                          parameter(1)[channel] +
                      parameter(2)[channel]);
  }
  return Values{*result};
}

/// Calls `set(i, walk)` for each element of the result.
template <typename Set>
static void forEachElement(ArrayRef<ReferenceValue> operands,
                           const ReferenceValue &result, Set set) {
  SmallVector<ArrayRef<int64_t>> shapes;
  for (const ReferenceValue &operand : operands)
    shapes.push_back(operand.getShape());
  BroadcastWalk walk(result.getShape(), shapes);
  for (int64_t i = 0; i < result.getNumElements(); ++i, walk.advance())
    set(i, walk);
}

static void evaluateWhere(ArrayRef<ReferenceValue> operands,
                          ReferenceValue &result) {
  ArrayRef<int64_t> condition = operands[0].getInts();
  forEachElement(operands, result, [&](int64_t i, const BroadcastWalk &walk) {
    unsigned chosen = condition[walk[0]] ? 1 : 2;
    std::memcpy(result.getMutableBytes() + i * 8,
                operands[chosen].getBytes() + walk[chosen] * 8, 8);
  });
}

static void evaluateClip(ArrayRef<ReferenceValue> operands,
                         ReferenceValue &result) {
  ElementKind kind = result.getKind();
  forEachElement(operands, result, [&](int64_t i, const BroadcastWalk &walk) {
    if (result.isFloat()) {
      auto at = [&](unsigned k) { return operands[k].getFloats()[walk[k]]; };
      result.getMutableFloats()[i] = minFloat(maxFloat(at(0), at(1)), at(2));
      return;
    }
    auto at = [&](unsigned k) { return operands[k].getInts()[walk[k]]; };
    int64_t value = isIntegerLess(kind, at(0), at(1)) ? at(1) : at(0);
    result.getMutableInts()[i] =
        isIntegerLess(kind, at(2), value) ? at(2) : value;
  });
}

static void evaluateComparison(Operation *op, ArrayRef<ReferenceValue> operands,
                               ReferenceValue &result) {
  ElementKind kind = operands[0].getKind();
  bool isFloat = operands[0].isFloat();
  MutableArrayRef<int64_t> results = result.getMutableInts();
  forEachElement(operands, result, [&](int64_t i, const BroadcastWalk &walk) {
    if (isFloat) {
      double x = operands[0].getFloats()[walk[0]];
      double y = operands[1].getFloats()[walk[1]];
      results[i] = compare(op, x<y, x == y, x> y);
      return;
    }
    int64_t x = operands[0].getInts()[walk[0]];
    int64_t y = operands[1].getInts()[walk[1]];
    results[i] = compare(op, isIntegerLess(kind, x, y), x == y,
                         isIntegerLess(kind, y, x));
  });
}

/// Ops of one operand, which has the result's shape.
static LogicalResult evaluateUnary(Evaluation &evaluation,
                                   ReferenceValue &result) {
  Operation *op = evaluation.op;
  const ReferenceValue &input = evaluation.operands.front();
  ElementKind kind = input.getKind();
  if (FloatPredicate predicate = getFloatPredicate(op)) {
    llvm::transform(input.getFloats(), result.getMutableInts().begin(),
                    predicate);
    return success();
  }
  if (input.isFloat()) {
    FloatUnary function = getPlainFloatUnary(op);
    if (!function)
      function = getParametricFloatUnary(op);
    if (!function)
      return evaluation.fail(
          "expected an op that the reference evaluator knows");
    FloatRounder round(kind, evaluation.rounding);
    llvm::transform(input.getFloats(), result.getMutableFloats().begin(),
                    [&](double x) { return round(function(x)); });
    return success();
  }
  IntUnary function = getIntUnary(op, kind);
  if (!function)
    return evaluation.fail("expected an op that the reference evaluator knows");
  llvm::transform(input.getInts(), result.getMutableInts().begin(),
                  [&](int64_t x) { return wrapInteger(kind, function(x)); });
  return success();
}

static LogicalResult evaluateBinary(Evaluation &evaluation,
                                    ReferenceValue &result) {
  Operation *op = evaluation.op;
  ArrayRef<ReferenceValue> operands = evaluation.operands;
  ElementKind kind = result.getKind();
  if (result.isFloat()) {
    FloatBinary function = getFloatBinary(op);
    if (!function)
      return evaluation.fail(
          "expected an op that the reference evaluator knows");
    FloatRounder round(kind, evaluation.rounding);
    MutableArrayRef<double> floats = result.getMutableFloats();
    ArrayRef<double> xs = operands[0].getFloats(), ys = operands[1].getFloats();
    forEachElement(operands, result, [&](int64_t i, const BroadcastWalk &walk) {
      floats[i] = round(function(xs[walk[0]], ys[walk[1]]));
    });
    return success();
  }
  IntBinary function = getIntBinary(op, kind);
  if (!function)
    return evaluation.fail("expected an op that the reference evaluator knows");
  MutableArrayRef<int64_t> ints = result.getMutableInts();
  ArrayRef<int64_t> xs = operands[0].getInts(), ys = operands[1].getInts();
  forEachElement(operands, result, [&](int64_t i, const BroadcastWalk &walk) {
    ints[i] = wrapInteger(kind, function(xs[walk[0]], ys[walk[1]]));
  });
  return success();
}

FailureOr<Values> reference::evaluateElementwise(Evaluation &evaluation) {
  Operation *op = evaluation.op;
  ArrayRef<ReferenceValue> operands = evaluation.operands;
  if (isa<IdentityOp>(op))
    return Values{operands.front()};
  if (isa<CastOp>(op))
    return evaluateCast(evaluation);
  if (auto batchNorm = dyn_cast<BatchNormOp>(op))
    return evaluateBatchNorm(batchNorm, evaluation);

  FailureOr<SmallVector<int64_t>> shape = broadcastShapes(llvm::map_to_vector(
      operands, [](const ReferenceValue &value) { return value.getShape(); }));
  if (failed(shape)) {
    std::string shapes;
    for (const ReferenceValue &operand : operands)
      shapes +=
          (shapes.empty() ? "" : " and ") + formatShape(operand.getShape());
    return evaluation.fail("expected operand shapes that broadcast but got " +
                           shapes);
  }
  FailureOr<ReferenceValue> result = evaluation.allocate(*shape);
  if (failed(result))
    return failure();
  if (isa<WhereOp>(op))
    evaluateWhere(operands, *result);
  else if (isa<ClipOp>(op))
    evaluateClip(operands, *result);
  else if (isa<EqualOp, LessOp, LessEqualOp, GreaterOp, GreaterEqualOp>(op))
    evaluateComparison(op, operands, *result);
  else if (failed(operands.size() == 1 ? evaluateUnary(evaluation, *result)
                                       : evaluateBinary(evaluation, *result)))
    return failure();
  return Values{*result};
}
