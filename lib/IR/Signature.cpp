//===- Signature.cpp - The source model's view of an entry function -------===//

#include "FuseDialect/IR/Signature.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::fuse;

static Attribute toAttribute(const SignatureValue &value, Builder &builder) {
  SmallVector<Attribute> dims;
  for (const std::string &symbol : value.symbols)
    dims.push_back(builder.getStringAttr(symbol));
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("name", builder.getStringAttr(value.name)),
       builder.getNamedAttr("type", TypeAttr::get(value.type)),
       builder.getNamedAttr("dims", builder.getArrayAttr(dims))});
}

DictionaryAttr Signature::toAttribute(MLIRContext *context) const {
  Builder builder(context);
  auto list = [&](ArrayRef<SignatureValue> values) {
    return builder.getArrayAttr(
        llvm::map_to_vector(values, [&](const SignatureValue &value) {
          return ::toAttribute(value, builder);
        }));
  };
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("inputs", list(inputs)),
       builder.getNamedAttr("outputs", list(outputs))});
}

/// Reads one value, or none if it is malformed.
static std::optional<SignatureValue> parseValue(Attribute attribute) {
  auto dictionary = dyn_cast_or_null<DictionaryAttr>(attribute);
  if (!dictionary)
    return std::nullopt;
  auto name = dictionary.getAs<StringAttr>("name");
  auto typeAttr = dictionary.getAs<TypeAttr>("type");
  auto dims = dictionary.getAs<ArrayAttr>("dims");
  auto type = typeAttr ? dyn_cast<RankedTensorType>(typeAttr.getValue())
                       : RankedTensorType();
  if (!name || !type || !dims ||
      static_cast<int64_t>(dims.size()) != type.getRank())
    return std::nullopt;
  SignatureValue value{name.str(), type, {}};
  for (Attribute dim : dims) {
    auto symbol = dyn_cast<StringAttr>(dim);
    if (!symbol)
      return std::nullopt;
    value.symbols.push_back(symbol.str());
  }
  return value;
}

/// Reads the whole attribute, or none if it is malformed.
static std::optional<Signature> parseSignature(Attribute attribute) {
  auto dictionary = dyn_cast_or_null<DictionaryAttr>(attribute);
  if (!dictionary)
    return std::nullopt;
  Signature signature;
  auto read = [&](StringRef key, SmallVector<SignatureValue> &values) {
    auto list = dictionary.getAs<ArrayAttr>(key);
    if (!list)
      return false;
    for (Attribute element : list) {
      std::optional<SignatureValue> value = parseValue(element);
      if (!value)
        return false;
      values.push_back(std::move(*value));
    }
    return true;
  };
  if (!read("inputs", signature.inputs) || !read("outputs", signature.outputs))
    return std::nullopt;
  return signature;
}

Signature Signature::of(FunctionOpInterface function) {
  if (std::optional<Signature> signature =
          parseSignature(function->getAttr(kSignatureAttrName)))
    return *signature;
  Signature signature;
  auto add = [](TypeRange types, StringRef prefix, bool numberSingle,
                SmallVector<SignatureValue> &values) {
    for (auto [index, type] : llvm::enumerate(types)) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor)
        continue;
      std::string name = prefix.str();
      if (numberSingle || types.size() > 1)
        name += std::to_string(index);
      values.push_back(
          {name, tensor, SmallVector<std::string>(tensor.getRank())});
    }
  };
  add(function.getArgumentTypes(), "arg", true, signature.inputs);
  add(function.getResultTypes(), "out", false, signature.outputs);
  return signature;
}

LogicalResult Signature::verify(Operation *op, Attribute attribute) {
  if (parseSignature(attribute))
    return success();
  return op->emitOpError() << "expected '" << kSignatureAttrName
                           << "' to hold 'inputs' and 'outputs', lists of "
                              "{name, type, dims} with "
                              "one symbol or empty string for each dimension";
}
