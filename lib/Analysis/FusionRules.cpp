//===- FusionRules.cpp - What a person asks of fusion ---------------------===//

#include "FuseDialect/Analysis/FusionRules.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::fuse;

std::string PairRule::getText() const {
  return (Twine(kind == Kind::never ? "never " : "must ") + producer.text +
          " -> " + consumer.text)
      .str();
}

/// Reads a selector or emits what is wrong with it.
static std::optional<Selector> parseSelector(StringRef text,
                                             Location location) {
  std::string error;
  std::optional<Selector> selector = Selector::parse(text, error);
  if (!selector)
    emitError(location) << error;
  return selector;
}

/// Reads a pattern's name or emits an error that lists the known ones.
static std::optional<PatternKind> parsePattern(StringRef name,
                                               Location location) {
  std::optional<PatternKind> pattern = parsePatternName(name);
  if (!pattern)
    emitError(location)
        << "expected elementwise, broadcast, injective, reduction, "
           "contraction, tuple or opaque but got '"
        << name << "'";
  return pattern;
}

/// Reads a level or emits an error.
static std::optional<unsigned> parseLevel(StringRef text, Location location) {
  unsigned level;
  if (!text.getAsInteger(10, level) && level <= kMaxLevel)
    return level;
  emitError(location) << "expected a level in [0, " << kMaxLevel
                      << "] but got '" << text << "'";
  return std::nullopt;
}

LogicalResult FusionRules::addOverride(MLIRContext *context, StringRef text) {
  std::string source = ("--pattern-override=" + text).str();
  Location location = NameLoc::get(StringAttr::get(context, source));
  // What follows the last colons is never part of a name: a selector that ends
  // in a location closes it with a parenthesis.
  auto [rest, last] = text.rsplit(':');
  StringRef selectorText = rest, patternName = last, levelText;
  if (!last.empty() && llvm::all_of(last, llvm::isDigit)) {
    levelText = last;
    std::tie(selectorText, patternName) = rest.rsplit(':');
  }
  if (selectorText.empty() || patternName.empty() || rest.size() == text.size())
    return emitError(location)
           << "expected SELECTOR:PATTERN[:LEVEL] but got '" << text << "'";
  std::optional<PatternKind> pattern = parsePattern(patternName, location);
  if (!pattern)
    return failure();
  std::optional<Selector> selector = parseSelector(selectorText, location);
  if (!selector)
    return failure();
  unsigned level = kCommandLineLevel;
  if (!levelText.empty()) {
    std::optional<unsigned> given = parseLevel(levelText, location);
    if (!given)
      return failure();
    level = *given;
  }
  patterns.push_back(
      {std::move(*selector), *pattern, level, std::move(source), location});
  return success();
}

/// Cuts a line into words. Blanks in parentheses or quotes do not separate, and
/// a `#` outside of them begins a comment.
static SmallVector<StringRef> splitWords(StringRef line) {
  SmallVector<StringRef> words;
  size_t begin = StringRef::npos;
  bool inQuotes = false;
  int depth = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    char c = line[i];
    bool separates = !inQuotes && depth == 0;
    if (separates && c == '#' && begin == StringRef::npos)
      return words;
    if (separates && llvm::isSpace(c)) {
      if (begin != StringRef::npos)
        words.push_back(line.slice(begin, i));
      begin = StringRef::npos;
      continue;
    }
    if (begin == StringRef::npos)
      begin = i;
    if (inQuotes && c == '\\')
      ++i;
    else if (c == '"')
      inQuotes = !inQuotes;
    else if (!inQuotes && c == '(')
      ++depth;
    else if (!inQuotes && c == ')' && depth > 0)
      --depth;
  }
  if (begin != StringRef::npos)
    words.push_back(line.drop_front(begin));
  return words;
}

/// Adds the rule in one line.
static LogicalResult parseRule(FusionRules &rules, ArrayRef<StringRef> words,
                               std::string source, Location location) {
  StringRef keyword = words.front();
  ArrayRef<StringRef> rest = words.drop_front();
  if (keyword == "opaque") {
    if (rest.size() != 1)
      return emitError(location) << "expected 'opaque SELECTOR'";
    std::optional<Selector> selector = parseSelector(rest[0], location);
    if (!selector)
      return failure();
    rules.patterns.push_back({std::move(*selector), PatternKind::opaque,
                              kRulesLevel, std::move(source), location});
    return success();
  }
  if (keyword == "pattern") {
    if (rest.size() != 2 && rest.size() != 3)
      return emitError(location)
             << "expected 'pattern SELECTOR PATTERN [LEVEL]'";
    std::optional<Selector> selector = parseSelector(rest[0], location);
    std::optional<PatternKind> pattern;
    if (!selector || !(pattern = parsePattern(rest[1], location)))
      return failure();
    std::optional<unsigned> level = kRulesLevel;
    if (rest.size() == 3 && !(level = parseLevel(rest[2], location)))
      return failure();
    rules.patterns.push_back(
        {std::move(*selector), *pattern, *level, std::move(source), location});
    return success();
  }
  if (keyword == "never" || keyword == "must") {
    if (rest.size() != 3 || rest[1] != "->")
      return emitError(location)
             << "expected '" << keyword << " SELECTOR -> SELECTOR'";
    std::optional<Selector> producer = parseSelector(rest[0], location);
    std::optional<Selector> consumer;
    if (!producer || !(consumer = parseSelector(rest[2], location)))
      return failure();
    rules.pairs.push_back(
        {keyword == "never" ? PairRule::Kind::never : PairRule::Kind::must,
         std::move(*producer), std::move(*consumer), std::move(source),
         location});
    return success();
  }
  return emitError(location)
         << "expected opaque, pattern, never or must but got '" << keyword
         << "'";
}

LogicalResult FusionRules::addText(MLIRContext *context, StringRef text,
                                   StringRef file) {
  unsigned line = 0;
  bool hadError = false;
  while (!text.empty()) {
    auto [current, rest] = text.split('\n');
    text = rest;
    ++line;
    SmallVector<StringRef> words = splitWords(current);
    if (words.empty())
      continue;
    Location location = FileLineColLoc::get(
        context, file, line, words.front().data() - current.data() + 1);
    std::string source = (file + ":" + Twine(line)).str();
    if (failed(parseRule(*this, words, std::move(source), location)))
      hadError = true;
  }
  return failure(hadError);
}

LogicalResult FusionRules::addFile(MLIRContext *context, StringRef file) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      llvm::MemoryBuffer::getFile(file, /*IsText=*/true);
  if (std::error_code error = buffer.getError())
    return emitError(
               NameLoc::get(StringAttr::get(context, "--fuse-rules=" + file)))
           << "cannot read '" << file << "': " << error.message();
  return addText(context, (*buffer)->getBuffer(), file);
}

LogicalResult FusionRules::add(MLIRContext *context,
                               ArrayRef<std::string> overrides,
                               ArrayRef<std::string> files) {
  bool hadError = false;
  for (StringRef text : overrides)
    hadError |= failed(addOverride(context, text));
  for (StringRef file : files)
    hadError |= failed(addFile(context, file));
  return failure(hadError);
}
