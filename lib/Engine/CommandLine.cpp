//===- CommandLine.cpp - Flags that the tools share -----------------------===//

#include "FuseDialect/Engine/CommandLine.h"
#include "FuseDialect/Engine/EngineError.h"
#include "llvm/Support/CommandLine.h"

using namespace mlir;
using namespace mlir::fuse;
namespace cl = llvm::cl;

namespace {

/// Flags of every tool that compiles a model. Objects on the stack, so that
/// each tool has only its own flags and no state is global.
struct ModelFlags {
  cl::OptionCategory category{"Options"};
  cl::opt<std::string> path{cl::Positional, cl::Required, cl::desc("MODEL"),
                            cl::cat(category)};
  cl::opt<std::string> entry{"entry", cl::desc("the entry function"),
                             cl::init("main"), cl::cat(category)};
  cl::list<std::string> shapes{"shape",
                               cl::desc("an input's shape, NAME:1x3x320x320"),
                               cl::value_desc("NAME:DIMS"), cl::cat(category)};
  cl::list<std::string> dims{"dim", cl::desc("a symbolic dimension's extent"),
                             cl::value_desc("SYMBOL=N"), cl::cat(category)};
  cl::list<std::string> overrides{
      "pattern-override",
      cl::desc("the fusion pattern of the ops that a selector names"),
      cl::value_desc("SELECTOR:PATTERN[:LEVEL]"), cl::cat(category)};
  cl::list<std::string> rules{"fuse-rules",
                              cl::desc("fusion rules, one a line"),
                              cl::value_desc("FILE"), cl::cat(category)};
  cl::opt<bool> noFusion{"no-fusion",
                         cl::desc("every op in a kernel of its own"),
                         cl::cat(category)};
  cl::list<std::string> reports{
      "fusion-report",
      cl::desc("every fusion decision: JSON for FILE.json, else a table"),
      cl::value_desc("FILE|-"), cl::cat(category)};
  cl::opt<std::string> cpu{"target-cpu",
                           cl::desc("the processor to compile for"),
                           cl::init("host"), cl::cat(category)};
  cl::opt<std::string> features{"target-features",
                                cl::desc("features to add or remove"),
                                cl::value_desc("+a,-b"), cl::cat(category)};
  cl::opt<std::string> dump{"dump-dir",
                            cl::desc("write the IR after each phase here"),
                            cl::value_desc("DIR"), cl::cat(category)};

  ModelOptions get() const {
    ModelOptions options;
    options.path = path;
    options.entry = entry;
    options.shapes.assign(shapes.begin(), shapes.end());
    options.dims.assign(dims.begin(), dims.end());
    options.fusion.patternOverrides.assign(overrides.begin(), overrides.end());
    options.fusion.rulesFiles.assign(rules.begin(), rules.end());
    options.fusion.noFusion = noFusion;
    options.fusionReports.assign(reports.begin(), reports.end());
    options.targetCpu = cpu;
    options.targetFeatures = features;
    options.dumpDirectory = dump;
    return options;
  }
};

} // namespace

/// Parses into the flags that are alive. Returns whether to go on.
static bool parse(int argc, char **argv, cl::OptionCategory &category,
                  StringRef overview, int &exitCode) {
  cl::HideUnrelatedOptions(category);
  // cl exits by itself after --help; errors come back.
  if (cl::ParseCommandLineOptions(argc, argv, overview, &llvm::errs()))
    return true;
  exitCode = static_cast<int>(ExitCode::usage);
  return false;
}

