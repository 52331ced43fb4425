//===- KernelVectorizer.cpp - Loops and registers of a kernel -------------===//

#include "KernelVectorizer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;
using namespace mlir::fuse;

/// Elements of the innermost dimension that one parallel iteration takes, where
/// nothing else bounds it: 16 KB of f32, a third of a first-level cache.
static constexpr int64_t kPieceElements = 4096;
/// Elements that are staged at once on their way past the caches.
static constexpr int64_t kStagedElements = 240;

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// How many vectors the innermost loop handles at once: near `wanted`, so that
/// few of `vectors` are left over.
static int64_t chooseUnroll(int64_t wanted, int64_t vectors,
                            unsigned scalarOps) {
  // Long bodies fill the pipeline by themselves.
  if (scalarOps > 40)
    wanted = 1;
  else if (scalarOps > 16)
    wanted = std::min<int64_t>(wanted, 2);
  int64_t best = std::min(wanted, std::max<int64_t>(vectors, 1));
  for (int64_t unroll = (wanted + 1) / 2;
       unroll <= std::min(2 * wanted, vectors); ++unroll)
    if (vectors % unroll < vectors % best)
      best = unroll;
  return best;
}

KernelVectorizer::KernelVectorizer(OpBuilder &builder, func::FuncOp source,
                                   ConfigAttr config, KernelShape kernelShape,
                                   ValueRange buffers)
    : builder(builder), loc(source.getLoc()), source(source), config(config),
      shape(std::move(kernelShape)), buffers(buffers),
      evaluator(builder, config.getVector() * 8 / shape.maxBits),
      indices(evaluator.index()), lanes(config.getVector() * 8 / shape.maxBits),
      unroll(config.getUnroll()) {
  results = source.getBody().front().getTerminator()->getOperands();
  destinations.assign(this->buffers.end() - results.size(),
                      this->buffers.end());
  for (auto [argument, buffer] :
       llvm::zip_equal(source.getArguments(), this->buffers))
    evaluator.setBuffer(argument, buffer);
  indices.setLoc(loc);
  planLoops();
  planPasses();
  planStreaming();
}

void KernelVectorizer::planLoops() {
  if (shape.loops.empty())
    shape.loops.push_back({0, 0, builder.getIndexAttr(1), false});
  auto extent = [&](unsigned loop) {
    return *getConstantIntValue(shape.loops[loop].extent);
  };
  laneLoop = shape.loops.size() - 1;
  laneIsReduced = shape.loops[laneLoop].isReduced;
  laneExtent = extent(laneLoop);
  for (unsigned loop = 0; loop < laneLoop; ++loop) {
    if (shape.loops[loop].isReduced) {
      reducedLoops.push_back(loop);
      rowElements *= extent(loop);
    } else {
      parallelLoops.push_back(loop);
      rowCount *= extent(loop);
    }
  }
  loopIndices.resize(shape.loops.size(), LaneIndex::constant(0));
  int64_t vectors = llvm::divideCeil(laneExtent, lanes);
  if (laneIsReduced) {
    rowElements *= laneExtent;
    unroll = chooseUnroll(unroll, vectors, shape.scalarOps);
  } else if (shape.hasReductions()) {
    // Each lane reduces a row of its own, `unroll` registers side by side.
    unroll = std::clamp<int64_t>(vectors, 1, unroll);
    laneTile = unroll * lanes;
    laneTiles = std::max<int64_t>(llvm::divideCeil(laneExtent, laneTile), 1);
  } else {
    laneTile = laneExtent;
    if (laneExtent > 2 * kPieceElements) {
      laneTile = kPieceElements;
      laneTiles = llvm::divideCeil(laneExtent, laneTile);
    }
    unroll = chooseUnroll(unroll, llvm::divideCeil(laneTile, lanes),
                          shape.scalarOps);
    rowElements = laneTile;
  }
}

bool KernelVectorizer::isFull(Value value) const {
  return !shape.rowValues.contains(value) &&
         *getElementCount(value.getType()) ==
             std::accumulate(shape.extents.begin(), shape.extents.end(),
                             int64_t(1),
                             [](int64_t count, OpFoldResult extent) {
                               return count * *getConstantIntValue(extent);
                             });
}

