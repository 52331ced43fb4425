//===- ExpandMathFamilies.h - Functions by family ---------------*- C++ -*-===//
//
// Each function emits the value of a math function of values of the builder's
// float type, f32 or f64, with all special cases of C99. One source file per
// family holds them with their coefficients.
//
// Coefficients are minimax in the relative error, found with Sollya's
// fpminimax (polynomials, rounded to the format) or with a Remez exchange in
// multiple precision (rational functions); the bound stated beside each table
// is the approximation error without rounding, relative to the function.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_LIB_CONVERSION_EXPANDMATHFAMILIES_H
#define FUSEDIALECT_LIB_CONVERSION_EXPANDMATHFAMILIES_H

#include "ExpandMathBuilder.h"

namespace mlir::fuse {

// ExpandMathExp.cpp
Value emitExp(const MathBuilder &b, Value x);
Value emitExp2(const MathBuilder &b, Value x);
Value emitExpM1(const MathBuilder &b, Value x);
Value emitTanh(const MathBuilder &b, Value x);

// ExpandMathLog.cpp
Value emitLog(const MathBuilder &b, Value x);
Value emitLog2(const MathBuilder &b, Value x);
Value emitLog10(const MathBuilder &b, Value x);
Value emitLog1p(const MathBuilder &b, Value x);

// ExpandMathErf.cpp
Value emitErf(const MathBuilder &b, Value x);

// ExpandMathHyperbolic.cpp
Value emitSinh(const MathBuilder &b, Value x);
Value emitCosh(const MathBuilder &b, Value x);
Value emitAsinh(const MathBuilder &b, Value x);
Value emitAcosh(const MathBuilder &b, Value x);
Value emitAtanh(const MathBuilder &b, Value x);
Value emitAtan(const MathBuilder &b, Value x);
Value emitAsin(const MathBuilder &b, Value x);
Value emitAcos(const MathBuilder &b, Value x);

// ExpandMathTrig.cpp
Value emitSin(const MathBuilder &b, Value x);
Value emitCos(const MathBuilder &b, Value x);
Value emitTan(const MathBuilder &b, Value x);

// ExpandMathPow.cpp
Value emitPow(const MathBuilder &b, Value x, Value y);
Value emitRsqrt(const MathBuilder &b, Value x);

} // namespace mlir::fuse

#endif // FUSEDIALECT_LIB_CONVERSION_EXPANDMATHFAMILIES_H
