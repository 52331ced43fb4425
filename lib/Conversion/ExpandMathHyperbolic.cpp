//===- ExpandMathHyperbolic.cpp - Hyperbolic functions and inverses -------===//
//
// sinh and cosh from expm1 of |x|, and their inverses by logarithms, in f64 for
// f32 arguments, so that rounding in the formulas does not show. The
// formulas are the textbook's, arranged so that small arguments do not cancel
// (Kahan, "Branch Cuts for Complex Elementary Functions", 1987).
//
//===----------------------------------------------------------------------===//

#include "ExpandMathFamilies.h"

using namespace mlir;
using namespace mlir::fuse;

using Function = llvm::function_ref<Value(const MathBuilder &, Value)>;

/// Evaluates `function` of `x` in f64, whatever the builder's type.
static Value inF64(const MathBuilder &b, Value x, Function function) {
  if (b.isF64())
    return function(b, x);
  MathBuilder wide = b.asF64();
  OpBuilder &builder = b.getBuilder();
  Value extended =
      arith::ExtFOp::create(builder, b.getLoc(), wide.getFloatType(), x);
  return arith::TruncFOp::create(builder, b.getLoc(), b.getFloatType(),
                                 function(wide, extended));
}

/// sinh: (t + t / (t + 1)) / 2 with t = expm1(|x|); for large |x|, where t
/// overflows before sinh does, exp(|x| / 2)^2 / 2.
Value mlir::fuse::emitSinh(const MathBuilder &b, Value x) {
  return inF64(b, x, [](const MathBuilder &w, Value arg) {
    Value magnitude = w.abs(arg);
    Value t = emitExpM1(w, magnitude);
    Value small =
        w.mul(w.constant(0.5), w.add(t, w.div(t, w.add(t, w.constant(1)))));
    Value root = emitExp(w, w.mul(w.constant(0.5), magnitude));
    Value large = w.mul(w.mul(w.constant(0.5), root), root);
    Value isLarge = w.cmp(arith::CmpFPredicate::OGT, magnitude, 40.0);
    return w.copySign(w.select(isLarge, large, small), arg);
  });
}

Value mlir::fuse::emitCosh(const MathBuilder &b, Value x) {
  return inF64(b, x, [](const MathBuilder &w, Value arg) {
    Value root = emitExp(w, w.mul(w.constant(0.5), w.abs(arg)));
    Value half = w.mul(w.constant(0.5), root);
    // exp(|x|) / 2 + exp(-|x|) / 2
    return w.fma(half, root, w.div(w.constant(0.5), w.mul(root, root)));
  });
}

/// log1p(a + a^2 / (1 + sqrt(a^2 + 1))) with a = |x|; log(a) + log 2 where a^2
/// would overflow.
Value mlir::fuse::emitAsinh(const MathBuilder &b, Value x) {
  return inF64(b, x, [](const MathBuilder &w, Value arg) {
    Value a = w.abs(arg);
    Value isLarge = w.cmp(arith::CmpFPredicate::OGT, a, 1e9);
    Value square = w.mul(a, a);
    Value root = w.sqrt(w.add(square, w.constant(1)));
    Value small =
        emitLog1p(w, w.add(a, w.div(square, w.add(w.constant(1), root))));
    Value large = w.add(emitLog(w, a), w.constant(0.69314718055994530942));
    return w.copySign(w.select(isLarge, large, small), arg);
  });
}

/// log1p(t + sqrt(2 t + t^2)) with t = x - 1; NaN below 1.
Value mlir::fuse::emitAcosh(const MathBuilder &b, Value x) {
  return inF64(b, x, [](const MathBuilder &w, Value arg) {
    Value t = w.sub(arg, w.constant(1));
    Value isLarge = w.cmp(arith::CmpFPredicate::OGT, arg, 1e9);
    Value root = w.sqrt(w.fma(t, t, w.add(t, t)));
    Value small = emitLog1p(w, w.add(t, root));
    Value large = w.add(emitLog(w, arg), w.constant(0.69314718055994530942));
    Value result = w.select(isLarge, large, small);
    return w.select(w.cmp(arith::CmpFPredicate::OLT, arg, 1.0), w.nan(),
                    result);
  });
}

