//===- PlanMemory.cpp - Intermediate tensors get places in one arena ------===//

#include "FuseDialect/Conversion/Passes.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "FuseDialect/IR/Signature.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Pass/Pass.h"

namespace mlir::fuse {
#define GEN_PASS_DEF_PLANMEMORY
#include "FuseDialect/Conversion/Passes.h.inc"
} // namespace mlir::fuse

using namespace mlir;
using namespace mlir::fuse;

/// Alignment of everything in the arena and among the weights: a cache line and
/// the widest register.
static constexpr int64_t kAlignment = 64;

namespace {

/// A block of the arena that is live from one launch to another.
struct ArenaBlock {
  Value tensor;
  int64_t bytes;
  int64_t firstUse, lastUse;
  int64_t offset = 0;
};

/// The constants of all entries, gathered in one blob.
class WeightsBuilder {
public:
  /// The offset of a constant's bytes; equal attributes share theirs.
  FailureOr<int64_t> add(Operation *op, ElementsAttr elements) {
    auto [entry, isNew] = offsets.try_emplace(elements, bytes.size());
    if (!isNew)
      return entry->second;
    if (failed(append(op, elements)))
      return failure();
    bytes.resize(llvm::alignTo(bytes.size(), kAlignment));
    return entry->second;
  }
  /// The blob as an attribute.
  ElementsAttr finish(MLIRContext *context) {
    auto type = RankedTensorType::get({static_cast<int64_t>(bytes.size())},
                                      IntegerType::get(context, 8));
    auto blob =
        HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, kAlignment);
    return DenseResourceElementsAttr::get(type, "fuse_weights",
                                          std::move(blob));
  }
  bool empty() const { return bytes.empty(); }

private:
  LogicalResult append(Operation *op, ElementsAttr elements);

  SmallVector<char, 0> bytes;
  DenseMap<Attribute, int64_t> offsets;
};

} // namespace

LogicalResult WeightsBuilder::append(Operation *op, ElementsAttr elements) {
  Type elementType = elements.getElementType();
  int64_t elementBytes = getElementBytes(elementType);
  std::optional<int64_t> size = getByteCount(elements.getType());
  if (!size)
    return op->emitError("expected a constant whose size fits 64 bits");
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || static_cast<int64_t>(blob->getData().size()) != *size)
      return op->emitError() << "expected a resource of " << *size << " bytes";
    llvm::append_range(bytes, blob->getData());
    return success();
  }
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if (!dense)
    return op->emitError("expected a dense constant");
  // Booleans are packed in the attribute and take a byte each in memory.
  if (elementType.isInteger(1)) {
    for (bool value : dense.getValues<bool>())
      bytes.push_back(value);
    return success();
  }
  ArrayRef<char> raw = dense.getRawData();
  int64_t copies = dense.isSplat() ? *size / elementBytes : 1;
  for (int64_t copy = 0; copy < copies; ++copy)
    llvm::append_range(bytes, raw);
  return success();
}

/// A buffer type for a tensor; booleans take a byte.
static MemRefType getBufferType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  Type element = tensor.getElementType();
  if (element.isInteger(1))
    element = IntegerType::get(type.getContext(), 8);
  return MemRefType::get(tensor.getShape(), element);
}

/// Gives each block the lowest offset at which no block that is live at the
/// same time lies, largest blocks first. Returns the size of the arena.
static int64_t placeBlocks(MutableArrayRef<ArenaBlock> blocks) {
  SmallVector<ArenaBlock *> order;
  for (ArenaBlock &block : blocks)
    order.push_back(&block);
  llvm::sort(order, [](ArenaBlock *a, ArenaBlock *b) {
    return std::tuple(-a->bytes, a->firstUse, a) <
           std::tuple(-b->bytes, b->firstUse, b);
  });
  SmallVector<ArenaBlock *> placed;
  int64_t arena = 0;
  for (ArenaBlock *block : order) {
    int64_t offset = 0;
    // `placed` is sorted by offset: take the first gap that is large enough.
    for (ArenaBlock *other : placed) {
      bool overlapsInTime = other->firstUse <= block->lastUse &&
                            block->firstUse <= other->lastUse;
      if (!overlapsInTime)
        continue;
      if (offset + block->bytes <= other->offset)
        break;
      offset = std::max(offset, other->offset + other->bytes);
    }
    block->offset = offset;
    arena = std::max(arena, offset + block->bytes);
    placed.insert(llvm::upper_bound(placed, block,
                                    [](ArenaBlock *a, ArenaBlock *b) {
                                      return a->offset < b->offset;
                                    }),
                  block);
  }
  return arena;
}

