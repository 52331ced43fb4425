//===- OpLibrary.cpp - Bodies of ops that ONNX does not define ------------===//

#include "OpLibrary.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::fuse;

static constexpr llvm::StringLiteral kOpAttrName = "fuse.op";
static constexpr llvm::StringLiteral kAttributeAttrName = "fuse.attribute";
static constexpr llvm::StringLiteral kDefaultAttrName = "fuse.default";

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// Whether an op of a body can be built again for other operand types.
static bool isInlinable(Operation *op) {
  return isa_and_nonnull<FuseDialect>(op->getDialect()) &&
         op->getNumRegions() == 0 && !isa<YieldOp, LaunchOp>(op) &&
         (isa<CastOp, BarrierOp>(op) || isa<InferTypeOpInterface>(op));
}

/// Checks that a function can be inlined.
static LogicalResult checkFunction(func::FuncOp function) {
  if (function.isDeclaration() || !llvm::hasSingleElement(function.getBody()))
    return function.emitOpError("expected a body of one block");
  for (Type type : llvm::concat<const Type>(function.getArgumentTypes(),
                                            function.getResultTypes()))
    if (!isa<RankedTensorType>(type))
      return function.emitOpError("expected ranked tensors but got ") << type;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    Attribute name = function.getArgAttr(i, kAttributeAttrName);
    if (name && !isa<StringAttr>(name))
      return function.emitOpError("expected '")
             << kAttributeAttrName << "' to be a name but got " << name;
    if (!name && function.getArgAttr(i, kDefaultAttrName))
      return function.emitOpError("expected '")
             << kAttributeAttrName << "' beside '" << kDefaultAttrName << "'";
  }
  if (!isa<func::ReturnOp>(function.getBody().front().back()))
    return function.emitOpError("expected a body that returns");
  for (Operation &op : function.getBody().front().without_terminator())
    if (!isInlinable(&op))
      return op.emitOpError("expected an op of the fuse dialect without "
                            "regions in the body of '")
             << function.getSymName() << "'";
  return success();
}

LogicalResult OpLibrary::load(StringRef path, MLIRContext *context) {
  llvm::SourceMgr sources;
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(path, sources, ParserConfig(context));
  if (!module)
    return failure();
  for (Operation &op : *module->getBody()) {
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function)
      return op.emitOpError("expected a function in an op library");
    if (failed(checkFunction(function)))
      return failure();
    auto name = function->getAttrOfType<StringAttr>(kOpAttrName);
    functions[name ? name.getValue() : function.getSymName()].push_back(
        function);
  }
  modules.push_back(std::move(module));
  return success();
}

ArrayRef<func::FuncOp> OpLibrary::lookup(StringRef op) const {
  auto it = functions.find(op);
  return it == functions.end() ? ArrayRef<func::FuncOp>() : it->second;
}

//===----------------------------------------------------------------------===//
// Inlining
//===----------------------------------------------------------------------===//

/// Whether the function's arguments that are inputs take the node's.
static bool fits(func::FuncOp function, ArrayRef<Value> inputs) {
  unsigned next = 0;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    if (function.getArgAttr(index, kAttributeAttrName))
      continue;
    if (next >= inputs.size() || !inputs[next])
      return false;
    Type input = inputs[next++].getType();
    if (getElementTypeOrSelf(type) != getElementTypeOrSelf(input) ||
        failed(verifyCompatibleShape(type, input)))
      return false;
  }
  return next == inputs.size();
}

/// "(tensor<2xf32>, absent)" for messages.
static std::string formatTypes(TypeRange types) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "(";
  llvm::interleaveComma(types, os, [&](Type type) {
    if (type)
      os << type;
    else
      os << "absent";
  });
  os << ")";
  return text;
}

