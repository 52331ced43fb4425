//===- SourceName.h - Names of source ops in locations ----------*- C++ -*-===//
//
// A source op's name is the name of its NameLoc, or `file:line:column` where it
// has only a file position. Tools never lose one: rewrites fuse locations.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_IR_SOURCENAME_H
#define FUSEDIALECT_IR_SOURCENAME_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace mlir::fuse {

/// The names of all source ops in a location, in order and without repeats. An
/// unknown location has none.
llvm::SmallVector<std::string> getSourceNames(Location location);
/// The first of the source names, or "" if there is none.
std::string getSourceName(Location location);
/// A fused location of all source locations in `locations`, flattened and
/// without repeats.
Location fuseLocations(MLIRContext *context,
                       llvm::ArrayRef<Location> locations);

} // namespace mlir::fuse

#endif // FUSEDIALECT_IR_SOURCENAME_H
