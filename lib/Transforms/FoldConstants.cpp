//===- FoldConstants.cpp - Computes what depends on constants only --------===//

#include "FuseDialect/Analysis/ReferenceEvaluator.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "FuseDialect/Transforms/Eliminated.h"
#include "FuseDialect/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <cstring>

namespace mlir::fuse {
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "FuseDialect/Transforms/Passes.h.inc"
} // namespace mlir::fuse

using namespace mlir;
using namespace mlir::fuse;

/// Results of at most so many bytes are folded whatever they come from.
static constexpr int64_t kSmallBytes = 4096;
/// All results of one module may take so many bytes more than its constants.
static constexpr int64_t kExtraBytes = int64_t(64) << 20;

namespace {

/// A value that was computed but is not in the IR yet.
struct Folded {
  ReferenceValue value;
  /// Bytes of the constants that it comes from.
  int64_t originBytes;
  /// Operands that still read it.
  size_t uses;
};

class ConstantFolder {
public:
  ConstantFolder(ModuleOp module, int64_t growth)
      : growth(growth), log(module) {}

  LogicalResult run(FunctionOpInterface function);
  void commit() { log.commit(); }
  /// Counts the constants of the module into what folding may take.
  void allow(ConstantOp constant) {
    budget += getByteCount(constant.getType()).value_or(0);
  }

private:
  LogicalResult visit(Operation *op);
  bool isFoldable(Operation *op);
  bool isTooLarge(Operation *op, int64_t originBytes);
  int64_t getOriginBytes(Operation *op);
  bool foldReshape(Operation *op);
  bool foldShapeOf(ShapeOfOp op);
  void keep(Value result, ReferenceValue value, int64_t originBytes);
  FailureOr<bool> fold(Operation *op);
  void materialize(Value value);
  void materializeOperands(Operation *op);

  int64_t growth;
  int64_t budget = kExtraBytes;
  EliminationLog log;
  llvm::DenseMap<Value, Folded> folded;
  /// Ops that were folded, and constants, in order.
  SmallVector<Operation *> candidates;
};

} // namespace

/// Whether a location names a source op. Constants that only have a position in
/// a file, or that the compiler made, are not source ops.
static bool isNamed(Location location) { return isa<NameLoc>(location); }

bool ConstantFolder::isFoldable(Operation *op) {
  if (!ReferenceEvaluator::isSupported(op) ||
      isa<ConstantOp, BarrierOp, GroupOp>(op))
    return false;
  if (auto shapeOf = dyn_cast<ShapeOfOp>(op)) {
    ArrayRef<int64_t> extents = shapeOf.getInput().getType().getShape();
    return llvm::none_of(extents.slice(shapeOf.getStart(),
                                       shapeOf.getEnd() - shapeOf.getStart()),
                         ShapedType::isDynamic);
  }
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return folded.contains(operand) || operand.getDefiningOp<ConstantOp>();
  });
}

/// Bytes of the constants that the operands come from.
int64_t ConstantFolder::getOriginBytes(Operation *op) {
  llvm::SmallDenseSet<Value, 4> seen;
  int64_t bytes = 0;
  for (Value operand : op->getOperands()) {
    if (!seen.insert(operand).second)
      continue;
    auto found = folded.find(operand);
    int64_t origin = found != folded.end()
                         ? found->second.originBytes
                         : getByteCount(operand.getType()).value_or(0);
    if (llvm::AddOverflow(bytes, origin, bytes))
      return std::numeric_limits<int64_t>::max();
  }
  return bytes;
}

/// Whether the results take so much more memory than the constants that they
/// come from that they are better computed at run time. Decided from the result
/// types, before anything is allocated.
bool ConstantFolder::isTooLarge(Operation *op, int64_t originBytes) {
  std::optional<int64_t> bytes = getByteCount(op->getResultTypes());
  // Sizes that are not known before evaluation are sizes of shape arithmetic in
  // practice, but nothing bounds them.
  if (!bytes)
    return true;
  int64_t limit;
  if (llvm::MulOverflow(originBytes, growth, limit))
    limit = std::numeric_limits<int64_t>::max();
  if (*bytes > std::max(limit, kSmallBytes) || *bytes > budget)
    return true;
  budget -= *bytes;
  return false;
}

/// Gives a constant that is only reshaped its new type without copying it.
bool ConstantFolder::foldReshape(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto constant = op->getOperand(0).getDefiningOp<ConstantOp>();
  if (!constant || !isa<ReshapeOp, SqueezeOp, UnsqueezeOp, IdentityOp>(op) ||
      getElementCount(type) != getElementCount(constant.getType()))
    return false;
  ElementsAttr value;
  if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
    value = dense.reshape(type);
  else if (auto resource =
               dyn_cast<DenseResourceElementsAttr>(constant.getValue()))
    value = DenseResourceElementsAttr::get(type, resource.getRawHandle());
  else
    return false;
  OpBuilder builder(op);
  auto reshaped = ConstantOp::create(builder, op->getLoc(), type, value);
  op->getResult(0).replaceAllUsesWith(reshaped);
  candidates.push_back(reshaped);
  return true;
}

void ConstantFolder::keep(Value result, ReferenceValue value,
                          int64_t originBytes) {
  size_t uses = llvm::range_size(result.getUses());
  if (uses)
    folded[result] = {std::move(value), originBytes, uses};
}

