"""Times one engine on one model, alone in its process.

    peer.py ENGINE MODEL THREADS SECONDS DIRECTORY

prints one JSON line: {"min_us": …, "median_us": …, "error": …}, the error being
the largest difference from numpy in float64 over the largest output. `memcpy`
copies as many bytes as the model has to read and write.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

import numpy as np
from models import MODELS

BIN = pathlib.Path(os.environ.get(
    "FUSE_BIN", pathlib.Path(__file__).resolve().parents[1] / "build" / "bin"))


def with_numpy(model, path, feeds, threads):
    arrays = list(feeds.values())
    return lambda: model.numpy(*arrays)


def with_onnxruntime(model, path, feeds, threads):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options,
                                           providers=["CPUExecutionProvider"])
    return lambda: session.run(None, feeds)[0]


def with_openvino(model, path, feeds, threads):
    import openvino
    compiled = openvino.Core().compile_model(path, "CPU", {
        "INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32",
        "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY"})
    request = compiled.create_infer_request()
    request.infer(feeds)

    def run():
        request.infer()
        return request.get_output_tensor(0).data
    return run


def with_jax(model, path, feeds, threads):
    if threads == 1:
        os.environ["XLA_FLAGS"] = ("--xla_cpu_multi_thread_eigen=false "
                                   "intra_op_parallelism_threads=1")
    import jax
    import jax.numpy as jnp
    function = jax.jit(model.jax(jax, jnp))
    arrays = [jnp.asarray(array) for array in feeds.values()]
    return lambda: function(*arrays).block_until_ready()


def with_memcpy(model, path, feeds, threads):
    source = np.ones(model.bytes() // 2, np.uint8)
    target = np.zeros_like(source)
    return lambda: np.copyto(target, source)


ENGINES = {"numpy": with_numpy, "onnxruntime": with_onnxruntime,
           "openvino": with_openvino, "jax": with_jax, "memcpy": with_memcpy}


def measure(function, seconds):
    """Times of single calls in microseconds, sorted."""
    for _ in range(3):
        function()
    times = []
    end = time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < end:
        start = time.perf_counter_ns()
        function()
        times.append((time.perf_counter_ns() - start) / 1e3)
    return sorted(times)


def relative_error(model, feeds, result):
    exact = model.numpy(*(array.astype(np.float64) for array in feeds.values()))
    difference = np.max(np.abs(np.asarray(result, np.float64) - exact))
    return float(difference / np.max(np.abs(exact)))


def fuse(model, path, feeds, threads, seconds, directory):
    """Our own: fuse-run does the timing, and a run of its own the result."""
    arguments = []
    for name, array in feeds.items():
        file = directory / f"{model.name}.{name}.npy"
        np.save(file, array)
        arguments.append(f"--input={name}=@{file}")
    out, report = (directory / f"{model.name}.{name}" for name in ("out.npy", "json"))
    common = [BIN / "fuse-run", path, f"--threads={threads}", *arguments]
    subprocess.run([*common, f"--output=out=@{out}"], check=True, stdout=subprocess.DEVNULL)
    # As many repeats as fit the time, judged by the traffic at 5 GB/s.
    repeat = max(20, int(seconds / (model.bytes() / 5e9)))
    subprocess.run([*common, "--benchmark", f"--repeat={repeat}", f"--json={report}"],
                   check=True, stdout=subprocess.DEVNULL)
    times = json.loads(report.read_text())
    return times["min_us"], times["median_us"], np.load(out)


def main(engine, name, threads, seconds, directory):
    threads, seconds = int(threads), float(seconds)
    directory = pathlib.Path(directory)
    if threads == 1:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    model = MODELS[name]
    path, feeds = str(directory / f"{name}.onnx"), model.feeds()
    if engine == "fuse":
        least, median, result = fuse(model, path, feeds, threads, seconds, directory)
    else:
        function = ENGINES[engine](model, path, feeds, threads)
        times = measure(function, seconds)
        least, median, result = times[0], times[len(times) // 2], function()
    error = None if engine == "memcpy" else relative_error(model, feeds, result)
    print(json.dumps({"min_us": least, "median_us": median, "error": error}))


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])
