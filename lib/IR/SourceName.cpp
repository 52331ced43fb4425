//===- SourceName.cpp - Names of source ops in locations ------------------===//

#include "FuseDialect/IR/SourceName.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::fuse;

/// Appends the locations that name one source op each, in order. Iterative:
/// fused locations may be nested deeply.
static void collectSources(Location location,
                           llvm::SetVector<Location> &sources) {
  SmallVector<Location> stack{location};
  while (!stack.empty()) {
    Location current = stack.pop_back_val();
    if (auto fused = dyn_cast<FusedLoc>(current))
      llvm::append_range(stack, llvm::reverse(fused.getLocations()));
    else if (auto call = dyn_cast<CallSiteLoc>(current))
      stack.push_back(call.getCallee());
    else if (!isa<UnknownLoc>(current))
      sources.insert(current);
  }
}

SmallVector<std::string> mlir::fuse::getSourceNames(Location location) {
  llvm::SetVector<Location> sources;
  collectSources(location, sources);
  SmallVector<std::string> names;
  llvm::StringSet<> seen;
  for (Location source : sources) {
    std::string name;
    if (auto named = dyn_cast<NameLoc>(source))
      name = named.getName().str();
    else if (auto file = dyn_cast<FileLineColLoc>(source))
      name = (file.getFilename().getValue() + ":" + Twine(file.getLine()) +
              ":" + Twine(file.getColumn()))
                 .str();
    if (!name.empty() && seen.insert(name).second)
      names.push_back(std::move(name));
  }
  return names;
}

std::string mlir::fuse::getSourceName(Location location) {
  SmallVector<std::string> names = getSourceNames(location);
  return names.empty() ? std::string() : names.front();
}

Location mlir::fuse::fuseLocations(MLIRContext *context,
                                   ArrayRef<Location> locations) {
  llvm::SetVector<Location> sources;
  for (Location location : locations)
    collectSources(location, sources);
  return FusedLoc::get(context, sources.getArrayRef());
}
