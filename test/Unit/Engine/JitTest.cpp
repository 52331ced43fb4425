//===- JitTest.cpp - Modules of the LLVM dialect, compiled and called -----===//

#include "FuseDialect/Engine/Jit.h"
#include "FuseDialect/Engine/Codegen.h"
#include "FuseDialect/Engine/EngineError.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::fuse;

namespace {

class JitTest : public ::testing::Test {
protected:
  MLIRContext context;
  JitTest() { context.loadDialect<LLVM::LLVMDialect>(); }

  OwningOpRef<ModuleOp> parse(StringRef source) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(source, &context);
    EXPECT_TRUE(module);
    return module;
  }
  std::string emit(StringRef source, CodeKind kind, StringRef cpu = "host") {
    llvm::SmallString<0> code;
    llvm::raw_svector_ostream os(code);
    llvm::Error error = emitCode(
        *parse(source), llvm::cantFail(fuse::Target::create(cpu)), kind, os);
    EXPECT_FALSE(error) << llvm::toString(std::move(error));
    return code.str().str();
  }
  LinkedObject link(StringRef source) {
    return llvm::cantFail(LinkedObject::create(
        llvm::MemoryBuffer::getMemBufferCopy(emit(source, CodeKind::object))));
  }
};

/// Doubles sixteen floats in each iteration.
constexpr StringRef kDouble = R"mlir(
  llvm.func @part(%p: !llvm.ptr, %begin: i64, %end: i64) {
    llvm.br ^loop(%begin : i64)
  ^loop(%i: i64):
    %more = llvm.icmp "slt" %i, %end : i64
    llvm.cond_br %more, ^body, ^exit
  ^body:
    %a = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, vector<16xf32>
    %x = llvm.load %a {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
    %y = llvm.fadd %x, %x : vector<16xf32>
    llvm.store %y, %a {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
    %one = llvm.mlir.constant(1 : i64) : i64
    %next = llvm.add %i, %one : i64
    llvm.br ^loop(%next : i64)
  ^exit:
    llvm.return
  }
  llvm.func @fuse_rt_parallel_for(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64)
  llvm.func @twice(%context: !llvm.ptr, %p: !llvm.ptr, %n: i64) {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    %f = llvm.mlir.addressof @part : !llvm.ptr
    llvm.call @fuse_rt_parallel_for(%context, %f, %p, %zero, %n, %one)
        : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64) -> ()
    llvm.return
  }
)mlir";

TEST_F(JitTest, ParallelLoopsRunThroughTheRuntime) {
  LinkedObject object = link(kDouble);
  auto *twice = reinterpret_cast<void (*)(fuse_rt_context *, float *, int64_t)>(
      llvm::cantFail(object.lookup("twice")));
  for (int threads : {1, 2}) {
    fuse_rt_context *runtime = fuse_rt_context_create(threads);
    std::vector<float> data(160);
    for (size_t i = 0; i < data.size(); ++i)
      data[i] = static_cast<float>(i);
    twice(runtime, data.data(), 10);
    for (size_t i = 0; i < data.size(); ++i)
      EXPECT_EQ(data[i], 2.0f * static_cast<float>(i));
    fuse_rt_context_destroy(runtime);
  }
}

TEST_F(JitTest, UnknownSymbolsAreNamed) {
  LinkedObject object = link(R"mlir(
    llvm.func @getpid() -> i32
    llvm.func @f() -> i32 {
      %r = llvm.call @getpid() : () -> i32
      llvm.return %r : i32
    }
  )mlir");
  auto address = object.lookup("f");
  ASSERT_FALSE(address);
  EXPECT_NE(llvm::toString(address.takeError()).find("getpid"),
            std::string::npos);
  auto missing = object.lookup("g");
  ASSERT_FALSE(missing);
  llvm::consumeError(missing.takeError());
}

/// For a processor without them, these conversions are calls.
TEST_F(JitTest, ConvertsSixteenBitFloats) {
  std::string code = emit(R"mlir(
    llvm.func @f(%p: !llvm.ptr) {
      %x = llvm.load %p : !llvm.ptr -> f64
      %h = llvm.fptrunc %x : f64 to f16
      %s = llvm.fpext %h : f16 to f32
      %b = llvm.fptrunc %s : f32 to bf16
      %d = llvm.fpext %b : bf16 to f64
      llvm.store %d, %p : f64, !llvm.ptr
      llvm.return
    }
  )mlir",
                          CodeKind::object, "x86-64");
  LinkedObject object = llvm::cantFail(
      LinkedObject::create(llvm::MemoryBuffer::getMemBufferCopy(code)));
  auto *f =
      reinterpret_cast<void (*)(double *)>(llvm::cantFail(object.lookup("f")));
  double x = 1.0 + 0x1p-10 + 0x1p-8 + 0x1p-30;
  f(&x);
  EXPECT_EQ(x, 1.0 + 0x1p-7);
}

TEST_F(JitTest, CodeUsesTheTargetsRegisters) {
  EXPECT_NE(emit(kDouble, CodeKind::assembly, "x86-64-v4").find("zmm"),
            std::string::npos);
  std::string avx2 = emit(kDouble, CodeKind::assembly, "x86-64-v3");
  EXPECT_EQ(avx2.find("zmm"), std::string::npos);
  EXPECT_NE(avx2.find("ymm"), std::string::npos);
  EXPECT_EQ(emit(kDouble, CodeKind::assembly, "x86-64").find("ymm"),
            std::string::npos);
}

TEST_F(JitTest, FunctionsCarryTheTarget) {
  std::string text = emit(kDouble, CodeKind::llvm, "x86-64-v4");
  EXPECT_NE(text.find("\"target-cpu\"=\"x86-64-v4\""), std::string::npos);
  EXPECT_NE(text.find("\"prefer-vector-width\"=\"512\""), std::string::npos);
}

TEST_F(JitTest, WhatCannotBeTranslatedIsAnError) {
  context.allowUnregisteredDialects();
  std::string diagnostics;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    diagnostics += diagnostic.str();
  });
  OwningOpRef<ModuleOp> module = parse("\"other.op\"() : () -> ()");
  llvm::SmallString<0> code;
  llvm::raw_svector_ostream os(code);
  llvm::Error error = emitCode(*module, llvm::cantFail(fuse::Target::create()),
                               CodeKind::object, os);
  EXPECT_EQ(reportError(std::move(error), "test"), 1);
  EXPECT_NE(diagnostics.find("other.op"), std::string::npos);
}

} // namespace
