//===- ModelImporter.cpp - A parsed ONNX model as a module ----------------===//

#include "ModelImporter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/PriorityQueue.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::fuse;

/// Calls of functions may nest this deep. Recursion is refused anyway, but a
/// file may hold any number of functions that call one another.
static constexpr unsigned kMaxCallDepth = 64;
/// Nodes after inlining. Functions that call one another twice double the
/// number at each level.
static constexpr int64_t kMaxNodes = 1 << 20;

ModelImporter::ModelImporter(ModelPtr model,
                             std::optional<std::string> directory,
                             StringRef path, MLIRContext *context,
                             const OnnxImportOptions &options)
    : model(model), path(path), context(context), options(options),
      state{OpBuilder(context),
            TensorReader(model, std::move(directory), context),
            {}} {}

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

/// The default domain has two names.
static StringRef canonicalDomain(StringRef domain) {
  return domain == "ai.onnx" ? "" : domain;
}

static std::string getFunctionKey(StringRef domain, StringRef name,
                                  StringRef overload) {
  // Zero bytes keep ("a", "bc") apart from ("ab", "c").
  return (canonicalDomain(domain) + Twine('\0') + name + Twine('\0') + overload)
      .str();
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
  if (failed(readOpsets(model->opset_import(), mainScope)) ||
      failed(collectFunctions()) || failed(collectInitializers()) ||
      failed(importInputs()) ||
      failed(importNodes(model->graph().node(), mainScope)))
    return bad();
  if (unsupported.empty() && failed(importOutputs()))
    return bad();
  if (failed(reportUnsupported()))
    return {nullptr, OnnxImportStatus::Unsupported};
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

std::optional<SignatureValue>
ModelImporter::convertType(const onnx::ValueInfoProto &info, StringRef what,
                           bool &isUnsupported) {
  isUnsupported = false;
  auto refuse = [&](const Twine &why) {
    isUnsupported = true;
    noteUnsupported("graph " + what + " '" + info.name() + "': " + why);
    return std::nullopt;
  };
  auto fail = [&](const Twine &why) {
    emitFileError() << "graph " << what << " '" << info.name() << "': " << why;
    return std::nullopt;
  };
  if (!info.type().has_tensor_type()) {
    if (info.type().value_case() == onnx::TypeProto::VALUE_NOT_SET)
      return fail("expected a type");
    return refuse("not a dense tensor");
  }
  const onnx::TypeProto::Tensor &tensor = info.type().tensor_type();
  Type elementType = convertElementType(tensor.elem_type(), context);
  if (!elementType) {
    if (!onnx::TensorProto::DataType_IsValid(tensor.elem_type()) ||
        tensor.elem_type() == onnx::TensorProto::UNDEFINED)
      return fail("expected an element type but got " +
                  Twine(tensor.elem_type()));
    return refuse("element type '" + getDataTypeName(tensor.elem_type()) + "'");
  }
  if (!tensor.has_shape())
    return refuse("a tensor of unknown rank");
  SmallVector<int64_t> shape;
  SmallVector<std::string> symbols;
  for (const onnx::TensorShapeProto::Dimension &dim : tensor.shape().dim()) {
    // Exporters write -1 for an extent that they do not know.
    if (dim.has_dim_value() && dim.dim_value() < -1)
      return fail("expected extents of at least 0 but got " +
                  Twine(dim.dim_value()));
    bool isStatic = dim.has_dim_value() && dim.dim_value() >= 0;
    shape.push_back(isStatic ? dim.dim_value() : ShapedType::kDynamic);
    symbols.push_back(isStatic ? "" : dim.dim_param());
  }
  if (shape.size() > 64)
    return refuse("a tensor of " + Twine(shape.size()) + " dimensions");
  auto type = RankedTensorType::get(shape, elementType);
  if (type.hasStaticShape() && !getCheckedByteCount(type))
    return fail("expected a tensor whose size fits 63 bits");
  return SignatureValue{info.name(), type, std::move(symbols)};
}

LogicalResult ModelImporter::bindDims(MutableArrayRef<SignatureValue> inputs) {
  llvm::StringMap<int64_t> dims;
  llvm::StringSet<> usedDims;
  auto bind = [&](StringRef symbol, int64_t extent) -> LogicalResult {
    if (extent < 0)
      return emitFileError() << "expected extents of at least 0 but got "
                             << extent << " for dimension '" << symbol << "'";
    auto [it, isNew] = dims.try_emplace(symbol, extent);
    if (!isNew && it->second != extent)
      return emitFileError() << "expected one extent for dimension '" << symbol
                             << "' but got " << it->second << " and " << extent;
    return success();
  };
  for (const auto &[symbol, extent] : options.dims)
    if (failed(bind(symbol, extent)))
      return failure();

  // Shapes bind the symbols of their input's dimensions, too.
  for (const auto &[name, shape] : options.shapes) {
    auto *input = llvm::find_if(inputs, [&](const SignatureValue &value) {
      return value.name == name;
    });
    if (input == inputs.end())
      return emitFileError()
             << "expected a shape for a graph input but got '" << name << "'";
    ArrayRef<int64_t> declared = input->type.getShape();
    if (shape.size() != declared.size())
      return emitFileError()
             << "expected " << declared.size() << " extents for graph input '"
             << name << "' but got " << shape.size();
    for (auto [dim, extent] : llvm::enumerate(shape)) {
      if (extent < 0)
        return emitFileError()
               << "expected extents of at least 0 for graph input '" << name
               << "' but got " << extent;
      if (!ShapedType::isDynamic(declared[dim]) && declared[dim] != extent)
        return emitFileError()
               << "expected an extent of " << declared[dim] << " in dimension "
               << dim << " of graph input '" << name << "' but got " << extent;
      std::string &symbol = input->symbols[dim];
      if (!symbol.empty() && failed(bind(symbol, extent)))
        return failure();
      symbol.clear();
    }
    usedDims.insert(name);
    input->type = input->type.clone(shape);
  }

  llvm::StringSet<> symbols;
  for (SignatureValue &input : inputs) {
    SmallVector<int64_t> shape(input.type.getShape());
    for (auto [extent, symbol] : llvm::zip_equal(shape, input.symbols)) {
      symbols.insert(symbol);
      if (auto it = dims.find(symbol); !symbol.empty() && it != dims.end()) {
        extent = it->second;
        symbol.clear();
      }
    }
    input.type = input.type.clone(shape);
    if (input.type.hasStaticShape() && !getCheckedByteCount(input.type))
      return emitFileError() << "graph input '" << input.name
                             << "': expected a tensor whose size fits 63 bits";
  }
  for (const auto &entry : options.dims)
    if (!symbols.contains(entry.getKey()))
      return emitFileError() << "expected the name of a dimension but got '"
                             << entry.getKey() << "'";
  return success();
}

LogicalResult ModelImporter::importInputs() {
  llvm::StringSet<> names;
  for (const onnx::ValueInfoProto &info : model->graph().input()) {
    // Models of the first IR versions list initialisers as inputs, too.
    if (initializers.count(info.name()) ||
        sparseInitializers.count(info.name()))
      continue;
    if (info.name().empty() || !names.insert(info.name()).second)
      return emitFileError() << "expected graph inputs of different names but "
                                "got '"
                             << info.name() << "'";
    bool isUnsupported;
    std::optional<SignatureValue> input =
        convertType(info, "input", isUnsupported);
    if (input)
      signature.inputs.push_back(std::move(*input));
    else if (isUnsupported)
      mainScope.bindings[info.name()] = {Value(), /*isPoisoned=*/true};
    else
      return failure();
  }
  if (failed(bindDims(signature.inputs)))
    return failure();
  Block &entry = function.getBody().front();
  for (const SignatureValue &input : signature.inputs) {
    Location location = NameLoc::get(StringAttr::get(context, input.name));
    mainScope.bindings[input.name] = {entry.addArgument(input.type, location)};
  }
  return success();
}

LogicalResult ModelImporter::importOutputs() {
  Location location = UnknownLoc::get(context);
  SmallVector<Value> results;
  for (const onnx::ValueInfoProto &info : model->graph().output()) {
    std::optional<Binding> binding =
        resolve(info.name(), "", location, mainScope);
    if (!binding)
      return failure();
    if (!binding->value)
      return emitFileError()
             << "graph output '" << info.name() << "' has no value";
    auto type = getTensorType(binding->value);
    SignatureValue output{info.name(), type,
                          SmallVector<std::string>(type.getRank())};
    // What the model declares is kept for its symbols only: code must be right
    // for what the nodes compute.
    if (info.type().tensor_type().has_shape()) {
      bool isUnsupported;
      std::optional<SignatureValue> declared =
          convertType(info, "output", isUnsupported);
      if (!declared)
        return failure();
      if (declared->type.getElementType() != type.getElementType())
        return emitFileError()
               << "graph output '" << info.name() << "': expected "
               << declared->type << " but its node computes " << type;
      if (failed(verifyCompatibleShape(declared->type, type)))
        emitWarning(location)
            << "'" << path << "': graph output '" << info.name()
            << "' is declared as " << declared->type
            << " but its node computes " << type;
      else
        for (int64_t dim = 0; dim < type.getRank(); ++dim)
          if (type.isDynamicDim(dim))
            output.symbols[dim] = declared->symbols[dim];
    }
    results.push_back(binding->value);
    signature.outputs.push_back(std::move(output));
  }
  func::ReturnOp::create(state.builder, location, results);
  function.setFunctionType(
      FunctionType::get(context, function.getBody().front().getArgumentTypes(),
                        ValueRange(results).getTypes()));
  function->setAttr(kSignatureAttrName, signature.toAttribute(context));
  return success();
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// How messages and names call a node that has no name.
static std::string describeNode(const onnx::NodeProto &node) {
  if (!node.name().empty())
    return node.name();
  for (const std::string &output : node.output())
    if (!output.empty())
      return node.op_type() + "#" + output;
  return node.op_type();
}

Location ModelImporter::nameNode(const onnx::NodeProto &node,
                                 const Scope &scope) {
  std::string base = scope.prefix + describeNode(node);
  std::string name = base;
  unsigned &uses = nodeNames[base];
  if (++uses > 1) {
    do
      name = base + "#" + std::to_string(uses);
    while (nodeNames.count(name) && ++uses);
    nodeNames[name] = 1;
  }
  if (node.metadata_props().empty())
    return NameLoc::get(StringAttr::get(context, name));
  // As metadata of the child location the properties stay with the name when
  // locations are fused.
  NamedAttrList properties;
  for (const onnx::StringStringEntryProto &entry : node.metadata_props())
    if (!entry.key().empty())
      properties.set(entry.key(), StringAttr::get(context, entry.value()));
  return NameLoc::get(StringAttr::get(context, name),
                      FusedLoc::get({UnknownLoc::get(context)},
                                    properties.getDictionary(context),
                                    context));
}

LogicalResult ModelImporter::sortNodes(const NodeList &nodes,
                                       const Scope &scope,
                                       SmallVectorImpl<int> &order) {
  llvm::StringMap<int> producers;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string &output : nodes[i].output())
      if (!output.empty())
        producers.try_emplace(output, i);
  SmallVector<SmallVector<int, 1>> consumers(nodes.size());
  SmallVector<int> missing(nodes.size(), 0);
  for (int i = 0; i < nodes.size(); ++i) {
    for (const std::string &input : nodes[i].input()) {
      auto it = producers.find(input);
      if (it == producers.end() || scope.bindings.count(input))
        continue;
      consumers[it->second].push_back(i);
      ++missing[i];
    }
  }
  std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
  for (int i = 0; i < nodes.size(); ++i)
    if (missing[i] == 0)
      ready.push(i);
  while (!ready.empty()) {
    int next = ready.top();
    ready.pop();
    order.push_back(next);
    for (int consumer : consumers[next])
      if (--missing[consumer] == 0)
        ready.push(consumer);
  }
  if (static_cast<int>(order.size()) == nodes.size())
    return success();
  const int *stuck =
      llvm::find_if(missing, [](int count) { return count > 0; });
  return emitFileError() << "expected a graph without cycles, but node '"
                         << scope.prefix
                         << describeNode(nodes[stuck - missing.begin()])
                         << "' depends on itself or on a node that does";
}

LogicalResult ModelImporter::importNodes(const NodeList &nodes, Scope &scope) {
  nodeCount += nodes.size();
  if (nodeCount > kMaxNodes)
    return emitFileError() << "expected at most " << kMaxNodes
                           << " nodes after the inlining of functions";
  // Names are given in the order of the file, whatever the order of evaluation.
  SmallVector<Location> locations;
  for (const onnx::NodeProto &node : nodes)
    locations.push_back(nameNode(node, scope));
  SmallVector<int> order;
  if (failed(sortNodes(nodes, scope, order)))
    return failure();
  for (int index : order)
    if (failed(importNode(nodes[index], locations[index], scope)))
      return failure();
  return success();
}

std::optional<Binding> ModelImporter::resolve(StringRef name, StringRef opType,
                                              Location location, Scope &scope) {
  if (auto it = scope.bindings.find(name); it != scope.bindings.end())
    return it->second;
  auto fail = [&](const Twine &message) {
    if (opType.empty())
      emitFileError() << "graph output '" << name << "': " << message;
    else
      emitError(location) << "'" << opType << "' op input '" << name
                          << "': " << message;
    return std::nullopt;
  };
  // Initialisers are seen by the graph and not by functions.
  const onnx::TensorProto *dense = nullptr;
  const onnx::SparseTensorProto *sparse = nullptr;
  if (&scope == &mainScope) {
    dense = initializers.lookup(name);
    sparse = sparseInitializers.lookup(name);
  }
  if (!dense && !sparse)
    return fail("expected the name of a graph input, an initialiser or another "
                "node's output");
  TensorError error;
  ElementsAttr value = dense ? state.reader.read(*dense, name, error)
                             : state.reader.read(*sparse, name, error);
  Binding binding;
  if (value) {
    // An initialiser is no source op, so its location names none.
    auto constant = ConstantOp::create(state.builder, UnknownLoc::get(context),
                                       value.getType(), value);
    state.known.record(constant);
    binding.value = constant;
  } else if (error.isUnsupported) {
    noteUnsupported("initialiser '" + name + "': " + error.message);
    binding.isPoisoned = true;
  } else {
    return fail(error.message);
  }
  scope.bindings[name] = binding;
  return binding;
}

LogicalResult ModelImporter::resolveAttributes(const onnx::NodeProto &node,
                                               Location location,
                                               const Scope &scope,
                                               AttributeMap &attributes) {
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    const onnx::AttributeProto *resolved = &attribute;
    if (!attribute.ref_attr_name().empty()) {
      auto it = scope.attributes.find(attribute.ref_attr_name());
      // A reference to an attribute that the call leaves out is absent, too.
      if (it == scope.attributes.end())
        continue;
      resolved = it->second;
    }
    if (!attributes.try_emplace(attribute.name(), resolved).second)
      return emitError(location)
             << "'" << node.op_type() << "' op expected one attribute '"
             << attribute.name() << "' but got two";
  }
  return success();
}

