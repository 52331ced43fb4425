//===- Eliminated.cpp - Source ops that rewrites removed ------------------===//

#include "FuseDialect/Transforms/Eliminated.h"
#include "FuseDialect/IR/SourceName.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::fuse;

StringRef mlir::fuse::stringifyEliminationReason(EliminationReason reason) {
  switch (reason) {
  case EliminationReason::constant:
    return "constant";
  case EliminationReason::dead:
    return "dead";
  case EliminationReason::duplicate:
    return "duplicate";
  case EliminationReason::foldedInto:
    return "folded-into";
  case EliminationReason::identity:
    return "identity";
  }
  llvm_unreachable("all reasons are handled");
}

EliminationLog::EliminationLog(ModuleOp module) : module(module) {
  auto earlier = module->getAttrOfType<ArrayAttr>(kEliminatedAttrName);
  if (!earlier)
    return;
  for (Attribute record : earlier) {
    records.push_back(record);
    auto fields = dyn_cast<DictionaryAttr>(record);
    if (auto name = fields ? fields.getAs<StringAttr>("op") : StringAttr())
      seen.insert(name.getValue());
  }
}

void EliminationLog::record(Location location, EliminationReason reason,
                            std::optional<Location> heir) {
  Builder builder(module.getContext());
  SmallVector<std::string> heirNames;
  if (heir)
    heirNames = getSourceNames(*heir);
  for (const std::string &name : getSourceNames(location)) {
    if (llvm::is_contained(heirNames, name) || !seen.insert(name).second)
      continue;
    NamedAttrList fields;
    fields.set("op", builder.getStringAttr(name));
    fields.set("reason",
               builder.getStringAttr(stringifyEliminationReason(reason)));
    if (!heirNames.empty())
      fields.set("into", builder.getStringAttr(heirNames.front()));
    records.push_back(fields.getDictionary(module.getContext()));
  }
}

void EliminationLog::commit() {
  if (!records.empty())
    module->setAttr(kEliminatedAttrName,
                    ArrayAttr::get(module.getContext(), records));
}
