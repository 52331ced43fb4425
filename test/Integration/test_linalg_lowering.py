"""fuse-to-linalg alone: the tests of single ops again, lowered from linalg to
scalar loops by MLIR's own passes. Where these fail, linalg is wrong; where only
the originals fail, the code that is made of it is."""

import re
import subprocess

import numpy as np
import pytest
from loops_runner import LoopsRunner
from program import Program
from runner import BIN
from test_elementwise import (  # noqa: F401
    BROADCASTS, test_binary_floats, test_binary_integers, test_booleans, test_casts,
    test_comparisons, test_every_rank, test_predicates, test_unary_floats,
    test_unary_integers, test_where_and_clip, test_zero_extents, test_zero_signs)
from test_injective import (  # noqa: F401
    test_chains_of_moves, test_gather, test_moves, test_several_operands_or_results,
    test_shape_of)
from test_random_graphs import test_large_graphs, test_other_floats  # noqa: F401
from test_reductions import (  # noqa: F401
    test_boolean_reductions, test_float_reductions, test_integer_reductions,
    test_layer_norm_broadcasts_its_parameters, test_nan_and_inf_in_every_position,
    test_narrow_floats_accumulate_wide, test_over_no_elements, test_positions,
    test_row_ops, test_softmax_of_extreme_rows)
from types_and_values import ordinary


@pytest.fixture
def runner(tmp_path):
    return LoopsRunner(tmp_path)


class DynamicProgram(Program):
    """Every extent is dynamic but 1: a dynamic one does not broadcast here."""

    def type_of(self, shape, element):
        extents = [str(extent) if extent == 1 else "?" for extent in shape]
        return f"tensor<{'x'.join([*extents, element])}>"


@pytest.mark.parametrize("kind", [Program, DynamicProgram], ids=["static", "dynamic"])
@pytest.mark.parametrize("element", ["f32", "bf16", "ui16"])
def test_broadcasting(runner, rng, element, kind):
    program = kind()
    for left, right in BROADCASTS:
        x = program.input(ordinary(element, left, rng), element)
        y = program.input(ordinary(element, right, rng), element)
        program.output(program.op("sub", x, y), ulps=0.51)
        program.output(program.op("sub", y, x), ulps=0.51)
    program.check(runner)


@pytest.mark.parametrize("kind", [Program, DynamicProgram], ids=["static", "dynamic"])
def test_chains(runner, rng, kind):
    """Softmax and layer norm written out, and what stands around them."""
    program = kind()
    x = program.input(ordinary("f32", (2, 5, 37), rng))
    centered = program.op("sub", x, program.op("reduce_max", x, axes=[2]))
    e = program.op("exp", centered)
    y = program.op("div", e, program.op("reduce_sum", e, axes=[2]))
    program.output(y)
    program.output(program.op("argmax", y, axis=2, keepdims=False))
    moved = program.op("transpose", program.op("unsqueeze", y, axes=[1]),
                       permutation=[3, 1, 0, 2])
    flat = program.op("reshape", moved, shape=[37, -1])
    program.output(program.op("slice", flat, axes=[0, 1], starts=[-1, 1],
                              ends=[-20, 9], steps=[-3, 2]))
    d = program.op("sub", x, program.op("reduce_mean", x, axes=[1, 2]))
    variance = program.op("reduce_mean", program.op("mul", d, d), axes=[1, 2])
    program.output(program.op("mul", d, program.op("rsqrt", variance)))
    program.check(runner)


@pytest.mark.parametrize("element", ["f32", "f64", "f16", "bf16"])
def test_batch_norm(runner, rng, element):
    program = Program()
    for shape in ((1,), (5, 3), (2, 1, 7), (2, 3, 4, 5), (0, 3, 2), (2, 0, 2)):
        channels = (shape[1] if len(shape) > 1 else 1,)
        x = program.input(ordinary(element, shape, rng), element)
        scale, bias, mean = (program.input(ordinary(element, channels, rng), element)
                             for _ in range(3))
        variance = program.input(ordinary(element, channels, rng, 0.1, 2), element)
        y = program.op("batch_norm", x, scale, bias, mean, variance, epsilon=1e-3)
        program.output(y)
    program.check(runner)


def test_negative_padding(runner):
    """What is cut on one side beyond the input comes off the other side."""
    for kind in (Program, DynamicProgram):
        program = kind()
        x = program.input(np.arange(1, 9, dtype=np.float32).reshape(2, 4))
        v = program.constant(np.float32(9.0))
        w = program.input(np.float32(7.0))
        for low, high in (([0, -1], [0, -1]), ([0, -5], [0, 3]), ([0, 3], [0, -5]),
                          ([-1, 2], [1, -3]), ([1, -4], [0, 0]), ([-2, 0], [3, 1])):
            program.output(program.op("pad", x, v, low=low, high=high))
            program.output(program.op("pad", x, w, low=low, high=high))
        program.check(runner)


