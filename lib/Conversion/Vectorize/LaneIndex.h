//===- LaneIndex.h - Index arithmetic over the lanes of a vector -*- C++
//-*-===//
//
// While a kernel is vectorised, a tensor element's position is known for all
// lanes of a register at once. Most positions are affine in the lane, and what
// is affine needs no vector arithmetic: a load with stride 1 is a vector load,
// with stride 0 a scalar load and a broadcast. Only what is left is computed
// for each lane and gathered.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_CONVERSION_VECTORIZE_LANEINDEX_H
#define FUSEDIALECT_CONVERSION_VECTORIZE_LANEINDEX_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::fuse {

/// The index `base + offset + lane * stride`, or any vector of indices.
struct LaneIndex {
  /// A scalar of type index; null stands for zero.
  Value base;
  int64_t offset = 0;
  int64_t stride = 0;
  /// A vector<Nxindex>. If set, it alone is the index.
  Value lanes;

  static LaneIndex constant(int64_t value) {
    return {Value(), value, 0, Value()};
  }
  static LaneIndex uniform(Value base) { return {base, 0, 0, Value()}; }
  static LaneIndex vector(Value lanes) { return {Value(), 0, 0, lanes}; }

  bool isUniform() const { return !lanes && stride == 0; }
  bool isAffine() const { return !lanes; }
  bool isConstant() const { return !lanes && !base && stride == 0; }
  bool operator==(const LaneIndex &) const = default;
};

/// Builds arithmetic on lane indices at the builder's insertion point, folding
/// what is constant. Extents are attributes or values of type index.
class IndexBuilder {
public:
  IndexBuilder(OpBuilder &builder, int64_t laneCount)
      : builder(builder), laneCount(laneCount) {}

  void setLoc(Location location) { loc = location; }

  LaneIndex add(LaneIndex left, LaneIndex right);
  LaneIndex add(LaneIndex index, int64_t value);
  LaneIndex mul(LaneIndex index, OpFoldResult factor);
  /// Quotient and remainder of a non-negative index by a positive extent.
  LaneIndex div(LaneIndex index, OpFoldResult divisor);
  LaneIndex rem(LaneIndex index, OpFoldResult divisor);
  /// min(max(index, 0), limit - 1) for each lane.
  LaneIndex clamp(LaneIndex index, OpFoldResult limit);
  /// Whether low <= index < high: i1 for a uniform index, else a vector of i1.
  Value inRange(LaneIndex index, OpFoldResult low, OpFoldResult high);
  /// Whether low <= index < high for all lanes of an affine index, as one i1.
  Value allInRange(LaneIndex index, OpFoldResult low, OpFoldResult high);

  /// The scalar value of a uniform index, or of lane 0 of an affine one.
  Value scalar(LaneIndex index);
  /// The index of every lane, as vector<Nxindex>.
  Value vector(LaneIndex index);
  Value constant(int64_t value);
  Value value(OpFoldResult extent);
  OpFoldResult product(OpFoldResult left, OpFoldResult right);
  OpFoldResult sum(OpFoldResult left, OpFoldResult right);

private:
  Value splat(Value scalar);
  Value splat(OpFoldResult extent) { return splat(value(extent)); }

  OpBuilder &builder;
  int64_t laneCount;
  Location loc = builder.getUnknownLoc();
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_CONVERSION_VECTORIZE_LANEINDEX_H