LogicalResult ModelImporter::bindOutputs(const onnx::NodeProto &node,
                                         Location location,
                                         ArrayRef<Binding> results,
                                         Scope &scope) {
  for (auto [index, name] : llvm::enumerate(node.output())) {
    if (name.empty())
      continue;
    bool isInitializer =
        &scope == &mainScope &&
        (initializers.count(name) || sparseInitializers.count(name));
    Binding result = index < results.size() ? results[index] : Binding();
    if (isInitializer || !scope.bindings.try_emplace(name, result).second)
      return emitError(location)
             << "'" << node.op_type() << "' op expected output '" << name
             << "' to be a new name but another value has it";
    if (!result.value && !result.isPoisoned && &scope == &mainScope)
      return emitError(location)
             << "'" << node.op_type() << "' op has no value "
             << "for output '" << name << "'";
  }
  return success();
}

LogicalResult ModelImporter::importNode(const onnx::NodeProto &node,
                                        Location location, Scope &scope) {
  StringRef opType = node.op_type();
  StringRef domain = canonicalDomain(node.domain());
  auto opset = scope.opsets.find(domain);
  int64_t version = opset == scope.opsets.end() ? 0 : opset->second;
  auto fail = [&]() -> InFlightDiagnostic {
    return emitError(location) << "'" << opType << "' op ";
  };
  auto refuse = [&](const Twine &why) {
    std::string name = cast<NameLoc>(location).getName().str();
    std::string op =
        (domain.empty() ? Twine(opType) : domain + "." + opType).str();
    noteUnsupported("op '" + op + "' opset " + Twine(version) + " at node '" +
                    name + "'" + (why.isTriviallyEmpty() ? "" : ": ") + why);
    SmallVector<Binding> poison(node.output_size(), Binding{Value(), true});
    return bindOutputs(node, location, poison, scope);
  };

  const onnx::FunctionProto *function =
      functions.lookup(getFunctionKey(node.domain(), opType, node.overload()));
  const OpEntry *entry =
      !function && domain.empty() ? table.lookup(opType) : nullptr;
  if (!function && opset == scope.opsets.end())
    return fail() << "expected an operator set of domain '" << domain
                  << "' in 'opset_import'";

  SmallVector<Binding> bindings;
  bool isPoisoned = false;
  if (function || entry) {
    for (const std::string &input : node.input()) {
      if (input.empty()) {
        bindings.emplace_back();
        continue;
      }
      std::optional<Binding> binding = resolve(input, opType, location, scope);
      if (!binding)
        return failure();
      isPoisoned |= binding->isPoisoned;
      bindings.push_back(*binding);
    }
  }
  AttributeMap attributes;
  if (failed(resolveAttributes(node, location, scope, attributes)))
    return failure();
  if (function)
    return importCall(node, *function, bindings, attributes, location, scope);
  if (!entry)
    return refuse("");
  if (version < entry->since)
    return refuse("the op exists from opset " + Twine(entry->since) + " on");
  if (version < kOldestOpset || version > kNewestOpset)
    return refuse("");
  if (isPoisoned)
    return bindOutputs(
        node, location,
        SmallVector<Binding>(node.output_size(), Binding{Value(), true}),
        scope);

  SmallVector<Value> inputs = llvm::map_to_vector(
      bindings, [](const Binding &binding) { return binding.value; });
  while (!inputs.empty() && !inputs.back())
    inputs.pop_back();
  if (inputs.size() < entry->minInputs || inputs.size() > entry->maxInputs)
    return fail() << "expected " << entry->minInputs
                  << (entry->maxInputs == kVariadic ? " or more"
                      : entry->maxInputs == entry->minInputs
                          ? ""
                          : " to " + std::to_string(entry->maxInputs))
                  << " inputs but got " << inputs.size();
  size_t required =
      entry->maxInputs == kVariadic ? inputs.size() : entry->minInputs;
  for (size_t i = 0; i < required; ++i)
    if (!inputs[i])
      return fail() << "expected input " << i << " but it is left out";
  if (static_cast<unsigned>(node.output_size()) > entry->maxOutputs)
    return fail() << "expected at most " << entry->maxOutputs
                  << " outputs but got " << node.output_size();

  SmallVector<std::string> outputNames(node.output().begin(),
                                       node.output().end());
  NodeContext nodeContext(state, opType, version, location, inputs, outputNames,
                          std::move(attributes));
  SmallVector<Value> results;
  LogicalResult result = entry->handler(nodeContext, results);
  if (!nodeContext.hasFailed() && succeeded(result))
    nodeContext.checkAllAttributesRead();
  if (nodeContext.isUnsupported())
    return refuse(nodeContext.getUnsupportedReason());
  if (nodeContext.hasFailed())
    return failure();
  if (failed(result))
    return fail() << "cannot be imported";
  return bindOutputs(
      node, location,
      llvm::map_to_vector(results, [](Value value) { return Binding{value}; }),
      scope);
}

