"""Graphs as models have them: values and, where it matters, the fusion."""

import json

import compare
import numpy as np
import pytest
from program import Program
from types_and_values import ordinary


def report(runner, program, *flags):
    """The fusion report of a program."""
    model = runner.write(program.text(), ".mlir")
    path = runner.path(".json")
    runner.succeed("fuse-compile", model, "--compile-to=group", "-o", runner.path(".mlir"),
                   f"--fusion-report={path}", *flags)
    return json.loads(path.read_text())


def kernels(groups):
    """The sets of source ops that share a kernel."""
    return sorted(sorted(group["ops"]) for group in groups["groups"])


def written_out_softmax(program, x):
    axis = [len(x.shape) - 1]
    shifted = program.op("sub", x, program.op("reduce_max", x, axes=axis, loc="max"),
                         loc="sub")
    e = program.op("exp", shifted, loc="exp")
    return program.op("div", e, program.op("reduce_sum", e, axes=axis, loc="sum"), loc="div")


def written_out_layer_norm(program, x, scale, bias):
    axis = [len(x.shape) - 1]
    d = program.op("sub", x, program.op("reduce_mean", x, axes=axis))
    variance = program.op("reduce_mean", program.op("mul", d, d), axes=axis)
    deviation = program.op("sqrt", program.op(
        "add", variance, program.constant(np.float32(1e-5))))
    normal = program.op("div", d, deviation)
    return program.op("add", program.op("mul", normal, scale), bias)


@pytest.mark.parametrize("shape", [(64, 1000), (12, 16, 128), (3, 1), (5, 17)])
def test_softmax_written_out(runner, rng, shape):
    program = Program()
    x = program.input(ordinary("f32", shape, rng, -80, 80))
    y = program.output(written_out_softmax(program, x), rtol=2e-6, atol=1e-12)
    program.output(program.op("softmax", x, axis=len(shape) - 1), rtol=2e-6, atol=1e-12)
    program.check(runner)
    assert y.shape == shape


def test_softmax_written_out_is_one_kernel(runner, rng):
    program = Program()
    x = program.input(ordinary("f32", (64, 1000), rng))
    program.output(written_out_softmax(program, x))
    groups = report(runner, program)
    assert kernels(groups) == [["div", "exp", "max", "sub", "sum"]]
    assert all(edge["fused"] for edge in groups["edges"])


@pytest.mark.parametrize("shape", [(32, 768), (5, 19), (2, 3, 64)])
def test_layer_norm_written_out(runner, rng, shape):
    program = Program()
    x = program.input(ordinary("f32", shape, rng))
    scale = program.input(ordinary("f32", shape[-1:], rng))
    bias = program.input(ordinary("f32", shape[-1:], rng))
    program.output(written_out_layer_norm(program, x, scale, bias), rtol=1e-5, atol=1e-5)
    assert len(report(runner, program)["groups"]) == 1
    program.check(runner)
    program.check(runner, "--no-fusion")


def test_intermediate_that_is_an_output(runner, rng):
    """A value that the graph returns is not fused away."""
    program = Program()
    x = program.input(ordinary("f32", (20, 33), rng))
    c = program.output(program.op("exp", x), ulps=2)
    y = program.output(program.op("neg", c), ulps=2)
    program.output(program.op("reduce_sum", y, axes=[1]), rtol=1e-5)
    program.check(runner)


def test_an_input_and_a_constant_that_are_outputs(runner, rng):
    program = Program()
    x = program.input(ordinary("f32", (3, 5), rng))
    program.output(x, ulps=0)
    program.output(x, ulps=0)
    program.output(program.constant(np.arange(4, dtype=np.int32)))
    y = program.output(program.op("tanh", x), ulps=2)
    program.output(y, ulps=2)
    program.check(runner)


def test_barrier_separates(runner, rng):
    """Nothing before a barrier shares a kernel with what is after it; what is
    after it still fuses."""
    program = Program()
    x = program.input(ordinary("f32", (20, 33), rng))
    y = program.op("barrier", program.op("exp", x, loc="exp"), loc="stop")
    y = program.op("relu", program.op("tanh", y, loc="tanh"), loc="relu")
    program.output(y, ulps=4)
    groups = report(runner, program)
    assert ["relu", "tanh"] in kernels(groups)
    assert not any("exp" in ops and "tanh" in ops for ops in kernels(groups))
    program.check(runner)


def test_two_results_of_one_producer(runner, rng):
    """Only one part of a split goes on, both are returned."""
    program = Program()
    x = program.input(ordinary("f32", (6, 40), rng))
    first, second = program.op("split", x, axis=1, sizes=[17, 23])
    program.output(first, ulps=0)
    program.output(program.op("exp", program.op("transpose", second, permutation=[1, 0])),
                   ulps=2)
    program.output(second, ulps=0)
    program.check(runner)


def test_shared_producer(runner, rng):
    """Two consumers of one value, read at equal and at different indices."""
    program = Program()
    x = program.input(ordinary("f32", (24, 24), rng))
    t = program.op("sigmoid", x, loc="t")
    program.output(program.op("mul", t, x, loc="same"), ulps=4)
    program.output(program.op("add", t, program.op("transpose", t, permutation=[1, 0]),
                              loc="other"), ulps=4)
    program.check(runner)
    groups = report(runner, program)
    assert not any(group["duplicated"] for group in groups["groups"])


