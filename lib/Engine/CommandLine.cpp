//===- CommandLine.cpp - The flags of the tools ---------------------------===//

#include "FuseDialect/Engine/CommandLine.h"
#include "FuseDialect/Engine/EngineError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::fuse;

void mlir::fuse::resetCommandLine() { llvm::cl::ResetCommandLineParser(); }

bool mlir::fuse::parseCommandLine(int argc, const char *const *argv,
                                  StringRef overview) {
  // The reset took the general category away, and --help lists by category.
  llvm::cl::OptionCategory category("Options");
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (llvm::is_contained(option->Categories, &llvm::cl::getGeneralCategory()))
      option->addCategory(category);
  return llvm::cl::ParseCommandLineOptions(argc, argv, overview, &llvm::errs());
}

static std::vector<std::string>
toVector(const llvm::cl::list<std::string> &list) {
  return {list.begin(), list.end()};
}

CompileOptions CompileFlags::get() const {
  CompileOptions options;
  options.model = model;
  options.entry = entry;
  options.shapes = toVector(shapes);
  options.dims = toVector(dims);
  options.fusion.patternOverrides = toVector(patternOverrides);
  options.fusion.rulesFiles = toVector(rulesFiles);
  options.fusion.noFusion = noFusion;
  options.fusionReports = toVector(fusionReports);
  options.accuracy = accuracy;
  options.targetCpu = targetCpu;
  options.targetFeatures = targetFeatures;
  options.dumpDirectory = dumpDirectory;
  return options;
}

RunOptions RunFlags::get() const {
  RunOptions options;
  options.compile = compile.get();
  options.inputs = toVector(inputs);
  options.outputs = toVector(outputs);
  options.expected = toVector(expected);
  if (rtol.getNumOccurrences())
    options.rtol = rtol;
  if (atol.getNumOccurrences())
    options.atol = atol;
  options.verify = verify;
  options.benchmark = benchmark;
  options.repeat = repeat;
  options.warmup = warmup;
  options.json = json;
  if (threads.getNumOccurrences())
    options.threads = threads;
  return options;
}

llvm::Expected<EmitOptions> EmitFlags::get() const {
  EmitOptions options;
  options.compile = compile.get();
  options.output = output;
  auto form = EmitOptions::parseForm(lastPhase, emit, output);
  if (!form)
    return form.takeError();
  options.form = *form;
  return options;
}
