//===- PatternResolution.cpp - Patterns and rules, fixed at import --------===//

#include "FuseDialect/Analysis/PatternResolution.h"
#include "FuseDialect/Analysis/SourceGraph.h"
#include "FuseDialect/IR/SourceName.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fuse;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

PatternKind mlir::fuse::getBuiltinPattern(Operation *op) {
  auto fusible = dyn_cast<FusibleOpInterface>(op);
  return fusible ? fusible.getFusionPattern() : PatternKind::opaque;
}

std::string ResolvedPattern::describe() const {
  std::string text = stringifyPatternKind(pattern).str();
  if (!isOverridden())
    return text;
  return (text + " by " + source + " (level " + Twine(level) +
          " over built-in " + stringifyPatternKind(builtin) + ", level " +
          Twine(kBuiltinLevel) + ")")
      .str();
}

/// Reads the override in `fuse.resolved`, if there is a well formed one.
static std::optional<ResolvedPattern> readRecord(Operation *op) {
  auto record = op->getAttrOfType<DictionaryAttr>(kResolvedAttrName);
  if (!record)
    return std::nullopt;
  auto pattern = record.getAs<PatternKindAttr>("pattern");
  auto level = record.getAs<IntegerAttr>("level");
  auto source = record.getAs<StringAttr>("source");
  if (!pattern || !level || !source || source.empty() ||
      !level.getType().isSignlessInteger(64))
    return std::nullopt;
  ResolvedPattern resolved;
  resolved.pattern = pattern.getValue();
  resolved.level = level.getInt();
  resolved.source = source.str();
  return resolved;
}

ResolvedPattern mlir::fuse::getResolvedPattern(Operation *op) {
  PatternKind builtin = getBuiltinPattern(op);
  if (std::optional<ResolvedPattern> record = readRecord(op)) {
    record->builtin = builtin;
    return *record;
  }
  ResolvedPattern resolved;
  resolved.pattern = resolved.builtin = builtin;
  if (auto own = op->getAttrOfType<PatternKindAttr>(kPatternAttrName)) {
    resolved.pattern = own.getValue();
    resolved.level = kAttributeLevel;
    resolved.source = ("its attribute '" + kPatternAttrName + "'").str();
  }
  return resolved;
}

/// The rule indices under `key` of the op's record.
static ArrayRef<int64_t> readRuleIndices(Operation *op, StringRef key) {
  auto record = op->getAttrOfType<DictionaryAttr>(kResolvedAttrName);
  auto indices = record ? record.getAs<DenseI64ArrayAttr>(key) : nullptr;
  return indices ? indices.asArrayRef() : ArrayRef<int64_t>();
}

ArrayRef<int64_t> mlir::fuse::getProducerRules(Operation *op) {
  return readRuleIndices(op, "producer");
}

ArrayRef<int64_t> mlir::fuse::getConsumerRules(Operation *op) {
  return readRuleIndices(op, "consumer");
}

