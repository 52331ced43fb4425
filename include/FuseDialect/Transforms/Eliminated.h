//===- Eliminated.h - Source ops that rewrites removed ----------*- C++ -*-===//
//
// A source op's name is never lost: it is in the location of an op of the
// module, or in the module's attribute `fuse.eliminated`, an array of
//
//   {op = "bn1", reason = "folded-into", into = "conv1"}
//
// with `into`, the name of the op that does its work now, if there is one.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_TRANSFORMS_ELIMINATED_H
#define FUSEDIALECT_TRANSFORMS_ELIMINATED_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::fuse {

/// The module attribute that lists removed source ops (ArrayAttr).
inline constexpr llvm::StringLiteral kEliminatedAttrName = "fuse.eliminated";

/// Why a source op is gone.
enum class EliminationReason {
  /// Its value is computed at compile time.
  constant,
  /// Nothing reads its results.
  dead,
  /// An equal op does its work.
  duplicate,
  /// Another op does its work together with its own.
  foldedInto,
  /// It gives its operand back.
  identity,
};

/// The reason's name in the attribute: "folded-into".
StringRef stringifyEliminationReason(EliminationReason reason);

/// Collects the source ops that one pass removes.
class EliminationLog {
public:
  explicit EliminationLog(ModuleOp module);

  /// Records all source names of `location`. A name that was recorded before
  /// keeps its first record, and one that is also a name of `heir` is not gone.
  void record(Location location, EliminationReason reason,
              std::optional<Location> heir = std::nullopt);
  /// Appends the records to the module's attribute.
  void commit();

private:
  ModuleOp module;
  SmallVector<Attribute> records;
  llvm::StringSet<> seen;
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_TRANSFORMS_ELIMINATED_H
