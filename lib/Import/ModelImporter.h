//===- ModelImporter.h - A parsed ONNX model as a module --------*- C++ -*-===//

#ifndef FUSEDIALECT_LIB_IMPORT_MODELIMPORTER_H
#define FUSEDIALECT_LIB_IMPORT_MODELIMPORTER_H

#include "FuseDialect/IR/Signature.h"
#include "FuseDialect/Import/OnnxImport.h"
#include "OpLibrary.h"
#include "OpTable.h"

namespace mlir::fuse {

/// The name by which domains are compared: the default one has two names.
StringRef canonicalDomain(StringRef domain);
/// The key of a model-local function.
std::string getFunctionKey(StringRef domain, StringRef name,
                           StringRef overload);

/// A value of a graph by name.
struct Binding {
  /// Null if the value is absent (an input that a call leaves out) or cannot be
  /// computed.
  Value value;
  /// It depends on a node that is not supported.
  bool isPoisoned = false;
};

/// The names that the nodes of a graph or of one call of a function see.
struct Scope {
  llvm::StringMap<Binding> bindings;
  /// Versions of operator sets by domain.
  llvm::StringMap<int64_t> opsets;
  /// The attributes of a call, and the function's defaults.
  AttributeMap attributes;
  /// Put before node names: the call's name and a slash.
  std::string prefix;
  /// Nested calls.
  unsigned depth = 0;
};

/// Translates one model. One use.
class ModelImporter {
public:
  ModelImporter(ModelPtr model, std::optional<std::string> directory,
                StringRef path, MLIRContext *context,
                const OnnxImportOptions &options);

  OnnxImportResult run();

private:
  using NodeList = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

  // The model.
  LogicalResult readOpsets(
      const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &sets,
      Scope &scope);
  LogicalResult collectFunctions();
  LogicalResult collectInitializers();
  LogicalResult importInputs();
  LogicalResult importOutputs();
  /// The type and symbols of a graph input or output; no type: an error was
  /// reported or, if `isUnsupported`, noted.
  std::optional<SignatureValue> convertType(const onnx::ValueInfoProto &info,
                                            StringRef what,
                                            bool &isUnsupported);
  /// Takes notice of the values of inputs that the options give.
  LogicalResult assumeValues();
  /// Replaces dimensions by what the options say of them.
  LogicalResult bindDims(MutableArrayRef<SignatureValue> inputs);

  // Nodes.
  LogicalResult importNodes(const NodeList &nodes, Scope &scope);
  /// The order in which nodes can be evaluated: that of the file where it can.
  LogicalResult sortNodes(const NodeList &nodes, const Scope &scope,
                          SmallVectorImpl<int> &order);
  LogicalResult importNode(const onnx::NodeProto &node, Location location,
                           Scope &scope);
  /// Notes that a node is not supported, and goes on without its outputs.
  LogicalResult refuseNode(const onnx::NodeProto &node, int64_t opset,
                           Location location, const Twine &why, Scope &scope);
  LogicalResult poisonOutputs(const onnx::NodeProto &node, Location location,
                              Scope &scope);
  LogicalResult importCall(const onnx::NodeProto &node,
                           const onnx::FunctionProto &function,
                           ArrayRef<Binding> arguments,
                           const AttributeMap &attributes, Location location,
                           Scope &scope);
  LogicalResult resolveAttributes(const onnx::NodeProto &node,
                                  Location location, const Scope &scope,
                                  AttributeMap &attributes);
  /// What a node's input names; none after an error.
  std::optional<Binding> resolve(StringRef name, StringRef opType,
                                 Location location, Scope &scope);
  LogicalResult bindOutputs(const onnx::NodeProto &node, Location location,
                            ArrayRef<Binding> results, Scope &scope);
  Location nameNode(const onnx::NodeProto &node, const Scope &scope);

  // Errors.
  InFlightDiagnostic emitFileError();
  void noteUnsupported(const Twine &what);
  LogicalResult reportUnsupported();

  ModelPtr model;
  std::string path;
  MLIRContext *context;
  const OnnxImportOptions &options;
  OpTable table;
  OpLibrary library;
  ImportState state;
  Scope mainScope;
  llvm::StringMap<const onnx::TensorProto *> initializers;
  llvm::StringMap<const onnx::SparseTensorProto *> sparseInitializers;
  /// By domain, name and overload.
  llvm::StringMap<const onnx::FunctionProto *> functions;
  /// The functions whose calls are being imported.
  llvm::SmallVector<const onnx::FunctionProto *> callStack;
  /// How often each name was used.
  llvm::StringMap<unsigned> nodeNames;
  int64_t nodeCount = 0;
  size_t nameBytes = 0;
  /// Something is not supported because values are not known.
  bool mayNeedValues = false;
  std::vector<std::string> unsupported;
  Signature signature;
  func::FuncOp function;
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_LIB_IMPORT_MODELIMPORTER_H
