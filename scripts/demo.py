"""Subtract and exp on [100,120,120] f32: why fused, how to stop it, what it costs.

Builds the ONNX model, shows the fusion report, runs the model fused and with exp
kept apart, compares both with numpy and prints the times. Every command is shown
as a person would type it. Exits with 1 if a result differs from numpy's.
"""

import json
import pathlib
import shlex
import subprocess
import sys
import time

import numpy as np
import onnx
from onnx import TensorProto, helper

ROOT = pathlib.Path(__file__).resolve().parents[1]
DIRECTORY = ROOT / "build" / "demo"
RTOL = 1e-6
OVERRIDE = "--pattern-override=exp:opaque"


def build_model(path):
    """The graph of the forum question, with its node names."""
    nodes = [helper.make_node("Sub", ["x", "m"], ["difference"],
                              name="functional_1/activation_2/sub"),
             helper.make_node("Exp", ["difference"], ["y"],
                              name="functional_1/activation_2/Exp")]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "sub_exp",
                              [value("x", TensorProto.FLOAT, [100, 120, 120]),
                               value("m", TensorProto.FLOAT, [100, 120, 1])],
                              [value("y", TensorProto.FLOAT, [100, 120, 120])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                              ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def fuse_run(*arguments):
    """Runs fuse-run in the demo's directory, showing the command and what it
    prints."""
    print("$ fuse-run " + shlex.join(arguments))
    result = subprocess.run([ROOT / "build" / "bin" / "fuse-run", *arguments],
                            cwd=DIRECTORY, text=True, capture_output=True, check=False)
    print(result.stdout + result.stderr, end="", flush=True)
    if result.returncode != 0:
        sys.exit(f"fuse-run failed with exit code {result.returncode}")


def run_and_compare(expected, *flags):
    """Runs the model and returns the largest relative error."""
    fuse_run("sub_exp.onnx", "--input=x=@x.npy", "--input=m=@m.npy", "--output=y=@y.npy",
             *flags)
    result = np.load(DIRECTORY / "y.npy")
    error = float(np.max(np.abs(result - expected) / expected))
    print(f"largest relative error against numpy in float64: {error:.1e}\n")
    return error


def benchmark(*flags):
    """The least time in microseconds."""
    fuse_run("sub_exp.onnx", "--input=x=@x.npy", "--input=m=@m.npy", "--benchmark",
             "--threads=1", "--repeat=200", "--json=times.json", *flags)
    return json.loads((DIRECTORY / "times.json").read_text())["min_us"]


def time_numpy(function, repeat=50):
    times = []
    for _ in range(repeat):
        start = time.perf_counter_ns()
        function()
        times.append((time.perf_counter_ns() - start) / 1e3)
    return min(times)


def main():
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    build_model(DIRECTORY / "sub_exp.onnx")
    x = np.random.default_rng(0).standard_normal((100, 120, 120)).astype(np.float32)
    m = x.max(axis=2, keepdims=True)
    np.save(DIRECTORY / "x.npy", x)
    np.save(DIRECTORY / "m.npy", m)
    expected = np.exp(x.astype(np.float64) - m)

    print("== The compiler's own choice: one kernel\n")
    errors = [run_and_compare(expected, "--fusion-report=-")]
    print("== exp kept apart: two kernels\n")
    errors.append(run_and_compare(expected, OVERRIDE, "--fusion-report=-"))

    print("== Times, one thread\n")
    copy = np.empty_like(x)
    rows = [("fused", benchmark()), ("exp kept apart", benchmark(OVERRIDE)),
            ("numpy", time_numpy(lambda: np.exp(x - m))),
            ("memcpy of the same bytes", time_numpy(lambda: np.copyto(copy, x), 200))]
    print(f"\n{'':<26}{'us':>8}{'of fused':>10}")
    for name, microseconds in rows:
        print(f"{name:<26}{microseconds:>8.0f}{microseconds / rows[0][1]:>9.2f}x")

    if not max(errors) <= RTOL:
        sys.exit(f"a result differs from numpy's by more than {RTOL}")


if __name__ == "__main__":
    main()
