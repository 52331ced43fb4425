//===- KernelShape.cpp - Iteration domain and passes of a kernel ----------===//

#include "KernelShape.h"
#include "TensorEvaluator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;
using namespace mlir::fuse;

/// The value that `op` reads elements of, for ops that only move them.
static SmallVector<Value> getTensorOperands(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      operands.push_back(operand);
  // Tensors that the body of a generic reads by index.
  for (Region &region : op->getRegions())
    region.walk([&](tensor::ExtractOp extract) {
      operands.push_back(extract.getTensor());
    });
  return operands;
}

/// Checks that a reduction's body is one that partial results can be combined
/// with: one op on the element and the accumulator, or the two results of
/// argmax and argmin.
static LogicalResult verifyReductionBody(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1)
    return op.emitError("expected a reduction of one input in a kernel");
  if (op.getNumResults() == 2)
    return success();
  // Of the element and the accumulator alone; the largest number is a
  // comparison and a selection.
  Block &body = *op.getBlock();
  auto isOfArguments = [](Operation &inner) {
    return inner.getNumOperands() == 2 &&
           llvm::all_of(inner.getOperands(), llvm::IsaPred<BlockArgument>);
  };
  auto ops = body.without_terminator();
  bool isOneOp = llvm::hasSingleElement(ops) && isOfArguments(*ops.begin());
  bool isSelection = llvm::hasNItems(ops, 2) &&
                     isa<arith::CmpFOp, arith::CmpIOp>(*ops.begin()) &&
                     isOfArguments(*ops.begin()) &&
                     isa<arith::SelectOp>(*std::next(ops.begin()));
  if (op.getNumResults() != 1 || (!isOneOp && !isSelection))
    return op.emitError("expected a reduction that combines its input and "
                        "accumulator by one op");
  return success();
}

/// Orders the reductions by levels and notes each value's level.
static LogicalResult assignLevels(func::FuncOp kernel, KernelShape &shape) {
  for (Operation &op : kernel.getBody().front()) {
    unsigned level = 0;
    for (Value operand : getTensorOperands(&op))
      level = std::max(level, shape.levels.lookup(operand));
    auto generic = dyn_cast<linalg::GenericOp>(op);
    bool isReduction = generic && generic.getNumReductionLoops() != 0;
    if (isReduction) {
      if (failed(verifyReductionBody(generic)))
        return failure();
      if (shape.reductions.size() <= level)
        shape.reductions.resize(level + 1);
      shape.reductions[level].push_back(generic);
      ++level;
    }
    for (Value result : op.getResults()) {
      shape.levels[result] = level;
      if (isReduction)
        shape.rowValues.insert(result);
    }
  }
  return success();
}

/// The domain is that of the reductions, which all have to agree, or else the
/// first result's shape.
static LogicalResult findDomain(func::FuncOp kernel, OpBuilder &builder,
                                KernelShape &shape) {
  if (!shape.hasReductions()) {
    Value result = kernel.getBody().front().getTerminator()->getOperand(0);
    shape.extents = tensor::getMixedSizes(builder, kernel.getLoc(), result);
    shape.isReduced.assign(shape.extents.size(), false);
    return success();
  }
  linalg::GenericOp first = shape.reductions.front().front();
  auto loopExtents = [&](linalg::GenericOp op) {
    return tensor::getMixedSizes(builder, op.getLoc(),
                                 op.getDpsInputs().front());
  };
  shape.extents = loopExtents(first);
  for (utils::IteratorType type : first.getIteratorTypesArray())
    shape.isReduced.push_back(type == utils::IteratorType::reduction);
  for (ArrayRef<linalg::GenericOp> level : shape.reductions)
    for (linalg::GenericOp op : level) {
      if (!op.getMatchingIndexingMap(op.getDpsInputOperand(0)).isIdentity())
        return op.emitError(
            "expected a reduction that reads its input in order");
      SmallVector<OpFoldResult> extents = loopExtents(op);
      bool agrees =
          op.getIteratorTypesArray() == first.getIteratorTypesArray() &&
          llvm::equal(
              extents, shape.extents, [](OpFoldResult a, OpFoldResult b) {
                return !getConstantIntValue(a) || !getConstantIntValue(b) ||
                       getConstantIntValue(a) == getConstantIntValue(b);
              });
      if (!agrees)
        return op.emitError(
            "expected all reductions of a kernel to reduce the same dimensions "
            "of one shape");
    }
  return success();
}

//===----------------------------------------------------------------------===//
// Merging dimensions
//===----------------------------------------------------------------------===//