/// log1p(2 a / (1 - a)) / 2 with a = |x|.
Value mlir::fuse::emitAtanh(const MathBuilder &b, Value x) {
  return inF64(b, x, [](const MathBuilder &w, Value arg) {
    Value a = w.abs(arg);
    Value ratio = w.div(w.add(a, a), w.sub(w.constant(1), a));
    Value result = w.mul(w.constant(0.5), emitLog1p(w, ratio));
    return w.copySign(result, arg);
  });
}

/// atan of any argument. |x| is reduced by the angles of 0.5, 1, 1.5 and
/// infinity, and the rest is a polynomial (fdlibm, s_atan.c; error below
/// 2^-56).
Value mlir::fuse::emitAtan(const MathBuilder &b, Value x) {
  return inF64(b, x, [](const MathBuilder &w, Value arg) {
    Value a = w.abs(arg);
    auto above = [&](double bound) {
      return w.cmp(arith::CmpFPredicate::OGE, a, bound);
    };
    auto reduce = [&](double c) {
      return w.div(w.sub(a, w.constant(c)),
                   w.fma(a, w.constant(c), w.constant(1)));
    };
    // The argument after reduction and the angle to add, in two parts.
    Value r = a, high = w.constant(0), low = w.constant(0);
    auto take = [&](Value where, Value reduced, double angle, double rest) {
      r = w.select(where, reduced, r);
      high = w.select(where, w.constant(angle), high);
      low = w.select(where, w.constant(rest), low);
    };
    take(above(7.0 / 16), reduce(0.5), 4.63647609000806093515e-01,
         2.26987774529616870924e-17);
    take(above(11.0 / 16), reduce(1), 7.85398163397448278999e-01,
         3.06161699786838301793e-17);
    take(above(19.0 / 16), reduce(1.5), 9.82793723247329054082e-01,
         1.39033110312309984516e-17);
    take(above(39.0 / 16), w.div(w.constant(-1), a), 1.57079632679489655800e+00,
         6.12323399573676603587e-17);
    static constexpr double coefficients[] = {
        3.33333333333329318027e-01, -1.99999999998764832476e-01,
        1.42857142725034663711e-01, -1.11111104054623557880e-01,
        9.09088713343650656196e-02, -7.69187620504482999495e-02,
        6.66107313738753120669e-02, -5.83357013379057348645e-02,
        4.97687799461593236017e-02, -3.65315727442169155270e-02,
        1.62858201153657823623e-02};
    Value square = w.mul(r, r);
    Value series = w.mul(square, w.splitPolynomial(square, coefficients));
    // high - ((r * series - low) - r)
    Value tail = w.sub(w.sub(w.mul(r, series), low), r);
    return w.copySign(w.sub(high, tail), arg);
  });
}

/// atan(x / sqrt((1 - x) * (1 + x))).
Value mlir::fuse::emitAsin(const MathBuilder &b, Value x) {
  return inF64(b, x, [](const MathBuilder &w, Value arg) {
    Value one = w.constant(1);
    Value root = w.sqrt(w.mul(w.sub(one, arg), w.add(one, arg)));
    return emitAtan(w, w.div(arg, root));
  });
}

/// 2 * atan(sqrt((1 - x) / (1 + x))).
Value mlir::fuse::emitAcos(const MathBuilder &b, Value x) {
  return inF64(b, x, [](const MathBuilder &w, Value arg) {
    Value one = w.constant(1);
    Value root = w.sqrt(w.div(w.sub(one, arg), w.add(one, arg)));
    Value angle = emitAtan(w, root);
    return w.add(angle, angle);
  });
}
