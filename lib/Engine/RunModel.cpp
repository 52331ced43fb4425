//===- RunModel.cpp - Compile a model and run it --------------------------===//

#include "FuseDialect/Engine/RunModel.h"
#include "FuseDialect/Engine/Benchmark.h"
#include "FuseDialect/Engine/Compare.h"
#include "FuseDialect/Engine/Executable.h"
#include "FuseDialect/Engine/Model.h"
#include "FuseDialect/Engine/Npy.h"
#include "FuseDialect/Engine/OutputFile.h"
#include "FuseDialect/Engine/TensorSpec.h"
#include "FuseDialect/Engine/Threads.h"
#include "FuseDialect/Engine/Verify.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>

using namespace mlir;
using namespace mlir::fuse;

namespace {

struct DestroyContext {
  void operator()(fuse_rt_context *context) const {
    fuse_rt_context_destroy(context);
  }
};

/// One run of fuse-run, step by step.
class ModelRun {
public:
  ModelRun(const RunOptions &options, Target target, MLIRContext *context)
      : options(options), target(std::move(target)), context(context),
        diagnostics(context) {}

  llvm::Error run();

private:
  llvm::Error load();
  llvm::Error assignTensors();
  llvm::Error bindInputs();
  llvm::Error compile();
  llvm::Error call();
  llvm::Error writeOutputs();
  llvm::Error compareOutputs();
  llvm::Error verifyOutputs();
  llvm::Error runBenchmark();
  void printSummary();

  /// Compiles a model whose shapes are known.
  llvm::Expected<Executable> createExecutable(Model &model,
                                              const CompileOptions &compile);
  /// The tensor that a SPEC gives for a value; for random ones, of `type`.
  llvm::Expected<HostTensor> createTensor(SpecValue &spec,
                                          const SignatureValue &value,
                                          RankedTensorType type,
                                          uint64_t stream);
  Tolerance getTolerance(Tolerance standard) const {
    return {options.rtol.value_or(standard.rtol),
            options.atol.value_or(standard.atol)};
  }
  SmallVector<const HostTensor *> getInputs() const {
    return llvm::map_to_vector(inputs,
                               [](const std::optional<HostTensor> &tensor) {
                                 return tensor ? &*tensor : nullptr;
                               });
  }
  const SmallVector<SignatureValue> &getOutputValues() const {
    return model->getSignature().outputs;
  }

  const RunOptions &options;
  Target target;
  MLIRContext *context;
  EngineDiagnostics diagnostics;
  std::optional<Model> model;
  /// The model as it was read, for the reference evaluator.
  OwningOpRef<ModuleOp> source;
  SmallVector<std::optional<SpecValue>> inputSpecs, outputSpecs, expectedSpecs;
  SmallVector<std::optional<HostTensor>> inputs;
  std::optional<Executable> executable;
  SmallVector<HostTensor> outputs;
  std::unique_ptr<fuse_rt_context, DestroyContext> runtime;
  double compileSeconds = 0;
};

} // namespace

llvm::Error ModelRun::load() {
  const CompileOptions &compile = options.compile;
  llvm::Expected<Model> loaded =
      Model::load(compile.model, compile.entry, diagnostics, context);
  if (!loaded)
    return loaded.takeError();
  model = std::move(*loaded);
  if (llvm::Error error = model->keepOnlyEntry())
    return error;
  if (!options.verify)
    return llvm::Error::success();
  if (model->getPhase() > Phase::Group)
    return makeError(ExitCode::usage,
                     "'--verify' needs a model in phase 'import', 'graph' or "
                     "'group' but got '" +
                         stringifyPhase(model->getPhase()) + "'");
  source = model->getModule().clone();
  return llvm::Error::success();
}