/// Whether the shape alone tells that `value` has an element for each position
/// of the domain. A row of one element makes both readings agree.
void KernelVectorizer::planPasses() {
  unsigned levels = shape.reductions.size();
  passes.resize(levels + 1);
  for (unsigned level = 0; level < levels; ++level)
    passes[level].reductions = shape.reductions[level];
  for (auto [number, result] : llvm::enumerate(results))
    if (isFull(result))
      passes[shape.levels.lookup(result)].results.push_back(number);
  if (levels == 0)
    return;

  // A value that an earlier pass has computed and that is dear to compute again
  // is kept. Walks from what each pass needs; stops at what is kept.
  DenseMap<Value, unsigned> firstPass;
  DenseMap<Value, unsigned> kept;
  for (unsigned number = 0; number <= levels; ++number) {
    SmallVector<Value> stack;
    DenseSet<Value> visited;
    for (linalg::GenericOp op : passes[number].reductions)
      stack.push_back(op.getDpsInputs().front());
    for (unsigned result : passes[number].results)
      stack.push_back(results[result]);
    while (!stack.empty()) {
      Value value = stack.pop_back_val();
      auto generic = value.getDefiningOp<linalg::GenericOp>();
      if (!generic || shape.rowValues.contains(value) ||
          !visited.insert(value).second)
        continue;
      auto [entry, isNew] = firstPass.try_emplace(value, number);
      bool readsInOrder =
          llvm::all_of(generic.getIndexingMapsArray(),
                       [&](AffineMap map) {
                         return map.getNumDims() == shape.extents.size();
                       }) &&
          generic.getMatchingIndexingMap(generic.getDpsInitOperand(0))
              .isIdentity();
      if (!isNew && isFull(value) && readsInOrder && isExpensive(value)) {
        kept.try_emplace(value, entry->second);
        continue;
      }
      for (OpOperand *operand : generic.getDpsInputOperands())
        if (generic.getMatchingIndexingMap(operand).isIdentity())
          stack.push_back(operand->get());
    }
  }
  // The order of the kernel's ops makes the choice deterministic.
  int64_t budget = config.getScratch();
  int64_t perValue = rowElements * (laneIsReduced ? 1 : laneTile);
  for (Operation &op : source.getBody().front())
    for (Value result : op.getResults())
      if (auto entry = kept.find(result); entry != kept.end()) {
        Type type = getMemoryType(getElementTypeOrSelf(result.getType()));
        int64_t bytes = (perValue + lanes) * getElementBytes(type);
        if (bytes > budget)
          continue;
        budget -= bytes;
        passes[entry->second].kept.push_back({result, scratches.size()});
        scratches.push_back({result, entry->second, Value()});
      }
}

void KernelVectorizer::planStreaming() {
  if (config.getStores() != StorePolicy::streaming || rowElements == 0 ||
      rowCount == 0)
    return;
  // A row has to be contiguous in the result.
  bool isContiguous = llvm::all_of(parallelLoops, [&](unsigned loop) {
    return reducedLoops.empty() || loop < reducedLoops.front();
  });
  if (!isContiguous || (shape.hasReductions() && !laneIsReduced))
    return;
  if (rowElements > 4 * kPieceElements)
    return;
  if (laneTiles == 1) {
    // Small blocks let the processor overlap the loads of one with the stores
    // of the other; whole lines need no partial stores between blocks.
    int64_t bytes = 64;
    for (unsigned number = 0; number < results.size(); ++number)
      bytes = std::min(bytes, getElementBytes(getElementTypeOrSelf(
                                  results[number].getType())));
    int64_t whole = 64 / std::gcd<int64_t>(64, rowElements * bytes);
    int64_t wanted = std::max<int64_t>(kStagedElements / rowElements, 1);
    rowsPerBlock =
        std::min<int64_t>(llvm::divideCeil(wanted, whole) * whole, rowCount);
  }
  for (const Pass &pass : passes)
    for (unsigned result : pass.results)
      stagings[result] = {};
}

int64_t KernelVectorizer::getIterations() const {
  if (laneExtent == 0 && !laneIsReduced)
    return 0;
  return llvm::divideCeil(rowCount, rowsPerBlock) * laneTiles;
}

int64_t KernelVectorizer::getElementsPerIteration() const {
  int64_t elements = rowElements * rowsPerBlock;
  if (shape.hasReductions() && !laneIsReduced)
    elements *= laneTile;
  return std::max<int64_t>(elements, 1);
}

//===----------------------------------------------------------------------===//
// Small helpers
//===----------------------------------------------------------------------===//

Value KernelVectorizer::constant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value KernelVectorizer::allocateStack(int64_t elements, Type elementType) {
  Type memoryType = getMemoryType(elementType);
  return memref::AllocaOp::create(builder, loc,
                                  MemRefType::get({elements}, memoryType),
                                  builder.getI64IntegerAttr(64));
}

TensorIndex KernelVectorizer::position(LaneIndex lane) {
  TensorIndex index;
  for (auto [number, loop] : llvm::enumerate(shape.loops))
    if (loop.first != loop.last)
      index.groups.push_back({loop.first, loop.last,
                              number == laneLoop ? lane : loopIndices[number]});
  return index;
}

