//===- FusionReport.cpp - Every decision of fusion, for people ------------===//

#include "FuseDialect/Analysis/FusionReport.h"
#include "FuseDialect/Analysis/SourceGraph.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "FuseDialect/IR/SourceName.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileUtilities.h"

using namespace mlir;
using namespace mlir::fuse;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// The string under `key`, or "".
static std::string getString(DictionaryAttr entry, StringRef key) {
  auto text = entry.getAs<StringAttr>(key);
  return text ? text.str() : std::string();
}

/// The strings of the array under `key`.
static SmallVector<std::string> getStrings(DictionaryAttr entry,
                                           StringRef key) {
  SmallVector<std::string> strings;
  if (auto array = entry.getAs<ArrayAttr>(key))
    for (Attribute element : array)
      if (auto text = dyn_cast<StringAttr>(element))
        strings.push_back(text.str());
  return strings;
}

/// The dictionaries in an array attribute, which may be null.
static SmallVector<DictionaryAttr> getEntries(Attribute attribute) {
  SmallVector<DictionaryAttr> entries;
  if (auto array = dyn_cast_or_null<ArrayAttr>(attribute))
    for (Attribute element : array)
      if (auto entry = dyn_cast<DictionaryAttr>(element))
        entries.push_back(entry);
  return entries;
}

FusionReport FusionReport::fromModule(ModuleOp module) {
  FusionReport report;
  if (auto record = module->getAttrOfType<DictionaryAttr>(kFusionAttrName)) {
    for (DictionaryAttr entry : getEntries(record.get("edges"))) {
      Edge edge{getString(entry, "producer"), getString(entry, "producer_op"),
                getString(entry, "consumer"), getString(entry, "consumer_op")};
      FusionReason reason = parseFusionReason(getString(entry, "reason"));
      if (reason != FusionReason::none)
        edge.decision =
            FusionDecision::refuse(reason, getString(entry, "detail"));
      report.edges.push_back(std::move(edge));
    }
    for (DictionaryAttr entry : getEntries(record.get("groups")))
      report.groups.push_back(
          {getString(entry, "name"), getString(entry, "pattern"),
           getStrings(entry, "ops"), getStrings(entry, "duplicated")});
  }
  for (DictionaryAttr entry : getEntries(module->getAttr(kReordersAttrName))) {
    auto bytes = entry.getAs<IntegerAttr>("bytes");
    bool isCount = bytes && bytes.getType().isSignlessInteger(64);
    report.reorders.push_back({getString(entry, "from"), getString(entry, "to"),
                               getString(entry, "for"),
                               isCount ? bytes.getInt() : 0});
  }
  for (DictionaryAttr entry : getEntries(module->getAttr(kEliminatedAttrName)))
    report.eliminated.push_back({getString(entry, "op"),
                                 getString(entry, "reason"),
                                 getString(entry, "into")});
  return report;
}

DictionaryAttr FusionReport::toAttribute(MLIRContext *context) const {
  Builder builder(context);
  auto addString = [&](NamedAttrList &entry, StringRef key, StringRef value) {
    if (!value.empty())
      entry.append(key, builder.getStringAttr(value));
  };
  auto addStrings = [&](NamedAttrList &entry, StringRef key,
                        ArrayRef<std::string> values) {
    if (values.empty())
      return;
    SmallVector<StringRef> strings(values.begin(), values.end());
    entry.append(key, builder.getStrArrayAttr(strings));
  };
  SmallVector<Attribute> edgeEntries, groupEntries;
  for (const Edge &edge : edges) {
    NamedAttrList entry;
    addString(entry, "producer", edge.producer);
    addString(entry, "producer_op", edge.producerOp);
    addString(entry, "consumer", edge.consumer);
    addString(entry, "consumer_op", edge.consumerOp);
    addString(entry, "reason",
              stringifyFusionReason(edge.decision.getReason()));
    addString(entry, "detail", edge.decision.getDetail());
    edgeEntries.push_back(entry.getDictionary(context));
  }
  for (const Group &group : groups) {
    NamedAttrList entry;
    addString(entry, "name", group.name);
    addString(entry, "pattern", group.pattern);
    addStrings(entry, "ops", group.ops);
    addStrings(entry, "duplicated", group.duplicated);
    groupEntries.push_back(entry.getDictionary(context));
  }
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("edges", builder.getArrayAttr(edgeEntries)),
       builder.getNamedAttr("groups", builder.getArrayAttr(groupEntries))});
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

/// A name as JSON holds it: names of models may have any bytes.
static std::string toUtf8(StringRef text) {
  return llvm::json::isUTF8(text) ? text.str() : llvm::json::fixUTF8(text);
}

static llvm::json::Array toArray(ArrayRef<std::string> strings) {
  llvm::json::Array array;
  for (const std::string &text : strings)
    array.push_back(toUtf8(text));
  return array;
}