/// Finds what each SPEC is about, before anything is computed.
llvm::Error ModelRun::assignTensors() {
  const Signature &signature = model->getSignature();
  auto assign =
      [&](ArrayRef<std::string> specs, ArrayRef<SignatureValue> values,
          StringRef flag,
          SmallVector<std::optional<SpecValue>> &assigned) -> llvm::Error {
    auto result = assignSpecs(specs, values, flag, context);
    if (!result)
      return result.takeError();
    assigned = std::move(*result);
    return llvm::Error::success();
  };
  if (llvm::Error error =
          assign(options.inputs, signature.inputs, "--input", inputSpecs))
    return error;
  if (llvm::Error error =
          assign(options.outputs, signature.outputs, "--output", outputSpecs))
    return error;
  if (llvm::Error error = assign(options.expected, signature.outputs,
                                 "--expect", expectedSpecs))
    return error;
  for (std::optional<SpecValue> &spec : outputSpecs)
    if (spec && !std::holds_alternative<FileValues>(*spec) &&
        !std::holds_alternative<PrintedValues>(*spec))
      return makeError(ExitCode::usage, "in '--output': expected @FILE or '-'");
  for (auto *specs : {&inputSpecs, &expectedSpecs})
    for (std::optional<SpecValue> &spec : *specs)
      if (spec && std::holds_alternative<PrintedValues>(*spec))
        return makeError(ExitCode::usage,
                         "in '--input' or '--expect': expected values but got "
                         "'-'");
  return llvm::Error::success();
}

llvm::Expected<HostTensor> ModelRun::createTensor(SpecValue &spec,
                                                  const SignatureValue &value,
                                                  RankedTensorType type,
                                                  uint64_t stream) {
  if (auto *tensor = std::get_if<HostTensor>(&spec))
    return std::move(*tensor);
  if (auto *file = std::get_if<FileValues>(&spec))
    return readNpy(file->path, value.type.getElementType(), context);
  RandomValues random;
  if (auto *given = std::get_if<RandomValues>(&spec))
    random = *given;
  std::optional<HostTensor> tensor = makeRandomTensor(
      random, type.getShape(), value.type.getElementType(), stream);
  if (!tensor)
    return makeError("there is not enough memory for '" + value.name + "'");
  return std::move(*tensor);
}

/// Gets the inputs, and gives the model their shapes.
llvm::Error ModelRun::bindInputs() {
  const CompileOptions &compile = options.compile;
  llvm::Expected<ShapeOptions> shapes =
      ShapeOptions::parse(compile.shapes, compile.dims);
  if (!shapes)
    return shapes.takeError();
  const Signature &signature = model->getSignature();
  inputs.resize(signature.inputs.size());
  auto create = [&](size_t index, SpecValue spec,
                    RankedTensorType type) -> llvm::Error {
    llvm::Expected<HostTensor> tensor =
        createTensor(spec, signature.inputs[index], type, index);
    if (!tensor)
      return tensor.takeError();
    inputs[index] = std::move(*tensor);
    return llvm::Error::success();
  };
  for (auto [index, spec] : llvm::enumerate(inputSpecs))
    if (spec && !std::holds_alternative<RandomValues>(*spec))
      if (llvm::Error error = create(index, std::move(*spec), {}))
        return error;
  llvm::Expected<SmallVector<RankedTensorType>> types =
      bindShapes(signature, *shapes, getInputs());
  if (!types)
    return types.takeError();
  if (llvm::Error error = checkShapesKnown(signature, *types))
    return error;
  for (auto [index, spec] : llvm::enumerate(inputSpecs))
    if (!inputs[index])
      if (llvm::Error error = create(
              index, spec ? std::move(*spec) : RandomValues(), (*types)[index]))
        return error;
  return model->specialize(*types);
}

llvm::Expected<Executable>
ModelRun::createExecutable(Model &model, const CompileOptions &compile) {
  if (llvm::Error error =
          model.compile(Phase::Llvm, compile,
                        makePipelineOptions(compile, target), diagnostics))
    return error;
  auto getTypes = [](ArrayRef<SignatureValue> values) {
    return llvm::map_to_vector(
        values, [](const SignatureValue &value) { return value.type; });
  };
  const Signature &signature = model.getSignature();
  return Executable::create(model.getModule(), model.getEntryName(), target,
                            getTypes(signature.inputs),
                            getTypes(signature.outputs));
}

