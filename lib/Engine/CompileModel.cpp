//===- CompileModel.cpp - Compile a model to a file -----------------------===//

#include "FuseDialect/Engine/CompileModel.h"
#include "FuseDialect/Engine/EngineError.h"
#include "FuseDialect/Engine/Model.h"
#include "FuseDialect/Engine/OutputFile.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::fuse;

using Form = std::variant<Phase, CodeKind>;

llvm::Expected<Form> EmitOptions::parseForm(StringRef lastPhase, StringRef emit,
                                            StringRef output) {
  if (output.empty())
    return makeError(ExitCode::usage, "expected -o FILE");
  if (!lastPhase.empty() && !emit.empty())
    return makeError(ExitCode::usage,
                     "'--compile-to' and '--emit' exclude each other");
  if (!lastPhase.empty()) {
    if (std::optional<Phase> phase = symbolizePhase(lastPhase))
      return *phase;
    return makeError(ExitCode::usage, "in '--compile-to': expected one of " +
                                          llvm::join(getPhaseNames(), ", ") +
                                          " but got '" + lastPhase + "'");
  }
  StringRef extension = llvm::sys::path::extension(output);
  if (emit == "so" || (emit.empty() && extension == ".so"))
    return makeError(ExitCode::unsupported,
                     "shared libraries are not supported yet");
  auto form = emit.empty() ? llvm::StringSwitch<std::optional<Form>>(extension)
                                 .Cases({".mlir", ".mlirbc"}, Form(Phase::Llvm))
                                 .Case(".ll", Form(CodeKind::llvm))
                                 .Case(".s", Form(CodeKind::assembly))
                                 .Case(".o", Form(CodeKind::object))
                                 .Default(std::nullopt)
                           : llvm::StringSwitch<std::optional<Form>>(emit)
                                 .Case("llvm", Form(CodeKind::llvm))
                                 .Case("asm", Form(CodeKind::assembly))
                                 .Case("obj", Form(CodeKind::object))
                                 .Default(std::nullopt);
  if (form)
    return *form;
  if (emit.empty())
    return makeError(ExitCode::usage,
                     "'" + output +
                         "' does not say what to write: expected "
                         "--compile-to=PHASE, --emit=KIND, or the extension "
                         ".mlir, .mlirbc, .ll, .s or .o");
  return makeError(ExitCode::usage, "in '--emit': expected llvm, asm or obj "
                                    "but got '" +
                                        emit + "'");
}

/// Writes the module with locations, as text or bytecode.
static llvm::Error writeModule(ModuleOp module, StringRef path) {
  return writeFile(path, [&](llvm::raw_pwrite_stream &os) -> llvm::Error {
    if (path.ends_with(".mlirbc")) {
      if (failed(writeBytecodeToFile(module, os)))
        return makeError("cannot write '" + path + "' as bytecode");
      return llvm::Error::success();
    }
    module->print(os, OpPrintingFlags().enableDebugInfo());
    os << "\n";
    return llvm::Error::success();
  });
}

llvm::Error mlir::fuse::compileModel(const EmitOptions &options) {
  const CompileOptions &compile = options.compile;
  llvm::Expected<Target> target =
      Target::create(compile.targetCpu, compile.targetFeatures);
  if (!target)
    return target.takeError();
  llvm::Expected<ShapeOptions> shapes =
      ShapeOptions::parse(compile.shapes, compile.dims);
  if (!shapes)
    return shapes.takeError();
  const Phase *phase = std::get_if<Phase>(&options.form);
  Phase last = phase ? *phase : Phase::Llvm;
  if (last < Phase::Group && !compile.fusionReports.empty())
    return makeError(ExitCode::usage, "'--fusion-report' needs phase 'group' "
                                      "or a later one");

  DialectRegistry registry;
  registerPipelineDialects(registry);
  MLIRContext context(registry);
  EngineDiagnostics diagnostics(&context);
  llvm::Expected<Model> model =
      Model::load(compile.model, compile.entry, diagnostics, &context);
  if (!model)
    return model.takeError();
  if (phase && model->getPhase() > last)
    return makeError("'" + compile.model + "' has passed phase '" +
                     stringifyPhase(model->getPhase()) + "' already");
  llvm::Expected<SmallVector<RankedTensorType>> types =
      bindShapes(model->getSignature(), *shapes, {});
  if (!types)
    return types.takeError();
  if (llvm::Error error = model->specialize(*types))
    return error;
  if (last > Phase::Group)
    if (llvm::Error error = model->keepOnlyEntry())
      return error;
  if (llvm::Error error = model->compile(
          last, compile, makePipelineOptions(compile, *target), diagnostics))
    return error;
  if (phase)
    return writeModule(model->getModule(), options.output);
  return writeFile(options.output, [&](llvm::raw_pwrite_stream &os) {
    return emitCode(model->getModule(), *target,
                    std::get<CodeKind>(options.form), os);
  });
}
