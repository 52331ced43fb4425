//===- KnownElements.cpp - Elements known at compile time -----------------===//

#include "FuseDialect/Analysis/KnownElements.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "ReferenceOps.h"

#include <list>

using namespace mlir;
using namespace mlir::fuse;

/// Whether a value is so small that its elements are followed.
static bool isTracked(Value value) {
  std::optional<int64_t> count = getElementCount(value.getType());
  return count && *count <= KnownElements::kMaxElements;
}

void KnownElements::store(Value value, ReferenceValue elements,
                          llvm::BitVector unknown) {
  if (unknown.none())
    unknown.clear();
  entries[value] = {std::move(elements), std::move(unknown)};
}

void KnownElements::assume(Value value, const HostTensor &tensor) {
  if (tensor.getNumElements() > kMaxElements)
    return;
  if (std::optional<ReferenceValue> elements =
          ReferenceValue::fromTensor(tensor))
    store(value, *elements, {});
}

void KnownElements::alias(Value to, Value from) {
  auto found = entries.find(from);
  if (found == entries.end())
    return;
  Entry entry = found->second;
  entries[to] = std::move(entry);
}

void KnownElements::recordShape(Operation *op) {
  auto shapeOf = cast<ShapeOfOp>(op);
  auto start = static_cast<int64_t>(shapeOf.getStart());
  auto count = static_cast<int64_t>(shapeOf.getEnd()) - start;
  std::optional<ReferenceValue> value =
      ReferenceValue::create({count}, shapeOf.getType().getElementType());
  if (!value)
    return;
  llvm::BitVector unknown(count);
  MutableArrayRef<int64_t> extents = value->getMutableInts();
  for (int64_t i = 0; i < count; ++i) {
    int64_t extent = shapeOf.getInput().getType().getDimSize(start + i);
    if (ShapedType::isDynamic(extent))
      unknown.set(i);
    else
      extents[i] = extent;
  }
  store(shapeOf, *value, std::move(unknown));
}

/// A tensor like `value` with one where an element is not known, zero
/// elsewhere.
static std::optional<ReferenceValue> makeMask(const ReferenceValue &value,
                                              const llvm::BitVector &unknown) {
  std::optional<ReferenceValue> mask =
      ReferenceValue::create(value.getShape(), value.getElementType());
  if (!mask)
    return std::nullopt;
  for (unsigned i : unknown.set_bits()) {
    if (mask->isFloat())
      mask->getMutableFloats()[i] = 1;
    else
      mask->getMutableInts()[i] = 1;
  }
  return mask;
}

static llvm::BitVector readMask(const ReferenceValue &mask) {
  llvm::BitVector unknown(mask.getNumElements());
  for (int64_t i = 0; i < mask.getNumElements(); ++i)
    if (mask.isFloat() ? mask.getFloats()[i] != 0 : mask.getInts()[i] != 0)
      unknown.set(i);
  return unknown;
}

/// The operands whose elements an injective op moves; the others say where to.
static unsigned getNumMovedOperands(Operation *op) {
  return isa<ReshapeOp, ExpandOp, GatherOp>(op) ? 1 : op->getNumOperands();
}

void KnownElements::evaluate(Operation *op) {
  SmallVector<ReferenceValue> values, masks;
  SmallVector<const llvm::BitVector *> unknown;
  bool isComplete = true;
  // Nothing is known of some operands: none of their elements is.
  std::list<llvm::BitVector> allUnknown;
  if (op->getNumOperands() > 0 &&
      !llvm::any_of(op->getOperands(),
                    [&](Value v) { return entries.contains(v); }))
    return;
  for (Value operand : op->getOperands()) {
    auto found = entries.find(operand);
    if (found != entries.end()) {
      values.push_back(found->second.value);
      unknown.push_back(&found->second.unknown);
      isComplete &= found->second.unknown.empty();
      continue;
    }
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || !isTracked(operand))
      return;
    std::optional<ReferenceValue> value =
        ReferenceValue::create(type.getShape(), type.getElementType());
    if (!value)
      return;
    values.push_back(*value);
    allUnknown.emplace_back(value->getNumElements(), true);
    unknown.push_back(&allUnknown.back());
    isComplete = false;
  }
  ReferenceEvaluator evaluator(ReferenceRounding::elementType);
  FailureOr<ReferenceEvaluator::Values> results =
      evaluator.evaluate(op, values);
  if (failed(results))
    return;
  if (isComplete) {
    for (auto [result, value] : llvm::zip_equal(op->getResults(), *results))
      store(result, value, {});
    return;
  }
  if (isa<BarrierOp>(op)) {
    store(op->getResult(0), results->front(), *unknown.front());
    return;
  }
  if (isa<ElementwiseOpInterface>(op) && !isa<BatchNormOp>(op)) {
    // An element is known if those that it is computed from are.
    const ReferenceValue &result = results->front();
    llvm::BitVector resultUnknown(result.getNumElements());
    reference::BroadcastWalk walk(
        result.getShape(),
        llvm::map_to_vector(values, [](const ReferenceValue &value) {
          return value.getShape();
        }));
    for (int64_t i = 0; i < result.getNumElements(); ++i, walk.advance())
      for (auto [index, bits] : llvm::enumerate(unknown))
        if (!bits->empty() && bits->test(walk[index]))
          resultUnknown.set(i);
    store(op->getResult(0), result, std::move(resultUnknown));
    return;
  }
  if (!isa<InjectiveOpInterface>(op))
    return;
  // Moving the marks of unknown elements shows where they arrive.
  unsigned numMoved = getNumMovedOperands(op);
  for (auto [index, value] : llvm::enumerate(values)) {
    if (index >= numMoved) {
      if (!unknown[index]->empty())
        return;
      masks.push_back(value);
      continue;
    }
    std::optional<ReferenceValue> mask = makeMask(value, *unknown[index]);
    if (!mask)
      return;
    masks.push_back(*mask);
  }
  FailureOr<ReferenceEvaluator::Values> moved = evaluator.evaluate(op, masks);
  if (failed(moved))
    return;
  for (auto [result, value, mask] :
       llvm::zip_equal(op->getResults(), *results, *moved))
    store(result, value, readMask(mask));
}

void KnownElements::record(Operation *op) {
  if (!ReferenceEvaluator::isSupported(op) || isa<GroupOp>(op) ||
      !llvm::all_of(op->getResults(), isTracked))
    return;
  if (isa<ShapeOfOp>(op))
    recordShape(op);
  else
    evaluate(op);
}

std::optional<KnownElements::Elements>
KnownElements::lookup(Value value) const {
  auto found = entries.find(value);
  if (found == entries.end() || found->second.value.isFloat())
    return std::nullopt;
  Elements elements;
  for (auto [index, element] : llvm::enumerate(found->second.value.getInts())) {
    bool isUnknown =
        !found->second.unknown.empty() && found->second.unknown.test(index);
    elements.push_back(isUnknown ? std::nullopt : std::optional(element));
  }
  return elements;
}

std::optional<SmallVector<int64_t>>
KnownElements::lookupAll(Value value) const {
  auto found = entries.find(value);
  if (found == entries.end() || found->second.value.isFloat() ||
      !found->second.unknown.empty())
    return std::nullopt;
  return SmallVector<int64_t>(found->second.value.getInts());
}

std::optional<SmallVector<double>>
KnownElements::lookupAllFloats(Value value) const {
  auto found = entries.find(value);
  if (found == entries.end() || !found->second.value.isFloat() ||
      !found->second.unknown.empty())
    return std::nullopt;
  return SmallVector<double>(found->second.value.getFloats());
}