llvm::Error ModelRun::compile() {
  llvm::Expected<Executable> created =
      createExecutable(*model, options.compile);
  if (!created)
    return created.takeError();
  executable.emplace(std::move(*created));
  return llvm::Error::success();
}

llvm::Error ModelRun::call() {
  llvm::Expected<SmallVector<HostTensor>> tensors = executable->createOutputs();
  if (!tensors)
    return tensors.takeError();
  outputs = std::move(*tensors);
  runtime.reset(
      fuse_rt_context_create(options.threads.value_or(getDefaultThreads())));
  if (!runtime)
    return makeError("cannot start threads");
  return executable->run(runtime.get(), getInputs(), outputs);
}

llvm::Error ModelRun::writeOutputs() {
  for (auto [spec, value, tensor] :
       llvm::zip_equal(outputSpecs, getOutputValues(), outputs)) {
    if (!spec)
      continue;
    if (auto *file = std::get_if<FileValues>(&*spec)) {
      if (llvm::Error error = writeNpy(file->path, tensor))
        return error;
      continue;
    }
    llvm::outs() << value.name << "=";
    printTensor(llvm::outs(), tensor);
    llvm::outs() << "\n";
  }
  return llvm::Error::success();
}

/// An error of ExitCode::differs, or success for an empty text.
static llvm::Error makeDifference(const std::string &text) {
  return text.empty() ? llvm::Error::success()
                      : makeError(ExitCode::differs, text);
}

llvm::Error ModelRun::compareOutputs() {
  llvm::Error differences = llvm::Error::success();
  for (auto [index, spec] : llvm::enumerate(expectedSpecs)) {
    if (!spec)
      continue;
    const SignatureValue &value = getOutputValues()[index];
    llvm::Expected<HostTensor> want =
        createTensor(*spec, value, value.type, index);
    if (!want)
      return llvm::joinErrors(want.takeError(), std::move(differences));
    Tolerance tolerance =
        getTolerance(getDefaultTolerance(value.type.getElementType()));
    differences =
        llvm::joinErrors(std::move(differences),
                         makeDifference(describeDifference(
                             value.name, outputs[index], *want, tolerance)));
  }
  return differences;
}

llvm::Error ModelRun::verifyOutputs() {
  // Runs a variant of the model on the same inputs.
  auto runOther = [&](OwningOpRef<ModuleOp> module)
      -> llvm::Expected<SmallVector<HostTensor>> {
    llvm::Expected<Model> other =
        Model::fromModule(std::move(module), model->getEntryName());
    if (!other)
      return other.takeError();
    SmallVector<RankedTensorType> types = llvm::map_to_vector(
        inputs, [](const std::optional<HostTensor> &tensor) {
          return tensor->getType();
        });
    if (llvm::Error error = other->specialize(types))
      return error;
    CompileOptions compile = options.compile;
    compile.fusionReports.clear();
    compile.dumpDirectory.clear();
    llvm::Expected<Executable> code = createExecutable(*other, compile);
    if (!code)
      return code.takeError();
    llvm::Expected<SmallVector<HostTensor>> results = code->createOutputs();
    if (!results)
      return results.takeError();
    if (llvm::Error error = code->run(runtime.get(), getInputs(), *results))
      return error;
    return results;
  };
  return fuse::verifyOutputs(
      *source, model->getEntryName(), getOutputValues(), getInputs(), outputs,
      [&](const HostTensor &want) {
        return getTolerance(getScaledTolerance(want));
      },
      runOther);
}

