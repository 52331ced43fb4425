//===- ShapeBinding.cpp - Extents for a model's dynamic inputs ------------===//

#include "FuseDialect/Engine/ShapeBinding.h"
#include "FuseDialect/Engine/EngineError.h"
#include "FuseDialect/Engine/TensorSpec.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::fuse;

/// An extent in decimal; false if malformed or beyond 63 bits.
static bool parseExtent(StringRef text, int64_t &extent) {
  uint64_t value;
  if (text.getAsInteger(10, value) || value > INT64_MAX)
    return false;
  extent = static_cast<int64_t>(value);
  return true;
}

llvm::Expected<ShapeOptions> ShapeOptions::parse(ArrayRef<std::string> shapes,
                                                 ArrayRef<std::string> dims) {
  ShapeOptions options;
  for (StringRef text : shapes) {
    // A name may hold colons; extents do not.
    auto [name, list] = text.rsplit(':');
    SmallVector<int64_t> shape;
    bool isValid = text.contains(':');
    if (!list.empty()) {
      SmallVector<StringRef> extents;
      list.split(extents, 'x');
      for (StringRef extent : extents)
        isValid &= parseExtent(extent, shape.emplace_back());
    }
    if (!isValid)
      return makeError(ExitCode::usage,
                       "expected --shape=NAME:EXTENTxEXTENT… but got "
                       "'--shape=" +
                           text + "'");
    if (!options.shapes.try_emplace(name, std::move(shape)).second)
      return makeError(ExitCode::usage,
                       "'--shape' was given twice for '" + name + "'");
  }
  for (StringRef text : dims) {
    auto [symbol, extentText] = text.rsplit('=');
    int64_t extent;
    if (symbol.empty() || !text.contains('=') ||
        !parseExtent(extentText, extent))
      return makeError(ExitCode::usage,
                       "expected --dim=SYMBOL=EXTENT but got '--dim=" + text +
                           "'");
    if (!options.dims.try_emplace(symbol, extent).second)
      return makeError(ExitCode::usage,
                       "'--dim' was given twice for '" + symbol + "'");
  }
  return options;
}

/// Checks that the names in `options` are in the signature.
static llvm::Error checkNames(const Signature &signature,
                              const ShapeOptions &options) {
  for (const auto &entry : options.shapes)
    if (llvm::none_of(signature.inputs, [&](const SignatureValue &value) {
          return value.name == entry.getKey();
        }))
      return makeError(ExitCode::usage, "in '--shape': there is no input '" +
                                            entry.getKey() + "'");
  for (const auto &entry : options.dims)
    if (llvm::none_of(signature.inputs, [&](const SignatureValue &value) {
          return llvm::is_contained(value.symbols, entry.getKey());
        }))
      return makeError(ExitCode::usage,
                       "in '--dim': no input has a dimension '" +
                           entry.getKey() + "'");
  return llvm::Error::success();
}

/// `dimension 0` or `dimension 0 ('N')`.
static std::string describeDim(const SignatureValue &value, int64_t dim) {
  std::string text = "dimension " + std::to_string(dim);
  if (!value.symbols[dim].empty())
    text += " ('" + value.symbols[dim] + "')";
  return text;
}

/// Makes `shape`, which a tensor or flag gives, that of one input. Extents of
/// symbols are checked against `symbols`, and added to it.
static llvm::Error bindShape(const SignatureValue &value,
                             ArrayRef<int64_t> shape,
                             llvm::StringMap<int64_t> &symbols) {
  if (static_cast<int64_t>(shape.size()) != value.type.getRank())
    return makeError("expected input '" + value.name + "' to have rank " +
                     Twine(value.type.getRank()) + " but got " +
                     Twine(shape.size()));
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    int64_t expected = value.type.getDimSize(dim);
    StringRef symbol = value.symbols[dim];
    if (ShapedType::isDynamic(expected)) {
      if (symbol.empty())
        continue;
      expected = symbols.try_emplace(symbol, extent).first->second;
    }
    if (extent != expected)
      return makeError("expected input '" + value.name + "' to have extent " +
                       Twine(expected) + " in " + describeDim(value, dim) +
                       " but got " + Twine(extent));
  }
  return llvm::Error::success();
}

llvm::Expected<SmallVector<RankedTensorType>>
mlir::fuse::bindShapes(const Signature &signature, const ShapeOptions &options,
                       ArrayRef<const HostTensor *> given) {
  if (llvm::Error error = checkNames(signature, options))
    return error;
  // First what a person says of symbols, then inputs in order: an input that
  // disagrees with an earlier one is the culprit.
  llvm::StringMap<int64_t> symbols = options.dims;
  SmallVector<std::optional<SmallVector<int64_t>>> shapes(
      signature.inputs.size());
  for (auto [index, value] : llvm::enumerate(signature.inputs)) {
    const HostTensor *tensor = index < given.size() ? given[index] : nullptr;
    if (tensor && tensor->getElementType() != value.type.getElementType())
      return makeError(
          "expected input '" + value.name + "' to have elements of type " +
          formatTensorType({}, value.type.getElementType()) + " but got " +
          formatTensorType({}, tensor->getElementType()));
    auto it = options.shapes.find(value.name);
    if (it != options.shapes.end())
      shapes[index] = it->second;
    if (tensor) {
      if (shapes[index] && ArrayRef(*shapes[index]) != tensor->getShape())
        return makeError("input '" + value.name +
                         "' has another shape than '--shape' says");
      shapes[index] = llvm::to_vector(tensor->getShape());
    }
    if (shapes[index])
      if (llvm::Error error = bindShape(value, *shapes[index], symbols))
        return error;
  }
  SmallVector<RankedTensorType> types;
  for (auto [value, shape] : llvm::zip_equal(signature.inputs, shapes)) {
    SmallVector<int64_t> extents =
        shape ? *shape : llvm::to_vector(value.type.getShape());
    for (auto [dim, extent] : llvm::enumerate(extents)) {
      auto it = symbols.find(value.symbols[dim]);
      if (ShapedType::isDynamic(extent) && it != symbols.end())
        extent = it->second;
    }
    types.push_back(RankedTensorType::get(extents, value.type.getElementType(),
                                          value.type.getEncoding()));
  }
  return types;
}

llvm::Error mlir::fuse::checkShapesKnown(const Signature &signature,
                                         ArrayRef<RankedTensorType> types) {
  for (auto [value, type] : llvm::zip_equal(signature.inputs, types))
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      if (!type.isDynamicDim(dim))
        continue;
      StringRef symbol = value.symbols[dim];
      std::string shape;
      for (int64_t extent : type.getShape())
        shape += (shape.empty() ? "" : "x") +
                 (ShapedType::isDynamic(extent) ? "N" : std::to_string(extent));
      return makeError(ExitCode::usage,
                       "input '" + value.name + "' has no extent in " +
                           describeDim(value, dim) + ": give " +
                           (symbol.empty() ? "" : "--dim=" + symbol + "=N, ") +
                           "--shape=" + value.name + ":" + shape +
                           " or --input=" + value.name + "=…");
    }
  return llvm::Error::success();
}
