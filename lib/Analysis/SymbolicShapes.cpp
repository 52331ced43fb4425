//===- SymbolicShapes.cpp - Which extents are equal -----------------------===//

#include "FuseDialect/Analysis/SymbolicShapes.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "FuseDialect/IR/Signature.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fuse;

SymbolicShapes::SymbolicShapes(Block &block) {
  nameArguments(block);
  for (Operation &op : block)
    derive(&op);
}

SmallVector<int64_t> SymbolicShapes::fresh(Value value) {
  SmallVector<int64_t> shape;
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    for (int64_t extent : type.getShape())
      shape.push_back(ShapedType::isDynamic(extent) ? nextSymbol-- : extent);
  return shape;
}

ArrayRef<int64_t> SymbolicShapes::get(Value value) {
  auto it = shapes.find(value);
  if (it == shapes.end())
    it = shapes.try_emplace(value, fresh(value)).first;
  return it->second;
}

void SymbolicShapes::nameArguments(Block &block) {
  auto function = dyn_cast_or_null<FunctionOpInterface>(block.getParentOp());
  if (!function || !block.isEntryBlock())
    return;
  Signature signature = Signature::of(function);
  llvm::StringMap<int64_t> symbols;
  for (auto [argument, input] :
       llvm::zip(block.getArguments(), signature.inputs)) {
    SmallVector<int64_t> shape = fresh(argument);
    for (auto [extent, symbol] : llvm::zip(shape, input.symbols))
      if (extent < 0 && !symbol.empty())
        extent = symbols.try_emplace(symbol, extent).first->second;
    shapes.try_emplace(argument, std::move(shape));
  }
}

/// The extent that numpy broadcasting gives operands with these extents, or
/// none if it is not known to be one of theirs.
static std::optional<int64_t> broadcastExtent(ArrayRef<int64_t> extents) {
  std::optional<int64_t> result;
  for (int64_t extent : extents) {
    if (extent == 1 || (result && *result == extent))
      continue;
    // A symbol beside a static extent above 1 is 1 or that extent.
    if (!result || (*result < 0 && extent > 1))
      result = extent;
    else if (!(*result > 1 && extent < 0))
      return std::nullopt;
  }
  return result.value_or(1);
}

void SymbolicShapes::derive(Operation *op) {
  // Start from the types; what the op says then replaces fresh symbols.
  for (Value result : op->getResults())
    shapes.try_emplace(result, fresh(result));
  if (op->getNumResults() == 0 ||
      !isa<RankedTensorType>(op->getResult(0).getType()))
    return;
  // A copy, written back at the end: get() may grow the map.
  SmallVector<int64_t> shape(get(op->getResult(0)));
  if (llvm::none_of(shape, [](int64_t extent) { return extent < 0; }))
    return;
  auto set = [&](unsigned dim, int64_t extent) {
    if (dim < shape.size() && shape[dim] < 0)
      shape[dim] = extent;
  };
  auto copy = [&](Value from) {
    for (auto [dim, extent] : llvm::enumerate(get(from)))
      set(dim, extent);
  };

  llvm::TypeSwitch<Operation *>(op)
      .Case<BatchNormOp, BarrierOp>([&](auto) { copy(op->getOperand(0)); })
      .Case([&](RowOpInterface) { copy(op->getOperand(0)); })
      .Case([&](ElementwiseOpInterface) {
        SmallVector<SmallVector<int64_t>> operands;
        for (Value operand : op->getOperands())
          operands.emplace_back(get(operand));
        for (unsigned dim = 0, rank = shape.size(); dim < rank; ++dim) {
          SmallVector<int64_t> extents;
          for (ArrayRef<int64_t> operand : operands)
            if (operand.size() + dim >= rank)
              extents.push_back(operand[operand.size() + dim - rank]);
          if (std::optional<int64_t> extent = broadcastExtent(extents))
            set(dim, *extent);
        }
      })
      .Case([&](ReductionOpInterface reduction) {
        SmallVector<int64_t> input(get(op->getOperand(0)));
        SmallVector<int64_t> reduced = reduction.getReducedDims();
        unsigned to = 0;
        for (auto [dim, extent] : llvm::enumerate(input)) {
          bool isReduced = llvm::is_contained(reduced, dim);
          if (!isReduced)
            set(to++, extent);
          else if (reduction.getKeepReducedDims())
            set(to++, 1);
        }
      })
      .Case([&](TransposeOp transpose) {
        SmallVector<int64_t> input(get(transpose.getInput()));
        for (auto [dim, from] : llvm::enumerate(transpose.getPermutation()))
          if (from >= 0 && from < static_cast<int64_t>(input.size()))
            set(dim, input[from]);
      })
      .Case([&](SqueezeOp squeeze) {
        SmallVector<int64_t> input(get(squeeze.getInput()));
        unsigned to = 0;
        for (auto [dim, extent] : llvm::enumerate(input))
          if (!llvm::is_contained(squeeze.getAxes(), dim))
            set(to++, extent);
      })
      .Case([&](UnsqueezeOp unsqueeze) {
        SmallVector<int64_t> input(get(unsqueeze.getInput()));
        unsigned from = 0;
        for (unsigned dim = 0; dim < shape.size(); ++dim)
          if (!llvm::is_contained(unsqueeze.getAxes(), dim) &&
              from < input.size())
            set(dim, input[from++]);
      })
      .Case([&](SliceOp slice) {
        SmallVector<int64_t> input(get(slice.getInput()));
        for (auto [dim, extent] : llvm::enumerate(input))
          if (!llvm::is_contained(slice.getAxes(), dim))
            set(dim, extent);
      })
      .Case([&](ReshapeOp reshape) {
        if (!reshape.getShape() || reshape.getAllowZero())
          return;
        SmallVector<int64_t> input(get(reshape.getInput()));
        for (auto [dim, extent] : llvm::enumerate(*reshape.getShape()))
          if (extent == 0 && dim < input.size())
            set(dim, input[dim]);
      })
      .Case([&](ConcatOp concat) {
        SmallVector<int64_t> input(get(concat.getInputs().front()));
        for (auto [dim, extent] : llvm::enumerate(input))
          if (static_cast<int64_t>(dim) !=
              static_cast<int64_t>(concat.getAxis()))
            set(dim, extent);
      })
      .Default([](Operation *) {});
  shapes[op->getResult(0)] = std::move(shape);
}