llvm::Error ModelRun::runBenchmark() {
  llvm::Expected<CallTimes> times =
      benchmark(executable->bind(runtime.get(), getInputs(), outputs),
                options.warmup, options.repeat);
  if (!times)
    return times.takeError();
  int32_t threads = fuse_rt_context_threads(runtime.get());
  if (options.json != "-")
    llvm::outs() << llvm::format("min %.1f us, median %.1f us, p99 %.1f us",
                                 times->min, times->median, times->p99)
                 << " (" << options.repeat << " calls, " << threads
                 << (threads == 1 ? " thread)\n" : " threads)\n");
  if (options.json.empty())
    return llvm::Error::success();
  llvm::json::Object object{{"model", options.compile.model},
                            {"threads", threads},
                            {"repeat", options.repeat},
                            {"warmup", options.warmup},
                            {"min_us", times->min},
                            {"median_us", times->median},
                            {"p99_us", times->p99},
                            {"kernels", model->getNumKernels()},
                            {"arena_bytes", executable->getArenaBytes()},
                            {"weights_bytes", executable->getWeightsBytes()},
                            {"compile_s", compileSeconds}};
  // A path need not be UTF-8, JSON must be.
  object["model"] = llvm::json::fixUTF8(options.compile.model);
  return writeFile(options.json, [&](llvm::raw_pwrite_stream &os) {
    os << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(object)));
    return llvm::Error::success();
  });
}

/// `318 ops -> 94 kernels, avx512, 2 threads`
void ModelRun::printSummary() {
  int64_t ops = model->getNumSourceOps(), kernels = model->getNumKernels();
  int32_t threads = fuse_rt_context_threads(runtime.get());
  llvm::outs() << ops << (ops == 1 ? " op -> " : " ops -> ") << kernels
               << (kernels == 1 ? " kernel, " : " kernels, ")
               << target.getVectorName() << ", " << threads
               << (threads == 1 ? " thread" : " threads")
               << "; see --output=-, --verify, --benchmark, "
                  "--fusion-report=-\n";
}

llvm::Error ModelRun::run() {
  using Clock = std::chrono::steady_clock;
  auto measure = [&](auto step) {
    Clock::time_point start = Clock::now();
    llvm::Error error = step();
    compileSeconds +=
        std::chrono::duration<double>(Clock::now() - start).count();
    return error;
  };
  if (llvm::Error error = measure([&] { return load(); }))
    return error;
  if (llvm::Error error = assignTensors())
    return error;
  if (llvm::Error error = bindInputs())
    return error;
  if (llvm::Error error = measure([&] { return compile(); }))
    return error;
  if (llvm::Error error = call())
    return error;
  if (llvm::Error error = writeOutputs())
    return error;
  llvm::Error differences = compareOutputs();
  if (options.verify)
    differences = llvm::joinErrors(std::move(differences), verifyOutputs());
  if (options.benchmark)
    differences = llvm::joinErrors(std::move(differences), runBenchmark());
  if (options.outputs.empty() && options.expected.empty() && !options.verify &&
      !options.benchmark && options.compile.fusionReports.empty())
    printSummary();
  return differences;
}

/// Checks flags that do not depend on the model.
static llvm::Error checkOptions(const RunOptions &options) {
  auto usage = [](const Twine &message) {
    return makeError(ExitCode::usage, message);
  };
  if (options.threads && (*options.threads < 1 || *options.threads > 1024))
    return usage("in '--threads': expected 1 to 1024 but got " +
                 Twine(*options.threads));
  if (!options.repeat)
    return usage("in '--repeat': expected at least 1 but got 0");
  if (!options.json.empty() && !options.benchmark)
    return usage("'--json' needs '--benchmark'");
  for (std::optional<double> tolerance : {options.rtol, options.atol})
    if (tolerance && !(*tolerance >= 0))
      return usage("in '--rtol' or '--atol': expected a number of at least 0");
  return llvm::Error::success();
}

llvm::Error mlir::fuse::runModel(const RunOptions &options) {
  if (llvm::Error error = checkOptions(options))
    return error;
  llvm::Expected<Target> target =
      Target::create(options.compile.targetCpu, options.compile.targetFeatures);
  if (!target)
    return target.takeError();
  if (llvm::Error error = target->checkRunsHere())
    return error;
  DialectRegistry registry;
  registerPipelineDialects(registry);
  MLIRContext context(registry);
  return ModelRun(options, std::move(*target), &context).run();
}