std::optional<RunOptions> mlir::fuse::parseRunOptions(int argc, char **argv,
                                                      int &exitCode) {
  // The shared libraries register options of their own, under common names.
  cl::ResetCommandLineParser();
  ModelFlags model;
  cl::OptionCategory &category = model.category;
  cl::list<std::string> inputs(
      "input",
      cl::desc("an input's values: 2x3xf32=0.5, @x.npy, "
               "random[:SEED[:LOW:HIGH]]"),
      cl::value_desc("[NAME=]VALUE"), cl::cat(category));
  cl::list<std::string> outputs(
      "output", cl::desc("where an output goes: @y.npy or -"),
      cl::value_desc("[NAME=]VALUE"), cl::cat(category));
  cl::list<std::string> expected("expect", cl::desc("what an output should be"),
                                 cl::value_desc("[NAME=]VALUE"),
                                 cl::cat(category));
  cl::opt<double> rtol("rtol",
                       cl::desc("relative tolerance of --expect and --verify"),
                       cl::init(-1), cl::cat(category));
  cl::opt<double> atol("atol",
                       cl::desc("absolute tolerance of --expect and --verify"),
                       cl::init(-1), cl::cat(category));
  cl::opt<bool> verify(
      "verify",
      cl::desc("compare with the reference evaluator in double precision"),
      cl::cat(category));
  cl::opt<bool> benchmark("benchmark", cl::desc("time the model"),
                          cl::cat(category));
  cl::opt<int64_t> repeat("repeat", cl::desc("calls that are timed"),
                          cl::init(100), cl::cat(category));
  cl::opt<int64_t> warmup("warmup", cl::desc("calls before"), cl::init(10),
                          cl::cat(category));
  cl::opt<std::string> json("json", cl::desc("the benchmark's figures"),
                            cl::value_desc("FILE"), cl::cat(category));
  cl::opt<int32_t> threads(
      "threads", cl::desc("threads in all; 0: what this process may use"),
      cl::init(0), cl::cat(category));
  cl::opt<std::string> accuracy(
      "accuracy", cl::desc("fast, or strict: no algorithm with larger error"),
      cl::init("fast"), cl::cat(category));
  if (!parse(argc, argv, category, "Runs a tensor graph.\n", exitCode))
    return std::nullopt;
  if (accuracy != "fast" && accuracy != "strict") {
    exitCode =
        reportError(makeError(ExitCode::usage,
                              "expected --accuracy=fast or strict but got '" +
                                  accuracy + "'"),
                    "fuse-run");
    return std::nullopt;
  }
  if (threads < 0) {
    exitCode = reportError(
        makeError(ExitCode::usage,
                  "expected --threads of at least 0 but got " + Twine(threads)),
        "fuse-run");
    return std::nullopt;
  }
  RunOptions options;
  options.model = model.get();
  options.inputs.assign(inputs.begin(), inputs.end());
  options.outputs.assign(outputs.begin(), outputs.end());
  options.expected.assign(expected.begin(), expected.end());
  options.rtol = rtol;
  options.atol = atol;
  options.verify = verify;
  options.benchmark = benchmark;
  options.repeat = repeat;
  options.warmup = warmup;
  options.json = json;
  options.threads = threads;
  return options;
}

std::optional<CompileOptions>
mlir::fuse::parseCompileOptions(int argc, char **argv, int &exitCode) {
  cl::ResetCommandLineParser();
  ModelFlags model;
  cl::OptionCategory &category = model.category;
  cl::opt<std::string> output("o", cl::desc("the output"),
                              cl::value_desc("FILE"), cl::Required,
                              cl::cat(category));
  cl::opt<std::string> compileTo(
      "compile-to", cl::desc("stop after a phase and write its IR"),
      cl::value_desc("PHASE"), cl::cat(category));
  cl::opt<std::string> emit("emit",
                            cl::desc("the kind of code: llvm, asm or obj"),
                            cl::value_desc("KIND"), cl::cat(category));
  cl::opt<std::string> accuracy(
      "accuracy", cl::desc("fast, or strict: no algorithm with larger error"),
      cl::init("fast"), cl::cat(category));
  if (!parse(argc, argv, category, "Compiles a tensor graph.\n", exitCode))
    return std::nullopt;
  CompileOptions options;
  options.model = model.get();
  options.output = output;
  options.compileTo = compileTo;
  options.emit = emit;
  return options;
}
