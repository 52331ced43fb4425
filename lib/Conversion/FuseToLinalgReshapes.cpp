//===- FuseToLinalgReshapes.cpp - Reshapes to linalg ----------------------===//
//
// A reshape is a tensor.collapse_shape, then a tensor.expand_shape, of which
// often one suffices. Between them is the finest shape that both sides regroup
// into, so that what reads through them sees as much structure as there is.
//
//===----------------------------------------------------------------------===//

#include "InjectivePattern.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fuse;

using Groups = SmallVector<ReassociationIndices>;

namespace {

/// Matches runs of source dimensions with runs of target dimensions of the same
/// number of elements.
class DimGrouper {
public:
  /// Extents are equal if both are the same constant or the same value.
  DimGrouper(ArrayRef<OpFoldResult> source, ArrayRef<OpFoldResult> target)
      : source(source), target(target) {}

  /// Fills `sourceGroups` and `targetGroups`, one entry for each pair of runs.
  /// Neither side may be of rank 0.
  void run();

  Groups sourceGroups, targetGroups;

private:
  struct Run {
    size_t sourceBegin, sourceEnd, targetBegin, targetEnd;
  };
  std::optional<Run> matchFront() const;
  std::optional<Run> matchBack() const;
  void append(Run run);

  ArrayRef<OpFoldResult> source, target;
  /// What is not matched yet.
  size_t sourceBegin = 0, sourceEnd = 0, targetBegin = 0, targetEnd = 0;
};

} // namespace

/// The shortest runs of two sequences of static extents, given in the order in
/// which they are taken, that have one number of elements; none if a dynamic
/// extent comes first. A pair of equal extents is a run, dynamic or not.
template <typename SourceRange, typename TargetRange>
static std::optional<std::pair<size_t, size_t>>
matchShortest(SourceRange source, TargetRange target) {
  if (source.empty() || target.empty())
    return std::nullopt;
  if (areEqualExtents(*source.begin(), *target.begin()))
    return std::pair<size_t, size_t>(1, 1);
  auto from = source.begin(), to = target.begin();
  int64_t sourceCount = 1, targetCount = 1;
  size_t sourceTaken = 0, targetTaken = 0;
  auto take = [](auto &it, auto end, int64_t &count, size_t &taken) {
    if (it == end)
      return false;
    std::optional<int64_t> extent = getConstantIntValue(*it++);
    ++taken;
    return extent && !llvm::MulOverflow(count, *extent, count);
  };
  do {
    bool takesSource =
        sourceTaken == 0 || (targetTaken != 0 && sourceCount < targetCount);
    if (takesSource ? !take(from, source.end(), sourceCount, sourceTaken)
                    : !take(to, target.end(), targetCount, targetTaken))
      return std::nullopt;
  } while (targetTaken == 0 || sourceCount != targetCount);
  return std::pair(sourceTaken, targetTaken);
}

std::optional<DimGrouper::Run> DimGrouper::matchFront() const {
  auto lengths =
      matchShortest(source.slice(sourceBegin, sourceEnd - sourceBegin),
                    target.slice(targetBegin, targetEnd - targetBegin));
  if (!lengths)
    return std::nullopt;
  return Run{sourceBegin, sourceBegin + lengths->first, targetBegin,
             targetBegin + lengths->second};
}

std::optional<DimGrouper::Run> DimGrouper::matchBack() const {
  auto lengths = matchShortest(
      llvm::reverse(source.slice(sourceBegin, sourceEnd - sourceBegin)),
      llvm::reverse(target.slice(targetBegin, targetEnd - targetBegin)));
  if (!lengths)
    return std::nullopt;
  return Run{sourceEnd - lengths->first, sourceEnd, targetEnd - lengths->second,
             targetEnd};
}

void DimGrouper::append(Run run) {
  sourceGroups.emplace_back(
      llvm::to_vector<2>(llvm::seq<int64_t>(run.sourceBegin, run.sourceEnd)));
  targetGroups.emplace_back(
      llvm::to_vector<2>(llvm::seq<int64_t>(run.targetBegin, run.targetEnd)));
}

void DimGrouper::run() {
  sourceEnd = source.size();
  targetEnd = target.size();
  while (std::optional<Run> run = matchFront()) {
    append(*run);
    sourceBegin = run->sourceEnd;
    targetBegin = run->targetEnd;
  }
  SmallVector<Run> back;
  while (std::optional<Run> run = matchBack()) {
    back.push_back(*run);
    sourceEnd = run->sourceBegin;
    targetEnd = run->targetBegin;
  }
  // What is left in the middle has one number of elements. If one side is
  // empty, all extents of the other are 1, and join a neighbour.
  Run middle = {sourceBegin, sourceEnd, targetBegin, targetEnd};
  bool sourceIsEmpty = sourceBegin == sourceEnd;
  bool targetIsEmpty = targetBegin == targetEnd;
  if (!sourceIsEmpty && !targetIsEmpty) {
    append(middle);
  } else if (!sourceIsEmpty || !targetIsEmpty) {
    if (!sourceGroups.empty()) {
      llvm::append_range(sourceGroups.back(),
                         llvm::seq<int64_t>(sourceBegin, sourceEnd));
      llvm::append_range(targetGroups.back(),
                         llvm::seq<int64_t>(targetBegin, targetEnd));
    } else {
      back.back().sourceBegin = sourceBegin;
      back.back().targetBegin = targetBegin;
    }
  }
  for (const Run &run : llvm::reverse(back))
    append(run);
}

