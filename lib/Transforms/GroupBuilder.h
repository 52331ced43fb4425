//===- GroupBuilder.h - Moving ops into groups ------------------*- C++ -*-===//

#ifndef FUSEDIALECT_LIB_TRANSFORMS_GROUPBUILDER_H
#define FUSEDIALECT_LIB_TRANSFORMS_GROUPBUILDER_H

#include "FuseDialect/Analysis/FusionGraph.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::fuse {

/// The name of a group of these ops, without a number: `exp`, `fused_sub_exp`,
/// at most 80 characters.
std::string getGroupName(ArrayRef<Operation *> ops);

/// Moves the ops of each group of the block into a `fuse.group`, whose name is
/// not among `takenNames` and is added to it. All ops of the block are put in
/// an order in which each is after what it reads and that is near the one they
/// were in.
void buildGroups(Block &block, ArrayRef<FusionGroup> groups,
                 llvm::StringSet<> &takenNames);

} // namespace mlir::fuse

#endif // FUSEDIALECT_LIB_TRANSFORMS_GROUPBUILDER_H
