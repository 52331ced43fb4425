//===- Model.cpp - A model on its way through the phases ------------------===//

#include "FuseDialect/Engine/Model.h"
#include "FuseDialect/Analysis/FusionReport.h"
#include "FuseDialect/Analysis/SourceGraph.h"
#include "FuseDialect/Engine/Codegen.h"
#include "FuseDialect/Engine/TensorSpec.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "FuseDialect/Import/OnnxImport.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::fuse;

/// Reads the file's module.
static llvm::Expected<OwningOpRef<ModuleOp>>
readModule(StringRef path, EngineDiagnostics &diagnostics,
           MLIRContext *context) {
  if (path.ends_with(".onnx")) {
    OnnxImportResult result = importOnnx(path, context);
    if (!result.module)
      return makeReportedError(result.status == OnnxImportStatus::Unsupported
                                   ? ExitCode::unsupported
                                   : ExitCode::failure);
    return std::move(result.module);
  }
  if (path.ends_with(".so"))
    return makeError(ExitCode::unsupported,
                     "'" + path + "': libraries are not supported yet");
  // Resources in bytecode are aligned only if the buffer is.
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(
      path, /*IsText=*/false, /*RequiresNullTerminator=*/true, llvm::Align(64));
  if (!buffer)
    return makeError("cannot read '" + path +
                     "': " + buffer.getError().message());
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), SMLoc());
  auto module = parseSourceFile<ModuleOp>(sources, context);
  if (!module)
    return diagnostics.makeError();
  return std::move(module);
}

/// Checks that an entry function before phase `memory` takes and returns
/// tensors as its signature says.
static llvm::Error checkEntry(FunctionOpInterface entry,
                              const Signature &signature) {
  auto check = [&](TypeRange types, ArrayRef<SignatureValue> values,
                   StringRef what) -> llvm::Error {
    for (Type type : types) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor || !getElementKind(tensor.getElementType())) {
        std::string text;
        llvm::raw_string_ostream(text) << type;
        return makeError("expected the " + what + "s of '" + entry.getName() +
                         "' to be ranked tensors of the dialect's element "
                         "types but got " +
                         text);
      }
    }
    if (types.size() != values.size())
      return makeError("expected the signature of '" + entry.getName() +
                       "' to have " + Twine(types.size()) + " " + what +
                       "s but got " + Twine(values.size()));
    for (auto [type, value] : llvm::zip_equal(types, values))
      if (failed(verifyCompatibleShape(type, value.type)) ||
          !getElementKind(value.type.getElementType()))
        return makeError("the signature of '" + entry.getName() +
                         "' has another type for '" + value.name +
                         "' than the function");
    return llvm::Error::success();
  };
  return llvm::joinErrors(
      check(entry.getArgumentTypes(), signature.inputs, "argument"),
      check(entry.getResultTypes(), signature.outputs, "result"));
}

/// The functions that a person may call, for messages.
static std::string listEntries(ModuleOp module) {
  std::string names;
  for (auto function : module.getOps<FunctionOpInterface>())
    if (!function.isExternal() && !function->hasAttr(kKernelAttrName) &&
        !function.isPrivate())
      names += (names.empty() ? "'" : ", '") + function.getName().str() + "'";
  return names.empty() ? "the module has none" : "the module has " + names;
}

FunctionOpInterface Model::getEntry() const {
  return getModule().lookupSymbol<FunctionOpInterface>(entry);
}

Phase Model::getPhase() const {
  return fuse::getPhase(*module).value_or(Phase::Import);
}

llvm::Expected<Model> Model::load(StringRef path, StringRef entry,
                                  EngineDiagnostics &diagnostics,
                                  MLIRContext *context) {
  llvm::Expected<OwningOpRef<ModuleOp>> module =
      readModule(path, diagnostics, context);
  if (!module)
    return module.takeError();
  return fromModule(std::move(*module), entry);
}

llvm::Expected<Model> Model::fromModule(OwningOpRef<ModuleOp> module,
                                        StringRef entry) {
  Model model;
  model.module = std::move(module);
  model.entry = entry.str();
  if (!fuse::getPhase(model.getModule()))
    return makeError("expected '" + kPhaseAttrName + "' to be one of " +
                     llvm::join(getPhaseNames(), ", "));
  FunctionOpInterface function = model.getEntry();
  if (!function)
    function = model.module->lookupSymbol<FunctionOpInterface>(
        (kEntryPrefix + entry).str());
  if (!function || function.isExternal() || function->hasAttr(kKernelAttrName))
    return makeError(ExitCode::usage,
                     "there is no entry function '" + entry +
                         "': " + listEntries(model.getModule()));
  model.signature = Signature::of(function);
  if (model.getPhase() >= Phase::Memory) {
    if (!function->hasAttr(kSignatureAttrName))
      return makeError("expected '" + kSignatureAttrName + "' on '" + entry +
                       "'");
    return std::move(model);
  }
  if (llvm::Error error = checkEntry(function, model.signature))
    return error;
  function->setAttr(kSignatureAttrName,
                    model.signature.toAttribute(function.getContext()));
  return std::move(model);
}

/// Gives a value of the signature a more static type; what is static has no
/// symbol.
static void refine(SignatureValue &value, RankedTensorType type) {
  value.type =
      RankedTensorType::get(type.getShape(), value.type.getElementType());
  for (auto [dim, symbol] : llvm::enumerate(value.symbols))
    if (!type.isDynamicDim(dim))
      symbol.clear();
}

