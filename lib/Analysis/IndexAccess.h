//===- IndexAccess.h - Where in a kernel's loops values are read -*- C++
//-*-===//

#ifndef FUSEDIALECT_LIB_ANALYSIS_INDEXACCESS_H
#define FUSEDIALECT_LIB_ANALYSIS_INDEXACCESS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::fuse {

/// An access is a function from a kernel's loop position to an element of a
/// value. Accesses are numbered so that equal numbers mean equal functions.
using AccessId = unsigned;

/// The accesses that were composed so far, each kept once. The two basic ones
/// mean the same in every kernel, so an access need not change when two kernels
/// become one.
class AccessTable {
public:
  AccessTable();

  /// The element with the position's own number, in row-major order.
  static constexpr AccessId linear = 0;
  /// The element of the position's row: the position without the reduced
  /// dimensions of the kernel.
  static constexpr AccessId row = 1;

  /// What an access that is not basic adds to its parent.
  enum class Step : uint64_t {
    broadcast,
    maybeBroadcast,
    units,
    reshape,
    transpose,
    move
  };

  /// The access that `step` with `payload` makes of `parent`. `repeats` says
  /// that several positions may read one element.
  AccessId compose(AccessId parent, Step step, ArrayRef<uint64_t> payload,
                   bool repeats);
  /// The access to the operand of a transpose that is read at `parent`.
  AccessId transpose(AccessId parent, ArrayRef<int64_t> permutation);
  /// The access to the operand, of shape `shape`, of a reshape whose result of
  /// shape `from` is read at `parent`.
  AccessId reshape(AccessId parent, ArrayRef<int64_t> from,
                   ArrayRef<int64_t> shape);

  static bool isBasic(AccessId id) { return id <= row; }
  /// Whether the access depends on the row of a position only.
  bool isPerRow(AccessId id) const { return accesses[id].perRow; }
  /// Whether several positions may read one element.
  bool repeats(AccessId id) const { return accesses[id].repeats; }

private:
  struct Access {
    AccessId parent;
    Step step;
    SmallVector<uint64_t> payload;
    bool perRow;
    bool repeats;
  };
  SmallVector<Access> accesses;
  llvm::StringMap<AccessId> numbers;
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_LIB_ANALYSIS_INDEXACCESS_H
