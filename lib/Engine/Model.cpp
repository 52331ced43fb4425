//===- Model.cpp - A model on its way through the phases ------------------===//

#include "FuseDialect/Engine/Model.h"
#include "FuseDialect/Analysis/FusionReport.h"
#include "FuseDialect/Engine/EngineError.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "FuseDialect/Import/OnnxImport.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"
#include <unistd.h>

using namespace mlir;
using namespace mlir::fuse;

void mlir::fuse::registerModelDialects(DialectRegistry &registry) {
  registerPipelineDialects(registry);
}

/// Bytes of the second-level cache of this machine, or a common size.
static int64_t getCacheBytes() {
  long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? bytes : TargetOptions().cacheBytes;
}

/// Reads a module from a text or bytecode file. Positions in messages are in
/// the file's own terms.
static OwningOpRef<ModuleOp> parseModule(StringRef path, MLIRContext *context) {
  llvm::SourceMgr sources;
  return parseSourceFile<ModuleOp>(path, sources, ParserConfig(context));
}

llvm::Expected<Model> Model::load(const ModelOptions &options,
                                  MLIRContext *context) {
  llvm::Expected<Target> target =
      Target::create(options.targetCpu, options.targetFeatures);
  if (!target)
    return target.takeError();
  Model model(options, std::move(*target));
  llvm::Expected<ShapeOptions> shapes =
      ShapeOptions::parse(options.shapes, options.dims);
  if (!shapes)
    return shapes.takeError();
  model.shapeOptions = std::move(*shapes);

  llvm::StringRef path = options.path;
  if (path.ends_with(".onnx")) {
    OnnxImportResult result = importOnnx(path, context);
    if (result.status == OnnxImportStatus::Unsupported)
      return makeReportedError(ExitCode::unsupported);
    model.module = std::move(result.module);
  } else if (path.ends_with(".mlir") || path.ends_with(".mlirbc")) {
    model.module = parseModule(path, context);
  } else {
    return makeError(
        ExitCode::usage,
        "expected a model in a file '.onnx', '.mlir' or '.mlirbc' but got '" +
            path + "'");
  }
  if (!model.module)
    return makeReportedError();
  func::FuncOp entry = model.getEntry();
  if (!entry || entry.isDeclaration())
    return makeError("expected a function '" + options.entry + "' in '" + path +
                     "'");
  for (Type type : llvm::concat<const Type>(entry.getArgumentTypes(),
                                            entry.getResultTypes()))
    if (!isa<RankedTensorType>(type) && !isa<MemRefType>(type))
      return makeError("expected '" + options.entry +
                       "' to take and return ranked tensors");
  model.signature = Signature::of(entry);
  return std::move(model);
}

llvm::Expected<Model> Model::fromModule(const ModelOptions &options,
                                        OwningOpRef<ModuleOp> module) {
  llvm::Expected<Target> target =
      Target::create(options.targetCpu, options.targetFeatures);
  if (!target)
    return target.takeError();
  Model model(options, std::move(*target));
  model.module = std::move(module);
  if (!model.getEntry())
    return makeError("expected a function '" + options.entry + "'");
  model.signature = Signature::of(model.getEntry());
  return std::move(model);
}

func::FuncOp Model::getEntry() {
  return module->lookupSymbol<func::FuncOp>(options.entry);
}

int64_t Model::countOps() {
  int64_t count = 0;
  getEntry().walk([&](Operation *op) {
    count += op->getName().getDialectNamespace() ==
                 FuseDialect::getDialectNamespace() &&
             !isa<fuse::ConstantOp, GroupOp, YieldOp, LaunchOp>(op);
  });
  return count;
}

int64_t Model::countLaunches() {
  int64_t count = 0;
  if (func::FuncOp entry = getEntry())
    entry.walk([&](LaunchOp) { ++count; });
  return count;
}

llvm::Error Model::specialise(ArrayRef<RankedTensorType> types) {
  func::FuncOp entry = getEntry();
  if (llvm::equal(entry.getArgumentTypes(), types))
    return llvm::Error::success();
  std::optional<Phase> phase = getPhase(*module);
  if (!phase || *phase >= Phase::Graph)
    return makeError("the model is past phase 'import', so that its shapes are "
                     "fixed; give shapes "
                     "when it is compiled from there");
  Block &body = entry.getBody().front();
  for (auto [argument, type] : llvm::zip_equal(body.getArguments(), types))
    argument.setType(type);
  entry.setFunctionType(FunctionType::get(
      entry.getContext(), body.getArgumentTypes(), entry.getResultTypes()));
  return llvm::Error::success();
}

llvm::Error Model::compile(Phase last) {
  PipelineOptions pipeline;
  pipeline.fusion = options.fusion;
  pipeline.dumpDirectory = options.dumpDirectory;
  pipeline.target.vectorBytes = target.getVectorBytes();
  pipeline.target.features = target.getFeatures().str();
  pipeline.target.cacheBytes = getCacheBytes();
  std::optional<Phase> current = getPhase(*module);
  auto run = [&](Phase phase) -> llvm::Error {
    bool isUnsupported = false;
    // What is not supported has its own exit code.
    ScopedDiagnosticHandler handler(
        module->getContext(), [&](Diagnostic &diagnostic) {
          isUnsupported |=
              diagnostic.getSeverity() == DiagnosticSeverity::Error &&
              StringRef(diagnostic.str()).contains("not supported");
          return failure();
        });
    if (failed(runPhases(*module, phase, pipeline)))
      return makeReportedError(isUnsupported ? ExitCode::unsupported
                                             : ExitCode::failure);
    return llvm::Error::success();
  };
  bool formsGroups = current && *current < Phase::Group && last >= Phase::Group;
  if (formsGroups) {
    if (llvm::Error error = run(Phase::Group))
      return error;
  }
  if (last >= Phase::Group && !hasReported) {
    hasReported = true;
    FusionReport report = FusionReport::fromModule(*module);
    for (const std::string &file : options.fusionReports) {
      std::string message;
      if (failed(report.write(file, message)))
        return makeError(message);
    }
  }
  return run(last);
}
