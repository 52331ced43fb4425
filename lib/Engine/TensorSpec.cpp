//===- TensorSpec.cpp - Tensors given on a command line -------------------===//

#include "FuseDialect/Engine/TensorSpec.h"
#include "FuseDialect/Engine/EngineError.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <charconv>
#include <cmath>

using namespace mlir;
using namespace mlir::fuse;

//===----------------------------------------------------------------------===//
// Literals
//===----------------------------------------------------------------------===//

/// Parses `2x3xf32`; false if it is not a type of the dialect.
static bool parseTensorType(StringRef text, SmallVectorImpl<int64_t> &shape,
                            Type &elementType, MLIRContext *context) {
  uint64_t extent;
  while (!text.empty() && llvm::isDigit(text.front())) {
    if (text.consumeInteger(10, extent) || extent > INT64_MAX ||
        !text.consume_front("x"))
      return false;
    shape.push_back(static_cast<int64_t>(extent));
  }
  Builder b(context);
  auto integer = [&](unsigned width, bool isSignless) -> Type {
    return isSignless ? b.getIntegerType(width)
                      : b.getIntegerType(width, /*isSigned=*/false);
  };
  elementType = llvm::StringSwitch<Type>(text)
                    .Case("i1", b.getI1Type())
                    .Case("f16", b.getF16Type())
                    .Case("bf16", b.getBF16Type())
                    .Case("f32", b.getF32Type())
                    .Case("f64", b.getF64Type())
                    .Case("i8", integer(8, true))
                    .Case("i16", integer(16, true))
                    .Case("i32", integer(32, true))
                    .Case("i64", integer(64, true))
                    .Case("ui8", integer(8, false))
                    .Case("ui16", integer(16, false))
                    .Case("ui32", integer(32, false))
                    .Case("ui64", integer(64, false))
                    .Default(Type());
  return static_cast<bool>(elementType);
}

/// Parses a float in C notation, with inf and nan; false if malformed. A value
/// beyond a double's range is an infinity or zero, as in strtod.
static bool parseDouble(StringRef text, double &value) {
  text.consume_front("+");
  const char *end = text.data() + text.size();
  auto [next, code] = std::from_chars(text.data(), end, value);
  if (next != end || text.empty())
    return false;
  if (code == std::errc::result_out_of_range) {
    // The exponent's sign tells overflow from underflow.
    double sign = text.starts_with("-") ? -1.0 : 1.0;
    bool isTiny = text.contains_insensitive("e-");
    value = sign * (isTiny ? 0.0 : std::numeric_limits<double>::infinity());
    return true;
  }
  return code == std::errc();
}

/// Stores the element that `text` names; false if it is no such value, or an
/// integer that does not fit.
static bool setElement(HostTensor &tensor, int64_t index, StringRef text) {
  text = text.trim();
  ElementKind kind = tensor.getKind();
  if (isFloat(kind)) {
    double value;
    // By way of a double: from decimal to f32 that is two roundings, which
    // numpy's own reading of text has too.
    if (!parseDouble(text, value))
      return false;
    tensor.setDouble(index, value);
    return true;
  }
  if (kind == ElementKind::boolean) {
    std::optional<int64_t> value =
        llvm::StringSwitch<std::optional<int64_t>>(text)
            .Cases({"0", "false"}, 0)
            .Cases({"1", "true"}, 1)
            .Default(std::nullopt);
    if (value)
      tensor.setInt(index, *value);
    return value.has_value();
  }
  text.consume_front("+");
  if (isUnsigned(kind)) {
    uint64_t value;
    if (text.getAsInteger(10, value))
      return false;
    tensor.setUInt(index, value);
    return tensor.getUInt(index) == value;
  }
  int64_t value;
  if (text.getAsInteger(10, value))
    return false;
  tensor.setInt(index, value);
  return tensor.getInt(index) == value;
}

/// Parses the elements behind `TYPE=`.
static llvm::Expected<HostTensor> parseLiteral(StringRef typeText,
                                               ArrayRef<int64_t> shape,
                                               Type elementType,
                                               StringRef list) {
  auto tooLarge = [&] {
    return makeError(ExitCode::usage,
                     "a tensor of type '" + typeText + "' is too large");
  };
  std::optional<HostTensor> tensor = HostTensor::create(shape, elementType);
  if (!tensor)
    return tooLarge();
  int64_t count = tensor->getNumElements();
  SmallVector<StringRef> texts;
  if (!list.trim().empty())
    list.split(texts, ',');
  bool isSplat = texts.size() == 1;
  if (!isSplat && texts.size() != static_cast<size_t>(count))
    return makeError(ExitCode::usage,
                     "expected " + Twine(count) +
                         " elements, or one for all, but got " +
                         Twine(texts.size()));
  auto badElement = [&](StringRef text) {
    return makeError(ExitCode::usage, "expected a value of type " +
                                          formatTensorType({}, elementType) +
                                          " but got '" + text.trim() + "'");
  };
  if (isSplat) {
    // Also checked when there is no element to set.
    std::optional<HostTensor> one = HostTensor::create({}, elementType);
    if (!one)
      return tooLarge();
    if (!setElement(*one, 0, texts[0]))
      return badElement(texts[0]);
  }
  for (int64_t i = 0; i < count; ++i)
    if (!setElement(*tensor, i, isSplat ? texts[0] : texts[i]))
      return badElement(texts[i]);
  return std::move(*tensor);
}

