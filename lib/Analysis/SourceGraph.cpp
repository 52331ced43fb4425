//===- SourceGraph.cpp - Source ops and the edges between them ------------===//

#include "FuseDialect/Analysis/SourceGraph.h"
#include "FuseDialect/Analysis/Selector.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "FuseDialect/IR/SourceName.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::fuse;

//===----------------------------------------------------------------------===//
// The graph on the module
//===----------------------------------------------------------------------===//

SourceGraph SourceGraph::fromModule(ModuleOp module) {
  SourceGraph graph;
  auto record = module->getAttrOfType<DictionaryAttr>(kSourceAttrName);
  if (!record)
    return graph;
  auto names = record.getAs<ArrayAttr>("names");
  auto ops = record.getAs<ArrayAttr>("ops");
  auto edges = record.getAs<DenseI32ArrayAttr>("edges");
  if (!names || !ops || !edges || names.size() != ops.size())
    return graph;
  for (auto [name, op] : llvm::zip_equal(names, ops)) {
    auto nameText = dyn_cast<StringAttr>(name),
         opText = dyn_cast<StringAttr>(op);
    graph.ops.push_back(
        {nameText ? nameText.str() : "", opText ? opText.str() : ""});
  }
  ArrayRef<int32_t> flat = edges.asArrayRef();
  auto count = static_cast<int32_t>(graph.ops.size());
  auto isIndex = [&](int32_t index) { return index >= 0 && index < count; };
  for (size_t i = 0; i + 1 < flat.size(); i += 2)
    if (isIndex(flat[i]) && isIndex(flat[i + 1]))
      graph.edges.emplace_back(flat[i], flat[i + 1]);
  return graph;
}

DictionaryAttr SourceGraph::toAttribute(MLIRContext *context) const {
  Builder builder(context);
  SmallVector<Attribute> names, opNames;
  SmallVector<int32_t> flat;
  for (const SourceOp &op : ops) {
    names.push_back(builder.getStringAttr(op.name));
    opNames.push_back(builder.getStringAttr(op.opName));
  }
  for (auto [producer, consumer] : edges) {
    flat.push_back(producer);
    flat.push_back(consumer);
  }
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("names", builder.getArrayAttr(names)),
       builder.getNamedAttr("ops", builder.getArrayAttr(opNames)),
       builder.getNamedAttr("edges", builder.getDenseI32ArrayAttr(flat))});
}

//===----------------------------------------------------------------------===//
// Source ops in the IR
//===----------------------------------------------------------------------===//

bool mlir::fuse::isSourceOp(Operation *op) {
  return !isa<GroupOp, BarrierOp, YieldOp, LaunchOp>(op) &&
         !op->hasTrait<OpTrait::ConstantLike>() &&
         !op->hasTrait<OpTrait::IsTerminator>();
}

void mlir::fuse::forEachSourceOp(ModuleOp module,
                                 llvm::function_ref<void(Operation *)> visit) {
  // Positions in blocks that are being visited, innermost last: nested regions
  // cost no stack.
  SmallVector<Block::iterator> stack;
  auto enter = [&](Operation *op) {
    for (Region &region : llvm::reverse(op->getRegions()))
      for (Block &block : llvm::reverse(region))
        if (!block.empty())
          stack.push_back(block.begin());
  };
  for (auto function :
       llvm::make_early_inc_range(module.getOps<FunctionOpInterface>())) {
    if (function->hasAttr(kKernelAttrName))
      continue;
    enter(function);
    while (!stack.empty()) {
      Block::iterator position = stack.pop_back_val();
      Operation *op = &*position;
      if (std::next(position) != op->getBlock()->end())
        stack.push_back(std::next(position));
      if (isSourceOp(op))
        visit(op);
      enter(op);
    }
  }
}

/// The source op that computes `value`, if any, and whether a barrier lies
/// between.
static std::pair<Operation *, bool> findProducer(Value value) {
  bool throughBarrier = false;
  while (true) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto group =
          dyn_cast_or_null<GroupOp>(argument.getOwner()->getParentOp());
      if (!group)
        return {nullptr, throughBarrier};
      value = group.getInputs()[argument.getArgNumber()];
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (auto barrier = dyn_cast<BarrierOp>(op)) {
      throughBarrier = true;
      value = barrier.getInput();
    } else if (auto group = dyn_cast<GroupOp>(op)) {
      unsigned index = cast<OpResult>(value).getResultNumber();
      value = group.getYield().getValues()[index];
    } else {
      return {isSourceOp(op) ? op : nullptr, throughBarrier};
    }
  }
}

SmallVector<SourceEdge> mlir::fuse::collectSourceEdges(ModuleOp module) {
  SmallVector<SourceEdge> edges;
  forEachSourceOp(module, [&](Operation *consumer) {
    llvm::SetVector<std::pair<Operation *, unsigned>> producers;
    for (Value operand : consumer->getOperands()) {
      auto found = findProducer(operand);
      if (found.first && found.first != consumer)
        producers.insert(found);
    }
    for (auto [producer, throughBarrier] : producers)
      edges.push_back({producer, consumer, throughBarrier != 0});
  });
  return edges;
}

void mlir::fuse::recordSourceGraph(ModuleOp module) {
  MLIRContext *context = module.getContext();
  llvm::StringSet<> taken;
  SmallVector<Operation *> unnamed;
  forEachSourceOp(module, [&](Operation *op) {
    SmallVector<std::string> names = getSourceNames(op->getLoc());
    for (const std::string &name : names)
      taken.insert(name);
    if (names.empty())
      unnamed.push_back(op);
  });
  llvm::StringMap<unsigned> counters;
  for (Operation *op : unnamed) {
    std::string name;
    do {
      unsigned number = ++counters[getShortOpName(op)];
      name = (getShortOpName(op) + "#" + Twine(number)).str();
    } while (!taken.insert(name).second);
    op->setLoc(NameLoc::get(StringAttr::get(context, name)));
  }

  if (module->hasAttr(kSourceAttrName))
    return;
  SourceGraph graph;
  llvm::StringMap<unsigned> indices;
  auto getIndex = [&](const std::string &name, Operation *op) {
    auto [it, isNew] = indices.try_emplace(name, graph.ops.size());
    if (isNew)
      graph.ops.push_back({name, op->getName().getStringRef().str()});
    return it->second;
  };
  forEachSourceOp(module, [&](Operation *op) {
    for (const std::string &name : getSourceNames(op->getLoc()))
      getIndex(name, op);
  });
  llvm::SetVector<std::pair<unsigned, unsigned>> edges;
  for (const SourceEdge &edge : collectSourceEdges(module)) {
    SmallVector<std::string> from = getSourceNames(edge.producer->getLoc());
    SmallVector<std::string> to = getSourceNames(edge.consumer->getLoc());
    // An op that already stands for several source ops hands on the value of
    // the last one, and the first one reads.
    if (!llvm::is_contained(to, from.back()) &&
        !llvm::is_contained(from, to.front()))
      edges.insert({getIndex(from.back(), edge.producer),
                    getIndex(to.front(), edge.consumer)});
  }
  graph.edges = llvm::to_vector(edges);
  module->setAttr(kSourceAttrName, graph.toAttribute(context));
}
