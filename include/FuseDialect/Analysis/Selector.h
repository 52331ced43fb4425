//===- Selector.h - Choosing source ops by op, name and type ----*- C++ -*-===//
//
// The selectors of fusion rules. The grammar, without spaces:
//
//   selector ::= (op | location | op `@` location) (`:` type)?
//   op       ::= the op's name, with or without the prefix of its dialect
//   location ::= `loc(` (glob | `"` glob `"`) `)`
//   type     ::= extents (or `?`) and an element type, as in 100x120x120xf32
//
// In a glob `*` stands for any characters, `/` too. A quoted glob may hold any
// character; `\"`, `\\` and a backslash with two hexadecimal digits are escapes
// and never wildcards.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_ANALYSIS_SELECTOR_H
#define FUSEDIALECT_ANALYSIS_SELECTOR_H

#include "mlir/Support/LLVM.h"
#include <optional>
#include <string>

namespace mlir {
class Operation;
} // namespace mlir

namespace mlir::fuse {

/// A pattern of which `*` matches any characters.
class Glob {
public:
  Glob() = default;
  /// The literal parts between the wildcards: "a*b" has the parts "a" and "b".
  explicit Glob(SmallVector<std::string> parts) : parts(std::move(parts)) {}
  /// Reads a glob without escapes.
  explicit Glob(StringRef pattern);

  /// Whether the whole text matches. Takes one search for each part.
  bool matches(StringRef text) const;

private:
  SmallVector<std::string> parts{std::string()};
};

/// Chooses ops by their name, the names of their source ops, and the type of
/// their first result; what is absent chooses all.
struct Selector {
  std::string text;
  std::string opName;
  std::optional<Glob> location;
  std::string type;

  /// Reads a selector. On failure `error` says what was expected.
  static std::optional<Selector> parse(StringRef text, std::string &error);
  /// Whether `op` is chosen; `sourceNames` are the names in its location.
  bool matches(Operation *op, ArrayRef<std::string> sourceNames) const;
};

/// The name of an op without the prefix of its dialect: `exp` for `fuse.exp`.
StringRef getShortOpName(Operation *op);

} // namespace mlir::fuse

#endif // FUSEDIALECT_ANALYSIS_SELECTOR_H