def test_function_names_that_clash(runner, rng):
    """Users' symbols stay theirs, whatever kernels are called."""
    program = Program()
    x = program.input(ordinary("f32", (20, 33), rng))
    program.output(program.op("exp", program.op("sub", x, x)), ulps=2)
    clash = "".join(f"func.func private @{name}(%a: tensor<f32>) -> tensor<f32> "
                    "{ return %a : tensor<f32> }\n"
                    for name in ("fused_sub_exp", "fused_sub_exp_0", "fused_0", "exp"))
    text = program.text()
    program.text = lambda: text + clash
    program.check(runner)


@pytest.mark.parametrize("length", [400, 2000])
def test_long_chains(runner, rng, length):
    program = Program()
    value = program.input(ordinary("f32", (4, 4), rng))
    for position in range(length):
        value = program.op("cos" if position % 2 else "sin", value)
    program.output(value, rtol=1e-5, atol=1e-6)
    program.check(runner)


def test_stacked_diamonds(runner, rng):
    """2^12 paths, 36 ops: work must follow the ops."""
    program = Program()
    value = program.input(ordinary("f32", (8, 33), rng))
    for _ in range(12):
        left, right = program.op("tanh", value), program.op("neg", value)
        value = program.op("add", left, right)
    program.output(value, rtol=1e-4, atol=1e-5)
    program.check(runner)


def test_dynamic_shapes_that_do_not_broadcast(runner):
    """An error that names the input; nothing is read out of bounds."""
    model = runner.write(
        "func.func @main(%a: tensor<1x12x6x6xf32>, %b: tensor<?x?x6x6xf32>) -> "
        "tensor<?x12x6x6xf32> {\n  %0 = fuse.add %a, %b : (tensor<1x12x6x6xf32>, "
        "tensor<?x?x6x6xf32>) -> tensor<?x12x6x6xf32>\n"
        "  return %0 : tensor<?x12x6x6xf32>\n}\n", ".mlir")
    a = np.ones((1, 12, 6, 6), np.float32)
    for shape, fits in (((1, 1, 6, 6), True), ((3, 12, 6, 6), True), ((1, 5, 6, 6), False)):
        b = np.full(shape, 2, np.float32)
        out = runner.path(".npy")
        arguments = [model, f"--input=arg0=@{runner.save(a)}",
                     f"--input=arg1=@{runner.save(b)}", f"--output=out=@{out}"]
        if fits:
            runner.succeed("fuse-run", *arguments)
            np.testing.assert_array_equal(np.load(out), a + b)
        else:
            runner.fail("fuse-run", *arguments)
            assert not out.exists()


@pytest.mark.parametrize("sizes", [((3, 5), (3, 1)), ((0, 4), (1, 4)), ((40, 70), (40, 70)),
                                   ((1, 1), (1, 1)), ((7, 16), (1, 16))])
def test_one_dynamic_kernel(runner, rng, sizes):
    program = Program(dynamic=True)
    x, m = (program.input(ordinary("f32", shape, rng)) for shape in sizes)
    e = program.op("exp", program.op("sub", x, m))
    program.output(e, ulps=4)
    program.output(program.op("reduce_sum", e, axes=[1]), rtol=1e-5)
    program.check(runner)


def test_threads_do_not_change_bits(runner, rng):
    """Large enough that two threads share the work."""
    program = Program()
    x = program.input(ordinary("f32", (512, 768), rng))
    y = program.input(ordinary("f32", (768,), rng))
    program.output(program.op("gelu", program.op("add", x, y)), rtol=1e-5, atol=1e-6)
    program.output(program.op("softmax", x, axis=1), rtol=1e-5, atol=1e-8)
    program.output(program.op("layer_norm", x, y, axis=1), rtol=1e-4, atol=1e-5)
    program.output(program.op("reduce_sum", x, axes=[0]), rtol=1e-4, atol=1e-4)
    program.output(program.op("reduce_sum", x, axes=[0, 1]), rtol=1e-4, atol=1e-2)
    program.output(program.op("transpose", x, permutation=[1, 0]), ulps=0)
    one = program.check(runner, "--threads=1")
    two = program.check(runner, "--threads=2")
    three = program.check(runner, "--threads=3")
    for position, results in enumerate(zip(one, two, three, strict=True)):
        for other in results[1:]:
            compare.check_bits(results[0], other, f"output {position}")


@pytest.mark.parametrize("cpu", ["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"])
def test_targets(runner, rng, cpu):
    program = Program()
    x = program.input(ordinary("f32", (13, 77), rng))
    y = program.input(ordinary("f32", (13, 1), rng))
    program.output(program.op("exp", program.op("sub", x, y)), ulps=3)
    program.output(program.op("softmax", x, axis=1), rtol=1e-5, atol=1e-8)
    program.output(program.op("gelu", x), rtol=1e-5, atol=1e-6)
    program.output(program.op("reduce_max", x, axes=[0]), ulps=0)
    program.output(program.op("round", x), ulps=0)
    program.output(program.cast(x, "i8"))
    program.output(program.cast(program.cast(x, "f16"), "f32"), ulps=0)
    program.output(program.cast(program.cast(x, "bf16"), "f64"), ulps=0)
    i = program.input(ordinary("i64", (5, 19), rng, -100, 100))
    program.output(program.op("mul", program.op("div", i, i), i))
    program.output(program.op("reduce_min", i, axes=[1]))
    program.check(runner, f"--target-cpu={cpu}")