LaneIndex KernelVectorizer::positionInRow(LaneIndex lane) {
  LaneIndex position = LaneIndex::constant(0);
  for (unsigned loop : reducedLoops)
    position = indices.add(indices.mul(position, shape.loops[loop].extent),
                           loopIndices[loop]);
  if (!laneIsReduced)
    return position;
  return indices.add(indices.mul(position, shape.loops[laneLoop].extent), lane);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

LogicalResult KernelVectorizer::emit(Value begin, Value end) {
  planScratch();
  auto loop = scf::ForOp::create(builder, loc, begin, end, constant(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  return emitBlock(loop.getInductionVar());
}

void KernelVectorizer::planScratch() {
  int64_t perValue =
      rowElements * (laneIsReduced || !shape.hasReductions() ? 1 : laneTile);
  for (Scratch &scratch : scratches)
    scratch.buffer = allocateStack(
        perValue + lanes, getElementTypeOrSelf(scratch.tensor.getType()));
  for (unsigned result = 0; result < results.size(); ++result)
    if (auto staging = stagings.find(result); staging != stagings.end())
      staging->second.buffer =
          allocateStack(rowsPerBlock * rowElements + 64,
                        getElementTypeOrSelf(results[result].getType()));
}

/// One parallel iteration: a row, a piece of one, or a block of rows.
LogicalResult KernelVectorizer::emitBlock(Value block) {
  if (stagings.empty() || rowsPerBlock == 1) {
    for (auto &entry : stagings)
      entry.second.rowStart = LaneIndex::constant(0);
    if (failed(emitRow(block)))
      return failure();
    for (unsigned result = 0; result < results.size(); ++result)
      if (stagings.contains(result))
        streamOut(result, block, constant(1));
    return success();
  }
  Value first =
      arith::MulIOp::create(builder, loc, block, constant(rowsPerBlock));
  Value count = constant(rowsPerBlock);
  if (rowCount % rowsPerBlock != 0)
    count = arith::MinSIOp::create(
        builder, loc, count,
        arith::SubIOp::create(builder, loc, constant(rowCount), first));
  auto rows = scf::ForOp::create(builder, loc, constant(0), count, constant(1));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(rows.getBody());
    for (auto &entry : stagings)
      entry.second.rowStart =
          indices.mul(LaneIndex::uniform(rows.getInductionVar()),
                      builder.getIndexAttr(rowElements));
    Value row =
        arith::AddIOp::create(builder, loc, first, rows.getInductionVar());
    if (failed(emitRow(row)))
      return failure();
  }
  for (unsigned result = 0; result < results.size(); ++result)
    if (stagings.contains(result))
      streamOut(result, first, count);
  return success();
}

LogicalResult KernelVectorizer::emitRow(Value row) {
  TensorEvaluator::Scope scope(evaluator);
  indices.setLoc(loc);
  // Which row: the parallel loops' indices, the innermost varying fastest.
  LaneIndex rest = LaneIndex::uniform(row);
  LaneIndex tile = LaneIndex::constant(0);
  if (laneTiles > 1) {
    tile = indices.rem(rest, builder.getIndexAttr(laneTiles));
    rest = indices.div(rest, builder.getIndexAttr(laneTiles));
  }
  for (auto [number, loop] : llvm::enumerate(llvm::reverse(parallelLoops))) {
    bool isOutermost = number + 1 == parallelLoops.size();
    loopIndices[loop] =
        isOutermost ? rest : indices.rem(rest, shape.loops[loop].extent);
    rest = indices.div(rest, shape.loops[loop].extent);
  }

  if (laneIsReduced)
    return emitReducedRow(LaneIndex::constant(0),
                          LaneIndex::constant(laneExtent));
  OpFoldResult low = builder.getIndexAttr(0),
               high = builder.getIndexAttr(laneExtent);
  if (laneTiles > 1) {
    Value start =
        indices.scalar(indices.mul(tile, builder.getIndexAttr(laneTile)));
    Value stop = arith::AddIOp::create(builder, loc, start, constant(laneTile));
    if (laneExtent % laneTile != 0)
      stop = arith::MinSIOp::create(builder, loc, stop, constant(laneExtent));
    low = start;
    high = stop;
  }
  if (!shape.hasReductions()) {
    Value start = indices.value(low);
    bool isPiece = laneTiles > 1;
    auto body = [&](LaneIndex lane, Accumulators) -> FailureOr<Accumulators> {
      if (isPiece)
        for (auto &entry : stagings) {
          Value negated =
              arith::SubIOp::create(builder, loc, constant(0), start);
          entry.second.rowStart = LaneIndex::uniform(negated);
        }
      if (failed(storeResults(passes.front(), lane)))
        return failure();
      return Accumulators();
    };
    return success(succeeded(emitLaneLoop(low, high, {}, {}, body)));
  }

  // Each lane holds a row of its own; the last registers may be partly empty.
  Value start = indices.value(low), stop = indices.value(high);
  if (laneExtent % laneTile == 0)
    return emitLaneRows(start, stop, /*isWhole=*/true);
  if (laneTiles == 1)
    return emitLaneRows(start, stop, /*isWhole=*/false);
  Value size = arith::SubIOp::create(builder, loc, stop, start);
  Value isWhole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        size, constant(laneTile));
  auto conditional =
      scf::IfOp::create(builder, loc, isWhole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  for (bool whole : {true, false}) {
    TensorEvaluator::Scope branchScope(evaluator);
    Block *block = whole ? conditional.thenBlock() : conditional.elseBlock();
    builder.setInsertionPoint(block->getTerminator());
    if (failed(emitLaneRows(start, stop, whole)))
      return failure();
  }
  return success();
}

/// A row along whose innermost dimension the registers run.
LogicalResult KernelVectorizer::emitReducedRow(LaneIndex low, LaneIndex high) {
  for (auto [number, pass] : llvm::enumerate(passes)) {
    if (pass.reductions.empty() && pass.results.empty())
      continue;
    auto element = [&, passNumber = number, &pass = pass](
                       LaneIndex lane,
                       Accumulators accumulators) -> FailureOr<Accumulators> {
      readScratch(passNumber, lane, 0);
      FailureOr<Accumulators> reduced = reduceElement(pass, lane, accumulators);
      if (failed(reduced) || failed(storeResults(pass, lane)) ||
          failed(keepValues(pass, lane, 0)))
        return failure();
      return reduced;
    };
    auto row = [&, &pass = pass](Accumulators accumulators) {
      return emitLaneLoop(builder.getIndexAttr(low.offset),
                          builder.getIndexAttr(high.offset), pass.reductions,
                          accumulators, element);
    };
    FailureOr<Accumulators> reduced =
        emitReducedLoops(0, neutral(pass.reductions, /*asVector=*/true), row);
    if (failed(reduced))
      return failure();
    evaluator.clearScratch();
    SmallVector<std::pair<Value, Value>> rowValues;
    if (failed(
            finishReductions(pass, *reduced, /*acrossLanes=*/true, rowValues)))
      return failure();
    for (auto [tensor, value] : rowValues)
      evaluator.setRowValue(tensor, value);
  }
  return storeRowResults(std::nullopt);
}

/// Rows side by side, one in each lane of `unroll` registers.
LogicalResult KernelVectorizer::emitLaneRows(Value low, Value high,
                                             bool isWhole) {
  SmallVector<LaneIndex> parts;
  SmallVector<Value> masks;
  for (int64_t part = 0; part < unroll; ++part) {
    parts.push_back({low, part * lanes, 1, Value()});
    Value live;
    if (!isWhole) {
      auto maskType = VectorType::get({lanes}, builder.getI1Type());
      Value left = arith::SubIOp::create(builder, loc, high,
                                         indices.scalar(parts.back()));
      live = vector::CreateMaskOp::create(builder, loc, maskType, left);
    }
    masks.push_back(live);
  }
  SmallVector<SmallVector<std::pair<Value, Value>>> rowValues(unroll);
  auto enterPart = [&](int64_t part) {
    evaluator.setMask(masks[part]);
    for (auto [tensor, value] : rowValues[part])
      evaluator.setRowValue(tensor, value);
  };
  for (auto [number, pass] : llvm::enumerate(passes)) {
    if (pass.reductions.empty() && pass.results.empty())
      continue;
    Accumulators start;
    for (int64_t part = 0; part < unroll; ++part)
      llvm::append_range(start, neutral(pass.reductions, /*asVector=*/true));
    size_t perPart = start.size() / unroll;
    auto step = [&, passNumber = number, &pass = pass](
                    Accumulators accumulators) -> FailureOr<Accumulators> {
      Accumulators next;
      for (int64_t part = 0; part < unroll; ++part) {
        TensorEvaluator::Scope scope(evaluator);
        enterPart(part);
        readScratch(passNumber, parts[part], part);
        FailureOr<Accumulators> reduced = reduceElement(
            pass, parts[part],
            Accumulators(
                ArrayRef(accumulators).slice(part * perPart, perPart)));
        if (failed(reduced) || failed(storeResults(pass, parts[part])) ||
            failed(keepValues(pass, parts[part], part)))
          return failure();
        llvm::append_range(next, *reduced);
      }
      return next;
    };
    FailureOr<Accumulators> reduced = emitReducedLoops(0, start, step);
    if (failed(reduced))
      return failure();
    evaluator.clearScratch();
    for (int64_t part = 0; part < unroll; ++part) {
      TensorEvaluator::Scope scope(evaluator);
      enterPart(part);
      Accumulators own(ArrayRef(*reduced).slice(part * perPart, perPart));
      if (failed(finishReductions(pass, own, /*acrossLanes=*/false,
                                  rowValues[part])))
        return failure();
    }
  }
  for (int64_t part = 0; part < unroll; ++part) {
    TensorEvaluator::Scope scope(evaluator);
    enterPart(part);
    if (failed(storeRowResults(parts[part])))
      return failure();
  }
  evaluator.setMask(Value());
  return success();
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

FailureOr<KernelVectorizer::Accumulators>
KernelVectorizer::reduceElement(const Pass &pass, LaneIndex lane,
                                Accumulators accumulators) {
  Accumulators next;
  size_t offset = 0;
  for (linalg::GenericOp op : pass.reductions) {
    Accumulators own(ArrayRef(accumulators).slice(offset, op.getNumResults()));
    FailureOr<SmallVector<Value>> values =
        evaluator.evaluateBody(op, position(lane), own);
    if (failed(values))
      return failure();
    for (auto [value, before] : llvm::zip_equal(*values, own))
      next.push_back(evaluator.selectLive(evaluator.broadcast(value), before));
    offset += op.getNumResults();
  }
  return next;
}

LogicalResult KernelVectorizer::storeResults(const Pass &pass, LaneIndex lane) {
  for (unsigned result : pass.results) {
    auto type = cast<RankedTensorType>(results[result].getType());
    TensorIndex at = position(lane);
    LaneIndex linear = evaluator.linearize(at, shape.extents);
    if (!llvm::equal(type.getShape(), *getConstantIntValues(shape.extents)))
      at.groups.assign(type.getRank() == 0 ? 0 : 1,
                       TensorIndex::Group{0, type.getRank(), linear});
    FailureOr<Value> value = evaluator.evaluate(results[result], at);
    if (failed(value))
      return failure();
    indices.setLoc(loc);
    auto staging = stagings.find(result);
    if (staging == stagings.end()) {
      evaluator.store(*value, destinations[result], linear);
      continue;
    }
    LaneIndex inRow = shape.hasReductions() ? positionInRow(lane) : lane;
    evaluator.store(*value, staging->second.buffer,
                    indices.add(staging->second.rowStart, inRow));
  }
  return success();
}

LogicalResult KernelVectorizer::keepValues(const Pass &pass, LaneIndex lane,
                                           unsigned part) {
  for (auto [tensor, number] : pass.kept) {
    FailureOr<Value> value = evaluator.evaluate(tensor, position(lane));
    if (failed(value))
      return failure();
    LaneIndex at = positionInRow(lane);
    if (!laneIsReduced) {
      at = indices.add(indices.mul(at, builder.getIndexAttr(laneTile)),
                       part * lanes);
      at.stride = 1;
    }
    evaluator.store(evaluator.broadcast(*value), scratches[number].buffer, at);
  }
  return success();
}

void KernelVectorizer::readScratch(unsigned pass, LaneIndex lane,
                                   unsigned part) {
  for (Scratch &scratch : scratches) {
    if (scratch.firstPass >= pass)
      continue;
    LaneIndex at = positionInRow(lane);
    if (!laneIsReduced) {
      at = indices.add(indices.mul(at, builder.getIndexAttr(laneTile)),
                       part * lanes);
      at.stride = 1;
    }
    evaluator.setScratch(scratch.tensor, scratch.buffer, at);
  }
}

/// Writes the results that have one value for each row.
LogicalResult KernelVectorizer::storeRowResults(std::optional<LaneIndex> lane) {
  LaneIndex linear = LaneIndex::constant(0);
  for (auto [number, loop] : llvm::enumerate(shape.loops))
    if (!loop.isReduced)
      linear = indices.add(indices.mul(linear, loop.extent),
                           number == laneLoop ? *lane : loopIndices[number]);
  for (auto [number, result] : llvm::enumerate(results)) {
    if (isFull(result))
      continue;
    auto type = cast<RankedTensorType>(result.getType());
    TensorIndex at;
    if (type.getRank() > 0)
      at.groups.push_back({0, type.getRank(), linear});
    FailureOr<Value> value = evaluator.evaluate(result, at);
    if (failed(value))
      return failure();
    indices.setLoc(loc);
    evaluator.store(*value, destinations[number], linear);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The value that a reduction starts from in each lane.
KernelVectorizer::Accumulators
KernelVectorizer::neutral(ArrayRef<linalg::GenericOp> ops, bool asVector) {
  Accumulators start;
  for (linalg::GenericOp op : ops) {
    std::optional<TypedAttr> neutral;
    if (op.getNumResults() == 1)
      neutral = arith::getNeutralElement(&op.getBlock()->front());
    for (OpOperand &init : op.getDpsInitsMutable()) {
      Value value;
      if (neutral)
        value = arith::ConstantOp::create(builder, op.getLoc(), *neutral);
      else if (auto fill = init.get().getDefiningOp<linalg::FillOp>())
        value = fill.value();
      if (!value) {
        Type element = getElementTypeOrSelf(init.get().getType());
        value = arith::ConstantOp::create(builder, op.getLoc(),
                                          builder.getZeroAttr(element));
      }
      start.push_back(asVector ? evaluator.broadcast(value) : value);
    }
  }
  return start;
}

KernelVectorizer::Accumulators
KernelVectorizer::combineAll(ArrayRef<linalg::GenericOp> ops, ValueRange left,
                             ValueRange right) {
  Accumulators combined;
  size_t offset = 0;
  for (linalg::GenericOp op : ops) {
    unsigned count = op.getNumResults();
    llvm::append_range(combined,
                       evaluator.combine(op, left.slice(offset, count),
                                         right.slice(offset, count)));
    offset += count;
  }
  return combined;
}

/// Combines the lanes of partial results in halves.
KernelVectorizer::Accumulators
KernelVectorizer::acrossLanes(linalg::GenericOp op, ValueRange values) {
  Accumulators current(values);
  for (int64_t width = lanes / 2; width >= 1; width /= 2) {
    auto half = [&](int64_t first) {
      return llvm::map_to_vector(current, [&](Value value) -> Value {
        if (width == 1)
          return vector::ExtractOp::create(builder, loc, value, first);
        return vector::ExtractStridedSliceOp::create(builder, loc, value, first,
                                                     width, 1);
      });
    };
    Accumulators low(half(0)), high(half(width));
    current = evaluator.combine(op, low, high);
  }
  return current;
}

LogicalResult KernelVectorizer::finishReductions(
    const Pass &pass, Accumulators accumulators, bool isAcrossLanes,
    SmallVectorImpl<std::pair<Value, Value>> &rowValues) {
  size_t offset = 0;
  for (linalg::GenericOp op : pass.reductions) {
    Accumulators own(ArrayRef(accumulators).slice(offset, op.getNumResults()));
    offset += op.getNumResults();
    if (isAcrossLanes && lanes > 1)
      own = acrossLanes(op, own);
    // What the destination held takes part, unless it changes nothing.
    Accumulators init;
    bool isNeutral = op.getNumResults() != 1;
    for (OpOperand &operand : op.getDpsInitsMutable()) {
      if (isNeutral)
        break;
      auto fill = operand.get().getDefiningOp<linalg::FillOp>();
      TypedAttr filled;
      if (fill && matchPattern(fill.value(), m_Constant(&filled)))
        isNeutral = filled == arith::getNeutralElement(&op.getBlock()->front());
      if (isNeutral)
        break;
      auto type = cast<RankedTensorType>(operand.get().getType());
      TensorIndex at;
      LaneIndex linear = LaneIndex::constant(0);
      for (auto [number, loop] : llvm::enumerate(shape.loops))
        if (!loop.isReduced)
          linear = indices.add(indices.mul(linear, loop.extent),
                               loopIndices[number]);
      if (type.getRank() > 0)
        at.groups.push_back({0, type.getRank(), linear});
      if (!isAcrossLanes && !fill)
        return op.emitError(
            "expected a reduction that starts from a filled tensor");
      FailureOr<Value> value = evaluator.evaluate(operand.get(), at);
      if (failed(value))
        return failure();
      init.push_back(isAcrossLanes ? *value : evaluator.broadcast(*value));
    }
    if (!isNeutral)
      own = evaluator.combine(op, init, own);
    for (auto [result, value] : llvm::zip_equal(op.getResults(), own))
      rowValues.push_back({result, value});
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The reduced loops outside the lane loop, from `loop` on, around `body`.
FailureOr<KernelVectorizer::Accumulators> KernelVectorizer::emitReducedLoops(
    unsigned loop, Accumulators accumulators,
    function_ref<FailureOr<Accumulators>(Accumulators)> body) {
  if (loop == reducedLoops.size())
    return body(std::move(accumulators));
  unsigned number = reducedLoops[loop];
  auto forOp = scf::ForOp::create(builder, loc, constant(0),
                                  indices.value(shape.loops[number].extent),
                                  constant(1), accumulators);
  OpBuilder::InsertionGuard guard(builder);
  TensorEvaluator::Scope scope(evaluator);
  if (accumulators.empty())
    builder.setInsertionPoint(forOp.getBody()->getTerminator());
  else
    builder.setInsertionPointToStart(forOp.getBody());
  loopIndices[number] = LaneIndex::uniform(forOp.getInductionVar());
  FailureOr<Accumulators> next =
      emitReducedLoops(loop + 1, Accumulators(forOp.getRegionIterArgs()), body);
  if (failed(next))
    return failure();
  if (!accumulators.empty())
    scf::YieldOp::create(builder, loc, *next);
  return Accumulators(forOp.getResults());
}

/// Runs `body` for all positions in [low, high) of the lane loop: `unroll`
/// registers at a time, then one, then one whose last lanes are masked. `ops`
/// are the reductions that the accumulators belong to.
FailureOr<KernelVectorizer::Accumulators>
KernelVectorizer::emitLaneLoop(OpFoldResult low, OpFoldResult high,
                               ArrayRef<linalg::GenericOp> ops,
                               Accumulators accumulators, LaneBody body) {
  std::optional<int64_t> knownLow = getConstantIntValue(low),
                         knownHigh = getConstantIntValue(high);
  std::optional<int64_t> count;
  if (knownLow && knownHigh)
    count = *knownHigh - *knownLow;
  int64_t step = lanes * unroll;
  // low + (high - low) rounded down to a multiple of `multiple`.
  auto roundedEnd = [&](int64_t multiple) -> OpFoldResult {
    if (count)
      return builder.getIndexAttr(*knownLow + *count / multiple * multiple);
    Value first = indices.value(low);
    Value size =
        arith::SubIOp::create(builder, loc, indices.value(high), first);
    Value rest = arith::RemUIOp::create(builder, loc, size, constant(multiple));
    return arith::SubIOp::create(builder, loc, indices.value(high), rest)
        .getResult();
  };
  LogicalResult status = success();
  auto emitLoop = [&](OpFoldResult from, OpFoldResult to, int64_t vectors,
                      Accumulators start) -> Accumulators {
    auto loop =
        scf::ForOp::create(builder, loc, indices.value(from), indices.value(to),
                           constant(lanes * vectors), start);
    OpBuilder::InsertionGuard guard(builder);
    if (start.empty())
      builder.setInsertionPoint(loop.getBody()->getTerminator());
    else
      builder.setInsertionPointToStart(loop.getBody());
    size_t perVector = start.size() / vectors;
    Accumulators next;
    TensorEvaluator::Scope scope(evaluator);
    for (int64_t vector = 0; vector < vectors && succeeded(status); ++vector) {
      LaneIndex lane{loop.getInductionVar(), vector * lanes, 1, Value()};
      FailureOr<Accumulators> values =
          body(lane, Accumulators(loop.getRegionIterArgs().slice(
                         vector * perVector, perVector)));
      if (failed(values)) {
        status = failure();
        return {};
      }
      llvm::append_range(next, *values);
    }
    if (!start.empty())
      scf::YieldOp::create(builder, loc, next);
    return Accumulators(loop.getResults());
  };

  OpFoldResult mainEnd = roundedEnd(step), vectorEnd = roundedEnd(lanes);
  evaluator.setMask(Value());
  if (!count || *count >= step) {
    Accumulators wide = accumulators;
    for (int64_t vector = 1; vector < unroll; ++vector)
      llvm::append_range(wide, neutral(ops, /*asVector=*/true));
    wide = emitLoop(low, mainEnd, unroll, wide);
    if (failed(status))
      return failure();
    // Pairwise, so that the chain stays short.
    size_t perVector = accumulators.size();
    for (int64_t width = unroll; perVector != 0 && width > 1;) {
      int64_t half = (width + 1) / 2;
      for (int64_t vector = half; vector < width; ++vector) {
        ArrayRef<Value> left =
            ArrayRef(wide).slice((vector - half) * perVector, perVector);
        ArrayRef<Value> right =
            ArrayRef(wide).slice(vector * perVector, perVector);
        Accumulators combined = combineAll(ops, left, right);
        llvm::copy(combined, wide.begin() + (vector - half) * perVector);
      }
      width = half;
    }
    wide.resize(perVector);
    accumulators = wide;
  }
  if (unroll > 1 && (!count || *count % step >= lanes)) {
    accumulators = emitLoop(count && *count < step ? low : mainEnd, vectorEnd,
                            1, accumulators);
    if (failed(status))
      return failure();
  }
  if (count && *count % lanes == 0)
    return accumulators;

  // The tail: the only masked register.
  auto emitTail = [&]() -> FailureOr<Accumulators> {
    TensorEvaluator::Scope scope(evaluator);
    auto maskType = VectorType::get({lanes}, builder.getI1Type());
    Value first = indices.value(vectorEnd);
    Value left =
        arith::SubIOp::create(builder, loc, indices.value(high), first);
    Value live =
        count ? vector::ConstantMaskOp::create(
                    builder, loc, maskType, ArrayRef<int64_t>{*count % lanes})
                    .getResult()
              : vector::CreateMaskOp::create(builder, loc, maskType, left)
                    .getResult();
    evaluator.setMask(live);
    LaneIndex lane{first, 0, 1, Value()};
    if (std::optional<int64_t> known = getConstantIntValue(vectorEnd))
      lane = {Value(), *known, 1, Value()};
    FailureOr<Accumulators> values = body(lane, accumulators);
    evaluator.setMask(Value());
    return values;
  };
  if (count)
    return emitTail();
  Value hasTail =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                            indices.value(vectorEnd), indices.value(high));
  auto conditional = scf::IfOp::create(
      builder, loc, ValueRange(accumulators).getTypes(), hasTail,
      /*withElseRegion=*/!accumulators.empty());
  OpBuilder::InsertionGuard guard(builder);
  if (accumulators.empty())
    builder.setInsertionPoint(conditional.thenBlock()->getTerminator());
  else
    builder.setInsertionPointToStart(conditional.thenBlock());
  FailureOr<Accumulators> values = emitTail();
  if (failed(values))
    return failure();
  if (!accumulators.empty()) {
    scf::YieldOp::create(builder, loc, *values);
    builder.setInsertionPointToStart(conditional.elseBlock());
    scf::YieldOp::create(builder, loc, accumulators);
  }
  return Accumulators(conditional.getResults());
}

//===----------------------------------------------------------------------===//
// Streaming stores
//===----------------------------------------------------------------------===//

/// Copies finished rows from the staging buffer to the result. Whole cache
/// lines go past the caches; the destination may be aligned to its element
/// only, so that the first and last line may be partial.
void KernelVectorizer::streamOut(unsigned result, Value firstRow, Value rows) {
  Value staging = stagings[result].buffer, destination = destinations[result];
  Type elementType = cast<MemRefType>(staging.getType()).getElementType();
  int64_t bytes = getElementBytes(elementType);
  int64_t lineElements = 64 / bytes;
  int64_t vectorElements = config.getVector() / bytes;
  auto vectorType = VectorType::get({vectorElements}, elementType);
  auto lineType = VectorType::get({lineElements}, elementType);

  // The first element and the number of elements.
  Value start, count;
  if (laneTiles > 1) {
    Value tile =
        arith::RemUIOp::create(builder, loc, firstRow, constant(laneTiles));
    Value row =
        arith::DivUIOp::create(builder, loc, firstRow, constant(laneTiles));
    Value inRow = arith::MulIOp::create(builder, loc, tile, constant(laneTile));
    start = arith::AddIOp::create(
        builder, loc,
        arith::MulIOp::create(builder, loc, row, constant(laneExtent)), inRow);
    count = arith::MinSIOp::create(
        builder, loc, constant(laneTile),
        arith::SubIOp::create(builder, loc, constant(laneExtent), inRow));
  } else {
    start =
        arith::MulIOp::create(builder, loc, firstRow, constant(rowElements));
    count = arith::MulIOp::create(builder, loc, rows, constant(rowElements));
  }

  // Elements up to the next line of the destination.
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, destination);
  Value element = arith::AddIOp::create(
      builder, loc,
      arith::DivUIOp::create(builder, loc, address, constant(bytes)), start);
  Value intoLine =
      arith::RemUIOp::create(builder, loc, element, constant(lineElements));
  Value missing = arith::RemUIOp::create(
      builder, loc,
      arith::SubIOp::create(builder, loc, constant(lineElements), intoLine),
      constant(lineElements));
  Value head = arith::MinSIOp::create(builder, loc, missing, count);
  Value body = arith::SubIOp::create(builder, loc, count, head);
  Value tail =
      arith::RemUIOp::create(builder, loc, body, constant(lineElements));
  Value bodyEnd = arith::SubIOp::create(builder, loc, count, tail);

  // Not a store under an empty mask: it would fetch the line.
  auto copyPart = [&](Value from, Value size) {
    Value isPresent = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::sgt, size, constant(0));
    auto conditional = scf::IfOp::create(builder, loc, isPresent);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(conditional.thenBlock()->getTerminator());
    auto maskType = VectorType::get({lineElements}, builder.getI1Type());
    Value live = vector::CreateMaskOp::create(builder, loc, maskType, size);
    // The staging buffer is padded by a line.
    Value part = vector::LoadOp::create(builder, loc, lineType, staging, from);
    Value to = arith::AddIOp::create(builder, loc, start, from);
    vector::MaskedStoreOp::create(builder, loc, destination, to, live, part);
  };
  copyPart(constant(0), head);
  auto loop =
      scf::ForOp::create(builder, loc, head, bodyEnd, constant(lineElements));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    for (int64_t offset = 0; offset < lineElements; offset += vectorElements) {
      Value from = arith::AddIOp::create(builder, loc, loop.getInductionVar(),
                                         constant(offset));
      Value part =
          vector::LoadOp::create(builder, loc, vectorType, staging, from);
      Value to = arith::AddIOp::create(builder, loc, start, from);
      auto store = vector::StoreOp::create(builder, loc, part, destination, to);
      store.setNontemporal(true);
      store->setAttr("alignment",
                     builder.getI64IntegerAttr(config.getVector()));
    }
  }
  copyPart(bodyEnd, tail);
}
