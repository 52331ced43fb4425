"""Reductions and row ops against numpy in float64."""

import numpy as np
import pytest
from program import Program
from types_and_values import FLOATS, INTEGERS, NUMERIC, ordinary, specials

# Shape and reduced axes: innermost, outermost, middle, several, all, none.
LAYOUTS = [
    ((5, 37), [1]),
    ((37, 5), [0]),
    ((3, 20, 18), [1]),
    ((3, 4, 35), [0, 2]),
    ((3, 20, 18), [1, 2]),
    ((3, 4, 17), [0, 1, 2]),
    ((40,), [0]),
    ((3, 7), []),
    ((), []),
    ((3, 1, 7), [1]),
    ((1, 1), [0, 1]),
    ((2, 3, 2, 3, 2, 3, 2, 3), [1, 3, 6]),
]
SUMS = ["reduce_sum", "reduce_mean", "reduce_l1", "reduce_l2", "reduce_sum_square",
        "reduce_log_sum_exp"]
TOLERANCE = {"f64": 1e-13, "f32": 1e-5, "f16": 2e-3, "bf16": 1e-2}


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("element", FLOATS)
def test_float_reductions(runner, rng, element, dynamic):
    program = Program(dynamic)
    tolerance = {"rtol": TOLERANCE[element], "atol": TOLERANCE[element]}
    for position, (shape, axes) in enumerate(LAYOUTS):
        keep = {"keepdims": position % 2 == 0}
        x = program.input(ordinary(element, shape, rng), element)
        for name in SUMS if position < 4 else SUMS[position % 6:position % 6 + 1]:
            program.output(program.op(name, x, axes=axes, **keep), **tolerance)
        for name in ("reduce_max", "reduce_min"):
            program.output(program.op(name, x, axes=axes, **keep), ulps=0)
        near_one = program.input(ordinary(element, shape, rng, 0.9, 1.1), element)
        for name in ("reduce_prod", "reduce_log_sum"):
            program.output(program.op(name, near_one, axes=axes, **keep), **tolerance)
    program.check(runner)


@pytest.mark.parametrize("element", INTEGERS)
def test_integer_reductions(runner, rng, element):
    """Sums wrap; the smallest of 18 unsigned bytes is not the zero of an idle
    vector lane."""
    program = Program()
    for shape, axes in LAYOUTS[:8]:
        x = program.input(ordinary(element, shape, rng, 1, 9))
        for name in ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod",
                     "reduce_l1", "reduce_sum_square"):
            program.output(program.op(name, x, axes=axes), [x])
    edges = program.input(np.stack([specials(element)] * 3))
    for name in ("reduce_sum", "reduce_max", "reduce_min", "reduce_prod"):
        program.output(program.op(name, edges, axes=[1]))
    program.check(runner)


def test_boolean_reductions(runner, rng):
    program = Program()
    x = program.input(np.concatenate([ordinary("i1", (4, 19), rng),
                                      np.zeros((1, 19), bool), np.ones((1, 19), bool)]))
    for axes in ([1], [0], [0, 1], []):
        program.output(program.op("reduce_max", x, axes=axes))
        program.output(program.op("reduce_min", x, axes=axes))
    program.check(runner)


@pytest.mark.parametrize("element", NUMERIC)
def test_over_no_elements(runner, element):
    """The neutral element, or NaN for a float mean."""
    program = Program()
    names = ["reduce_sum", "reduce_mean", "reduce_prod", "reduce_max", "reduce_min",
             "reduce_l1", "reduce_l2", "reduce_sum_square"]
    if element in FLOATS:
        names += ["reduce_log_sum", "reduce_log_sum_exp"]
    dtype = specials(element).dtype
    for shape, axes in (((0,), [0]), ((3, 0), [1]), ((0, 3), [0]), ((0, 0), [0, 1]),
                        ((0, 3), [1]), ((2, 0, 3), [1])):
        x = program.input(np.zeros(shape, dtype), element)
        for name in names:
            program.output(program.op(name, x, axes=axes), ulps=0)
    program.check(runner)


def position_of_nan(length, position):
    x = np.linspace(-2, 2, length, dtype=np.float32)
    x[position] = np.nan
    return x


def test_nan_and_inf_in_every_position(runner):
    """A NaN anywhere in a row reaches the result, in the tail as in the body."""
    program = Program()
    rows = [position_of_nan(37, position) for position in range(37)]
    with_inf = np.linspace(-2, 2, 37, dtype=np.float32)
    for position in (0, 15, 16, 36):
        for value in (np.inf, -np.inf):
            row = with_inf.copy()
            row[position] = value
            rows.append(row)
    both = with_inf.copy()
    both[[3, 36]] = np.inf, -np.inf
    x = program.input(np.stack([*rows, both]))
    for name in ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod",
                 "reduce_l1", "reduce_l2", "reduce_sum_square", "reduce_log_sum_exp"):
        program.output(program.op(name, x, axes=[1]), rtol=1e-5, atol=1e-5)
    for name in ("argmax", "argmin"):
        program.output(program.op(name, x, axis=1))
        program.output(program.op(name, x, axis=1, select_last=True))
    for name in ("softmax", "log_softmax"):
        program.output(program.op(name, x, axis=1), rtol=1e-5, atol=1e-6)
    transposed = program.input(np.ascontiguousarray(x.value.T.astype(np.float32)))
    for name in ("reduce_sum", "reduce_max", "reduce_min"):
        program.output(program.op(name, transposed, axes=[0]), rtol=1e-5, atol=1e-5)
    program.check(runner)


