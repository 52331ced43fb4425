//===- StructureOps.cpp - Constants, groups and launches ------------------===//

#include "FuseDialect/IR/FuseDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::fuse;

//===----------------------------------------------------------------------===//
// ConstantOp
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location>, ValueRange,
                                           DictionaryAttr attributes,
                                           OpaqueProperties properties,
                                           RegionRange,
                                           SmallVectorImpl<Type> &types) {
  auto *typed = properties.as<Properties *>();
  ElementsAttr value = typed && typed->value
                           ? typed->value
                           : attributes.getAs<ElementsAttr>("value");
  if (!value)
    return failure();
  types.push_back(value.getType());
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

//===----------------------------------------------------------------------===//
// GroupOp
//===----------------------------------------------------------------------===//

YieldOp GroupOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

/// group ::= string pattern `(` (arg `=` operand `:` type)* `)` attr-dict
///           `->` `(` types `)` region
ParseResult GroupOp::parse(OpAsmParser &parser, OperationState &state) {
  std::string name;
  StringRef patternName;
  SMLoc patternLoc;
  if (parser.parseString(&name) || parser.getCurrentLocation(&patternLoc) ||
      parser.parseKeyword(&patternName))
    return failure();
  std::optional<PatternKind> pattern = symbolizePatternKind(patternName);
  if (!pattern)
    return parser.emitError(patternLoc)
           << "expected a fusion pattern but got '" << patternName << "'";
  MLIRContext *context = parser.getContext();
  state.addAttribute("name", StringAttr::get(context, name));
  state.addAttribute("pattern", PatternKindAttr::get(context, *pattern));

  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SMLoc operandLoc = parser.getCurrentLocation();
  auto parseOperand = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) ||
                   parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()) ||
                   parser.parseColonType(arguments.back().type));
  };
  SmallVector<Type> resultTypes;
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                     parseOperand) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes) ||
      parser.parseArrow() ||
      parser.parseCommaSeparatedList(
          OpAsmParser::Delimiter::Paren, [&]() -> ParseResult {
            return parser.parseType(resultTypes.emplace_back());
          }))
    return failure();
  auto types =
      llvm::map_to_vector(arguments, [](const OpAsmParser::Argument &argument) {
        return argument.type;
      });
  if (parser.resolveOperands(operands, types, operandLoc, state.operands))
    return failure();
  state.addTypes(resultTypes);
  Region *region = state.addRegion();
  return parser.parseRegion(*region, arguments);
}

void GroupOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printAttributeWithoutType(getNameAttr());
  printer << ' ' << stringifyPatternKind(getPattern()) << '(';
  llvm::interleaveComma(llvm::zip_equal(getBody().getArguments(), getInputs()),
                        printer, [&](auto pair) {
                          auto [argument, operand] = pair;
                          printer << argument << " = " << operand << " : "
                                  << operand.getType();
                        });
  printer << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {"name", "pattern"});
  printer << " -> (";
  llvm::interleaveComma(getResultTypes(), printer);
  printer << ") ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult GroupOp::verify() {
  Block &body = getBody().front();
  if (body.getArgumentTypes() != getInputs().getTypes())
    return emitOpError("expected block arguments of the operands' types");
  auto yield = dyn_cast_or_null<YieldOp>(
      body.mightHaveTerminator() ? body.getTerminator() : nullptr);
  if (!yield)
    return emitOpError("expected the region to end with 'fuse.yield'");
  if (yield.getValues().getTypes() != getResultTypes())
    return yield.emitOpError("expected one value of each result's type");
  return success();
}

//===----------------------------------------------------------------------===//
// LaunchOp
//===----------------------------------------------------------------------===//

LogicalResult LaunchOp::verify() {
  if (getOutputs().empty())
    return emitOpError("expected at least one destination");
  SmallVector<Type> tensors;
  for (Type type : getOutputs().getTypes())
    if (isa<RankedTensorType>(type))
      tensors.push_back(type);
  if (TypeRange(tensors) != getResultTypes())
    return emitOpError(
        "expected one result for each destination tensor, of its type");
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(
      *this, getKernelAttr());
  if (!kernel)
    return emitOpError() << "expected '" << getKernel() << "' to be a function";
  // A kernel on buffers takes iteration bounds after the operands.
  ArrayRef<Type> parameters = kernel.getArgumentTypes();
  SmallVector<Type> operands;
  llvm::append_range(operands, getInputs().getTypes());
  llvm::append_range(operands, getOutputs().getTypes());
  if (parameters.size() < operands.size())
    return emitOpError() << "expected " << parameters.size()
                         << " operands, as '" << getKernel()
                         << "' takes, but got " << operands.size();
  for (auto [index, operand] : llvm::enumerate(operands)) {
    auto given = cast<ShapedType>(operand);
    auto wanted = dyn_cast<ShapedType>(parameters[index]);
    // In memory a boolean takes a byte.
    auto memoryType = [](Type type) {
      return type.isInteger(1) ? IntegerType::get(type.getContext(), 8) : type;
    };
    if (!wanted ||
        memoryType(wanted.getElementType()) !=
            memoryType(given.getElementType()) ||
        failed(verifyCompatibleShape(wanted, given)))
      return emitOpError() << "expected operand " << index << " to fit "
                           << parameters[index] << " but got " << operand;
  }
  return success();
}

void LaunchOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<BaseMemRefType>(operand.get().getType()))
      continue;
    bool isOutput = operand.getOperandNumber() >= getInputs().size();
    effects.emplace_back(isOutput ? static_cast<MemoryEffects::Effect *>(
                                        MemoryEffects::Write::get())
                                  : MemoryEffects::Read::get(),
                         &operand, SideEffects::DefaultResource::get());
  }
}
