//===- ExpandMath.cpp - Expand math functions into vector arithmetic ------===//

#include "FuseDialect/Conversion/ExpandMath.h"
#include "ExpandMathFamilies.h"
#include "FuseDialect/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::fuse {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "FuseDialect/Conversion/Passes.h.inc"
} // namespace mlir::fuse

using namespace mlir;
using namespace mlir::fuse;

ExpandMathOptions ExpandMathOptions::fromFeatures(StringRef features) {
  llvm::StringSet<> present;
  SmallVector<StringRef> names;
  features.split(names, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef name : names) {
    name = name.trim();
    if (name.consume_front("+"))
      present.insert(name);
    else if (name.consume_front("-"))
      present.erase(name);
  }
  auto has = [&](StringRef name) { return present.contains(name); };
  ExpandMathOptions options;
  options.avx512 =
      has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl");
  options.hasFma = has("fma") || options.avx512;
  options.hasRound =
      has("sse4.1") || has("avx") || has("avx2") || options.avx512;
  options.hasF16C = has("f16c") || options.avx512;
  return options;
}

/// Whether `type` is a scalar or vector of f16, bf16, f32 or f64.
static bool isExpandable(Type type) {
  Type element = getElementTypeOrSelf(type);
  return (isa<FloatType>(type) || isa<VectorType>(type)) &&
         (element.isF16() || element.isBF16() || element.isF32() ||
          element.isF64());
}

/// Emits the value of a float function of the op's operands, which are of the
/// builder's type. Returns null for an op that stays.
static Value emitFunction(const MathBuilder &b, Operation *op,
                          ValueRange operands) {
  Value x = operands.front();
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](math::AcosOp) { return emitAcos(b, x); })
      .Case([&](math::AcoshOp) { return emitAcosh(b, x); })
      .Case([&](math::AsinOp) { return emitAsin(b, x); })
      .Case([&](math::AsinhOp) { return emitAsinh(b, x); })
      .Case([&](math::AtanOp) { return emitAtan(b, x); })
      .Case([&](math::AtanhOp) { return emitAtanh(b, x); })
      .Case([&](math::CosOp) { return emitCos(b, x); })
      .Case([&](math::CoshOp) { return emitCosh(b, x); })
      .Case([&](math::SinOp) { return emitSin(b, x); })
      .Case([&](math::SinhOp) { return emitSinh(b, x); })
      .Case([&](math::TanOp) { return emitTan(b, x); })
      .Case([&](math::ErfOp) { return emitErf(b, x); })
      .Case([&](math::Exp2Op) { return emitExp2(b, x); })
      .Case([&](math::ExpM1Op) { return emitExpM1(b, x); })
      .Case([&](math::ExpOp) { return emitExp(b, x); })
      .Case([&](math::Log10Op) { return emitLog10(b, x); })
      .Case([&](math::Log1pOp) { return emitLog1p(b, x); })
      .Case([&](math::Log2Op) { return emitLog2(b, x); })
      .Case([&](math::LogOp) { return emitLog(b, x); })
      .Case([&](math::PowFOp) { return emitPow(b, x, operands[1]); })
      .Case([&](math::RsqrtOp) { return emitRsqrt(b, x); })
      .Case([&](math::TanhOp) { return emitTanh(b, x); })
      .Default([](Operation *) { return Value(); });
}

/// Expands a float function, in f32 if its type is narrower.
static void expandFunction(Operation *op, const ExpandMathOptions &options) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return;
  Type type = op->getResult(0).getType();
  if (!isExpandable(type) || !llvm::all_equal(op->getOperandTypes()) ||
      op->getOperand(0).getType() != type)
    return;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  SmallVector<Value> operands(op->getOperands());
  Type computeType = type;
  if (getElementTypeOrSelf(type).getIntOrFloatBitWidth() == 16) {
    computeType = builder.getF32Type();
    if (auto vector = dyn_cast<VectorType>(type))
      computeType = vector.clone(computeType);
    for (Value &operand : operands)
      operand = arith::ExtFOp::create(builder, loc, computeType, operand);
  }
  MathBuilder b(builder, loc, computeType, options);
  Value result = emitFunction(b, op, operands);
  if (!result)
    return;
  if (computeType != type)
    result = arith::TruncFOp::create(builder, loc, type, result);
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

void mlir::fuse::expandMath(Operation *root, const ExpandMathOptions &options) {
  SmallVector<Operation *> worklist;
  root->walk([&](Operation *op) {
    if (isa_and_nonnull<math::MathDialect, arith::ArithDialect>(
            op->getDialect()))
      worklist.push_back(op);
  });
  for (Operation *op : worklist)
    expandFunction(op, options);
}

namespace {
class ExpandMathPass : public fuse::impl::ExpandMathPassBase<ExpandMathPass> {
public:
  using ExpandMathPassBase::ExpandMathPassBase;

  void runOnOperation() override {
    ExpandMathOptions options;
    options.hasFma = hasFma;
    options.hasRound = hasRound;
    options.hasF16C = hasF16C;
    options.avx512 = avx512;
    expandMath(getOperation(), options);
  }
};
} // namespace
