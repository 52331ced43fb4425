//===- CompileModel.cpp - What fuse-compile does --------------------------===//

#include "FuseDialect/Engine/CompileModel.h"
#include "FuseDialect/Engine/Codegen.h"
#include "FuseDialect/Engine/DiagnosticPrinter.h"
#include "FuseDialect/Engine/EngineError.h"
#include "FuseDialect/Engine/OutputFile.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::fuse;

namespace {

/// What to write: the IR after a phase, or code.
struct Product {
  Phase phase = Phase::Llvm;
  std::optional<CodeKind> code;
};

} // namespace

static llvm::Expected<Product> chooseProduct(const CompileOptions &options) {
  if (!options.compileTo.empty() && !options.emit.empty())
    return makeError(ExitCode::usage,
                     "expected either --compile-to or --emit but got both");
  Product product;
  if (!options.compileTo.empty()) {
    std::optional<Phase> phase = symbolizePhase(options.compileTo);
    if (!phase)
      return makeError(ExitCode::usage, "expected a phase (" +
                                            llvm::join(getPhaseNames(), ", ") +
                                            ") but got '" + options.compileTo +
                                            "'");
    product.phase = *phase;
    return product;
  }
  std::string kind = options.emit;
  StringRef extension = llvm::sys::path::extension(options.output);
  if (kind.empty())
    kind = llvm::StringSwitch<std::string>(extension)
               .Case(".ll", "llvm")
               .Case(".s", "asm")
               .Case(".o", "obj")
               .Case(".so", "so")
               .Cases({".mlir", ".mlirbc"}, "mlir")
               .Default("");
  if (kind == "mlir") {
    product.phase = Phase::Group;
    return product;
  }
  if (kind == "so")
    return makeError(
        ExitCode::unsupported,
        "shared libraries are not supported yet; --emit=obj gives an object");
  product.code = llvm::StringSwitch<std::optional<CodeKind>>(kind)
                     .Case("llvm", CodeKind::llvm)
                     .Case("asm", CodeKind::assembly)
                     .Case("obj", CodeKind::object)
                     .Default(std::nullopt);
  if (product.code)
    return product;
  if (!options.emit.empty())
    return makeError(ExitCode::usage,
                     "expected --emit=llvm, asm or obj but got '" +
                         options.emit + "'");
  return makeError(ExitCode::usage,
                   "expected --compile-to, --emit, or an output '.mlir', "
                   "'.mlirbc', '.ll', '.s' or '.o' but got '" +
                       options.output + "'");
}

llvm::Error mlir::fuse::compileModel(const CompileOptions &options) {
  llvm::Expected<Product> product = chooseProduct(options);
  if (!product)
    return product.takeError();
  DialectRegistry registry;
  registerModelDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  DiagnosticPrinter printer(&context);
  llvm::Expected<Model> model = Model::load(options.model, &context);
  if (!model)
    return model.takeError();
  // Shapes that are given; the rest stays dynamic.
  SmallVector<const HostTensor *> none(model->getSignature().inputs.size(),
                                       nullptr);
  llvm::Expected<SmallVector<RankedTensorType>> types =
      bindShapes(model->getSignature(), model->getShapeOptions(), none);
  if (!types)
    return types.takeError();
  std::optional<Phase> phase = getPhase(model->getModule());
  if (product->phase >= Phase::Graph && phase && *phase < Phase::Graph)
    if (llvm::Error error = model->specialise(*types))
      return error;
  if (product->phase >= Phase::Linalg)
    if (llvm::Error error = checkShapesKnown(model->getSignature(), *types))
      return error;
  if (llvm::Error error = model->compile(product->phase))
    return error;
  return writeFile(
      options.output, [&](llvm::raw_pwrite_stream &os) -> llvm::Error {
        if (product->code)
          return emitCode(model->getModule(), model->getTarget(),
                          *product->code, os);
        if (StringRef(options.output).ends_with(".mlirbc")) {
          if (failed(writeBytecodeToFile(model->getModule(), os)))
            return makeError("cannot write bytecode");
          return llvm::Error::success();
        }
        model->getModule()->print(os, OpPrintingFlags().enableDebugInfo());
        os << '\n';
        return llvm::Error::success();
      });
}
