//===- ImportNodes.cpp - Nodes and calls of functions ---------------------===//

#include "ModelImporter.h"

#include <queue>

using namespace mlir;
using namespace mlir::fuse;

/// Calls of functions may nest this deep. Recursion is refused anyway, but a
/// file may hold any number of functions that call one another.
static constexpr unsigned kMaxCallDepth = 64;
/// Nodes after inlining. Functions that call one another twice double the
/// number at each level.
static constexpr int64_t kMaxNodes = 1 << 18;
/// Bytes of all their names. Inlining repeats the names of functions' nodes.
static constexpr size_t kMaxNameBytes = size_t(1) << 28;

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
  for (const onnx::NodeProto &node : nodes) {
    locations.push_back(nameNode(node, scope));
    nameBytes += cast<NameLoc>(locations.back()).getName().size();
    if (nameBytes > kMaxNameBytes)
      return emitFileError() << "expected at most " << kMaxNameBytes
                             << " bytes of node names after the inlining of "
                                "functions";
  }
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

/// Checks the numbers of inputs and outputs of a node.
static LogicalResult checkArity(const onnx::NodeProto &node,
                                const OpEntry &entry, ArrayRef<Value> inputs,
                                Location location) {
  auto fail = [&]() -> InFlightDiagnostic {
    return emitError(location) << "'" << node.op_type() << "' op ";
  };
  if (inputs.size() < entry.minInputs || inputs.size() > entry.maxInputs)
    return fail() << "expected " << entry.minInputs
                  << (entry.maxInputs == kVariadic ? " or more"
                      : entry.maxInputs == entry.minInputs
                          ? ""
                          : " to " + std::to_string(entry.maxInputs))
                  << " inputs but got " << inputs.size();
  size_t required =
      entry.maxInputs == kVariadic ? inputs.size() : entry.minInputs;
  for (size_t i = 0; i < required; ++i)
    if (!inputs[i])
      return fail() << "expected input " << i << " but it is left out";
  if (static_cast<unsigned>(node.output_size()) > entry.maxOutputs)
    return fail() << "expected at most " << entry.maxOutputs
                  << " outputs but got " << node.output_size();
  return success();
}

/// "com.acme.Scale", or the type alone in the default domain.
static std::string getQualifiedName(const onnx::NodeProto &node) {
  StringRef domain = canonicalDomain(node.domain());
  return domain.empty() ? node.op_type()
                        : (domain + "." + node.op_type()).str();
}

LogicalResult ModelImporter::refuseNode(const onnx::NodeProto &node,
                                        int64_t opset, Location location,
                                        const Twine &why, Scope &scope) {
  noteUnsupported("op '" + getQualifiedName(node) + "' opset " + Twine(opset) +
                  " at node '" + cast<NameLoc>(location).getName().getValue() +
                  "'" + (why.isTriviallyEmpty() ? "" : ": ") + why);
  return poisonOutputs(node, location, scope);
}

LogicalResult ModelImporter::poisonOutputs(const onnx::NodeProto &node,
                                           Location location, Scope &scope) {
  SmallVector<Binding> poison(node.output_size(), Binding{Value(), true});
  return bindOutputs(node, location, poison, scope);
}

LogicalResult ModelImporter::importNode(const onnx::NodeProto &node,
                                        Location location, Scope &scope) {
  StringRef opType = node.op_type();
  StringRef domain = canonicalDomain(node.domain());
  auto opset = scope.opsets.find(domain);
  int64_t version = opset == scope.opsets.end() ? 0 : opset->second;
  const onnx::FunctionProto *function =
      functions.lookup(getFunctionKey(node.domain(), opType, node.overload()));
  const OpEntry *entry =
      !function && domain.empty() ? table.lookup(opType) : nullptr;
  ArrayRef<func::FuncOp> bodies = function || entry
                                      ? ArrayRef<func::FuncOp>()
                                      : library.lookup(getQualifiedName(node));
  if (!function && opset == scope.opsets.end())
    return emitError(location)
           << "'" << opType << "' op expected an operator set of domain '"
           << domain << "' in 'opset_import'";
  if (!function && !entry && bodies.empty())
    return refuseNode(node, version, location, "", scope);

  SmallVector<Binding> bindings;
  bool isPoisoned = false;
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
  AttributeMap attributes;
  if (failed(resolveAttributes(node, location, scope, attributes)))
    return failure();
  if (function)
    return importCall(node, *function, bindings, attributes, location, scope);
  if (entry && version < entry->since)
    return refuseNode(node, version, location,
                      "the op exists from opset " + Twine(entry->since) + " on",
                      scope);
  if (entry && (version < kOldestOpset || version > kNewestOpset))
    return refuseNode(node, version, location, "", scope);
  if (isPoisoned)
    return poisonOutputs(node, location, scope);

  SmallVector<Value> inputs = llvm::map_to_vector(
      bindings, [](const Binding &binding) { return binding.value; });
  while (!inputs.empty() && !inputs.back())
    inputs.pop_back();
  if (entry && failed(checkArity(node, *entry, inputs, location)))
    return failure();
  SmallVector<std::string> outputNames(node.output().begin(),
                                       node.output().end());
  NodeContext nodeContext(state, opType, version, location, inputs, outputNames,
                          std::move(attributes));
  SmallVector<Value> results;
  LogicalResult result = entry
                             ? entry->handler(nodeContext, results)
                             : OpLibrary::import(nodeContext, bodies, results);
  if (!nodeContext.hasFailed() && succeeded(result))
    nodeContext.checkAllAttributesRead();
  mayNeedValues |= nodeContext.mayNeedValues();
  if (nodeContext.isUnsupported())
    return refuseNode(node, version, location,
                      nodeContext.getUnsupportedReason(), scope);
  if (nodeContext.hasFailed())
    return failure();
  if (failed(result))
    return emitError(location) << "'" << opType << "' op cannot be imported";
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
