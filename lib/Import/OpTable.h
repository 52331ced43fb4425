//===- OpTable.h - How each ONNX op is imported -----------------*- C++ -*-===//

#ifndef FUSEDIALECT_LIB_IMPORT_OPTABLE_H
#define FUSEDIALECT_LIB_IMPORT_OPTABLE_H

#include "NodeContext.h"

namespace mlir::fuse {

/// Translates one node. Appends a value for each of the node's outputs that is
/// computed, in order (null for one that the node does not ask for). Returns
/// failure after an error; errors of NodeContext's functions need not be
/// checked on the way.
using NodeHandler = LogicalResult (*)(NodeContext &node,
                                      SmallVectorImpl<Value> &results);

inline constexpr unsigned kVariadic = ~0u;

/// What the default operator set says of an op, over all versions that the
/// importer knows.
struct OpEntry {
  /// The first operator set that has the op.
  int64_t since;
  /// Inputs that must be present, and inputs that may be.
  unsigned minInputs, maxInputs;
  unsigned maxOutputs;
  NodeHandler handler;
};

/// The ops of the default domain by their type.
class OpTable {
public:
  OpTable();
  const OpEntry *lookup(StringRef opType) const;
  void add(StringRef opType, OpEntry entry);

private:
  llvm::StringMap<OpEntry> entries;
};

// One function for each family of ops.
void populateConstantOps(OpTable &table);
void populateElementwiseOps(OpTable &table);
void populateInjectiveOps(OpTable &table);
void populateNormalizationOps(OpTable &table);
void populateReductionOps(OpTable &table);

} // namespace mlir::fuse

#endif // FUSEDIALECT_LIB_IMPORT_OPTABLE_H
