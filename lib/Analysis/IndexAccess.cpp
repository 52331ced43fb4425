//===- IndexAccess.cpp - Where in a kernel's loops values are read --------===//

#include "IndexAccess.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace mlir::fuse;

AccessTable::AccessTable() {
  accesses.push_back({linear, Step::move, {}, false, false});
  accesses.push_back({row, Step::move, {}, true, false});
}

AccessId AccessTable::compose(AccessId parent, Step step,
                              ArrayRef<uint64_t> payload, bool repeats) {
  SmallVector<uint64_t> key{parent, static_cast<uint64_t>(step)};
  llvm::append_range(key, payload);
  StringRef bytes(reinterpret_cast<const char *>(key.data()), key.size() * 8);
  auto [it, isNew] = numbers.try_emplace(bytes, accesses.size());
  if (isNew) {
    bool perRow = accesses[parent].perRow;
    bool anyRepeats = repeats || accesses[parent].repeats;
    accesses.push_back(
        {parent, step, SmallVector<uint64_t>(payload), perRow, anyRepeats});
  }
  return it->second;
}

AccessId AccessTable::transpose(AccessId parent,
                                ArrayRef<int64_t> permutation) {
  // Result dimension i is operand dimension permutation[i]. A transpose of a
  // transpose is one, or nothing.
  SmallVector<uint64_t> composed(permutation.begin(), permutation.end());
  const Access &above = accesses[parent];
  if (!isBasic(parent) && above.step == Step::transpose &&
      above.payload.size() == permutation.size()) {
    for (auto [to, from] : llvm::zip_equal(composed, above.payload))
      to = permutation[from];
    parent = above.parent;
    bool isIdentity = llvm::all_of(llvm::enumerate(composed), [](auto entry) {
      return entry.index() == entry.value();
    });
    if (isIdentity)
      return parent;
  }
  return compose(parent, Step::transpose, composed, /*repeats=*/false);
}

AccessId AccessTable::reshape(AccessId parent, ArrayRef<int64_t> from,
                              ArrayRef<int64_t> shape) {
  // The payload holds the shape that the parent has and the shape that is read:
  // a chain of reshapes is one step, and nothing if it ends where it began.
  SmallVector<uint64_t> base(from.begin(), from.end());
  const Access &above = accesses[parent];
  if (!isBasic(parent) && above.step == Step::reshape) {
    uint64_t rank = above.payload.front();
    base.assign(above.payload.begin() + 1, above.payload.begin() + 1 + rank);
    parent = above.parent;
  }
  SmallVector<uint64_t> target(shape.begin(), shape.end());
  if (base == target)
    return parent;
  SmallVector<uint64_t> payload{base.size()};
  llvm::append_range(payload, base);
  llvm::append_range(payload, target);
  return compose(parent, Step::reshape, payload, /*repeats=*/false);
}