llvm::json::Value FusionReport::toJson() const {
  using llvm::json::Array;
  using llvm::json::Object;
  Array edgeArray, groupArray, reorderArray, eliminatedArray;
  for (const Edge &edge : edges)
    edgeArray.push_back(
        Object{{"producer", toUtf8(edge.producer)},
               {"producer_op", toUtf8(edge.producerOp)},
               {"consumer", toUtf8(edge.consumer)},
               {"consumer_op", toUtf8(edge.consumerOp)},
               {"fused", edge.decision.isFused()},
               {"reason", stringifyFusionReason(edge.decision.getReason())},
               {"detail", toUtf8(edge.decision.getDetail())}});
  for (const Group &group : groups)
    groupArray.push_back(Object{{"name", toUtf8(group.name)},
                                {"pattern", group.pattern},
                                {"ops", toArray(group.ops)},
                                {"duplicated", toArray(group.duplicated)}});
  for (const Reorder &reorder : reorders)
    reorderArray.push_back(Object{{"from", reorder.from},
                                  {"to", reorder.to},
                                  {"bytes", reorder.bytes},
                                  {"for", toUtf8(reorder.forOp)}});
  for (const Eliminated &entry : eliminated)
    eliminatedArray.push_back(Object{{"op", toUtf8(entry.op)},
                                     {"reason", entry.reason},
                                     {"into", toUtf8(entry.into)}});
  return Object{{"edges", std::move(edgeArray)},
                {"groups", std::move(groupArray)},
                {"reorders", std::move(reorderArray)},
                {"eliminated", std::move(eliminatedArray)}};
}

void FusionReport::printTable(raw_ostream &os) const {
  size_t nameWidth = 0, patternWidth = 0;
  for (const Group &group : groups) {
    nameWidth = std::max(nameWidth, group.name.size());
    patternWidth = std::max(patternWidth, group.pattern.size());
  }
  os << groups.size() << (groups.size() == 1 ? " kernel\n" : " kernels\n");
  for (const Group &group : groups) {
    os << "  " << llvm::left_justify(group.name, nameWidth) << "  "
       << llvm::left_justify(group.pattern, patternWidth) << "  ";
    llvm::interleaveComma(group.ops, os);
    if (!group.duplicated.empty()) {
      os << "  (also elsewhere: ";
      llvm::interleaveComma(group.duplicated, os);
      os << ")";
    }
    os << "\n";
  }

  size_t fused = llvm::count_if(
      edges, [](const Edge &edge) { return edge.decision.isFused(); });
  os << edges.size() << (edges.size() == 1 ? " edge, " : " edges, ") << fused
     << " fused\n";
  size_t edgeWidth = 0;
  auto describe = [](const Edge &edge) {
    return edge.producer + " -> " + edge.consumer;
  };
  for (const Edge &edge : edges)
    edgeWidth = std::max(edgeWidth, describe(edge).size());
  edgeWidth = std::min<size_t>(edgeWidth, 80);
  for (const Edge &edge : edges) {
    os << "  " << llvm::left_justify(describe(edge), edgeWidth) << "  ";
    if (edge.decision)
      os << "fused\n";
    else
      os << stringifyFusionReason(edge.decision.getReason()) << ": "
         << edge.decision.getDetail() << "\n";
  }

  if (!reorders.empty())
    os << reorders.size() << " reorders\n";
  for (const Reorder &reorder : reorders)
    os << "  " << reorder.from << " -> " << reorder.to << "  " << reorder.bytes
       << " bytes for " << reorder.forOp << "\n";
  if (!eliminated.empty())
    os << eliminated.size() << " eliminated\n";
  for (const Eliminated &entry : eliminated) {
    os << "  " << entry.op << "  " << entry.reason;
    if (!entry.into.empty())
      os << " " << entry.into;
    os << "\n";
  }
}

LogicalResult FusionReport::write(StringRef file, std::string &error) const {
  llvm::Error failed =
      llvm::writeToOutput(file, [&](raw_ostream &os) -> llvm::Error {
        if (file.ends_with(".json"))
          os << llvm::formatv("{0:2}", toJson()) << "\n";
        else
          printTable(os);
        return llvm::Error::success();
      });
  if (!failed)
    return success();
  error = llvm::toString(std::move(failed));
  return failure();
}

//===----------------------------------------------------------------------===//
// Edges of source ops
//===----------------------------------------------------------------------===//

namespace {

/// Decisions for pairs of source ops, each pair once.
class SourceDecisions {
public:
  explicit SourceDecisions(ModuleOp module);

  void
  addEdges(llvm::function_ref<FusionDecision(Operation *, Operation *, bool)>
               decide);
  void addMergedPairs();
  SmallVector<FusionReport::Edge> takeEdges();

private:
  using Pair = std::pair<unsigned, unsigned>;

