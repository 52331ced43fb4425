//===- OpTable.cpp - How each ONNX op is imported -------------------------===//

#include "OpTable.h"

using namespace mlir;
using namespace mlir::fuse;

OpTable::OpTable() {
  populateConstantOps(*this);
  populateElementwiseOps(*this);
  populateInjectiveOps(*this);
  populateNormalizationOps(*this);
  populateReductionOps(*this);
}

const OpEntry *OpTable::lookup(StringRef opType) const {
  auto it = entries.find(opType);
  return it == entries.end() ? nullptr : &it->second;
}

void OpTable::add(StringRef opType, OpEntry entry) {
  entries.try_emplace(opType, entry);
}