SmallVector<ResolvedPairRule> mlir::fuse::getPairRules(ModuleOp module) {
  SmallVector<ResolvedPairRule> rules;
  auto recorded = module->getAttrOfType<ArrayAttr>(kPairRulesAttrName);
  if (!recorded)
    return rules;
  for (Attribute attribute : recorded) {
    // An entry that is not well formed keeps its place, so that indices stay
    // right; it names nothing.
    ResolvedPairRule rule{PairRule::Kind::never, "", ""};
    if (auto entry = dyn_cast<DictionaryAttr>(attribute)) {
      if (auto text = entry.getAs<StringAttr>("rule"))
        rule.text = text.str();
      if (auto source = entry.getAs<StringAttr>("source"))
        rule.source = source.str();
      if (StringRef(rule.text).starts_with("must "))
        rule.kind = PairRule::Kind::must;
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

/// Whether a person made `op` opaque.
static bool isMadeOpaque(Operation *op) {
  ResolvedPattern resolved = getResolvedPattern(op);
  return resolved.isOverridden() && resolved.pattern == PatternKind::opaque;
}

bool mlir::fuse::mayMerge(Operation *a, Operation *b) {
  if (a == b)
    return true;
  if (isMadeOpaque(a) || isMadeOpaque(b))
    return false;
  auto module = a->getParentOfType<ModuleOp>();
  auto separates = [&](Operation *producer, Operation *consumer) {
    ArrayRef<int64_t> consumerRules = getConsumerRules(consumer);
    if (consumerRules.empty())
      return false;
    SmallVector<ResolvedPairRule> rules = getPairRules(module);
    return llvm::any_of(getProducerRules(producer), [&](int64_t index) {
      return llvm::is_contained(consumerRules, index) && index >= 0 &&
             index < static_cast<int64_t>(rules.size()) &&
             rules[index].kind == PairRule::Kind::never;
    });
  };
  return !separates(a, b) && !separates(b, a);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Writes what rules decided for an op; nothing if nothing was.
static void writeRecord(Operation *op,
                        const std::optional<ResolvedPattern> &pattern,
                        ArrayRef<int64_t> producerRules,
                        ArrayRef<int64_t> consumerRules) {
  Builder builder(op->getContext());
  NamedAttrList record;
  if (pattern) {
    record.append("pattern",
                  PatternKindAttr::get(op->getContext(), pattern->pattern));
    record.append("level", builder.getI64IntegerAttr(pattern->level));
    record.append("source", builder.getStringAttr(pattern->source));
  }
  if (!producerRules.empty())
    record.append("producer", builder.getDenseI64ArrayAttr(producerRules));
  if (!consumerRules.empty())
    record.append("consumer", builder.getDenseI64ArrayAttr(consumerRules));
  if (record.empty())
    op->removeAttr(kResolvedAttrName);
  else
    op->setAttr(kResolvedAttrName, record.getDictionary(op->getContext()));
}

void mlir::fuse::carryResolution(ArrayRef<Operation *> from, Operation *to) {
  std::optional<ResolvedPattern> best;
  llvm::SetVector<int64_t> producerRules, consumerRules;
  for (Operation *op : from) {
    ResolvedPattern resolved = getResolvedPattern(op);
    if (resolved.isOverridden() && (!best || resolved.level > best->level))
      best = resolved;
    producerRules.insert_range(getProducerRules(op));
    consumerRules.insert_range(getConsumerRules(op));
  }
  writeRecord(to, best, producerRules.getArrayRef(),
              consumerRules.getArrayRef());
}

namespace {

/// Resolves the ops of one module.
class Resolver {
public:
  Resolver(ModuleOp module, const FusionRules &rules)
      : module(module), rules(rules), patternUsed(rules.patterns.size()),
        producerUsed(rules.pairs.size()), consumerUsed(rules.pairs.size()) {}

  LogicalResult run();

private:
  LogicalResult resolve(Operation *op);
  LogicalResult resolvePattern(Operation *op, ArrayRef<std::string> names,
                               std::optional<ResolvedPattern> &winner);
  void recordPairRules();
  void warnUnused();

  ModuleOp module;
  const FusionRules &rules;
  /// The index of the first of `rules.pairs` among the module's pair rules.
  int64_t firstPairIndex = 0;
  /// Whether each selector has chosen an op.
  std::vector<bool> patternUsed, producerUsed, consumerUsed;
};

} // namespace

/// Decides the pattern of one op. `winner` stays empty if the built-in one
/// holds.
LogicalResult Resolver::resolvePattern(Operation *op,
                                       ArrayRef<std::string> names,
                                       std::optional<ResolvedPattern> &winner) {
  struct Candidate {
    PatternKind pattern;
    unsigned level;
    std::string source;
  };
  SmallVector<Candidate> candidates;
  PatternKind builtin = getBuiltinPattern(op);
  candidates.push_back({builtin, kBuiltinLevel, "its built-in pattern"});
  if (std::optional<ResolvedPattern> record = readRecord(op))
    candidates.push_back({record->pattern, record->level, record->source});
  else if (auto own = op->getAttrOfType<PatternKindAttr>(kPatternAttrName))
    candidates.push_back({own.getValue(), kAttributeLevel,
                          ("its attribute '" + kPatternAttrName + "'").str()});
  for (auto [index, rule] : llvm::enumerate(rules.patterns)) {
    if (!rule.selector.matches(op, names))
      continue;
    patternUsed[index] = true;
    candidates.push_back({rule.pattern, rule.level, rule.source});
  }

  const Candidate *best = &candidates.front();
  for (const Candidate &candidate : candidates)
    if (candidate.level > best->level)
      best = &candidate;
  for (const Candidate &candidate : candidates) {
    if (candidate.level != best->level || candidate.pattern == best->pattern)
      continue;
    auto error = op->emitError()
                 << "'" << getShortOpName(op) << "' is "
                 << stringifyPatternKind(best->pattern) << " by "
                 << best->source << " and "
                 << stringifyPatternKind(candidate.pattern) << " by "
                 << candidate.source << ", both at level " << best->level;
    if (best->level == kBuiltinLevel)
      error << "; use level " << kBuiltinLevel + 1
            << " or higher to override the built-in pattern";
    return error;
  }
  if (best->level > kBuiltinLevel) {
    winner.emplace();
    winner->pattern = best->pattern;
    winner->level = best->level;
    winner->source = best->source;
    winner->builtin = builtin;
  }
  return success();
}

LogicalResult Resolver::resolve(Operation *op) {
  SmallVector<std::string> names = getSourceNames(op->getLoc());
  std::optional<ResolvedPattern> pattern;
  if (failed(resolvePattern(op, names, pattern)))
    return failure();
  SmallVector<int64_t> producerRules(getProducerRules(op));
  SmallVector<int64_t> consumerRules(getConsumerRules(op));
  for (auto [index, rule] : llvm::enumerate(rules.pairs)) {
    if (rule.producer.matches(op, names)) {
      producerUsed[index] = true;
      producerRules.push_back(firstPairIndex + index);
    }
    if (rule.consumer.matches(op, names)) {
      consumerUsed[index] = true;
      consumerRules.push_back(firstPairIndex + index);
    }
  }
  writeRecord(op, pattern, producerRules, consumerRules);
  return success();
}

void Resolver::recordPairRules() {
  SmallVector<Attribute> recorded;
  if (auto earlier = module->getAttrOfType<ArrayAttr>(kPairRulesAttrName))
    llvm::append_range(recorded, earlier);
  firstPairIndex = recorded.size();
  Builder builder(module.getContext());
  for (const PairRule &rule : rules.pairs)
    recorded.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("rule", builder.getStringAttr(rule.getText())),
         builder.getNamedAttr("source", builder.getStringAttr(rule.source))}));
  if (!recorded.empty())
    module->setAttr(kPairRulesAttrName, builder.getArrayAttr(recorded));
}

void Resolver::warnUnused() {
  auto warn = [](const Selector &selector, Location location) {
    emitWarning(location) << "selector '" << selector.text << "' matches no op";
  };
  for (auto [index, rule] : llvm::enumerate(rules.patterns)) {
    if (!patternUsed[index])
      warn(rule.selector, rule.location);
    else if (rule.level < kBuiltinLevel)
      emitWarning(rule.location)
          << "'" << rule.selector.text << "' keeps its built-in pattern: level "
          << rule.level << " is below " << kBuiltinLevel;
  }
  for (auto [index, rule] : llvm::enumerate(rules.pairs)) {
    if (!producerUsed[index])
      warn(rule.producer, rule.location);
    if (!consumerUsed[index])
      warn(rule.consumer, rule.location);
  }
}

LogicalResult Resolver::run() {
  recordPairRules();
  bool hadError = false;
  forEachSourceOp(module, [&](Operation *op) {
    if (failed(resolve(op)))
      hadError = true;
  });
  if (hadError)
    return failure();
  warnUnused();
  recordSourceGraph(module);
  return success();
}

LogicalResult mlir::fuse::resolvePatterns(ModuleOp module,
                                          const FusionRules &rules) {
  return Resolver(module, rules).run();
}