  unsigned getNumber(const std::string &name, StringRef opName) {
    auto [it, isNew] = numbers.try_emplace(name, graph.ops.size());
    if (isNew)
      graph.ops.push_back({name, opName.str()});
    return it->second;
  }
  SmallVector<unsigned> getNumbers(Operation *op) {
    SmallVector<unsigned> result;
    for (const std::string &name : getSourceNames(op->getLoc()))
      result.push_back(getNumber(name, op->getName().getStringRef()));
    return result;
  }
  void record(Pair pair, const FusionDecision &decision) {
    auto [it, isNew] = decisions.try_emplace(pair, decision);
    if (!isNew && it->second.isFused())
      it->second = decision;
  }

  ModuleOp module;
  /// The imported graph, and ops that it lacks after those.
  SourceGraph graph;
  llvm::StringMap<unsigned> numbers;
  llvm::SmallDenseSet<Pair> imported;
  llvm::MapVector<Pair, FusionDecision> decisions;
};

} // namespace

SourceDecisions::SourceDecisions(ModuleOp module)
    : module(module), graph(SourceGraph::fromModule(module)) {
  for (auto [number, op] : llvm::enumerate(graph.ops))
    numbers.try_emplace(op.name, number);
  imported.insert(graph.edges.begin(), graph.edges.end());
}

/// Takes the decision of each pair of ops for the pairs of the imported graph
/// that it stands for; for the last and the first of their source ops, if
/// rewrites removed what lay between.
void SourceDecisions::addEdges(
    llvm::function_ref<FusionDecision(Operation *, Operation *, bool)> decide) {
  for (const SourceEdge &edge : collectSourceEdges(module)) {
    SmallVector<unsigned> from = getNumbers(edge.producer);
    SmallVector<unsigned> to = getNumbers(edge.consumer);
    if (from.empty() || to.empty())
      continue;
    FusionDecision decision =
        decide(edge.producer, edge.consumer, edge.throughBarrier);
    bool isImported = false;
    for (unsigned producer : from) {
      for (unsigned consumer : to) {
        if (producer == consumer || !imported.contains({producer, consumer}))
          continue;
        record({producer, consumer}, decision);
        isImported = true;
      }
    }
    bool isOneSource = llvm::any_of(from, [&](unsigned producer) {
      return llvm::is_contained(to, producer);
    });
    if (!isImported && !isOneSource)
      record({from.back(), to.front()}, decision);
  }
}

/// Pairs of the imported graph that one op stands for are in one kernel.
void SourceDecisions::addMergedPairs() {
  forEachSourceOp(module, [&](Operation *op) {
    SmallVector<unsigned> sources = getNumbers(op);
    if (sources.size() < 2)
      return;
    for (unsigned producer : sources)
      for (unsigned consumer : sources)
        if (imported.contains({producer, consumer}))
          decisions.try_emplace({producer, consumer}, FusionDecision::fuse());
  });
}

SmallVector<FusionReport::Edge> SourceDecisions::takeEdges() {
  SmallVector<FusionReport::Edge> edges;
  auto append = [&](Pair pair, const FusionDecision &decision) {
    const SourceOp &producer = graph.ops[pair.first];
    const SourceOp &consumer = graph.ops[pair.second];
    edges.push_back({producer.name, producer.opName, consumer.name,
                     consumer.opName, decision});
  };
  for (Pair pair : graph.edges) {
    auto *it = decisions.find(pair);
    if (it != decisions.end())
      append(pair, it->second);
  }
  for (auto &[pair, decision] : decisions)
    if (!imported.contains(pair))
      append(pair, decision);
  return edges;
}

SmallVector<FusionReport::Edge> mlir::fuse::decideSourceEdges(
    ModuleOp module,
    llvm::function_ref<FusionDecision(Operation *, Operation *, bool)> decide) {
  SourceDecisions decisions(module);
  decisions.addEdges(decide);
  decisions.addMergedPairs();
  return decisions.takeEdges();
}

SmallVector<FusionReport::Group> mlir::fuse::collectGroups(ModuleOp module) {
  SmallVector<FusionReport::Group> groups;
  llvm::SmallDenseMap<Operation *, unsigned> numbers;
  forEachSourceOp(module, [&](Operation *op) {
    auto group = dyn_cast_or_null<GroupOp>(op->getParentOp());
    if (!group)
      return;
    auto [it, isNew] = numbers.try_emplace(group, groups.size());
    if (isNew)
      groups.push_back({group.getName().str(),
                        stringifyPatternKind(group.getPattern()).str(),
                        {},
                        {}});
    for (std::string &name : getSourceNames(op->getLoc()))
      if (!llvm::is_contained(groups[it->second].ops, name))
        groups[it->second].ops.push_back(std::move(name));
  });
  llvm::StringMap<unsigned> counts;
  for (const FusionReport::Group &group : groups)
    for (const std::string &name : group.ops)
      ++counts[name];
  for (FusionReport::Group &group : groups)
    for (const std::string &name : group.ops)
      if (counts[name] > 1)
        group.duplicated.push_back(name);
  return groups;
}
