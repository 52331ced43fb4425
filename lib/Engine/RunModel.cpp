//===- RunModel.cpp - What fuse-run does ----------------------------------===//

#include "FuseDialect/Engine/RunModel.h"
#include "FuseDialect/Engine/DiagnosticPrinter.h"
#include "FuseDialect/Engine/EngineError.h"
#include "FuseDialect/Engine/Executable.h"
#include "FuseDialect/Engine/Npy.h"
#include "FuseDialect/Engine/OutputFile.h"
#include "FuseDialect/Engine/TensorSpec.h"
#include "FuseDialect/Engine/Threads.h"
#include "FuseDialect/Engine/Verify.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <chrono>

using namespace mlir;
using namespace mlir::fuse;

using Clock = std::chrono::steady_clock;

namespace {

struct DestroyContext {
  void operator()(fuse_rt_context *context) const {
    fuse_rt_context_destroy(context);
  }
};
using ContextPtr = std::unique_ptr<fuse_rt_context, DestroyContext>;

/// A model that is compiled for certain shapes.
struct CompiledModel {
  Executable executable;
  int64_t kernels = 0;
  double compileSeconds = 0;
};

/// Times of the calls of a benchmark, in microseconds.
struct Timing {
  double min, median, p99;
};

} // namespace

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// Tensors that the --input specs hold or name files of; none for the rest.
static llvm::Expected<SmallVector<std::optional<HostTensor>>>
loadInputs(ArrayRef<std::optional<SpecValue>> specs, const Signature &signature,
           MLIRContext *context) {
  SmallVector<std::optional<HostTensor>> tensors(specs.size());
  for (auto [number, spec] : llvm::enumerate(specs)) {
    if (!spec)
      continue;
    if (const auto *tensor = std::get_if<HostTensor>(&*spec)) {
      tensors[number] = tensor->clone();
    } else if (const auto *file = std::get_if<FileValues>(&*spec)) {
      Type element = signature.inputs[number].type.getElementType();
      llvm::Expected<HostTensor> tensor = readNpy(file->path, element, context);
      if (!tensor)
        return tensor.takeError();
      tensors[number] = std::move(*tensor);
    } else if (std::holds_alternative<PrintedValues>(*spec)) {
      return makeError(ExitCode::usage, "expected values for input '" +
                                            signature.inputs[number].name +
                                            "' but got '-'");
    }
  }
  return std::move(tensors);
}

