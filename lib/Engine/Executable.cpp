//===- Executable.cpp - A compiled entry function -------------------------===//

#include "FuseDialect/Engine/Executable.h"
#include "FuseDialect/Engine/Codegen.h"
#include "FuseDialect/Engine/EngineError.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"

using namespace mlir;
using namespace mlir::fuse;

/// Bytes as a tensor, which has the alignment that weights and arena need.
static std::optional<HostTensor> createBytes(int64_t count,
                                             MLIRContext *context) {
  return HostTensor::create({count}, IntegerType::get(context, 8));
}

llvm::Expected<Executable>
Executable::create(ModuleOp module, StringRef entry, const Target &target,
                   ArrayRef<RankedTensorType> inputs,
                   ArrayRef<RankedTensorType> outputs) {
  if (llvm::Error error = target.checkRunsHere())
    return error;
  llvm::SmallString<0> object;
  llvm::raw_svector_ostream os(object);
  if (llvm::Error error = emitCode(module, target, CodeKind::object, os))
    return error;
  llvm::Expected<LinkedObject> code =
      LinkedObject::create(std::make_unique<llvm::SmallVectorMemoryBuffer>(
          std::move(object), "fuse", /*RequiresNullTerminator=*/false));
  if (!code)
    return code.takeError();
  Executable executable(std::move(*code));
  llvm::Expected<void *> address =
      executable.code.lookup((kEntryPrefix + entry).str());
  if (!address)
    return address.takeError();
  executable.entry = reinterpret_cast<fuse_rt_entry>(*address);
  executable.inputTypes.assign(inputs.begin(), inputs.end());
  executable.outputTypes.assign(outputs.begin(), outputs.end());

  MLIRContext *context = module.getContext();
  if (auto bytes = module->getAttrOfType<IntegerAttr>(kArenaBytesAttrName))
    executable.arenaBytes = std::max<int64_t>(bytes.getInt(), 0);
  executable.arena = createBytes(executable.arenaBytes, context);
  if (!executable.arena)
    return makeError("there is not enough memory for an arena of " +
                     Twine(executable.arenaBytes) + " bytes");
  if (auto elements = module->getAttrOfType<ElementsAttr>(kWeightsAttrName))
    if (llvm::Error error = executable.setWeights(elements))
      return error;
  return std::move(executable);
}

/// Takes the weights as they are in memory if they are aligned.
llvm::Error Executable::setWeights(ElementsAttr elements) {
  constexpr uintptr_t alignment = 64;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (blob && resource.getElementType().isInteger(8) &&
        blob->getData().size() ==
            static_cast<size_t>(resource.getNumElements()) &&
        reinterpret_cast<uintptr_t>(blob->getData().data()) % alignment == 0) {
      weights = blob->getData().data();
      weightsBytes = resource.getNumElements();
      return llvm::Error::success();
    }
  }
  weightsCopy = HostTensor::fromElements(elements);
  if (!weightsCopy)
    return makeError("the module's weights are missing, malformed, or do not "
                     "fit the memory");
  weights = weightsCopy->getData();
  weightsBytes = weightsCopy->getNumBytes();
  return llvm::Error::success();
}

llvm::Expected<SmallVector<HostTensor>> Executable::createOutputs() const {
  SmallVector<HostTensor> outputs;
  for (RankedTensorType type : outputTypes) {
    std::optional<HostTensor> tensor = HostTensor::create(type);
    if (!tensor)
      return makeError("there is not enough memory for an output");
    outputs.push_back(std::move(*tensor));
  }
  return std::move(outputs);
}

Executable::Call Executable::bind(fuse_rt_context *context,
                                  ArrayRef<const HostTensor *> inputs,
                                  MutableArrayRef<HostTensor> outputs) {
  Call call;
  call.entry = entry;
  call.context = context;
  call.weights = weights;
  call.arena = arena->getData();
  auto add = [&](const HostTensor &tensor,
                 std::vector<fuse_rt_buffer> &buffers) {
    call.shapes.emplace_back(tensor.getShape().begin(),
                             tensor.getShape().end());
    // Inputs are not written; the interface has one type for both.
    buffers.push_back({const_cast<void *>(tensor.getData()), nullptr});
  };
  for (const HostTensor *tensor : inputs)
    add(*tensor, call.inputs);
  for (HostTensor &tensor : outputs)
    add(tensor, call.outputs);
  auto shape = call.shapes.begin();
  for (auto *buffers : {&call.inputs, &call.outputs})
    for (fuse_rt_buffer &buffer : *buffers)
      buffer.shape = (shape++)->data();
  return call;
}

llvm::Error Executable::run(fuse_rt_context *context,
                            ArrayRef<const HostTensor *> inputs,
                            MutableArrayRef<HostTensor> outputs) {
  if (int32_t code = bind(context, inputs, outputs)())
    return makeError("the compiled model returned error " + Twine(code));
  return llvm::Error::success();
}