LogicalResult ModelImporter::importCall(const onnx::NodeProto &node,
                                        const onnx::FunctionProto &function,
                                        ArrayRef<Binding> arguments,
                                        const AttributeMap &attributes,
                                        Location location, Scope &scope) {
  auto fail = [&]() -> InFlightDiagnostic {
    return emitError(location) << "'" << node.op_type() << "' op ";
  };
  if (llvm::is_contained(callStack, &function))
    return fail() << "expected functions that do not call themselves";
  if (callStack.size() >= kMaxCallDepth)
    return fail() << "expected calls of at most " << kMaxCallDepth
                  << " nested functions";
  if (static_cast<int>(arguments.size()) > function.input_size() ||
      node.output_size() > function.output_size())
    return fail() << "expected at most " << function.input_size()
                  << " inputs and " << function.output_size()
                  << " outputs but got " << arguments.size() << " and "
                  << node.output_size();
  Scope inner;
  if (failed(readOpsets(function.opset_import(), inner)))
    return failure();
  inner.prefix = cast<NameLoc>(location).getName().str() + "/";
  for (const onnx::AttributeProto &attribute : function.attribute_proto())
    inner.attributes[attribute.name()] = &attribute;
  for (const auto &entry : attributes)
    inner.attributes[entry.getKey()] = entry.getValue();
  for (int i = 0; i < function.input_size(); ++i)
    if (!inner.bindings
             .try_emplace(function.input(i),
                          i < static_cast<int>(arguments.size()) ? arguments[i]
                                                                 : Binding())
             .second)
      return fail() << "expected function inputs of different names but got '"
                    << function.input(i) << "' twice";

  callStack.push_back(&function);
  if (failed(importNodes(function.node(), inner)))
    return failure();
  callStack.pop_back();

  SmallVector<Binding> results;
  for (int i = 0; i < node.output_size(); ++i) {
    std::optional<Binding> binding =
        resolve(function.output(i), node.op_type(), location, inner);
    if (!binding)
      return failure();
    results.push_back(*binding);
  }
  return bindOutputs(node, location, results, scope);
}
