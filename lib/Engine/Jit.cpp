//===- Jit.cpp - Machine code in this process -----------------------------===//

#include "FuseDialect/Engine/Jit.h"
#include "FuseDialect/Analysis/HostTensor.h"
#include "FuseDialect/Engine/EngineError.h"
#include "llvm/ADT/bit.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"
#include <cmath>
#include <cstring>

using namespace mlir::fuse;
using namespace llvm::orc;

// The compiler's calls for conversions that the processor lacks; libgcc has
// some of them, depending on its version.
static _Float16 truncateFloatToHalf(float value) {
  return llvm::bit_cast<_Float16>(encodeHalf(value));
}
static _Float16 truncateDoubleToHalf(double value) {
  return llvm::bit_cast<_Float16>(encodeHalf(value));
}
static float extendHalfToFloat(_Float16 value) {
  return static_cast<float>(decodeHalf(llvm::bit_cast<uint16_t>(value)));
}
static __bf16 truncateFloatToBFloat(float value) {
  return llvm::bit_cast<__bf16>(encodeBFloat(value));
}
static __bf16 truncateDoubleToBFloat(double value) {
  return llvm::bit_cast<__bf16>(encodeBFloat(value));
}

/// The C library's functions of one or two floats, in both precisions.
template <typename Add> static void addMathFunctions(Add add) {
  using Unary = double (*)(double);
  using UnaryFloat = float (*)(float);
  using Binary = double (*)(double, double);
  using BinaryFloat = float (*)(float, float);
#define FUSE_UNARY(NAME)                                                       \
  add(#NAME, static_cast<Unary>(::NAME));                                      \
  add(#NAME "f", static_cast<UnaryFloat>(::NAME##f));
#define FUSE_BINARY(NAME)                                                      \
  add(#NAME, static_cast<Binary>(::NAME));                                     \
  add(#NAME "f", static_cast<BinaryFloat>(::NAME##f));
  FUSE_UNARY(acos)
  FUSE_UNARY(acosh)
  FUSE_UNARY(asin)
  FUSE_UNARY(asinh)
  FUSE_UNARY(atan)
  FUSE_UNARY(atanh)
  FUSE_UNARY(ceil)
  FUSE_UNARY(cos)
  FUSE_UNARY(cosh)
  FUSE_UNARY(erf)
  FUSE_UNARY(exp)
  FUSE_UNARY(exp2)
  FUSE_UNARY(expm1)
  FUSE_UNARY(floor)
  FUSE_UNARY(log)
  FUSE_UNARY(log10)
  FUSE_UNARY(log1p)
  FUSE_UNARY(log2)
  FUSE_UNARY(nearbyint)
  FUSE_UNARY(rint)
  FUSE_UNARY(round)
  FUSE_UNARY(roundeven)
  FUSE_UNARY(sin)
  FUSE_UNARY(sinh)
  FUSE_UNARY(tan)
  FUSE_UNARY(tanh)
  FUSE_UNARY(trunc)
  FUSE_BINARY(atan2)
  FUSE_BINARY(fmax)
  FUSE_BINARY(fmin)
  FUSE_BINARY(fmod)
  FUSE_BINARY(pow)
#undef FUSE_UNARY
#undef FUSE_BINARY
  // What a processor without the instruction calls.
  add("fma", static_cast<double (*)(double, double, double)>(::fma));
  add("fmaf", static_cast<float (*)(float, float, float)>(::fmaf));
}

/// All that generated code may call.
static SymbolMap getSymbols(ExecutionSession &session) {
  SymbolMap symbols;
  auto add = [&](llvm::StringRef name, auto *function) {
    symbols[session.intern(name)] = {ExecutorAddr::fromPtr(function),
                                     llvm::JITSymbolFlags::Exported |
                                         llvm::JITSymbolFlags::Callable};
  };
  add("fuse_rt_context_threads", fuse_rt_context_threads);
  add("fuse_rt_parallel_for", fuse_rt_parallel_for);
  add("memcpy", static_cast<void *(*)(void *, const void *, size_t)>(memcpy));
  add("memmove", static_cast<void *(*)(void *, const void *, size_t)>(memmove));
  add("memset", static_cast<void *(*)(void *, int, size_t)>(memset));
  add("memcmp",
      static_cast<int (*)(const void *, const void *, size_t)>(memcmp));
  add("bcmp", static_cast<int (*)(const void *, const void *, size_t)>(memcmp));
  addMathFunctions(add);
  add("__truncsfhf2", truncateFloatToHalf);
  add("__truncdfhf2", truncateDoubleToHalf);
  add("__extendhfsf2", extendHalfToFloat);
  add("__truncsfbf2", truncateFloatToBFloat);
  add("__truncdfbf2", truncateDoubleToBFloat);
  return symbols;
}

LinkedObject::LinkedObject(std::unique_ptr<LLJIT> jit,
                           std::shared_ptr<std::string> problems)
    : jit(std::move(jit)), problems(std::move(problems)) {}
LinkedObject::LinkedObject(LinkedObject &&) = default;
LinkedObject &LinkedObject::operator=(LinkedObject &&) = default;
LinkedObject::~LinkedObject() = default;

llvm::Expected<LinkedObject>
LinkedObject::create(std::unique_ptr<llvm::MemoryBuffer> object) {
  llvm::InitializeNativeTarget();
  auto jit = LLJITBuilder()
                 .setLinkProcessSymbolsByDefault(false)
                 .setPlatformSetUp(setUpInactivePlatform)
                 .create();
  if (!jit)
    return jit.takeError();
  ExecutionSession &session = (*jit)->getExecutionSession();
  // The session hears why a lookup fails, and would print it.
  auto problems = std::make_shared<std::string>();
  session.setErrorReporter([problems](llvm::Error error) {
    *problems +=
        (problems->empty() ? "" : "; ") + llvm::toString(std::move(error));
  });
  JITDylib &library = (*jit)->getMainJITDylib();
  if (llvm::Error error = library.define(absoluteSymbols(getSymbols(session))))
    return error;
  if (llvm::Error error = (*jit)->addObjectFile(std::move(object)))
    return error;
  return LinkedObject(std::move(*jit), std::move(problems));
}

llvm::Expected<void *> LinkedObject::lookup(llvm::StringRef name) const {
  llvm::Expected<ExecutorAddr> address = jit->lookup(name);
  if (!address) {
    std::string message = llvm::toString(address.takeError());
    return makeError("cannot link the compiled code: " +
                     (problems->empty() ? message : *problems));
  }
  return address->toPtr<void *>();
}
