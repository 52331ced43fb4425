//===- Pipelines.cpp - Running the phases of compilation ------------------===//

#include "FuseDialect/Pipelines/Pipelines.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::fuse;

static constexpr llvm::StringRef kPhaseNames[] = {
    "import", "graph", "group", "tune", "linalg", "vector", "memory", "llvm"};

llvm::ArrayRef<llvm::StringRef> mlir::fuse::getPhaseNames() {
  return kPhaseNames;
}

llvm::StringRef mlir::fuse::stringifyPhase(Phase phase) {
  return kPhaseNames[static_cast<size_t>(phase)];
}

std::optional<Phase> mlir::fuse::symbolizePhase(llvm::StringRef name) {
  const auto *found = llvm::find(kPhaseNames, name);
  if (found == std::end(kPhaseNames))
    return std::nullopt;
  return static_cast<Phase>(found - kPhaseNames);
}

std::optional<Phase> mlir::fuse::getPhase(ModuleOp module) {
  auto name = module->getAttrOfType<StringAttr>(kPhaseAttrName);
  return name ? symbolizePhase(name) : Phase::Import;
}

/// Writes the module with locations to a new file that replaces an old one.
static LogicalResult dump(ModuleOp module, Phase phase,
                          llvm::StringRef directory) {
  llvm::SmallString<128> path(directory), temporary;
  llvm::sys::path::append(path, stringifyPhase(phase) + ".mlir");
  int file;
  std::error_code error = llvm::sys::fs::create_directories(directory);
  if (!error)
    error = llvm::sys::fs::createUniqueFile(path + ".%%%%%%", file, temporary);
  if (!error) {
    llvm::raw_fd_ostream os(file, /*shouldClose=*/true);
    module->print(os, OpPrintingFlags().enableDebugInfo());
    os.close();
    error = os.error();
    os.clear_error();
    if (!error)
      error = llvm::sys::fs::rename(temporary, path);
    if (error)
      (void)llvm::sys::fs::remove(temporary);
  }
  if (error)
    return module.emitError()
           << "cannot write '" << path << "': " << error.message();
  return success();
}

LogicalResult mlir::fuse::runPhases(ModuleOp module, Phase last,
                                    const PipelineOptions &options) {
  std::optional<Phase> current = getPhase(module);
  if (!current)
    return module.emitError()
           << "expected '" << kPhaseAttrName << "' to be one of "
           << llvm::join(getPhaseNames(), ", ") << " but got "
           << module->getAttr(kPhaseAttrName);
  for (int next = static_cast<int>(*current) + 1;
       next <= static_cast<int>(last); ++next) {
    Phase phase = static_cast<Phase>(next);
    PassManager manager(module.getContext());
    manager.enableVerifier(options.verifyEach);
    buildPhase(manager, phase, options);
    if (failed(manager.run(module)))
      return failure();
    module->setAttr(kPhaseAttrName, StringAttr::get(module.getContext(),
                                                    stringifyPhase(phase)));
    if (!options.dumpDirectory.empty() &&
        failed(dump(module, phase, options.dumpDirectory)))
      return failure();
  }
  return success();
}