/// Random tensors for the inputs that have none yet.
static llvm::Error
fillInputs(ArrayRef<std::optional<SpecValue>> specs,
           ArrayRef<RankedTensorType> types,
           MutableArrayRef<std::optional<HostTensor>> tensors) {
  for (auto [number, type] : llvm::enumerate(types)) {
    if (tensors[number])
      continue;
    RandomValues random;
    if (specs[number])
      if (const auto *given = std::get_if<RandomValues>(&*specs[number]))
        random = *given;
    tensors[number] = makeRandomTensor(random, type.getShape(),
                                       type.getElementType(), number);
    if (!tensors[number])
      return makeError(
          "there is not enough memory for an input of type " +
          formatTensorType(type.getShape(), type.getElementType()));
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static llvm::Expected<CompiledModel>
compileModel(Model &model, StringRef entry, ArrayRef<RankedTensorType> inputs) {
  auto start = Clock::now();
  if (llvm::Error error = model.specialise(inputs))
    return std::move(error);
  if (llvm::Error error = model.compile(Phase::Group))
    return std::move(error);
  SmallVector<RankedTensorType> outputs;
  for (Type type : model.getEntry().getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return makeError(ExitCode::unsupported,
                       "outputs whose shape depends on the inputs' values are "
                       "not supported yet");
    outputs.push_back(tensor);
  }
  if (llvm::Error error = model.compile(Phase::Tune))
    return std::move(error);
  int64_t kernels = model.countLaunches();
  if (llvm::Error error = model.compile(Phase::Llvm))
    return std::move(error);
  llvm::Expected<Executable> executable = Executable::create(
      model.getModule(), entry, model.getTarget(), inputs, outputs);
  if (!executable)
    return executable.takeError();
  std::chrono::duration<double> seconds = Clock::now() - start;
  return CompiledModel{std::move(*executable), kernels, seconds.count()};
}

static Timing measure(Executable::Call &call, int64_t warmup, int64_t repeat) {
  for (int64_t i = 0; i < warmup; ++i)
    call();
  std::vector<double> times;
  times.reserve(repeat);
  for (int64_t i = 0; i < repeat; ++i) {
    auto start = Clock::now();
    call();
    times.push_back(
        std::chrono::duration<double, std::micro>(Clock::now() - start)
            .count());
  }
  llvm::sort(times);
  auto quantile = [&](double part) {
    return times[std::min<size_t>(times.size() - 1, part * times.size())];
  };
  return {times.front(), quantile(0.5), quantile(0.99)};
}

static llvm::Error reportBenchmark(const RunOptions &options,
                                   const CompiledModel &compiled,
                                   const Timing &timing, int32_t threads) {
  llvm::outs() << llvm::formatv(
      "min {0:F1} us, median {1:F1} us, p99 {2:F1} us, {3} kernels, "
      "{4} thread{5}, compiled in {6:F2} s\n",
      timing.min, timing.median, timing.p99, compiled.kernels, threads,
      threads == 1 ? "" : "s", compiled.compileSeconds);
  if (options.json.empty())
    return llvm::Error::success();
  llvm::json::Object figures{
      {"model", options.model.path},
      {"threads", threads},
      {"repeat", options.repeat},
      {"warmup", options.warmup},
      {"min_us", timing.min},
      {"median_us", timing.median},
      {"p99_us", timing.p99},
      {"kernels", compiled.kernels},
      {"arena_bytes", compiled.executable.getArenaBytes()},
      {"weights_bytes", compiled.executable.getWeightsBytes()},
      {"compile_s", compiled.compileSeconds}};
  return writeFile(options.json, [&](llvm::raw_pwrite_stream &os) {
    os << llvm::formatv("{0:2}", llvm::json::Value(std::move(figures))) << '\n';
    return llvm::Error::success();
  });
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

static llvm::Error writeOutputs(ArrayRef<std::optional<SpecValue>> specs,
                                const Signature &signature,
                                ArrayRef<HostTensor> outputs) {
  for (auto [number, spec] : llvm::enumerate(specs)) {
    if (!spec)
      continue;
    const std::string &name = signature.outputs[number].name;
    if (std::holds_alternative<PrintedValues>(*spec)) {
      llvm::outs() << name << '=';
      printTensor(llvm::outs(), outputs[number]);
      llvm::outs() << '\n';
    } else if (const auto *file = std::get_if<FileValues>(&*spec)) {
      if (llvm::Error error = writeNpy(file->path, outputs[number]))
        return error;
    } else {
      return makeError(ExitCode::usage,
                       "expected '@FILE.npy' or '-' for output '" + name + "'");
    }
  }
  return llvm::Error::success();
}

static llvm::Error compareOutputs(const RunOptions &options,
                                  ArrayRef<std::optional<SpecValue>> specs,
                                  const Signature &signature,
                                  ArrayRef<HostTensor> outputs,
                                  MLIRContext *context) {
  std::string differences;
  for (auto [number, spec] : llvm::enumerate(specs)) {
    if (!spec)
      continue;
    const HostTensor &got = outputs[number];
    std::optional<HostTensor> want;
    if (const auto *tensor = std::get_if<HostTensor>(&*spec)) {
      want = tensor->clone();
    } else if (const auto *file = std::get_if<FileValues>(&*spec)) {
      llvm::Expected<HostTensor> read =
          readNpy(file->path, got.getElementType(), context);
      if (!read)
        return read.takeError();
      want = std::move(*read);
    }
    if (!want)
      return makeError(ExitCode::usage,
                       "expected values or '@FILE.npy' for output '" +
                           signature.outputs[number].name + "'");
    Tolerance tolerance =
        chooseTolerance(got.getElementType(), options.rtol, options.atol);
    std::string difference = describeDifference(signature.outputs[number].name,
                                                got, *want, tolerance);
    if (!difference.empty())
      differences += (differences.empty() ? "" : "\n") + difference;
  }
  if (differences.empty())
    return llvm::Error::success();
  return makeError(ExitCode::differs, differences);
}

llvm::Error mlir::fuse::runModel(const RunOptions &options) {
  if (options.repeat < 1 || options.warmup < 0)
    return makeError(
        ExitCode::usage,
        "expected --repeat of at least 1 and --warmup of at least 0");
  DialectRegistry registry;
  registerModelDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  DiagnosticPrinter printer(&context);
  llvm::Expected<Model> model = Model::load(options.model, &context);
  if (!model)
    return model.takeError();
  if (llvm::Error error = model->getTarget().checkRunsHere())
    return error;
  const Signature signature = model->getSignature();
  auto inputSpecs =
      assignSpecs(options.inputs, signature.inputs, "--input", &context);
  if (!inputSpecs)
    return inputSpecs.takeError();
  auto outputSpecs =
      assignSpecs(options.outputs, signature.outputs, "--output", &context);
  if (!outputSpecs)
    return outputSpecs.takeError();
  auto expectedSpecs =
      assignSpecs(options.expected, signature.outputs, "--expect", &context);
  if (!expectedSpecs)
    return expectedSpecs.takeError();

  auto tensors = loadInputs(*inputSpecs, signature, &context);
  if (!tensors)
    return tensors.takeError();
  SmallVector<const HostTensor *> given = llvm::map_to_vector(
      *tensors, [](const std::optional<HostTensor> &tensor) {
        return tensor ? &*tensor : nullptr;
      });
  auto types = bindShapes(signature, model->getShapeOptions(), given);
  if (!types)
    return types.takeError();
  if (llvm::Error error = checkShapesKnown(signature, *types))
    return error;
  if (llvm::Error error = fillInputs(*inputSpecs, *types, *tensors))
    return error;
  SmallVector<const HostTensor *> inputs = llvm::map_to_vector(
      *tensors,
      [](const std::optional<HostTensor> &tensor) { return &*tensor; });

  OwningOpRef<ModuleOp> imported;
  if (options.verify) {
    std::optional<Phase> phase = getPhase(model->getModule());
    if (!phase || *phase > Phase::Group)
      return makeError(ExitCode::unsupported,
                       "verifying a model past phase 'group' is not supported");
    if (llvm::Error error = model->specialise(*types))
      return error;
    imported = model->getModule().clone();
  }
  int64_t ops = model->countOps();
  llvm::Expected<CompiledModel> compiled =
      compileModel(*model, options.model.entry, *types);
  if (!compiled)
    return compiled.takeError();
  auto outputs = compiled->executable.createOutputs();
  if (!outputs)
    return outputs.takeError();
  int32_t threads = options.threads > 0 ? options.threads : getDefaultThreads();
  ContextPtr runtime(fuse_rt_context_create(threads));
  if (!runtime)
    return makeError("cannot start " + Twine(threads) + " threads");

  Executable::Call call =
      compiled->executable.bind(runtime.get(), inputs, *outputs);
  if (options.benchmark) {
    Timing timing = measure(call, options.warmup, options.repeat);
    if (llvm::Error error =
            reportBenchmark(options, *compiled, timing, threads))
      return error;
  } else {
    if (call() != 0)
      return makeError("the model failed while running");
    bool isQuiet = options.verify || !options.outputs.empty() ||
                   !options.expected.empty() ||
                   !options.model.fusionReports.empty();
    if (!isQuiet)
      llvm::outs() << llvm::formatv(
          "{0} op{1} -> {2} kernel{3}, {4}, {5} thread{6}, 0 tuned; see "
          "--fusion-report=-\n",
          ops, ops == 1 ? "" : "s", compiled->kernels,
          compiled->kernels == 1 ? "" : "s", model->getTarget().getVectorName(),
          threads, threads == 1 ? "" : "s");
  }
  if (llvm::Error error = writeOutputs(*outputSpecs, signature, *outputs))
    return error;
  if (llvm::Error error = compareOutputs(options, *expectedSpecs, signature,
                                         *outputs, &context))
    return error;
  if (!options.verify)
    return llvm::Error::success();
  auto run = [&](OwningOpRef<ModuleOp> module)
      -> llvm::Expected<SmallVector<HostTensor>> {
    ModelOptions plain = options.model;
    plain.fusionReports.clear();
    llvm::Expected<Model> exposed = Model::fromModule(plain, std::move(module));
    if (!exposed)
      return exposed.takeError();
    llvm::Expected<CompiledModel> all =
        compileModel(*exposed, options.model.entry, *types);
    if (!all)
      return all.takeError();
    auto results = all->executable.createOutputs();
    if (!results)
      return results.takeError();
    if (llvm::Error error =
            all->executable.run(runtime.get(), inputs, *results))
      return std::move(error);
    return results;
  };
  if (llvm::Error error =
          verifyOutputs(*imported, options.model, signature, inputs, *outputs,
                        options.rtol, options.atol, run))
    return error;
  llvm::outs() << "verified: all outputs agree with the reference\n";
  return llvm::Error::success();
}