namespace {

/// Finds the dimensions of the domain that no op tells apart. A boundary
/// between dimensions is named by the number of elements to its right, so that
/// it survives reshapes.
class BoundaryFinder {
public:
  explicit BoundaryFinder(ArrayRef<int64_t> extents) : domain(extents) {}

  /// A dimension of a value: its elements lie `step` elements of the domain
  /// apart; 0 if the domain does not tell (broadcast or computed).
  struct Dim {
    int64_t extent, step;
  };

  void visit(Value value, SmallVector<Dim> dims) {
    SmallVector<std::pair<Value, SmallVector<Dim>>> stack{
        {value, std::move(dims)}};
    while (!stack.empty()) {
      auto [current, currentDims] = stack.pop_back_val();
      Operation *op = current.getDefiningOp();
      // A value read at the same positions again requires nothing new.
      if (!op || !seen.insert(current).second)
        continue;
      llvm::TypeSwitch<Operation *>(op)
          .Case([&](linalg::GenericOp generic) {
            visitGeneric(generic, currentDims, stack);
          })
          .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
              [&](auto reshape) {
                auto type = cast<RankedTensorType>(reshape.getSrc().getType());
                stack.push_back(
                    {reshape.getSrc(), reshapeDims(currentDims, type)});
              })
          .Case([&](tensor::CastOp cast) {
            stack.push_back({cast.getSource(), currentDims});
          })
          .Case<tensor::PadOp, tensor::ExtractSliceOp, tensor::ConcatOp>(
              [&](Operation *moved) {
                requireAll(currentDims);
                for (Value operand : getTensorOperands(moved))
                  stack.push_back({operand, currentDims});
              });
    }
  }

  /// The boundaries found, as elements to the right, descending.
  bool isRequired(int64_t boundary) const {
    return boundaries.contains(boundary);
  }

  SmallVector<Dim> domainDims() const {
    SmallVector<Dim> dims;
    int64_t step = 1;
    for (int64_t extent : llvm::reverse(domain)) {
      dims.insert(dims.begin(), {extent, step});
      step *= extent;
    }
    return dims;
  }

  void
  visitGeneric(linalg::GenericOp op, ArrayRef<Dim> result,
               SmallVectorImpl<std::pair<Value, SmallVector<Dim>>> &stack) {
    AffineMap output = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    SmallVector<Dim> loops(op.getNumLoops(), Dim{0, 0});
    for (auto [dim, expr] : llvm::enumerate(output.getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expr);
          loop && dim < result.size())
        loops[loop.getPosition()] = result[dim];
    visitLoops(op, loops, stack);
  }

  void visitLoops(linalg::GenericOp op, ArrayRef<Dim> loops,
                  SmallVectorImpl<std::pair<Value, SmallVector<Dim>>> &stack) {
    bool readsIndex = !op.getBlock()->getOps<linalg::IndexOp>().empty();
    if (readsIndex)
      requireAll(loops);
    for (OpOperand *operand : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(operand);
      SmallVector<Dim> dims;
      llvm::SmallBitVector present(loops.size());
      SmallVector<std::optional<int64_t>> at(loops.size());
      for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
        auto loop = dyn_cast<AffineDimExpr>(expr);
        dims.push_back(loop ? loops[loop.getPosition()] : Dim{1, 0});
        if (loop)
          at[loop.getPosition()] = dim;
      }
      for (size_t loop = 0; loop + 1 < loops.size(); ++loop) {
        bool keepsTogether =
            at[loop] ? at[loop + 1] == *at[loop] + 1 : !at[loop + 1];
        if (!keepsTogether)
          require(loops[loop].step);
      }
      stack.push_back({operand->get(), std::move(dims)});
    }
  }

private:
  void require(int64_t boundary) { boundaries.insert(boundary); }
  void requireAll(ArrayRef<Dim> dims) {
    for (const Dim &dim : dims)
      require(dim.step);
  }

  /// Dimensions of a reshape's source: known if those of the result cover a
  /// contiguous part of the domain in order.
  SmallVector<Dim> reshapeDims(ArrayRef<Dim> dims, RankedTensorType source) {
    bool isContiguous = source.hasStaticShape();
    for (size_t i = 0; i + 1 < dims.size(); ++i)
      isContiguous &= dims[i].step == dims[i + 1].step * dims[i + 1].extent;
    if (!isContiguous || dims.empty() || dims.back().step == 0) {
      requireAll(dims);
      return SmallVector<Dim>(source.getRank(), Dim{1, 0});
    }
    SmallVector<Dim> result;
    int64_t step = dims.back().step;
    for (int64_t extent : llvm::reverse(source.getShape())) {
      result.insert(result.begin(), {extent, step});
      step *= extent;
    }
    return result;
  }

  ArrayRef<int64_t> domain;
  DenseSet<int64_t> boundaries;
  DenseSet<Value> seen;
};

} // namespace