//===----------------------------------------------------------------------===//
// Specs
//===----------------------------------------------------------------------===//

static llvm::Expected<SpecValue> parseRandom(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, ':');
  RandomValues random;
  auto malformed = [&] {
    return makeError(ExitCode::usage, "expected 'random', 'random:SEED' or "
                                      "'random:SEED:LOW:HIGH' but got '" +
                                          text + "'");
  };
  if (parts.size() == 3 || parts.size() > 4)
    return malformed();
  if (parts.size() >= 2 && parts[1].getAsInteger(10, random.seed))
    return malformed();
  if (parts.size() == 4) {
    double low, high;
    if (!parseDouble(parts[2], low) || !parseDouble(parts[3], high) ||
        !std::isfinite(low) || !std::isfinite(high) || low > high)
      return malformed();
    random.range = {low, high};
  }
  return random;
}

/// True if `text` has the form of a VALUE, right or wrong in its details.
static bool looksLikeValue(StringRef text, MLIRContext *context) {
  if (text.starts_with("@") || text == "-" || text == "random" ||
      text.starts_with("random:"))
    return true;
  auto [type, list] = text.split('=');
  SmallVector<int64_t> shape;
  Type elementType;
  return type.size() != text.size() &&
         parseTensorType(type, shape, elementType, context);
}

static llvm::Expected<SpecValue> parseValue(StringRef text,
                                            MLIRContext *context) {
  if (text == "-")
    return PrintedValues();
  if (text.consume_front("@")) {
    if (text.empty())
      return makeError(ExitCode::usage, "expected a file after '@'");
    return FileValues{text.str()};
  }
  if (text.starts_with("random"))
    return parseRandom(text);
  auto [typeText, list] = text.split('=');
  SmallVector<int64_t> shape;
  Type elementType;
  if (!parseTensorType(typeText, shape, elementType, context))
    return makeError(ExitCode::usage,
                     "expected a type such as 2x3xf32 but got '" + typeText +
                         "'");
  llvm::Expected<HostTensor> tensor =
      parseLiteral(typeText, shape, elementType, list);
  if (!tensor)
    return tensor.takeError();
  return std::move(*tensor);
}

static std::string listNames(ArrayRef<SignatureValue> values) {
  if (values.empty())
    return "there are none";
  std::string names = "expected ";
  for (auto [index, value] : llvm::enumerate(values)) {
    if (index)
      names += index + 1 == values.size() ? " or " : ", ";
    names += "'" + value.name + "'";
  }
  return names;
}

/// Splits a SPEC into the position of the value that it names (none without a
/// name) and its VALUE.
static llvm::Expected<std::pair<std::optional<size_t>, StringRef>>
splitSpec(StringRef spec, ArrayRef<SignatureValue> values,
          MLIRContext *context) {
  std::optional<size_t> best;
  for (auto [index, value] : llvm::enumerate(values)) {
    StringRef rest = spec;
    if (rest.consume_front(value.name) && rest.consume_front("=") &&
        looksLikeValue(rest, context) &&
        (!best || values[*best].name.size() < value.name.size()))
      best = index;
  }
  if (best)
    return std::make_pair(best, spec.drop_front(values[*best].name.size() + 1));
  if (looksLikeValue(spec, context))
    return std::make_pair(std::optional<size_t>(), spec);
  for (size_t at = spec.find('='); at != StringRef::npos;
       at = spec.find('=', at + 1))
    if (looksLikeValue(spec.drop_front(at + 1), context))
      return makeError(ExitCode::usage, "there is no '" + spec.take_front(at) +
                                            "': " + listNames(values));
  return makeError(ExitCode::usage,
                   "expected [NAME=]VALUE with a VALUE such as 2x3xf32=0.5, "
                   "@FILE.npy or random");
}

