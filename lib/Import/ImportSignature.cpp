//===- ImportSignature.cpp - Inputs and outputs of an ONNX graph ----------===//

#include "FuseDialect/Analysis/HostTensor.h"
#include "ModelImporter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::fuse;

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
  llvm::StringMap<SmallVector<int64_t>> shapes = options.shapes;
  for (const auto &[name, tensor] : options.values)
    shapes.try_emplace(name, tensor->getShape());
  for (const auto &[name, shape] : shapes) {
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
  return assumeValues();
}

LogicalResult ModelImporter::assumeValues() {
  for (const auto &[name, tensor] : options.values) {
    auto it = mainScope.bindings.find(name);
    if (it == mainScope.bindings.end())
      return emitFileError()
             << "expected a value for a graph input but got '" << name << "'";
    Value input = it->second.value;
    if (!input)
      continue;
    if (input.getType() != tensor->getType())
      return emitFileError() << "expected a value of type " << input.getType()
                             << " for graph input '" << name << "' but got "
                             << tensor->getType();
    state.known.assume(input, *tensor);
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