/// Turns the domain into as few loops as the ops allow.
static void mergeLoops(func::FuncOp kernel, OpBuilder &builder,
                       KernelShape &shape) {
  int64_t rank = shape.extents.size();
  std::optional<SmallVector<int64_t>> extents =
      getConstantIntValues(shape.extents);
  bool canMerge = extents && !llvm::is_contained(*extents, 0);
  BoundaryFinder finder(canMerge ? ArrayRef<int64_t>(*extents)
                                 : ArrayRef<int64_t>());
  if (canMerge) {
    SmallVector<BoundaryFinder::Dim> domain = finder.domainDims();
    SmallVector<BoundaryFinder::Dim> row;
    for (auto [dim, isReduced] : llvm::zip_equal(domain, shape.isReduced))
      if (!isReduced)
        row.push_back(dim);
    for (Value result :
         kernel.getBody().front().getTerminator()->getOperands()) {
      auto type = cast<RankedTensorType>(result.getType());
      SmallVector<int64_t> dims(type.getShape());
      if (dims == *extents)
        finder.visit(result, domain);
      else if (type.getNumElements() ==
               std::accumulate(extents->begin(), extents->end(), int64_t(1),
                               std::multiplies<>()))
        finder.visit(result, [&] {
          SmallVector<BoundaryFinder::Dim> reshaped;
          int64_t step = 1;
          for (int64_t extent : llvm::reverse(dims)) {
            reshaped.insert(reshaped.begin(), {extent, step});
            step *= extent;
          }
          return reshaped;
        }());
    }
    SmallVector<std::pair<Value, SmallVector<BoundaryFinder::Dim>>> stack;
    for (ArrayRef<linalg::GenericOp> level : shape.reductions)
      for (linalg::GenericOp op : level)
        finder.visitLoops(op, domain, stack);
    while (!stack.empty()) {
      auto [value, dims] = stack.pop_back_val();
      finder.visit(value, dims);
    }
  }
  int64_t right = 1;
  SmallVector<bool> boundaryAfter(rank, true);
  if (canMerge)
    for (int64_t dim = rank - 1; dim >= 0; --dim) {
      boundaryAfter[dim] = finder.isRequired(right);
      right *= (*extents)[dim];
    }
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool extends = dim > 0 && !boundaryAfter[dim - 1] &&
                   shape.isReduced[dim] == shape.loops.back().isReduced;
    if (!extends) {
      shape.loops.push_back(
          {dim, dim + 1, shape.extents[dim], shape.isReduced[dim]});
      continue;
    }
    LoopDim &loop = shape.loops.back();
    loop.last = dim + 1;
    loop.extent = builder.getIndexAttr(*getConstantIntValue(loop.extent) *
                                       (*extents)[dim]);
  }
}

/// The widest element type decides how many lanes a register holds.
static void measureBodies(func::FuncOp kernel, KernelShape &shape) {
  auto widen = [&](Type type) {
    Type element = getElementTypeOrSelf(type);
    if (element.isIntOrFloat())
      shape.maxBits = std::max(shape.maxBits, element.getIntOrFloatBitWidth());
  };
  kernel.walk([&](linalg::GenericOp generic) {
    for (BlockArgument argument : generic.getBlock()->getArguments())
      widen(argument.getType());
    for (Operation &op : generic.getBlock()->without_terminator()) {
      ++shape.scalarOps;
      for (Type type : op.getResultTypes())
        widen(type);
    }
  });
  for (Type type : kernel.getArgumentTypes())
    widen(type);
}

FailureOr<KernelShape> mlir::fuse::analyzeKernel(func::FuncOp kernel,
                                                 OpBuilder &builder) {
  KernelShape shape;
  if (failed(assignLevels(kernel, shape)) ||
      failed(findDomain(kernel, builder, shape)))
    return failure();
  mergeLoops(kernel, builder, shape);
  measureBodies(kernel, shape);
  return shape;
}

bool mlir::fuse::isExpensive(Value value) {
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  if (!generic)
    return false;
  return llvm::any_of(
      generic.getBlock()->without_terminator(), [](Operation &op) {
        bool isDivision =
            isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp,
                arith::RemSIOp, arith::RemUIOp>(op);
        bool isCheapMath = isa<math::AbsFOp, math::AbsIOp, math::FmaOp,
                               math::FloorOp, math::CeilOp, math::RoundEvenOp,
                               math::TruncOp, math::CopySignOp>(op);
        return isDivision || isa<tensor::ExtractOp>(op) ||
               (isa<math::MathDialect>(op.getDialect()) && !isCheapMath);
      });
}