/// The value of an argument that is an attribute of the node.
static Value createAttribute(NodeContext &node, func::FuncOp function,
                             unsigned index) {
  auto type = cast<RankedTensorType>(function.getArgumentTypes()[index]);
  StringRef name =
      function.getArgAttrOfType<StringAttr>(index, kAttributeAttrName);
  Type elementType = type.getElementType();
  Value value;
  if (node.hasAttribute(name)) {
    value = node.createAttribute(name);
  } else if (auto number = dyn_cast_or_null<FloatAttr>(
                 function.getArgAttr(index, kDefaultAttrName))) {
    value = node.createScalar(isa<FloatType>(elementType)
                                  ? elementType
                                  : node.getBuilder().getF64Type(),
                              number.getValueAsDouble());
  } else if (auto integer = dyn_cast_or_null<IntegerAttr>(
                 function.getArgAttr(index, kDefaultAttrName))) {
    value = node.createConstant(DenseElementsAttr::get(
        RankedTensorType::get({}, integer.getType()), Attribute(integer)));
  } else {
    (void)node.fail("expected attribute '" + name + "'");
  }
  value = node.cast(value, elementType);
  if (value && failed(verifyCompatibleShape(type, value.getType())))
    (void)node.fail("expected attribute '" + name + "' of type " +
                    formatTypes(Type(type)) + " but got " +
                    formatTypes(value.getType()));
  return value;
}

/// Builds one op of a body again, for the types of its new operands.
static LogicalResult inlineOp(NodeContext &node, Operation &op,
                              IRMapping &mapping) {
  SmallVector<Value> operands = llvm::map_to_vector(
      op.getOperands(), [&](Value value) { return mapping.lookup(value); });
  SmallVector<std::pair<StringRef, Attribute>> attributes =
      llvm::map_to_vector(op.getAttrDictionary(), [](NamedAttribute attribute) {
        return std::pair(attribute.getName().getValue(), attribute.getValue());
      });
  SmallVector<Type> types;
  if (isa<BarrierOp>(op))
    types.push_back(operands[0].getType());
  else if (auto castOp = dyn_cast<CastOp>(op))
    types.push_back(
        getTensorType(operands[0]).clone(castOp.getType().getElementType()));
  Operation *built = node.createOp(op.getName().getStringRef(), operands,
                                   attributes, types, op.getResultTypes());
  if (!built)
    return failure();
  mapping.map(op.getResults(), built->getResults());
  return success();
}

LogicalResult OpLibrary::import(NodeContext &node,
                                ArrayRef<func::FuncOp> candidates,
                                SmallVectorImpl<Value> &results) {
  const func::FuncOp *found =
      llvm::find_if(candidates, [&](func::FuncOp function) {
        return fits(function, node.getInputs());
      });
  if (found == candidates.end()) {
    std::string given =
        formatTypes(llvm::map_to_vector(node.getInputs(), [](Value input) {
          return input ? input.getType() : Type();
        }));
    func::FuncOp first = candidates.front();
    return node.fail("expected inputs as a function of the op library takes "
                     "them (" +
                     first.getSymName() +
                     formatTypes(first.getArgumentTypes()) + ") but got " +
                     given);
  }
  func::FuncOp function = *found;
  if (node.getNumOutputs() > function.getNumResults())
    return node.fail("expected at most " + Twine(function.getNumResults()) +
                     " outputs but got " + Twine(node.getNumOutputs()));
  IRMapping mapping;
  unsigned next = 0;
  Block &body = function.getBody().front();
  for (BlockArgument argument : body.getArguments()) {
    unsigned index = argument.getArgNumber();
    Value value = function.getArgAttr(index, kAttributeAttrName)
                      ? createAttribute(node, function, index)
                      : node.getInput(next++);
    if (!value)
      return failure();
    mapping.map(argument, value);
  }
  for (Operation &op : body.without_terminator())
    if (failed(inlineOp(node, op, mapping)))
      return failure();
  for (Value result : body.getTerminator()->getOperands())
    results.push_back(mapping.lookup(result));
  return success();
}
