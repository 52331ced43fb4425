//===- Codegen.cpp - From the LLVM dialect to machine code ----------------===//

#include "FuseDialect/Engine/Codegen.h"
#include "FuseDialect/Engine/EngineError.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::fuse;

/// LLVM's default pipeline for -O3.
static void optimize(llvm::Module &module, const Target &target) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&target.getMachine());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, modules);
}

/// Hides the functions that are private in `source`: kernels and their tasks. A
/// kernel may have the name of a C function that the code calls, such as `exp`:
/// no C name holds a dot. Inlined, a kernel would be missing in profiles.
static void hidePrivate(ModuleOp source, llvm::Module &module) {
  for (auto function : source.getOps<LLVM::LLVMFuncOp>()) {
    llvm::Function *code = module.getFunction(function.getSymName());
    if (function.isPublic() || !code || code->isDeclaration())
      continue;
    code->setLinkage(llvm::GlobalValue::InternalLinkage);
    code->addFnAttr(llvm::Attribute::NoInline);
    if (!code->getName().contains('.'))
      code->setName(code->getName() + ".kernel");
  }
}

llvm::Error mlir::fuse::emitCode(ModuleOp module, const Target &target,
                                 CodeKind kind, llvm::raw_pwrite_stream &os) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(module, context, "fuse");
  if (!code)
    return makeReportedError();
  target.applyTo(*code);
  hidePrivate(module, *code);
  // The verifier of the pipeline would end the process.
  std::string problem;
  llvm::raw_string_ostream problemStream(problem);
  if (llvm::verifyModule(*code, &problemStream))
    return makeError("the LLVM IR is not valid: " + problem);
  optimize(*code, target);
  if (kind == CodeKind::llvm) {
    code->print(os, /*AAW=*/nullptr);
    return llvm::Error::success();
  }

  llvm::legacy::PassManager passes;
  llvm::TargetLibraryInfoImpl library(code->getTargetTriple());
  passes.add(new llvm::TargetLibraryInfoWrapperPass(library));
  llvm::CodeGenFileType type = kind == CodeKind::assembly
                                   ? llvm::CodeGenFileType::AssemblyFile
                                   : llvm::CodeGenFileType::ObjectFile;
  if (target.getMachine().addPassesToEmitFile(passes, os, /*DwoOut=*/nullptr,
                                              type))
    return makeError("the target cannot write this kind of file");
  passes.run(*code);
  return llvm::Error::success();
}
