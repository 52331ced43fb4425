//===- ModelImporter.cpp - A parsed ONNX model as a module ----------------===//

#include "ModelImporter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::fuse;

ModelImporter::ModelImporter(ModelPtr model,
                             std::optional<std::string> directory,
                             StringRef path, MLIRContext *context,
                             const OnnxImportOptions &options)
    : model(model), path(path), context(context), options(options),
      state{OpBuilder(context),
            TensorReader(model, std::move(directory), context),
            {}} {}

/// The default domain has two names.
StringRef mlir::fuse::canonicalDomain(StringRef domain) {
  return domain == "ai.onnx" ? "" : domain;
}

std::string mlir::fuse::getFunctionKey(StringRef domain, StringRef name,
                                       StringRef overload) {
  // Zero bytes keep ("a", "bc") apart from ("ab", "c").
  return (canonicalDomain(domain) + Twine('\0') + name + Twine('\0') + overload)
      .str();
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

InFlightDiagnostic ModelImporter::emitFileError() {
  return emitError(UnknownLoc::get(context)) << "'" << path << "': ";
}

void ModelImporter::noteUnsupported(const Twine &what) {
  unsupported.push_back(what.str());
}

LogicalResult ModelImporter::reportUnsupported() {
  if (unsupported.empty())
    return success();
  InFlightDiagnostic error = emitFileError() << "not supported:";
  for (const std::string &what : unsupported)
    error << "\n  " << what;
  return failure();
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

OnnxImportResult ModelImporter::run() {
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
  (*module)->setAttr(kPhaseAttrName, StringAttr::get(context, "import"));
  state.builder.setInsertionPointToStart(module->getBody());
  function = func::FuncOp::create(state.builder, UnknownLoc::get(context),
                                  "main", FunctionType::get(context, {}, {}));
  state.builder.setInsertionPointToStart(function.addEntryBlock());

  auto bad = [] {
    return OnnxImportResult{nullptr, OnnxImportStatus::BadInput};
  };
  if (!model->has_graph() ||
      model->graph().node_size() + model->graph().output_size() == 0) {
    emitFileError() << "expected an ONNX model with a graph";
    return bad();
  }
  for (const std::string &file : options.opLibraries)
    if (failed(library.load(file, context)))
      return bad();
  if (failed(readOpsets(model->opset_import(), mainScope)) ||
      failed(collectFunctions()) || failed(collectInitializers()) ||
      failed(importInputs()) ||
      failed(importNodes(model->graph().node(), mainScope)))
    return bad();
  if (unsupported.empty() && failed(importOutputs()))
    return bad();
  if (failed(reportUnsupported()))
    return {nullptr, OnnxImportStatus::Unsupported, mayNeedValues};
  return {std::move(module), OnnxImportStatus::Success};
}

LogicalResult ModelImporter::readOpsets(
    const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &sets,
    Scope &scope) {
  for (const onnx::OperatorSetIdProto &set : sets) {
    int64_t &version = scope.opsets[canonicalDomain(set.domain())];
    version = std::max<int64_t>(version, set.version());
  }
  if (sets.empty())
    return emitFileError() << "expected an operator set in 'opset_import'";
  auto it = scope.opsets.find("");
  if (it != scope.opsets.end() &&
      (it->second < kOldestOpset || it->second > kNewestOpset))
    noteUnsupported("opset " + Twine(it->second) + " (known are " +
                    Twine(kOldestOpset) + " to " + Twine(kNewestOpset) + ")");
  return success();
}

LogicalResult ModelImporter::collectFunctions() {
  for (const onnx::FunctionProto &function : model->functions()) {
    std::string key =
        getFunctionKey(function.domain(), function.name(), function.overload());
    if (!functions.try_emplace(key, &function).second)
      return emitFileError()
             << "expected one function '" << function.name() << "' of domain '"
             << function.domain() << "' but got two";
  }
  return success();
}

LogicalResult ModelImporter::collectInitializers() {
  auto fail = [&](StringRef name) {
    return emitFileError() << "expected one initialiser '" << name
                           << "' but got two";
  };
  for (const onnx::TensorProto &tensor : model->graph().initializer())
    if (!initializers.try_emplace(tensor.name(), &tensor).second)
      return fail(tensor.name());
  for (const onnx::SparseTensorProto &tensor :
       model->graph().sparse_initializer()) {
    StringRef name = tensor.values().name();
    if (initializers.count(name) ||
        !sparseInitializers.try_emplace(name, &tensor).second)
      return fail(name);
  }
  return success();
}
