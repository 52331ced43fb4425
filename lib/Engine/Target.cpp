//===- Target.cpp - The processor that code is made for -------------------===//

#include "FuseDialect/Engine/Target.h"
#include "FuseDialect/Engine/EngineError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

using namespace mlir::fuse;

Target::Target() = default;
Target::Target(Target &&) = default;
Target &Target::operator=(Target &&) = default;
Target::~Target() = default;

static std::string getHostFeatures() {
  llvm::SubtargetFeatures list;
  for (const auto &[name, enabled] : llvm::sys::getHostCPUFeatures())
    list.AddFeature(name, enabled);
  // The map has no order.
  std::vector<std::string> sorted = list.getFeatures();
  llvm::sort(sorted);
  return llvm::join(sorted, ",");
}

static llvm::Error makeUnknownError(llvm::StringRef what, llvm::StringRef name,
                                    const llvm::Triple &triple) {
  return makeError(ExitCode::usage, "unknown " + what + " '" + name + "' for " +
                                        triple.getArchName());
}

/// Checks the names of a list of features.
static llvm::Error checkFeatures(llvm::StringRef features,
                                 const llvm::MCSubtargetInfo &known,
                                 const llvm::Triple &triple) {
  llvm::SmallVector<llvm::StringRef> names;
  features.split(names, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (llvm::StringRef name : names) {
    if (!name.starts_with("+") && !name.starts_with("-"))
      return makeError(ExitCode::usage, "expected target feature '+" + name +
                                            "' or '-" + name + "' but got '" +
                                            name + "'");
    name = name.drop_front();
    if (llvm::none_of(known.getAllProcessorFeatures(),
                      [&](const llvm::SubtargetFeatureKV &feature) {
                        return name == feature.Key;
                      }))
      return makeUnknownError("target feature", name, triple);
  }
  return llvm::Error::success();
}

llvm::Expected<Target> Target::create(llvm::StringRef cpu,
                                      llvm::StringRef features) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::InitializeNativeTargetAsmParser();
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string problem;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, problem);
  if (!target)
    return makeError(problem);

  // LLVM only warns of an unknown name, on stderr, and goes on.
  std::unique_ptr<llvm::MCSubtargetInfo> known(
      target->createMCSubtargetInfo(triple, "", ""));
  if (!known)
    return makeError("no subtarget for " + triple.str());
  if (cpu != "host" && !known->isCPUStringValid(cpu))
    return makeUnknownError("target CPU", cpu, triple);
  if (llvm::Error error = checkFeatures(features, *known, triple))
    return error;

  Target result;
  result.cpu = cpu == "host" ? llvm::sys::getHostCPUName().str() : cpu.str();
  if (cpu == "host")
    result.features = getHostFeatures();
  if (!features.empty())
    result.features += (result.features.empty() ? "" : ",") + features.str();
  result.subtarget.reset(
      target->createMCSubtargetInfo(triple, result.cpu, result.features));
  result.machine.reset(target->createTargetMachine(
      triple, result.cpu, result.features, llvm::TargetOptions(),
      llvm::Reloc::PIC_, /*CM=*/std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
  if (!result.machine)
    return makeError("no code generator for " + triple.str());
  return std::move(result);
}

bool Target::hasFeature(llvm::StringRef feature) const {
  return subtarget->checkFeatures(("+" + feature).str());
}

std::string Target::getEnabledFeatures() const {
  llvm::SubtargetFeatures list;
  for (const llvm::SubtargetFeatureKV &feature :
       subtarget->getEnabledProcessorFeatures())
    list.AddFeature(feature.Key);
  return list.getString();
}

int64_t Target::getVectorBytes() const {
  if (!machine->getTargetTriple().isX86())
    return 16;
  return hasFeature("avx512f") ? 64 : hasFeature("avx2") ? 32 : 16;
}

llvm::StringRef Target::getVectorName() const {
  switch (getVectorBytes()) {
  case 64:
    return "avx512";
  case 32:
    return "avx2";
  default:
    return machine->getTargetTriple().getArchName();
  }
}

llvm::Error Target::checkRunsHere() const {
  // The host's map has the instruction sets that can be asked for; others are
  // about tuning, and every processor runs them.
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  std::vector<std::string> missing;
  for (const llvm::SubtargetFeatureKV &feature :
       subtarget->getEnabledProcessorFeatures()) {
    auto it = host.find(feature.Key);
    if (it != host.end() && !it->second)
      missing.push_back(feature.Key);
  }
  if (missing.empty())
    return llvm::Error::success();
  llvm::sort(missing);
  return makeError("this processor lacks the target features '" +
                   llvm::join(missing, "', '") + "'");
}

void Target::applyTo(llvm::Module &module) const {
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", cpu);
    if (!features.empty())
      function.addFnAttr("target-features", features);
    // LLVM prefers half of the width on some processors: the IR's own vector
    // types say what is wanted.
    function.addFnAttr("prefer-vector-width",
                       llvm::Twine(getVectorBytes() * 8).str());
  }
}