namespace {

/// Rewrites one entry function.
class EntryPlanner {
public:
  EntryPlanner(func::FuncOp entry, WeightsBuilder &weights)
      : entry(entry), weights(weights) {}

  /// Checks that the function only launches kernels, and finds how long each
  /// intermediate lives.
  LogicalResult analyze();
  /// Rewrites the function; returns the bytes of the arena that it needs.
  FailureOr<int64_t> rewrite();

private:
  /// The buffer that a tensor lives in.
  FailureOr<Value> getBuffer(OpBuilder &builder, Value tensor);

  func::FuncOp entry;
  WeightsBuilder &weights;
  SmallVector<LaunchOp> launches;
  SmallVector<ArenaBlock> blocks;
  DenseMap<Value, Value> buffers;
  Value weightsArgument, arenaArgument;
  DenseMap<Value, int64_t> blockOf;
};

} // namespace

LogicalResult EntryPlanner::analyze() {
  if (!entry.getBody().hasOneBlock())
    return entry.emitError("expected an entry function of one block");
  for (Type type : llvm::concat<const Type>(entry.getArgumentTypes(),
                                            entry.getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return entry.emitError()
             << "dynamic shapes are not supported yet in memory planning, got "
             << type << "; give the model's shapes";
  }
  DenseMap<Value, int64_t> lastUse;
  int64_t step = 0;
  for (Operation &op : entry.getBody().front()) {
    if (auto launch = dyn_cast<LaunchOp>(op)) {
      launches.push_back(launch);
      ++step;
      for (Value input : launch.getInputs())
        lastUse[input] = step;
      for (auto [result, destination] :
           llvm::zip_equal(launch.getResults(), launch.getOutputs())) {
        if (!destination.getDefiningOp<tensor::EmptyOp>())
          return launch.emitOpError(
              "expected destinations that are 'tensor.empty'");
        std::optional<int64_t> bytes = getByteCount(result.getType());
        if (!bytes)
          return launch.emitOpError("expected results of static shape");
        blockOf[result] = blocks.size();
        blocks.push_back(
            {result, static_cast<int64_t>(llvm::alignTo(*bytes, kAlignment)),
             step, step});
      }
    } else if (!isa<tensor::EmptyOp, arith::ConstantOp, fuse::ConstantOp,
                    func::ReturnOp>(op)) {
      return op.emitError()
             << "expected only kernel launches in an entry function but got '"
             << op.getName() << "'";
    }
  }
  for (ArenaBlock &block : blocks)
    block.lastUse = std::max(block.lastUse, lastUse.lookup(block.tensor));
  return success();
}

FailureOr<Value> EntryPlanner::getBuffer(OpBuilder &builder, Value tensor) {
  if (Value buffer = buffers.lookup(tensor))
    return buffer;
  Operation *op = tensor.getDefiningOp();
  ElementsAttr elements;
  if (!op || !matchPattern(op, m_Constant(&elements)))
    return emitError(tensor.getLoc(),
                     "expected a constant or the result of a kernel");
  FailureOr<int64_t> offset = weights.add(op, elements);
  if (failed(offset))
    return failure();
  Value at = arith::ConstantIndexOp::create(builder, op->getLoc(), *offset);
  Value view = memref::ViewOp::create(builder, op->getLoc(),
                                      getBufferType(tensor.getType()),
                                      weightsArgument, at, ValueRange());
  buffers[tensor] = view;
  return view;
}

FailureOr<int64_t> EntryPlanner::rewrite() {
  MLIRContext *context = entry.getContext();
  Location loc = entry.getLoc();
  Block *old = &entry.getBody().front();
  auto bytesType =
      MemRefType::get({ShapedType::kDynamic}, IntegerType::get(context, 8));

  // The signature outlives the tensor types.
  if (!entry->hasAttr(kSignatureAttrName))
    entry->setAttr(kSignatureAttrName,
                   Signature::of(entry).toAttribute(context));

  // New arguments: weights, arena, inputs, outputs.
  SmallVector<Type> types{bytesType, bytesType};
  for (Type type : entry.getArgumentTypes())
    types.push_back(getBufferType(type));
  for (Type type : entry.getResultTypes())
    types.push_back(getBufferType(type));
  Block *body = new Block();
  entry.getBody().push_back(body);
  body->addArguments(types, SmallVector<Location>(types.size(), loc));
  weightsArgument = body->getArgument(0);
  arenaArgument = body->getArgument(1);
  unsigned inputCount = old->getNumArguments();
  for (unsigned i = 0; i < inputCount; ++i)
    buffers[old->getArgument(i)] = body->getArgument(2 + i);

  // A result of a launch that is returned is written where the caller wants it;
  // the first of several positions counts.
  auto terminator = cast<func::ReturnOp>(old->getTerminator());
  SmallVector<std::pair<Value, Value>> copies;
  for (auto [number, value] : llvm::enumerate(terminator.getOperands())) {
    Value output = body->getArgument(2 + inputCount + number);
    if (blockOf.contains(value) && !buffers.contains(value))
      buffers[value] = output;
    else
      copies.push_back({value, output});
  }
  SmallVector<ArenaBlock> placed;
  for (const ArenaBlock &block : blocks)
    if (!buffers.contains(block.tensor))
      placed.push_back(block);
  int64_t arenaBytes = placeBlocks(placed);

  OpBuilder builder(context);
  builder.setInsertionPointToStart(body);
  for (const ArenaBlock &block : placed) {
    Value at = arith::ConstantIndexOp::create(builder, block.tensor.getLoc(),
                                              block.offset);
    buffers[block.tensor] = memref::ViewOp::create(
        builder, block.tensor.getLoc(), getBufferType(block.tensor.getType()),
        arenaArgument, at, ValueRange());
  }
  for (LaunchOp launch : launches) {
    SmallVector<Value> inputs, outputs;
    for (Value input : launch.getInputs()) {
      FailureOr<Value> buffer = getBuffer(builder, input);
      if (failed(buffer))
        return failure();
      inputs.push_back(*buffer);
    }
    for (Value result : launch.getResults())
      outputs.push_back(buffers.lookup(result));
    LaunchOp::create(builder, launch.getLoc(), TypeRange(),
                     launch.getKernelAttr(), launch.getNameAttr(), inputs,
                     outputs);
  }
  for (auto [value, output] : copies) {
    FailureOr<Value> buffer = getBuffer(builder, value);
    if (failed(buffer))
      return failure();
    memref::CopyOp::create(builder, loc, *buffer, output);
  }
  func::ReturnOp::create(builder, loc);
  old->dropAllReferences();
  old->erase();
  entry.setFunctionType(FunctionType::get(context, types, {}));
  entry.removeArgAttrsAttr();
  entry.removeResAttrsAttr();
  return arenaBytes;
}

namespace {

struct PlanMemoryPass
    : public mlir::fuse::impl::PlanMemoryBase<PlanMemoryPass> {
  using PlanMemoryBase::PlanMemoryBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    WeightsBuilder weights;
    int64_t arenaBytes = 0;
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (function->hasAttr(kKernelAttrName) || function.isDeclaration())
        continue;
      EntryPlanner planner(function, weights);
      if (failed(planner.analyze()))
        return signalPassFailure();
      FailureOr<int64_t> bytes = planner.rewrite();
      if (failed(bytes))
        return signalPassFailure();
      arenaBytes = std::max(arenaBytes, *bytes);
    }
    Builder builder(&getContext());
    module->setAttr(kArenaBytesAttrName, builder.getI64IntegerAttr(arenaBytes));
    if (!weights.empty())
      module->setAttr(kWeightsAttrName, weights.finish(&getContext()));
  }
};

} // namespace
