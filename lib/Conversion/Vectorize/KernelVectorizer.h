//===- KernelVectorizer.h - Loops and registers of a kernel -----*- C++ -*-===//

#ifndef FUSEDIALECT_CONVERSION_VECTORIZE_KERNELVECTORIZER_H
#define FUSEDIALECT_CONVERSION_VECTORIZE_KERNELVECTORIZER_H

#include "FuseDialect/IR/FuseDialect.h"
#include "KernelShape.h"
#include "TensorEvaluator.h"

namespace mlir::fuse {

/// Emits the loops of one kernel. The kernel's parallel iterations are rows
/// (or, without reductions, pieces of the innermost dimension); it computes
/// those in [begin, end). Within a row, registers run along the innermost
/// dimension of the domain: if that is reduced, partial results are kept for
/// each lane and combined at the row's end; if it is parallel, each lane holds
/// a row of its own.
class KernelVectorizer {
public:
  /// `source` is the kernel on tensors. `buffers` are the flat buffers of its
  /// arguments, in memory element types.
  KernelVectorizer(OpBuilder &builder, func::FuncOp source, ConfigAttr config,
                   KernelShape shape, ValueRange buffers);

  /// Number of parallel iterations, a constant.
  int64_t getIterations() const;
  /// Elements of the domain that one iteration handles.
  int64_t getElementsPerIteration() const;

  /// Emits the loops at the builder's position.
  LogicalResult emit(Value begin, Value end);

private:
  /// One pass over the row.
  struct Pass {
    SmallVector<linalg::GenericOp> reductions;
    /// Full results, as positions among the kernel's results.
    SmallVector<unsigned> results;
    /// Values to keep for later passes, and their index in `scratches`.
    SmallVector<std::pair<Value, unsigned>> kept;
  };
  /// A value whose row stays in scratch memory between passes.
  struct Scratch {
    Value tensor;
    unsigned firstPass;
    Value buffer;
  };
  /// A result that is written through a staging buffer with streaming stores.
  struct Staging {
    Value buffer;
    /// Position in the buffer of the current row's first element.
    LaneIndex rowStart;
  };
  using Accumulators = SmallVector<Value>;
  using LaneBody =
      function_ref<FailureOr<Accumulators>(LaneIndex, Accumulators)>;

  void planLoops();
  void planPasses();
  void planStreaming();
  void planScratch();
  bool isFull(Value value) const;

  LogicalResult emitBlock(Value block);
  LogicalResult emitRow(Value row);
  LogicalResult emitReducedRow(LaneIndex low, LaneIndex high);
  LogicalResult emitLaneRows(Value low, Value high, bool isWhole);
  LogicalResult storeResults(const Pass &pass, LaneIndex lane);
  LogicalResult keepValues(const Pass &pass, LaneIndex lane, unsigned part);
  void readScratch(unsigned pass, LaneIndex lane, unsigned part);
  LogicalResult storeRowResults(std::optional<LaneIndex> lane);
  void streamOut(unsigned result, Value firstRow, Value rowCount);

  FailureOr<Accumulators> emitLaneLoop(OpFoldResult low, OpFoldResult high,
                                       ArrayRef<linalg::GenericOp> ops,
                                       Accumulators accumulators,
                                       LaneBody body);
  FailureOr<Accumulators>
  emitReducedLoops(unsigned loop, Accumulators accumulators,
                   function_ref<FailureOr<Accumulators>(Accumulators)> body);
  Accumulators neutral(ArrayRef<linalg::GenericOp> ops, bool asVector);
  Accumulators combineAll(ArrayRef<linalg::GenericOp> ops, ValueRange left,
                          ValueRange right);
  FailureOr<Accumulators> reduceElement(const Pass &pass, LaneIndex lane,
                                        Accumulators accumulators);
  LogicalResult
  finishReductions(const Pass &pass, Accumulators accumulators,
                   bool acrossLanes,
                   SmallVectorImpl<std::pair<Value, Value>> &rowValues);
  Accumulators acrossLanes(linalg::GenericOp op, ValueRange lanes);

  /// The current position in the domain, with `lane` along the lane loop.
  TensorIndex position(LaneIndex lane);
  /// The position in the row, row-major over the reduced loops.
  LaneIndex positionInRow(LaneIndex lane);
  Value constant(int64_t value);
  /// `builder` at the start of the function, for buffers on the stack.
  Value allocateStack(int64_t elements, Type elementType);

  OpBuilder &builder;
  Location loc;
  func::FuncOp source;
  ConfigAttr config;
  KernelShape shape;
  SmallVector<Value> buffers;
  TensorEvaluator evaluator;
  IndexBuilder &indices;
  int64_t lanes, unroll;

  /// Indices into shape.loops: parallel loops outside the row, reduced loops
  /// outside the lane loop, and the lane loop itself.
  SmallVector<unsigned> parallelLoops, reducedLoops;
  unsigned laneLoop = 0;
  bool laneIsReduced = false;
  /// The lane loop, if parallel, is cut into pieces of this extent.
  int64_t laneTile = 0, laneTiles = 1;
  int64_t laneExtent = 1, rowCount = 1, rowElements = 1;
  /// Rows that one parallel iteration handles.
  int64_t rowsPerBlock = 1;

  SmallVector<Pass> passes;
  SmallVector<Scratch> scratches;
  DenseMap<unsigned, Staging> stagings;
  /// The current index of every loop but the lane loop.
  SmallVector<LaneIndex> loopIndices;
  /// Values returned by the kernel, and their destinations' buffers.
  SmallVector<Value> results, destinations;
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_CONVERSION_VECTORIZE_KERNELVECTORIZER_H