@pytest.mark.parametrize("element", NUMERIC)
def test_positions(runner, rng, element):
    program = Program()
    for shape, axis in (((5, 37), 1), ((37, 5), 0), ((3, 20, 18), 1), ((1,), 0), ((4, 1), 1)):
        # Few different values: ties decide between first and last.
        x = program.input(ordinary(element, shape, rng, 1, 4), element)
        for name in ("argmax", "argmin"):
            program.output(program.op(name, x, axis=axis))
            program.output(program.op(name, x, axis=axis, keepdims=False, select_last=True))
    program.check(runner)


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_every_tail_length(runner, rng, dynamic):
    program = Program(dynamic)
    for length in [*range(1, 66), 97, 120, 127, 129, 255]:
        x = program.input(ordinary("f32", (3, length), rng))
        program.output(program.op("reduce_sum", x, axes=[1]), rtol=1e-5, atol=1e-5)
        program.output(program.op("softmax", x, axis=1), rtol=1e-5, atol=1e-7)
    program.check(runner)


@pytest.mark.parametrize("element", ["ui8", "i8", "f16", "f64", "i64"])
def test_every_tail_length_of_extremes(runner, rng, element):
    program = Program()
    for length in range(1, 66):
        x = program.input(ordinary(element, (2, length), rng, 1, 90), element)
        program.output(program.op("reduce_min", x, axes=[1]), [x], ulps=0)
        if length % 3 == 0:
            program.output(program.op("reduce_max", x, axes=[0]), ulps=0)
    program.check(runner)


ROW_SHAPES = [((5, 37), 1), ((37, 5), 0), ((3, 20, 18), 1), ((2, 3, 33), 2), ((1, 1), 1),
              ((7,), 0), ((2, 1, 70), 2)]


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("element", FLOATS)
def test_row_ops(runner, rng, element, dynamic):
    program = Program(dynamic)
    tolerance = {"rtol": TOLERANCE[element], "atol": TOLERANCE[element]}
    for shape, axis in ROW_SHAPES:
        # Large differences within a row must not overflow.
        x = program.input(ordinary(element, shape, rng, -60, 60), element)
        for name in ("softmax", "log_softmax"):
            program.output(program.op(name, x, axis=axis), rtol=tolerance["rtol"],
                           atol=20 * tolerance["atol"] if name == "log_softmax" else 1e-7)
        x = program.input(ordinary(element, shape, rng), element)
        scale = program.input(ordinary(element, shape[axis:], rng), element)
        bias = program.input(ordinary(element, shape[axis:], rng), element)
        wide = {"rtol": 4 * tolerance["rtol"], "atol": 4 * tolerance["atol"]}
        program.output(program.op("layer_norm", x, scale, bias, axis=axis), **wide)
        program.output(program.op("layer_norm", x, scale, axis=axis, epsilon=1e-3), **wide)
        program.output(program.op("rms_norm", x, scale, axis=axis), **wide)
    program.check(runner)


def test_layer_norm_broadcasts_its_parameters(runner, rng):
    """A scale of one element, or of full shape, is broadcast as in numpy."""
    program = Program()
    x = program.input(ordinary("f32", (4, 6, 19), rng))
    for shape in ((1,), (19,), (6, 19), (6, 1), (4, 1, 19), ()):
        scale = program.input(ordinary("f32", shape, rng))
        bias = program.input(ordinary("f32", (19,), rng))
        program.output(program.op("layer_norm", x, scale, bias, axis=2), rtol=1e-5, atol=1e-5)
    program.check(runner)


def test_softmax_of_extreme_rows(runner):
    """Only -inf, an inf, a NaN: NaN; huge finite rows do not overflow."""
    program = Program()
    inf, nan = np.inf, np.nan
    rows = np.array([[-inf] * 3, [inf, 1, 1], [1000, 1000, -1000], [1, nan, 2],
                     [-inf, 0, 0], [3e38, -3e38, 3e38], [1e-40, 0, -1e-40]], np.float32)
    x = program.input(rows)
    for name in ("softmax", "log_softmax"):
        program.output(program.op(name, x, axis=1), rtol=1e-5, atol=1e-7)
    program.output(program.op("reduce_log_sum_exp", x, axes=[1]), rtol=1e-6)
    program.check(runner)


def test_narrow_floats_accumulate_wide(runner):
    """4096 times 0.1 in f16 is about 409.5, not where an f16 sum would stop."""
    program = Program()
    for element in ("f16", "bf16"):
        x = program.input(np.full((2, 4096), 0.1).astype(specials(element).dtype), element)
        program.output(program.op("reduce_sum", x, axes=[1]), ulps=1)
        program.output(program.op("reduce_mean", x, axes=[1]), ulps=1)
        program.output(program.op("reduce_l2", x, axes=[1]), ulps=1)
    program.check(runner)


def test_long_rows_stay_accurate(runner, rng):
    """A million f32 elements: far better than one serial f32 accumulator."""
    program = Program()
    x = program.input(rng.uniform(0, 1, (1, 1 << 20)).astype(np.float32))
    for name in ("reduce_sum", "reduce_mean", "reduce_l2", "reduce_log_sum_exp"):
        program.output(program.op(name, x, axes=[1]), rtol=1e-5)
    program.output(program.op("reduce_sum", x, axes=[0]), ulps=0)
    program.check(runner)