llvm::Error Model::specialize(ArrayRef<RankedTensorType> inputs) {
  bool changes = false;
  for (auto [value, type] : llvm::zip_equal(signature.inputs, inputs))
    changes |= value.type.getShape() != type.getShape();
  if (!changes)
    return llvm::Error::success();
  if (getPhase() > Phase::Graph)
    return makeError(ExitCode::unsupported,
                     "new shapes are not supported after phase 'graph', and "
                     "the module has passed '" +
                         stringifyPhase(getPhase()) + "'");
  auto function = cast<func::FuncOp>(getEntry());
  SmallVector<Type> types;
  for (auto [index, value] : llvm::enumerate(signature.inputs)) {
    refine(value, inputs[index]);
    auto old = cast<RankedTensorType>(function.getArgumentTypes()[index]);
    types.push_back(RankedTensorType::get(
        value.type.getShape(), old.getElementType(), old.getEncoding()));
    if (!function.isExternal())
      function.getArgument(index).setType(types.back());
  }
  function.setFunctionType(FunctionType::get(
      function.getContext(), types, function.getFunctionType().getResults()));
  function->setAttr(kSignatureAttrName,
                    signature.toAttribute(function.getContext()));
  // Shapes are refined in phase `graph`.
  getModule()->removeAttr(kPhaseAttrName);
  return llvm::Error::success();
}

llvm::Error Model::keepOnlyEntry() {
  if (getPhase() > Phase::Group)
    return llvm::Error::success();
  FunctionOpInterface function = getEntry();
  for (auto other :
       llvm::make_early_inc_range(module->getOps<FunctionOpInterface>())) {
    if (other == function)
      continue;
    if (!SymbolTable::symbolKnownUseEmpty(other, function))
      return makeError(ExitCode::unsupported, "calls of functions such as '" +
                                                  other.getName() +
                                                  "' are not supported");
    other->erase();
  }
  return llvm::Error::success();
}

void Model::readOutputTypes() {
  FunctionOpInterface function = getEntry();
  for (auto [value, type] :
       llvm::zip_equal(signature.outputs, function.getResultTypes()))
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      refine(value, tensor);
  function->setAttr(kSignatureAttrName,
                    signature.toAttribute(function.getContext()));
}

llvm::Error Model::checkStatic() const {
  if (getPhase() >= Phase::Memory)
    return llvm::Error::success();
  if (llvm::Error error = checkShapesKnown(
          signature, llvm::map_to_vector(signature.inputs,
                                         [](const SignatureValue &value) {
                                           return value.type;
                                         })))
    return makeError(ExitCode::unsupported,
                     "dynamic shapes are not supported yet after phase "
                     "'group': " +
                         llvm::toString(std::move(error)));
  Operation *culprit = nullptr;
  FunctionOpInterface function = getEntry();
  function->walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto shaped = dyn_cast<ShapedType>(type))
        if (!shaped.hasStaticShape()) {
          culprit = op;
          return WalkResult::interrupt();
        }
    return WalkResult::advance();
  });
  if (!culprit)
    return llvm::Error::success();
  culprit->emitError() << "shapes that depend on data, or that cannot be "
                          "inferred, are not supported yet";
  return makeReportedError(ExitCode::unsupported);
}

/// Ops of the source model that a module holds, or that its fusion report names
/// where kernels have replaced them.
static int64_t countSourceOps(ModuleOp module, Phase phase) {
  int64_t count = 0;
  if (phase <= Phase::Group) {
    forEachSourceOp(module, [&](Operation *) { ++count; });
    return count;
  }
  llvm::StringSet<> names;
  for (const FusionReport::Group &group :
       FusionReport::fromModule(module).groups)
    names.insert(group.ops.begin(), group.ops.end());
  return names.size();
}

/// Launches of kernels in a function.
static int64_t countLaunches(FunctionOpInterface function) {
  int64_t count = 0;
  function->walk([&](LaunchOp) { ++count; });
  return count;
}

llvm::Error Model::compile(Phase last, const CompileOptions &options,
                           const PipelineOptions &pipeline,
                           EngineDiagnostics &diagnostics) {
  numSourceOps = countSourceOps(getModule(), getPhase());
  auto run = [&](Phase phase) {
    return failed(runPhases(getModule(), std::min(phase, last), pipeline))
               ? diagnostics.makeError()
               : llvm::Error::success();
  };
  if (getPhase() < Phase::Graph && last >= Phase::Graph) {
    if (llvm::Error error = run(Phase::Graph))
      return error;
    readOutputTypes();
  }
  if (llvm::Error error = run(Phase::Group))
    return error;
  if (last >= Phase::Group)
    for (const std::string &file : options.fusionReports) {
      std::string problem;
      if (failed(FusionReport::fromModule(getModule()).write(file, problem)))
        return makeError("cannot write '" + file + "': " + problem);
    }
  if (last <= Phase::Group)
    return llvm::Error::success();
  if (llvm::Error error = checkStatic())
    return error;
  if (llvm::Error error = run(Phase::Tune))
    return error;
  if (getPhase() < Phase::Llvm)
    numKernels = countLaunches(getEntry());
  else
    numKernels = FusionReport::fromModule(getModule()).groups.size();
  return run(last);
}