@pytest.mark.parametrize("exponent", [-3.0, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0])
def test_constant_exponents(runner, exponent):
    """These become multiplications, divisions and roots."""
    program = Program()
    values = [0.0, 1.5, -1.5, 7.25, 1e-20, np.inf, np.nan]
    # Depending on strides, numpy takes a power of 0.5 for a square root, which
    # differs from C's pow there.
    values += [-0.0, -np.inf] if exponent != 0.5 else []
    x = program.input(np.array(values, np.float32))
    y = program.constant(np.float32(exponent))
    program.output(program.op("pow", x, y), [x], ulps=2, zero_signs=True)
    if exponent == int(exponent):
        for element in (np.int8, np.int64):
            n = program.input(np.array([-128, -3, -2, -1, 0, 1, 2, 3, 127], element))
            program.output(program.op("pow", n, program.constant(element(exponent))), [n])
    program.check(runner)


@pytest.mark.parametrize("element", ["i8", "ui8", "i32", "ui64"])
def test_constant_operands(runner, rng, element):
    """A constant operand removes guards, not the meaning."""
    program = Program()
    x = program.input(ordinary(element, (40,), rng, -100, 100))
    for value in (0, 1, 3, 7):
        y = program.constant(np.array(value, x.stored))
        for name in ("div", "rem", "mod", "shift_left", "shift_right", "max"):
            program.output(program.op(name, x, y), [x])
            program.output(program.op(name, y, x), [x])
    if element.startswith("i"):
        y = program.constant(np.array(-1, x.stored))
        for name in ("div", "rem", "mod", "shift_left", "shift_right", "pow"):
            program.output(program.op(name, x, y), [x])
    program.check(runner)


def test_doubles_round_once(runner):
    """f64 to a 16-bit float through f32 would round twice."""
    program = Program()
    ties = np.array([1 + 2.0**-11, 1 + 2.0**-8, 2.0**-25, 65520.0, 3e-8, 1.0])
    values = np.concatenate([ties, ties * (1 + 2.0**-50), ties * (1 - 2.0**-50), -ties,
                             [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-300, 1e300]])
    x = program.input(values)
    for element in ("f16", "bf16", "f32"):
        program.output(program.cast(x, element), [x], ulps=0, zero_signs=True)
    n = program.input(np.array([2**24 + 1, 2**30 + 2**22 + 1, -(2**30 + 2**22 + 1),
                                2**31 - 1], np.int32))
    for element in ("f16", "bf16", "f32", "f64"):
        program.output(program.cast(n, element), [n], ulps=0)
    program.check(runner)


def test_reshape_by_a_runtime_target(runner):
    """The operand has the attribute's form: 0 copies, -1 takes what is left."""
    text = """
func.func @main(%x: tensor<?x4xf32>, %t: tensor<3xi64>) -> (tensor<?x2x2xf32>) {
  %0 = fuse.reshape %x, %t : (tensor<?x4xf32>, tensor<3xi64>) -> tensor<?x2x2xf32>
  %1 = fuse.add %0, %0 : (tensor<?x2x2xf32>, tensor<?x2x2xf32>) -> tensor<?x2x2xf32>
  return %1 : tensor<?x2x2xf32>
}
"""
    x = np.arange(24, dtype=np.float32).reshape(6, 4)
    for target in ([0, -1, 2], [-1, 2, 2], [6, 2, 2]):
        [y] = runner.run_model(text, ".mlir", {"x": x, "t": np.array(target)},
                               {"out": "f32"})
        assert np.array_equal(y, 2 * x.reshape(6, 2, 2))


def test_expand_by_a_runtime_target(runner):
    """Either side may have the extent of 1 that is repeated."""
    text = """
func.func @main(%x: tensor<?x?xf32>, %t: tensor<3xi64>) -> (tensor<?x?x?xf32>) {
  %0 = fuse.expand %x, %t : (tensor<?x?xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}
"""
    for shape, target in (((1, 5), (2, 3, 1)), ((3, 1), (2, 1, 4)), ((1, 1), (1, 1, 1)),
                          ((3, 5), (1, 3, 5)), ((1, 5), (2, 0, 5))):
        x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        [y] = runner.run_model(text, ".mlir", {"x": x, "t": np.array(target)},
                               {"out": "f32"})
        want = np.broadcast_to(x, np.broadcast_shapes(shape, target))
        assert y.shape == want.shape and np.array_equal(y, want)


def test_a_long_chain_is_lowered_in_time():
    """10,000 ops: the pass is linear and does not recurse."""
    lines = [f"  %{i + 1} = fuse.add %{i}, %{i} : (tensor<8xui8>, tensor<8xui8>) -> "
             "tensor<8xui8>" for i in range(10000)]
    text = ("func.func @main(%0: tensor<8xui8>) -> tensor<8xui8> {\n" + "\n".join(lines)
            + "\n  return %10000 : tensor<8xui8>\n}\n").replace("%0", "%v0")
    text = re.sub(r"%(\d+)", r"%v\1", text)
    result = subprocess.run([BIN / "fuse-opt", "--fuse-to-linalg"], input=text,
                            capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr[-2000:]
    assert result.stdout.count("linalg.generic") == 10000