static bool isTrivial(const Groups &groups) {
  return llvm::all_of(groups, [](const ReassociationIndices &group) {
    return group.size() == 1;
  });
}

/// The tensor in the shape of `type`.
static Value reshape(OpBuilder &builder, Location loc, Value input,
                     RankedTensorType type, ArrayRef<OpFoldResult> extents) {
  auto source = cast<RankedTensorType>(input.getType());
  if (hasZeroExtent(source) || hasZeroExtent(type))
    return createUninitialized(builder, loc, type, extents);
  Groups sourceGroups, targetGroups;
  // Through rank 0 there are no groups at all.
  if (source.getRank() != 0 && type.getRank() != 0) {
    SmallVector<OpFoldResult> sourceExtents = getExtents(builder, loc, input);
    DimGrouper grouper(sourceExtents, extents);
    grouper.run();
    sourceGroups = std::move(grouper.sourceGroups);
    targetGroups = std::move(grouper.targetGroups);
  }
  bool collapses =
      !isTrivial(sourceGroups) ||
      static_cast<int64_t>(sourceGroups.size()) != source.getRank();
  bool expands = !isTrivial(targetGroups) ||
                 static_cast<int64_t>(targetGroups.size()) != type.getRank();
  // Extents that must be 1 for a rank of 0 may be dynamic.
  if (sourceGroups.empty() && collapses)
    input = castTo(builder, loc, input,
                   source.clone(SmallVector<int64_t>(source.getRank(), 1)));
  if (collapses)
    input = tensor::CollapseShapeOp::create(
        builder, loc,
        getCollapsedType(cast<RankedTensorType>(input.getType()), sourceGroups),
        input, sourceGroups);
  if (!expands)
    return input;
  if (targetGroups.empty()) {
    type = type.clone(SmallVector<int64_t>(type.getRank(), 1));
    SmallVector<OpFoldResult> ones(type.getRank(), builder.getIndexAttr(1));
    return tensor::ExpandShapeOp::create(builder, loc, type, input,
                                         targetGroups, ones);
  }
  input = castTo(builder, loc, input, getCollapsedType(type, targetGroups));
  return tensor::ExpandShapeOp::create(builder, loc, type, input, targetGroups,
                                       extents);
}

namespace {

struct LowerReshape : public InjectivePattern<ReshapeOp> {
  using InjectivePattern::InjectivePattern;
  Value emit(ReshapeOp op, Adaptor adaptor, RankedTensorType type,
             Extents extents, OpBuilder &builder) const override {
    // Upstream lowers at most one dynamic extent of those that one splits into,
    // so all that is known must be in the type.
    GenericBuilder result(builder, op.getLoc(), extents);
    return reshape(builder, op.getLoc(), adaptor.getInput(),
                   result.getType(type.getElementType()), extents);
  }
};

struct LowerSqueeze : public InjectivePattern<SqueezeOp> {
  using InjectivePattern::InjectivePattern;
  Value emit(SqueezeOp op, Adaptor adaptor, RankedTensorType, Extents,
             OpBuilder &builder) const override {
    Location loc = op.getLoc();
    // A dynamic extent that goes is 1, and must not make its group dynamic.
    auto type = cast<RankedTensorType>(adaptor.getInput().getType());
    SmallVector<int64_t> shape(type.getShape());
    for (int64_t axis : op.getAxes())
      shape[axis] = 1;
    Value input = castTo(builder, loc, adaptor.getInput(), type.clone(shape));
    return dropUnitDims(builder, loc, input, op.getAxes());
  }
};

struct LowerUnsqueeze : public InjectivePattern<UnsqueezeOp> {
  using InjectivePattern::InjectivePattern;
  Value emit(UnsqueezeOp op, Adaptor adaptor, RankedTensorType, Extents,
             OpBuilder &builder) const override {
    Location loc = op.getLoc();
    Value input = adaptor.getInput();
    return insertUnitDims(builder, loc, input, getExtents(builder, loc, input),
                          op.getAxes());
  }
};

} // namespace

void mlir::fuse::populateReshapesToLinalg(RewritePatternSet &patterns,
                                          const TypeConverter &converter) {
  patterns.add<LowerReshape, LowerSqueeze, LowerUnsqueeze>(
      converter, patterns.getContext());
}
