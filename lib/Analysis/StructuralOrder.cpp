//===- StructuralOrder.cpp - An order of ops free of position -------------===//

#include "StructuralOrder.h"
#include "FuseDialect/Analysis/PatternResolution.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "FuseDialect/IR/SourceName.h"
#include "mlir/IR/Operation.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mlir::fuse;

/// A hash that is the same in each process and on each machine.
static uint64_t hashWords(ArrayRef<uint64_t> words) {
  return llvm::xxh3_64bits(ArrayRef(
      reinterpret_cast<const uint8_t *>(words.data()), words.size() * 8));
}

namespace {

/// Hashes ops from what they read and from what reads them.
class StructuralHasher {
public:
  /// The hash of an op from the ops before it.
  uint64_t hashForward(Operation *op);
  /// The hash of an op from the ops after it; `op` has its forward hash.
  uint64_t hashBackward(Operation *op);

  llvm::DenseMap<Operation *, uint64_t> forward, backward;

private:
  uint64_t hashText(const void *key,
                    llvm::function_ref<void(raw_ostream &)> print);
  uint64_t hashValue(Value value);

  /// Hashes of attributes and types, which are uniqued, by their address.
  llvm::DenseMap<const void *, uint64_t> textHashes;
};

} // namespace

uint64_t
StructuralHasher::hashText(const void *key,
                           llvm::function_ref<void(raw_ostream &)> print) {
  auto [it, isNew] = textHashes.try_emplace(key, 0);
  if (isNew) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    print(stream);
    it->second = llvm::xxh3_64bits(text);
  }
  return it->second;
}

uint64_t StructuralHasher::hashValue(Value value) {
  uint64_t type = hashText(value.getType().getAsOpaquePointer(),
                           [&](raw_ostream &os) { os << value.getType(); });
  if (auto argument = dyn_cast<BlockArgument>(value))
    return hashWords({1, argument.getArgNumber(), type});
  Operation *op = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  auto it = forward.find(op);
  if (it != forward.end())
    return hashWords({2, it->second, number});
  // Constants: the value itself only if it is one element, for others may be
  // large; their names tell them apart.
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    uint64_t content = llvm::xxh3_64bits(getSourceName(op->getLoc()));
    if (getElementCount(constant.getType()) == 1)
      content = hashText(constant.getValue().getAsOpaquePointer(),
                         [&](raw_ostream &os) { os << constant.getValue(); });
    return hashWords({3, content, type});
  }
  return hashWords({4, type, number});
}

uint64_t StructuralHasher::hashForward(Operation *op) {
  SmallVector<uint64_t> words{llvm::xxh3_64bits(op->getName().getStringRef())};
  NamedAttrList attributes(op->getAttrDictionary());
  attributes.erase(kResolvedAttrName);
  DictionaryAttr dictionary = attributes.getDictionary(op->getContext());
  words.push_back(hashText(dictionary.getAsOpaquePointer(),
                           [&](raw_ostream &os) { os << dictionary; }));
  for (Value operand : op->getOperands())
    words.push_back(hashValue(operand));
  for (Type type : op->getResultTypes())
    words.push_back(hashText(type.getAsOpaquePointer(),
                             [&](raw_ostream &os) { os << type; }));
  return hashWords(words);
}

uint64_t StructuralHasher::hashBackward(Operation *op) {
  SmallVector<uint64_t> uses;
  for (OpResult result : op->getResults()) {
    for (OpOperand &use : result.getUses()) {
      Operation *user = use.getOwner();
      auto it = backward.find(user);
      uint64_t userHash =
          it != backward.end()
              ? it->second
              : llvm::xxh3_64bits(user->getName().getStringRef());
      uses.push_back(hashWords(
          {userHash, use.getOperandNumber(), result.getResultNumber()}));
    }
  }
  llvm::sort(uses);
  uses.push_back(forward.lookup(op));
  return hashWords(uses);
}

StructuralOrder::StructuralOrder(Block &block, ArrayRef<Operation *> ops,
                                 ArrayRef<Operation *> chain) {
  llvm::DenseMap<Operation *, Operation *> next;
  for (size_t i = 1; i < chain.size(); ++i)
    next[chain[i - 1]] = chain[i];
  StructuralHasher hasher;
  llvm::DenseMap<Operation *, unsigned> positions;
  for (Operation *op : ops) {
    positions.try_emplace(op, positions.size());
    hasher.forward[op] = hasher.hashForward(op);
  }
  for (Operation *op : llvm::reverse(ops)) {
    hasher.backward[op] = hasher.hashBackward(op);
    unsigned height = 0;
    if (Operation *after = next.lookup(op))
      height = heights.lookup(after) + 1;
    for (Operation *user : op->getUsers()) {
      Operation *ancestor = block.findAncestorOpInBlock(*user);
      auto it = ancestor ? heights.find(ancestor) : heights.end();
      if (it != heights.end())
        height = std::max(height, it->second + 1);
    }
    heights[op] = height;
  }

  llvm::DenseMap<Operation *, std::string> names;
  auto nameOf = [&](Operation *op) -> const std::string & {
    auto [it, isNew] = names.try_emplace(op);
    if (isNew)
      it->second = getSourceName(op->getLoc());
    return it->second;
  };
  order.assign(ops.begin(), ops.end());
  llvm::sort(order, [&](Operation *a, Operation *b) {
    if (a == b)
      return false;
    unsigned heightA = heights.lookup(a), heightB = heights.lookup(b);
    if (heightA != heightB)
      return heightA < heightB;
    if (int difference =
            a->getName().getStringRef().compare(b->getName().getStringRef()))
      return difference < 0;
    uint64_t hashA = hasher.backward.lookup(a),
             hashB = hasher.backward.lookup(b);
    if (hashA != hashB)
      return hashA < hashB;
    // References from nameOf() do not outlive its next call.
    std::string nameA = nameOf(a);
    if (int difference = nameA.compare(nameOf(b)))
      return difference < 0;
    return positions.lookup(a) < positions.lookup(b);
  });
}
