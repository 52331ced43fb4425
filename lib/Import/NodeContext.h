//===- NodeContext.h - One ONNX node while it is imported -------*- C++ -*-===//

#ifndef FUSEDIALECT_LIB_IMPORT_NODECONTEXT_H
#define FUSEDIALECT_LIB_IMPORT_NODECONTEXT_H

#include "FuseDialect/Analysis/KnownElements.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "OnnxProto.h"
#include "TensorData.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::fuse {

/// Attributes of a node by name. In the body of a model-local function,
/// references to the function's attributes are resolved.
using AttributeMap = llvm::StringMap<const onnx::AttributeProto *>;

/// What all nodes of a model share.
struct ImportState {
  OpBuilder builder;
  TensorReader reader;
  KnownElements known;
};

/// Gives the handler of an op typed access to the node, and builds ops at the
/// node's location. The first error is reported at that location and makes the
/// import fail, whatever the handler returns: handlers may go on with default
/// values and null values.
class NodeContext {
public:
  NodeContext(ImportState &state, StringRef opType, int64_t opset,
              Location location, ArrayRef<Value> inputs,
              ArrayRef<std::string> outputNames, AttributeMap attributes)
      : state(state), opType(opType), opset(opset), location(location),
        inputs(inputs), outputNames(outputNames),
        attributes(std::move(attributes)) {}

  StringRef getOpType() const { return opType; }
  int64_t getOpset() const { return opset; }
  Location getLoc() const { return location; }
  OpBuilder &getBuilder() { return state.builder; }

  //===--------------------------------------------------------------------===//
  // Errors
  //===--------------------------------------------------------------------===//

  /// Reports what is wrong with the node.
  LogicalResult fail(const Twine &message);
  /// Notes why the node, although right, cannot be imported.
  LogicalResult failUnsupported(const Twine &reason);
  bool hasFailed() const { return failed || isUnsupported(); }
  /// Notes that the node could be imported if `what` were known.
  LogicalResult failUnknown(StringRef what);
  bool isUnsupported() const { return !unsupportedReason.empty(); }
  /// Whether that is because something is not known at import.
  bool mayNeedValues() const { return needsValues; }
  StringRef getUnsupportedReason() const { return unsupportedReason; }

  //===--------------------------------------------------------------------===//
  // Inputs and outputs
  //===--------------------------------------------------------------------===//

  unsigned getNumInputs() const { return inputs.size(); }
  ArrayRef<Value> getInputs() const { return inputs; }
  /// Input `index`, or null if it is absent.
  Value getInput(unsigned index) const {
    return index < inputs.size() ? inputs[index] : Value();
  }
  unsigned getNumOutputs() const { return outputNames.size(); }
  /// Whether the node names output `index`.
  bool hasOutput(unsigned index) const {
    return index < outputNames.size() && !outputNames[index].empty();
  }
  /// The name of output `index`.
  StringRef getOutputName(unsigned index) const { return outputNames[index]; }

  /// The elements of an integer input of rank 1 (or 0, for one), or none after
  /// noting that they are not known at import. `what` is the input's name in
  /// the ONNX specification.
  std::optional<SmallVector<int64_t>> getIntegers(unsigned index,
                                                  StringRef what);
  /// The same for floats.
  std::optional<SmallVector<double>> getFloats(unsigned index, StringRef what);
  /// What is known of a value, or none if nothing is.
  std::optional<KnownElements::Elements> getKnownElements(Value value) const {
    return state.known.lookup(value);
  }

  //===--------------------------------------------------------------------===//
  // Attributes
  //===--------------------------------------------------------------------===//

