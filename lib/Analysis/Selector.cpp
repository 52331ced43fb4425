//===- Selector.cpp - Choosing source ops by op, name and type ------------===//

#include "FuseDialect/Analysis/Selector.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::fuse;

//===----------------------------------------------------------------------===//
// Glob
//===----------------------------------------------------------------------===//

Glob::Glob(StringRef pattern) {
  parts.clear();
  SmallVector<StringRef> pieces;
  pattern.split(pieces, '*');
  for (StringRef piece : pieces)
    parts.push_back(piece.str());
}

bool Glob::matches(StringRef text) const {
  if (parts.size() == 1)
    return text == parts.front();
  if (!text.consume_front(parts.front()) || !text.consume_back(parts.back()))
    return false;
  // The leftmost place of each part leaves the most for those after it, so no
  // choice is ever taken back.
  for (const std::string &part : ArrayRef(parts).drop_front().drop_back()) {
    size_t position = text.find(part);
    if (position == StringRef::npos)
      return false;
    text = text.drop_front(position + part.size());
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Selector
//===----------------------------------------------------------------------===//

/// Reads a quoted glob up to its closing quote and drops it from `text`.
static std::optional<Glob> parseQuotedGlob(StringRef &text,
                                           std::string &error) {
  SmallVector<std::string> parts{std::string()};
  text = text.drop_front();
  while (!text.empty()) {
    char c = text.front();
    text = text.drop_front();
    if (c == '"')
      return Glob(std::move(parts));
    if (c == '*') {
      parts.emplace_back();
      continue;
    }
    if (c == '\\') {
      uint8_t code;
      if (text.starts_with("\"") || text.starts_with("\\")) {
        c = text.front();
        text = text.drop_front();
      } else if (text.size() >= 2 &&
                 llvm::tryGetHexFromNibbles(text[0], text[1], code)) {
        c = static_cast<char>(code);
        text = text.drop_front(2);
      } else {
        error = R"(expected \", \\ or two hexadecimal digits after '\')";
        return std::nullopt;
      }
    }
    parts.back().push_back(c);
  }
  error = "expected a closing '\"'";
  return std::nullopt;
}

/// Reads `loc(…)` from the front of `text` and drops it.
static std::optional<Glob> parseLocation(StringRef &text, std::string &error) {
  if (!text.consume_front("loc(")) {
    error = "expected 'loc('";
    return std::nullopt;
  }
  if (text.starts_with("\"")) {
    std::optional<Glob> glob = parseQuotedGlob(text, error);
    if (glob && !text.consume_front(")")) {
      error = "expected ')' after the quoted name";
      return std::nullopt;
    }
    return glob;
  }
  // An unquoted name may hold parentheses itself: the last one closes.
  size_t close = text.rfind(')');
  if (close == StringRef::npos) {
    error = "expected ')'";
    return std::nullopt;
  }
  StringRef name = text.take_front(close);
  text = text.drop_front(close + 1);
  if (name.empty()) {
    error = "expected a name in 'loc()'";
    return std::nullopt;
  }
  return Glob(name);
}

/// Whether the text is a type as selectors write it, such as 4x?xf32.
static bool isTypeText(StringRef text) {
  SmallVector<StringRef> pieces;
  text.split(pieces, 'x');
  StringRef element = pieces.pop_back_val();
  bool isElement =
      llvm::is_contained({"f16", "bf16", "f32", "f64", "i1", "i8", "i16", "i32",
                          "i64", "ui8", "ui16", "ui32", "ui64"},
                         element);
  return isElement && llvm::all_of(pieces, [](StringRef extent) {
           return extent == "?" ||
                  (!extent.empty() && llvm::all_of(extent, llvm::isDigit));
         });
}

std::optional<Selector> Selector::parse(StringRef text, std::string &error) {
  Selector selector;
  selector.text = text.str();
  StringRef rest = text;
  auto isNameCharacter = [](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '.';
  };
  if (!rest.starts_with("loc(")) {
    StringRef name = rest.take_while(isNameCharacter);
    if (name.empty()) {
      error = "expected a selector but got '" + text.str() + "'";
      return std::nullopt;
    }
    selector.opName = name.str();
    rest = rest.drop_front(name.size());
  }
  if (selector.opName.empty() || rest.consume_front("@")) {
    selector.location = parseLocation(rest, error);
    if (!selector.location) {
      error += " in selector '" + text.str() + "'";
      return std::nullopt;
    }
  }
  if (rest.consume_front(":")) {
    if (!isTypeText(rest)) {
      error = "expected a type such as 100x120xf32 but got '" + rest.str() +
              "' in selector '" + text.str() + "'";
      return std::nullopt;
    }
    selector.type = rest.str();
    rest = StringRef();
  }
  if (!rest.empty()) {
    error = "unexpected '" + rest.str() + "' in selector '" + text.str() + "'";
    return std::nullopt;
  }
  return selector;
}

/// The type of the first result as selectors write it, or "" if it has none.
static std::string getTypeText(Operation *op) {
  if (op->getNumResults() == 0)
    return std::string();
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type)
    return std::string();
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (int64_t extent : type.getShape()) {
    if (ShapedType::isDynamic(extent))
      stream << "?x";
    else
      stream << extent << 'x';
  }
  stream << type.getElementType();
  return text;
}

bool Selector::matches(Operation *op, ArrayRef<std::string> sourceNames) const {
  if (!opName.empty() && opName != getShortOpName(op) &&
      opName != op->getName().getStringRef())
    return false;
  if (location && llvm::none_of(sourceNames, [&](const std::string &name) {
        return location->matches(name);
      }))
    return false;
  return type.empty() || type == getTypeText(op);
}

StringRef mlir::fuse::getShortOpName(Operation *op) {
  StringRef name = op->getName().getStringRef();
  StringRef dialect = op->getName().getDialectNamespace();
  if (name.size() > dialect.size() + 1 && name.starts_with(dialect) &&
      name[dialect.size()] == '.')
    return name.drop_front(dialect.size() + 1);
  return name;
}