llvm::Expected<SmallVector<std::optional<SpecValue>>>
mlir::fuse::assignSpecs(ArrayRef<std::string> specs,
                        ArrayRef<SignatureValue> values, StringRef flag,
                        MLIRContext *context) {
  auto at = [&](StringRef spec, const Twine &message) {
    return makeError(ExitCode::usage,
                     "in '" + flag + "=" + spec + "': " + message);
  };
  SmallVector<std::optional<SpecValue>> assigned(values.size());
  SmallVector<std::pair<StringRef, SpecValue>> unnamed;
  for (const std::string &spec : specs) {
    auto split = splitSpec(spec, values, context);
    if (!split)
      return at(spec, llvm::toString(split.takeError()));
    llvm::Expected<SpecValue> value = parseValue(split->second, context);
    if (!value)
      return at(spec, llvm::toString(value.takeError()));
    if (!split->first) {
      unnamed.emplace_back(spec, std::move(*value));
      continue;
    }
    std::optional<SpecValue> &place = assigned[*split->first];
    if (place)
      return at(spec, "'" + values[*split->first].name + "' was given already");
    place = std::move(*value);
  }
  auto *place = assigned.begin();
  for (auto &[spec, value] : unnamed) {
    place = std::find(place, assigned.end(), std::nullopt);
    if (place == assigned.end())
      return at(spec, "the model has only " + Twine(values.size()));
    *place = std::move(value);
  }
  return std::move(assigned);
}

//===----------------------------------------------------------------------===//
// Random values
//===----------------------------------------------------------------------===//

namespace {
/// SplitMix64 (Steele, Lea, Flood 2014): the same sequence everywhere, which
/// the standard library's distributions do not promise.
class SplitMix {
public:
  explicit SplitMix(uint64_t state) : state(state) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// In [0, 1).
  double nextUnit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// Normally distributed, by Marsaglia's polar method.
  double nextNormal() {
    if (hasSpare) {
      hasSpare = false;
      return spare;
    }
    double u, v, square;
    do {
      u = 2 * nextUnit() - 1;
      v = 2 * nextUnit() - 1;
      square = u * u + v * v;
    } while (square >= 1 || square == 0);
    double scale = std::sqrt(-2 * std::log(square) / square);
    spare = v * scale;
    hasSpare = true;
    return u * scale;
  }

private:
  uint64_t state;
  double spare = 0;
  bool hasSpare = false;
};
} // namespace

std::optional<HostTensor>
mlir::fuse::makeRandomTensor(const RandomValues &random,
                             ArrayRef<int64_t> shape, Type elementType,
                             uint64_t stream) {
  std::optional<HostTensor> tensor = HostTensor::create(shape, elementType);
  if (!tensor)
    return std::nullopt;
  SplitMix generator(SplitMix(random.seed).next() ^ SplitMix(stream).next());
  ElementKind kind = tensor->getKind();
  for (int64_t i = 0; i < tensor->getNumElements(); ++i) {
    if (!isFloat(kind)) {
      double low = random.range ? std::ceil(random.range->first) : 0;
      double high = random.range ? std::floor(random.range->second) : 1;
      tensor->setDouble(
          i, low + std::floor(generator.nextUnit() * (high - low + 1)));
    } else if (random.range) {
      auto [low, high] = *random.range;
      tensor->setDouble(i, low + generator.nextUnit() * (high - low));
    } else {
      tensor->setDouble(i, generator.nextNormal());
    }
  }
  return tensor;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

std::string mlir::fuse::formatTensorType(ArrayRef<int64_t> shape,
                                         Type elementType) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (int64_t extent : shape) {
    if (ShapedType::isDynamic(extent))
      os << "?x";
    else
      os << extent << "x";
  }
  os << elementType;
  return text;
}

void mlir::fuse::printElement(llvm::raw_ostream &os, const HostTensor &tensor,
                              int64_t index) {
  ElementKind kind = tensor.getKind();
  if (isUnsigned(kind)) {
    os << tensor.getUInt(index);
    return;
  }
  if (!isFloat(kind)) {
    os << tensor.getInt(index);
    return;
  }
  double value = tensor.getDouble(index);
  if (std::isnan(value)) {
    os << "nan";
    return;
  }
  // The fewest digits that read as the same value of the type.
  char text[64];
  std::to_chars_result end =
      kind == ElementKind::f64
          ? std::to_chars(text, std::end(text), value)
          : std::to_chars(text, std::end(text), static_cast<float>(value));
  os << StringRef(text, end.ptr - text);
}

void mlir::fuse::printTensor(llvm::raw_ostream &os, const HostTensor &tensor) {
  os << formatTensorType(tensor.getShape(), tensor.getElementType()) << "=";
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    if (i)
      os << ",";
    printElement(os, tensor, i);
  }
}