  bool hasAttribute(StringRef name) const { return attributes.count(name); }
  /// The attribute, or the default if it is absent.
  int64_t getInt(StringRef name, int64_t defaultValue);
  double getFloat(StringRef name, float defaultValue);
  StringRef getString(StringRef name, StringRef defaultValue);
  bool getFlag(StringRef name, bool defaultValue) {
    return getInt(name, defaultValue) != 0;
  }
  /// The attribute, or none if it is absent.
  std::optional<SmallVector<int64_t>> getInts(StringRef name);
  std::optional<SmallVector<float>> getFloats(StringRef name);
  /// The attribute; its absence is an error.
  int64_t getRequiredInt(StringRef name);
  /// A tensor attribute (dense or sparse) as a value, or null if it is absent.
  ElementsAttr getTensor(StringRef name);
  /// An attribute that is a number, a list of numbers or a tensor as a constant
  /// of type f32, i64 or the tensor's; null after an error.
  Value createAttribute(StringRef name);
  /// Takes notice of attributes that mean nothing to inference.
  void ignoreAttributes(ArrayRef<StringRef> names) {
    for (StringRef name : names)
      attributes.erase(name);
  }
  /// Fails if there are attributes that nobody read: the op does not define
  /// them in this operator set, so they may carry a meaning that was missed.
  void checkAllAttributesRead();

  /// An axis in [0, rank).
  int64_t normalizeAxis(int64_t axis, int64_t rank);
  /// Axes in [0, rank), sorted; repeats are an error.
  SmallVector<int64_t> normalizeAxes(ArrayRef<int64_t> axes, int64_t rank);
  /// The axes that are input `index` from operator set `since` on, and the
  /// attribute `axes` before. None if absent or after an error.
  std::optional<SmallVector<int64_t>> getAxes(unsigned index, int64_t since);

  //===--------------------------------------------------------------------===//
  // Building ops
  //===--------------------------------------------------------------------===//

  using Attributes = ArrayRef<std::pair<StringRef, Attribute>>;

  /// An op with the given result types, or else those that are inferred and
  /// made as precise as `declared`, if there are such; checked by its verifier.
  /// Null after an error. Null operands come from an earlier error, except
  /// trailing ones, which are absent.
  Operation *createOp(StringRef name, ValueRange operands,
                      Attributes attributes = {}, TypeRange types = {},
                      TypeRange declared = {});
  template <typename OpT>
  Value create(ValueRange operands, Attributes attributes = {},
               TypeRange types = {}) {
    Operation *op =
        createOp(OpT::getOperationName(), operands, attributes, types);
    return op ? op->getResult(0) : Value();
  }

  /// `value` as another element type; itself if it has that type.
  Value cast(Value value, Type elementType);
  Value createConstant(ElementsAttr value);
  /// A constant of rank 0.
  Value createScalar(Type elementType, double value);
  Value createIntegers(ArrayRef<int64_t> values);
  /// Counts bytes of a constant that the node makes from little; fails when a
  /// model makes too many.
  LogicalResult allowBytes(int64_t bytes);

  Attribute getF64(double value) {
    return state.builder.getF64FloatAttr(value);
  }
  Attribute getI64(int64_t value) {
    return state.builder.getI64IntegerAttr(value);
  }
  Attribute getI64s(ArrayRef<int64_t> values) {
    return state.builder.getDenseI64ArrayAttr(values);
  }
  Attribute getBool(bool value) { return state.builder.getBoolAttr(value); }
  Attribute getUnit() { return state.builder.getUnitAttr(); }

private:
  /// Takes an attribute off the list; null if it is absent or not of `type`.
  const onnx::AttributeProto *
  takeAttribute(StringRef name, onnx::AttributeProto::AttributeType type);

  ImportState &state;
  StringRef opType;
  int64_t opset;
  Location location;
  ArrayRef<Value> inputs;
  ArrayRef<std::string> outputNames;
  AttributeMap attributes;
  bool failed = false;
  bool needsValues = false;
  std::string unsupportedReason;
};

/// The type of an imported value.
inline RankedTensorType getTensorType(Value value) {
  return llvm::cast<RankedTensorType>(value.getType());
}

} // namespace mlir::fuse

#endif // FUSEDIALECT_LIB_IMPORT_NODECONTEXT_H
