//===- TensorEvaluator.h - Element values of a kernel's tensors -*- C++ -*-===//

#ifndef FUSEDIALECT_CONVERSION_VECTORIZE_TENSOREVALUATOR_H
#define FUSEDIALECT_CONVERSION_VECTORIZE_TENSOREVALUATOR_H

#include "LaneIndex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::fuse {

/// A position in a tensor for all lanes. Consecutive dimensions may share one
/// row-major index, so that ops which keep them together need no division.
struct TensorIndex {
  struct Group {
    /// The dimensions [first, last).
    int64_t first, last;
    LaneIndex index;
    bool operator==(const Group &) const = default;
  };
  /// All dimensions, in order.
  SmallVector<Group> groups;

  bool operator==(const TensorIndex &) const = default;
};

/// The element type in memory: a boolean takes one byte.
Type getMemoryType(Type elementType);

/// Emits the computation of tensor elements at given positions, one register at
/// a time: `linalg.generic` bodies become vector ops, and ops that move
/// elements become index arithmetic. A value is a scalar where all lanes agree,
/// else a vector of `laneCount` elements. Values are memoised by position
/// within a scope, so that a shared producer is computed once.
class TensorEvaluator {
public:
  TensorEvaluator(OpBuilder &builder, int64_t laneCount)
      : builder(builder), indices(builder, laneCount), laneCount(laneCount) {}

  /// A tensor that is in memory: `buffer` is a flat memref.
  void setBuffer(Value tensor, Value buffer) { buffers[tensor] = buffer; }
  /// A per-row value that the current row has already reduced. `value` is a
  /// scalar or a vector.
  void setRowValue(Value tensor, Value value) { rowValues[tensor] = value; }
  /// A tensor whose current row is in `scratch`, at `position` in it.
  void setScratch(Value tensor, Value scratch, LaneIndex position) {
    scratchRows[tensor] = {scratch, position};
  }
  void clearScratch() { scratchRows.clear(); }

  /// Lanes that are live, or null for all.
  void setMask(Value lanes) { mask = lanes; }

  /// The elements of `tensor` at `index`.
  FailureOr<Value> evaluate(Value tensor, TensorIndex index);
  /// The inputs of one iteration of a generic's loops at `loops`, evaluated and
  /// its body cloned: one value for each operand of its yield. `accumulators`
  /// stand for the outs of a reduction.
  FailureOr<SmallVector<Value>> evaluateBody(linalg::GenericOp op,
                                             TensorIndex loops,
                                             ValueRange accumulators);
  /// Clones a reduction's body to combine two sets of partial results.
  SmallVector<Value> combine(linalg::GenericOp op, ValueRange left,
                             ValueRange right);

  Value load(Value buffer, LaneIndex position, Type elementType);
  void store(Value value, Value buffer, LaneIndex position);
  /// `value`, as a vector of all lanes.
  Value broadcast(Value value);
  /// `onTrue` where the lane mask holds, else `onFalse`.
  Value selectLive(Value onTrue, Value onFalse);

  LaneIndex linearize(const TensorIndex &index, ArrayRef<OpFoldResult> extents);

  /// Values computed while a scope lives are forgotten at its end, as they do
  /// not dominate what follows.
  class Scope {
  public:
    explicit Scope(TensorEvaluator &evaluator)
        : evaluator(evaluator), saved(evaluator.memo) {}
    ~Scope() { evaluator.memo = std::move(saved); }

  private:
    TensorEvaluator &evaluator;
    DenseMap<Value, SmallVector<std::pair<TensorIndex, Value>>> saved;
  };

  IndexBuilder &index() { return indices; }

private:
  /// A value of a generic's body. An `index` keeps its affine form.
  struct BodyValue {
    Value value;
    std::optional<LaneIndex> index;
  };

  FailureOr<Value> evaluateUncached(Value tensor, const TensorIndex &index);
  FailureOr<Value> evaluateGeneric(linalg::GenericOp op, unsigned result,
                                   TensorIndex index);
  FailureOr<Value> evaluatePad(tensor::PadOp op, TensorIndex index);
  FailureOr<Value> evaluateConcat(tensor::ConcatOp op, TensorIndex index);
  FailureOr<Value> evaluateSlice(tensor::ExtractSliceOp op, TensorIndex index);
  FailureOr<Value> evaluateReshape(Operation *op, Value source,
                                   TensorIndex index);
  FailureOr<Value> evaluateExtract(tensor::ExtractOp op,
                                   DenseMap<Value, BodyValue> &values);
  LogicalResult cloneBody(Block &body, TensorIndex &loops,
                          ArrayRef<OpFoldResult> extents,
                          DenseMap<Value, BodyValue> &values);
  Value cloneScalarOp(Operation *op, DenseMap<Value, BodyValue> &values);
  Value materialize(BodyValue &value);
  /// Runs `onTrue` where an i1 holds, else `onFalse`; both give a value of one
  /// element type.
  FailureOr<Value> branch(Value condition, Type elementType,
                          function_ref<FailureOr<Value>()> onTrue,
                          function_ref<FailureOr<Value>()> onFalse);
  Value select(Value condition, Value onTrue, Value onFalse);

  /// Makes `dim` the first dimension of a group.
  void splitBefore(TensorIndex &index, int64_t dim,
                   ArrayRef<OpFoldResult> extents);
  /// The group that starts at `dim`.
  TensorIndex::Group &groupAt(TensorIndex &index, int64_t dim);
  TensorIndex mapIndex(TensorIndex &loops, AffineMap map,
                       ArrayRef<OpFoldResult> extents);

  OpBuilder &builder;
  IndexBuilder indices;
  int64_t laneCount;
  Value mask;
  /// Slow paths that the current position is nested in; bounds code size.
  unsigned branchDepth = 0;
  DenseMap<Value, Value> buffers, rowValues;
  DenseMap<Value, std::pair<Value, LaneIndex>> scratchRows;
  DenseMap<Value, SmallVector<std::pair<TensorIndex, Value>>> memo;
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_CONVERSION_VECTORIZE_TENSOREVALUATOR_H
