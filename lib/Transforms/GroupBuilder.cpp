//===- GroupBuilder.cpp - Moving ops into groups --------------------------===//

#include "GroupBuilder.h"
#include "FuseDialect/IR/SourceName.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/xxhash.h"
#include <queue>

using namespace mlir;
using namespace mlir::fuse;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string mlir::fuse::getGroupName(ArrayRef<Operation *> ops) {
  constexpr size_t kMaxLength = 80;
  constexpr size_t kHashLength = 8;
  std::string name = ops.size() == 1 ? "" : "fused";
  for (Operation *op : ops) {
    if (!name.empty())
      name += '_';
    name += getShortOpName(op);
  }
  std::replace(name.begin(), name.end(), '.', '_');
  if (name.size() <= kMaxLength)
    return name;
  uint64_t hash = llvm::xxh3_64bits(name);
  name.resize(kMaxLength - kHashLength - 1);
  llvm::raw_string_ostream(name)
      << '_' << llvm::format_hex_no_prefix(hash >> 32, kHashLength);
  return name;
}

/// The first of `name`, `name_1`, `name_2`, … that is not taken.
static std::string makeUnique(const std::string &name,
                              llvm::StringSet<> &takenNames,
                              llvm::StringMap<unsigned> &counters) {
  std::string unique = name;
  while (!takenNames.insert(unique).second)
    unique = name + "_" + std::to_string(++counters[name]);
  return unique;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

namespace {

/// Ops that stay together: a group, or one op that is in none.
struct Unit {
  const FusionGroup *group = nullptr;
  SmallVector<Operation *> ops;
  /// The position of its last op in the block.
  unsigned position = 0;
  unsigned unplacedProducers = 0;
  SmallVector<unsigned> consumers;
};

/// The units of a block in an order of execution.
class UnitOrder {
public:
  UnitOrder(Block &block, ArrayRef<FusionGroup> groups);

  SmallVector<Unit, 0> units;
  SmallVector<unsigned> order;

private:
  void connect(Operation *producer, unsigned consumer);
  void sort();

  llvm::DenseMap<Operation *, unsigned> unitOf;
};

} // namespace

UnitOrder::UnitOrder(Block &block, ArrayRef<FusionGroup> groups) {
  for (const FusionGroup &group : groups) {
    for (Operation *op : group.ops)
      unitOf[op] = units.size();
    units.emplace_back().group = &group;
  }
  unsigned position = 0;
  for (Operation &op : block.without_terminator()) {
    auto [it, isNew] = unitOf.try_emplace(&op, units.size());
    if (isNew)
      units.emplace_back();
    units[it->second].ops.push_back(&op);
    units[it->second].position = position++;
  }
  // Ops with effects keep their order.
  Operation *lastEffect = nullptr;
  for (Operation &op : block.without_terminator()) {
    unsigned unit = unitOf[&op];
    for (Value operand : op.getOperands())
      connect(operand.getDefiningOp(), unit);
    if (op.getNumRegions() != 0)
      op.walk([&](Operation *nested) {
        for (Value operand : nested->getOperands())
          connect(operand.getDefiningOp(), unit);
      });
    if (!isPure(&op)) {
      connect(lastEffect, unit);
      lastEffect = &op;
    }
  }
  sort();
}

void UnitOrder::connect(Operation *producer, unsigned consumer) {
  auto it = unitOf.find(producer);
  if (!producer || it == unitOf.end() || it->second == consumer)
    return;
  units[it->second].consumers.push_back(consumer);
  ++units[consumer].unplacedProducers;
}

void UnitOrder::sort() {
  using Entry = std::pair<unsigned, unsigned>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  for (auto [number, unit] : llvm::enumerate(units))
    if (unit.unplacedProducers == 0)
      ready.emplace(unit.position, number);
  while (!ready.empty()) {
    unsigned number = ready.top().second;
    ready.pop();
    order.push_back(number);
    for (unsigned consumer : units[number].consumers)
      if (--units[consumer].unplacedProducers == 0)
        ready.emplace(units[consumer].position, consumer);
  }
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// Whether a constant becomes part of the kernel.
static bool isScalarConstant(Operation *op) {
  auto constant = dyn_cast_or_null<ConstantOp>(op);
  return constant && getElementCount(constant.getType()) == 1;
}

/// Moves the ops into a new group before `position`.
static void buildGroup(const FusionGroup &members, StringRef name,
                       Operation *position) {
  llvm::SmallDenseSet<Operation *> inside(members.ops.begin(),
                                          members.ops.end());
  llvm::SmallSetVector<Value, 8> inputs;
  llvm::SmallSetVector<Operation *, 4> constants;
  SmallVector<Value> results;
  SmallVector<Location> locations;
  for (Operation *op : members.ops) {
    locations.push_back(op->getLoc());
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (inside.contains(producer))
        continue;
      if (isScalarConstant(producer))
        constants.insert(producer);
      else
        inputs.insert(operand);
    }
    // What nobody reads is still computed: its op has to be in a kernel.
    for (Value result : op->getResults())
      if (result.use_empty() ||
          llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !inside.contains(user); }))
        results.push_back(result);
  }

  OpBuilder builder(position);
  Location location = fuseLocations(builder.getContext(), locations);
  auto group =
      GroupOp::create(builder, location, ValueRange(results).getTypes(),
                      inputs.getArrayRef(), name, members.pattern,
                      /*config=*/ConfigAttr());
  Block &body = group.getBody().emplaceBlock();
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, body.addArgument(input.getType(), input.getLoc()));
  builder.setInsertionPointToEnd(&body);
  for (Operation *constant : constants)
    builder.clone(*constant, mapping);
  for (Operation *op : members.ops) {
    op->moveBefore(&body, body.end());
    for (OpOperand &operand : op->getOpOperands())
      operand.set(mapping.lookupOrDefault(operand.get()));
  }
  for (auto [result, outer] : llvm::zip_equal(results, group.getResults()))
    result.replaceUsesWithIf(outer, [&](OpOperand &use) {
      return !inside.contains(use.getOwner());
    });
  YieldOp::create(builder, location, results);
}

void mlir::fuse::buildGroups(Block &block, ArrayRef<FusionGroup> groups,
                             llvm::StringSet<> &takenNames) {
  UnitOrder units(block, groups);
  llvm::StringMap<unsigned> counters;
  llvm::DenseMap<const FusionGroup *, std::string> names;
  for (const FusionGroup &group : groups)
    names[&group] = makeUnique(getGroupName(group.ops), takenNames, counters);
  Operation *end = block.getTerminator();
  for (unsigned number : units.order) {
    const Unit &unit = units.units[number];
    if (unit.group)
      buildGroup(*unit.group, names[unit.group], end);
    else
      unit.ops.front()->moveBefore(end);
  }
}