/// The extents that a type gives.
bool ConstantFolder::foldShapeOf(ShapeOfOp op) {
  auto start = static_cast<int64_t>(op.getStart());
  auto count = static_cast<int64_t>(op.getEnd()) - start;
  std::optional<ReferenceValue> value =
      ReferenceValue::create({count}, op.getType().getElementType());
  if (!value || op.getType().isDynamicDim(0))
    return false;
  llvm::copy(op.getInput().getType().getShape().slice(start, count),
             value->getMutableInts().begin());
  keep(op, *value, count * getElementBytes(value->getKind()));
  return true;
}

/// Evaluates an op whose operands are constant. Fails with an error if they do
/// not fit; false if the op is left alone.
FailureOr<bool> ConstantFolder::fold(Operation *op) {
  if (foldReshape(op))
    return true;
  if (auto shapeOf = dyn_cast<ShapeOfOp>(op))
    return foldShapeOf(shapeOf);
  int64_t originBytes = getOriginBytes(op);
  if (isTooLarge(op, originBytes))
    return false;
  SmallVector<ReferenceValue> operands;
  for (Value operand : op->getOperands()) {
    auto found = folded.find(operand);
    if (found != folded.end()) {
      operands.push_back(found->second.value);
      continue;
    }
    auto constant = operand.getDefiningOp<ConstantOp>();
    std::optional<HostTensor> tensor =
        HostTensor::fromElements(constant.getValue());
    std::optional<ReferenceValue> elements =
        tensor ? ReferenceValue::fromTensor(*tensor) : std::nullopt;
    if (!elements)
      return false;
    operands.push_back(*elements);
  }
  ReferenceEvaluator evaluator(ReferenceRounding::elementType);
  FailureOr<ReferenceEvaluator::Values> results =
      evaluator.evaluate(op, operands);
  if (failed(results))
    return op->emitOpError(evaluator.getError());
  for (auto [result, value] : llvm::zip_equal(op->getResults(), *results))
    keep(result, value, originBytes);
  return true;
}

/// The tensor as an attribute that takes one element's memory if all are equal.
static ElementsAttr takeElements(HostTensor tensor) {
  auto *bytes = static_cast<const char *>(tensor.getData());
  int64_t size = getElementBytes(tensor.getKind());
  int64_t numBytes = tensor.getNumBytes();
  bool isSplat = numBytes > size && tensor.getKind() != ElementKind::boolean &&
                 std::memcmp(bytes, bytes + size, numBytes - size) == 0;
  if (isSplat)
    return DenseElementsAttr::getFromRawBuffer(tensor.getType(),
                                               ArrayRef(bytes, size));
  return std::move(tensor).takeElements();
}

/// Puts a computed value into the IR.
void ConstantFolder::materialize(Value value) {
  Operation *op = value.getDefiningOp();
  auto found = folded.find(value);
  std::optional<HostTensor> tensor = found->second.value.toTensor();
  folded.erase(found);
  // Without memory the op stays, and computes its value at run time.
  if (!tensor)
    return;
  OpBuilder builder(op);
  ElementsAttr elements = takeElements(std::move(*tensor));
  auto constant =
      ConstantOp::create(builder, op->getLoc(),
                         cast<RankedTensorType>(elements.getType()), elements);
  candidates.push_back(constant);
  value.replaceAllUsesWith(constant);
}

void ConstantFolder::materializeOperands(Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    if (folded.contains(operand.get()))
      materialize(operand.get());
}

LogicalResult ConstantFolder::visit(Operation *op) {
  if (isa<ConstantOp>(op)) {
    candidates.push_back(op);
    return success();
  }
  FailureOr<bool> isFolded = false;
  if (isFoldable(op))
    isFolded = fold(op);
  if (failed(isFolded))
    return failure();
  if (!*isFolded) {
    materializeOperands(op);
    return success();
  }
  candidates.push_back(op);
  // A value that only folded ops read never becomes an attribute.
  for (Value operand : op->getOperands()) {
    auto found = folded.find(operand);
    if (found != folded.end() && --found->second.uses == 0)
      folded.erase(found);
  }
  return success();
}

LogicalResult ConstantFolder::run(FunctionOpInterface function) {
  for (Block &block : function.getFunctionBody())
    for (Operation &op : llvm::make_early_inc_range(block))
      if (failed(visit(&op)))
        return failure();
  // What is left is read in another block or region.
  for (size_t i = 0, end = candidates.size(); i < end; ++i)
    for (Value result : candidates[i]->getResults())
      if (folded.contains(result))
        materialize(result);
  for (Operation *op : llvm::reverse(candidates)) {
    if (!isa<ConstantOp>(op) || isNamed(op->getLoc()))
      log.record(op->getLoc(), EliminationReason::constant);
    if (op->use_empty())
      op->erase();
  }
  candidates.clear();
  return success();
}

namespace {

struct FoldConstants : fuse::impl::FoldConstantsBase<FoldConstants> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    ConstantFolder folder(module, growth);
    module->walk([&](ConstantOp constant) { folder.allow(constant); });
    for (auto function : module.getOps<FunctionOpInterface>())
      if (failed(folder.run(function)))
        return signalPassFailure();
    folder.commit();
  }
};

} // namespace
