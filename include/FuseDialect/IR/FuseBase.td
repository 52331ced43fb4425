//===- FuseBase.td - The fuse dialect, its types and base classes ----------===//

#ifndef FUSE_BASE
#define FUSE_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "FuseDialect/IR/FuseInterfaces.td"

def Fuse_Dialect : Dialect {
  let name = "fuse";
  let cppNamespace = "::mlir::fuse";
  let summary = "Tensor graphs whose fusion is explained and steered";
  let description = [{
    Ops on ranked tensors with value semantics, one for each thing that a person
    would name in a network, and the region op `fuse.group` that says which of
    them become one kernel.

    Element types are f16, bf16, f32, f64, i1 (boolean), signless integers (read
    as signed) i8 to i64, and unsigned integers ui8 to ui64. Sizes may be
    dynamic. Binary ops broadcast as numpy does.

    Discardable attributes of the dialect:

    - `fuse.pattern` on an op: a `#fuse.pattern` that overrides the op's
      built-in fusion pattern at level 20.
    - `fuse.phase` on a module: the last compilation phase that ran.
    - `fuse.signature` on an entry function: names, types and symbolic
      dimensions of its arguments and results as the source model had them.
    - `fuse.kernel` on a function: it is a kernel that `fuse.launch` calls.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let dependentDialects = [];
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def Fuse_Pattern : I32EnumAttr<"PatternKind",
    "how an op maps result elements to operand elements, ordered as TVM's "
    "TOpPattern", [
      I32EnumAttrCase<"elementwise", 0>,
      I32EnumAttrCase<"broadcast", 1>,
      I32EnumAttrCase<"injective", 2>,
      I32EnumAttrCase<"reduction", 3>,
      I32EnumAttrCase<"contraction", 4>,
      I32EnumAttrCase<"tuple", 7>,
      I32EnumAttrCase<"opaque", 8>]> {
  let cppNamespace = "::mlir::fuse";
  let genSpecializedAttr = 0;
}

def Fuse_PatternAttr : EnumAttr<Fuse_Dialect, Fuse_Pattern, "pattern"> {
  let assemblyFormat = "`<` $value `>`";
  let summary = "a fusion pattern";
  let description = [{
    The kind of an op or a group, which decides what it may fuse with. The
    numbers are TVM's: `contraction` is kOutEWiseFusable.

    Example: `#fuse.pattern<elementwise>`.
  }];
}

def Fuse_StorePolicy : I32EnumAttr<"StorePolicy",
    "how a kernel writes its results", [
      I32EnumAttrCase<"regular", 0>,
      I32EnumAttrCase<"streaming", 1>]> {
  let cppNamespace = "::mlir::fuse";
  let genSpecializedAttr = 0;
}

def Fuse_ConfigAttr : AttrDef<Fuse_Dialect, "Config"> {
  let mnemonic = "config";
  let summary = "how a kernel is lowered";
  let description = [{
    Everything that the lowering of a kernel decides by number. A config on a
    kernel fully decides its code, so a tuner can search it.

    - `vector`: register width in bytes (16, 32 or 64).
    - `unroll`: vectors that one iteration of the innermost loop handles.
    - `stores`: `streaming` writes results with non-temporal stores, for
      results that exceed the caches and that nothing in the graph reads again.
    - `scratch`: bytes of a row that a kernel may keep on the stack between its
      passes; rows that need more are recomputed in each pass.
    - `grain`: iterations of the parallel loop that are worth a task of
      their own; a loop of fewer than two grains runs serially.

    Example: `#fuse.config<vector = 64, unroll = 4, stores = streaming, grain = 512>`.
  }];
  let parameters = (ins
    DefaultValuedParameter<"int64_t", "64">:$vector,
    DefaultValuedParameter<"int64_t", "4">:$unroll,
    DefaultValuedParameter<"::mlir::fuse::StorePolicy", "::mlir::fuse::StorePolicy::regular">:$stores,
    DefaultValuedParameter<"int64_t", "65536">:$scratch,
    DefaultValuedParameter<"int64_t", "1">:$grain);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Fuse_Float : AnyTypeOf<[F16, BF16, F32, F64]>;
def Fuse_SignedInt : AnyTypeOf<[I8, I16, I32, I64]>;
def Fuse_UnsignedInt : AnyTypeOf<[UI8, UI16, UI32, UI64]>;
def Fuse_Bool : TypeAlias<I1, "boolean">;
def Fuse_Int : AnyTypeOf<[Fuse_SignedInt, Fuse_UnsignedInt]>;
def Fuse_Numeric : AnyTypeOf<[Fuse_Float, Fuse_Int]>;
def Fuse_Element : AnyTypeOf<[Fuse_Numeric, I1]>;
def Fuse_IndexInt : AnyTypeOf<[I32, I64]>;

def Fuse_FloatTensor : RankedTensorOf<[Fuse_Float]>;
def Fuse_IntTensor : RankedTensorOf<[Fuse_Int]>;
def Fuse_NumericTensor : RankedTensorOf<[Fuse_Numeric]>;
def Fuse_BoolTensor : RankedTensorOf<[I1]>;
def Fuse_IntOrBoolTensor : RankedTensorOf<[Fuse_Int, I1]>;
def Fuse_Tensor : RankedTensorOf<[Fuse_Element]>;
def Fuse_IndexTensor : RankedTensorOf<[Fuse_IndexInt]>;
def Fuse_ShapeTensor : 1DTensorOf<[I64]>;

//===----------------------------------------------------------------------===//
// Base classes
//===----------------------------------------------------------------------===//

class Fuse_Op<string mnemonic, list<Trait> traits = []>
    : Op<Fuse_Dialect, mnemonic, traits>;

/// An op whose result types follow from its operands and attributes. A result
/// type in the IR may be more precise than the inferred one, or less: sizes
/// must be compatible, element types equal.
class Fuse_InferredOp<string mnemonic, list<Trait> traits = []>
    : Fuse_Op<mnemonic, traits # [
        Pure,
        InferTypeOpAdaptorWithIsCompatible,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>,
        DeclareOpInterfaceMethods<FusibleOpInterface, ["getFusionPattern"]>]> {
  /// The body of inferReturnTypes: calls one of ShapeInference.h's functions
  /// with `infer`; `adaptor` gives operands and attributes by name.
  code inferBody = [{ return failure(); }];
  /// The built-in pattern, as an expression.
  code patternExpr = "::mlir::fuse::PatternKind::opaque";
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &inferred) {
      [[maybe_unused]] ::mlir::ValueRange operands = adaptor.getOperands();
      ::mlir::fuse::InferContext infer{context, location, inferred};
      }] # inferBody # [{
    }
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange inferred,
                                            ::mlir::TypeRange actual) {
      return ::mlir::fuse::areCompatibleTypes(inferred, actual);
    }
    ::llvm::LogicalResult $cppClass::reifyResultShapes(
        ::mlir::OpBuilder &builder,
        ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      return ::mlir::fuse::reifyResultShapes(*this, builder, shapes);
    }
    ::mlir::fuse::PatternKind $cppClass::getFusionPattern() {
      return }] # patternExpr # [{;
    }
  }];
}

#endif // FUSE_BASE
