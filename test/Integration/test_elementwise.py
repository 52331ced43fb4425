"""Elementwise ops against numpy in float64: all element types, special values,
broadcasting, every tail length."""

import numpy as np
import oracle
import pytest
from program import Program
from types_and_values import (FLOATS, INTEGERS, NUMERIC, ordinary, pairs_of_specials,
                              specials)

# Largest error in units of the last place of f32, and the range of the inputs
# beside the special values.
UNARY_LIMITS = {
    "abs": (0, -10, 10),
    "acos": (3, -1, 1),
    "acosh": (4, 1, 50),
    "asin": (3, -1, 1),
    "asinh": (4, -50, 50),
    "atan": (3, -30, 30),
    "atanh": (4, -1, 1),
    "ceil": (0, -10, 10),
    "celu": (4, -20, 20),
    "cos": (2, -100, 100),
    "cosh": (4, -90, 90),
    "elu": (4, -20, 20),
    "erf": (4, -5, 5),
    "exp": (2, -104, 89),
    "floor": (0, -10, 10),
    "hard_swish": (4, -6, 6),
    "leaky_relu": (1, -10, 10),
    "log": (2, 1e-30, 50),
    "neg": (0, -10, 10),
    "reciprocal": (0.51, -10, 10),
    "relu": (0, -10, 10),
    "round": (0, -10, 10),
    "rsqrt": (2, 1e-30, 50),
    "selu": (4, -20, 20),
    "sigmoid": (2, -90, 90),
    "sign": (0, -10, 10),
    "sin": (2, -100, 100),
    "sinh": (4, -90, 90),
    "softplus": (4, -90, 90),
    "softsign": (2, -10, 10),
    "sqrt": (0.51, 0, 1e6),
    "swish": (4, -80, 80),
    "tan": (4, -100, 100),
    "tanh": (2, -12, 12),
    "thresholded_relu": (0, -10, 10),
}
# Where the formula itself cancels, only an absolute bound holds.
CLOSE = {"gelu": (-6, 6), "hard_sigmoid": (-6, 6), "mish": (-20, 20)}

ATTRIBUTES = {
    "celu": [{}, {"alpha": 2.0}],
    "elu": [{}, {"alpha": 0.5}],
    "gelu": [{}, {"tanh_approximation": True}],
    "hard_sigmoid": [{}, {"alpha": 0.25, "beta": 0.25}],
    "leaky_relu": [{}, {"alpha": 0.125}],
    "selu": [{}, {"alpha": 1.5, "gamma": 2.0}],
    # An exact product: rounding it would show in the exponential.
    "swish": [{}, {"alpha": 0.5}],
    "thresholded_relu": [{}, {"alpha": 2.0}],
}


def unary_inputs(element, low, high, rng):
    grid = ordinary(element, (400,), rng, low, high)
    return np.concatenate([grid, specials(element)])


@pytest.mark.parametrize("element", FLOATS)
def test_unary_floats(runner, rng, element):
    program = Program()
    for name, (limit, low, high) in UNARY_LIMITS.items():
        if element == "f16" and name == "rsqrt":
            low = 1e-4
        for attributes in ATTRIBUTES.get(name, [{}]):
            x = program.input(unary_inputs(element, low, high, rng), element)
            limits = {"f32": limit, "f64": max(limit, 4) if limit > 1 else limit}
            program.output(program.op(name, x, **attributes), [x],
                           ulps=limits.get(element, min(limit, 1)))
    for name, (low, high) in CLOSE.items():
        for attributes in ATTRIBUTES.get(name, [{}]):
            x = program.input(unary_inputs(element, low, high, rng), element)
            rtol = {"f64": 1e-13, "f32": 2e-6, "f16": 2e-3, "bf16": 1e-2}[element]
            program.output(program.op(name, x, **attributes), [x], rtol=rtol, atol=rtol)
    program.check(runner)


@pytest.mark.parametrize("element", FLOATS)
def test_zero_signs(runner, element):
    """Odd functions and roundings keep the sign of a zero."""
    program = Program()
    for name in ("abs", "asin", "asinh", "atan", "atanh", "ceil", "erf", "floor", "neg",
                 "round", "sin", "sinh", "sqrt", "tan", "tanh", "identity"):
        x = program.input(np.array([0.0, -0.0] * 10, np.float32).astype(
            specials(element).dtype), element)
        program.output(program.op(name, x), [x], ulps=0, zero_signs=True)
    program.check(runner)


@pytest.mark.parametrize("element", FLOATS)
def test_predicates(runner, element):
    program = Program()
    x = program.input(specials(element), element)
    program.output(program.op("is_nan", x), [x])
    for positive, negative in ((True, True), (True, False), (False, True), (False, False)):
        program.output(program.op("is_inf", x, detect_positive=positive,
                                  detect_negative=negative), [x])
    program.output(program.op("shrink", x, bias=0.5, lambd=1.0), [x], ulps=0.51)
    program.check(runner)


@pytest.mark.parametrize("element", INTEGERS)
def test_unary_integers(runner, rng, element):
    program = Program()
    for name in oracle.UNARY_INTEGER:
        x = program.input(np.concatenate([ordinary(element, (50,), rng), specials(element)]))
        program.output(program.op(name, x), [x])
    program.check(runner)


# ULP of f32; f64 allows at least as much.
BINARY_LIMITS = {"add": 0.51, "sub": 0.51, "mul": 0.51, "div": 0.51, "pow": 4, "mod": 0.51,
                 "rem": 0.51, "min": 0, "max": 0, "prelu": 0.51}


def binary_inputs(element, rng):
    left, right = pairs_of_specials(element)
    return (np.concatenate([left, ordinary(element, (200,), rng, -9, 9)]),
            np.concatenate([right, ordinary(element, (200,), rng, -9, 9)]))


@pytest.mark.parametrize("element", FLOATS)
def test_binary_floats(runner, rng, element):
    program = Program()
    for name, limit in BINARY_LIMITS.items():
        left, right = binary_inputs(element, rng)
        x, y = program.input(left, element), program.input(right, element)
        program.output(program.op(name, x, y), [x, y], ulps=limit)
    program.check(runner)


@pytest.mark.parametrize("element", INTEGERS)
def test_binary_integers(runner, rng, element):
    """Every pair of edge values: overflow wraps, a zero divisor is no signal."""
    program = Program()
    for name in oracle.BINARY_INTEGER:
        left, right = binary_inputs(element, rng)
        x, y = program.input(left), program.input(right)
        program.output(program.op(name, x, y), [x, y])
    program.check(runner)


@pytest.mark.parametrize("element", NUMERIC + ("i1",))
def test_comparisons(runner, rng, element):
    program = Program()
    for name in oracle.COMPARISONS if element != "i1" else ["equal"]:
        left, right = binary_inputs(element, rng)
        x, y = program.input(left, element), program.input(right, element)
        program.output(program.op(name, x, y), [x, y])
    program.check(runner)


def test_booleans(runner):
    program = Program()
    left, right = (np.tile(values, 9) for values in pairs_of_specials("i1"))
    x, y = program.input(left), program.input(right)
    for name in oracle.BINARY_BOOL:
        program.output(program.op(name, x, y), [x, y])
    program.output(program.op("not", x), [x])
    program.check(runner)


@pytest.mark.parametrize("element", NUMERIC)
def test_where_and_clip(runner, rng, element):
    program = Program()
    left, right = binary_inputs(element, rng)
    x, y = program.input(left, element), program.input(right, element)
    condition = program.input(ordinary("i1", left.shape, rng))
    program.output(program.op("where", condition, x, y), [condition, x, y], ulps=0)
    low, high = (program.input(np.array(v).astype(left.dtype), element) for v in (1, 3))
    program.output(program.op("clip", x, low, high), [x], ulps=0)
    # Where the bounds cross, the upper one wins.
    program.output(program.op("clip", x, high, low), [x], ulps=0)
    program.check(runner)


@pytest.mark.parametrize("element", NUMERIC + ("i1",))
def test_casts(runner, rng, element):
    program = Program()
    values = [specials(element), ordinary(element, (70,), rng, -300, 300)]
    if element in FLOATS:
        # Halves decide ties, large numbers saturate.
        with np.errstate(over="ignore"):
            values.append(np.array(
                [0.5, 1.5, 2.5, -0.5, -1.5, 127.5, 128, 255.5, 256, -129, 32768, 65520,
                 2.0**31, 2.0**32, 2.0**63, 2.0**64, -(2.0**63), 1e30]
            ).astype(specials(element).dtype))
    if element in ("i32", "i64", "ui32", "ui64"):
        # Integers that no f32 holds: which way they round shows.
        values.append(np.array([16777217, 16777219, 33554435, 2**31 - 65],
                               specials(element).dtype))
    values = np.concatenate(values)
    for result in NUMERIC + ("i1",):
        x = program.input(values, element)
        program.output(program.cast(x, result), [x], ulps=0)
    program.check(runner)


# Operand shapes: every way in which two ranks and extents can meet.
BROADCASTS = [
    [(), ()],
    [(), (5,)],
    [(1,), ()],
    [(1,), (5,)],
    [(3, 1), (1, 37)],
    [(3, 37), (37,)],
    [(3, 37), (3, 1)],
    [(3, 37), (1, 1)],
    [(2, 3, 20), (3, 1)],
    [(2, 3, 20), (2, 1, 20)],
    [(2, 1, 4, 1), (3, 1, 5)],
    [(1, 1, 1), (1,)],
    [(0,), (1,)],
    [(0, 3), (1, 3)],
    [(4, 0, 3), (4, 1, 1)],
    [(2, 1, 2, 1, 2, 1, 2, 1), (1, 3, 1, 2, 1, 3, 1, 19)],
    [(1, 2, 1, 2, 1, 2, 1, 2), (2,)],
    [(2, 2, 1, 1, 1, 1, 3, 17), (2, 1, 1, 1, 1, 1, 1, 1)],
]


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("element", ["f32", "f64", "bf16", "i8", "ui16", "i64"])
def test_broadcasting(runner, rng, element, dynamic):
    """numpy's rules. With dynamic types an extent of 1 is only seen at run
    time."""
    program = Program(dynamic)
    for left, right in BROADCASTS:
        for first, second in ((left, right), (right, left)):
            x = program.input(ordinary(element, first, rng), element)
            y = program.input(ordinary(element, second, rng), element)
            program.output(program.op("sub", x, y), ulps=0.51)
    program.check(runner)


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_broadcasting_three_operands(runner, rng, dynamic):
    program = Program(dynamic)
    for shapes in ([(3, 1), (20,), ()], [(1,), (3, 1), (2, 1, 19)], [(), (), (4, 5)],
                   [(2, 3, 20), (3, 1), (1, 20)], [(0, 4), (1,), (4,)]):
        condition = program.input(ordinary("i1", shapes[0], rng))
        x = program.input(ordinary("f32", shapes[1], rng))
        y = program.input(ordinary("f32", shapes[2], rng))
        program.output(program.op("where", condition, x, y), ulps=0)
        low = program.input(ordinary("f32", shapes[0], rng))
        program.output(program.op("clip", x, low, y), ulps=0)
    program.check(runner)


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("element", ["f32", "f64", "f16", "bf16", "i8", "ui64"])
def test_every_tail_length(runner, rng, element, dynamic):
    """Lengths 1 to 65 of the innermost dimension, and around larger powers."""
    program = Program(dynamic)
    lengths = [*range(1, 66), 127, 128, 129, 255, 257]
    for length in lengths if element == "f32" or dynamic else lengths[::3]:
        x = program.input(ordinary(element, (3, length), rng), element)
        y = program.input(ordinary(element, (3, 1), rng), element)
        z = program.input(ordinary(element, (length,), rng), element)
        product = program.op("mul", program.op("sub", x, y), z)
        program.output(product, rtol=3e-2 if element == "bf16" else 3e-3 if element == "f16"
                       else 1e-5, atol=1e-1 if element in ("f16", "bf16") else 1e-5)
    program.check(runner)


@pytest.mark.parametrize("rank", range(9))
def test_every_rank(runner, rng, rank):
    program = Program()
    shape = (2, 3, 1, 2, 1, 3, 2, 5)[8 - rank:]
    x = program.input(ordinary("f32", shape, rng))
    y = program.op("exp", program.op("add", x, x))
    program.output(y, ulps=4)
    program.output(program.op("reduce_sum", y, axes=list(range(rank))), rtol=1e-5)
    for axis in range(rank):
        program.output(program.op("reduce_max", x, axes=[axis]), ulps=0)
    program.check(runner)


def test_zero_extents(runner):
    program = Program()
    for shape in ((0,), (0, 5), (5, 0), (2, 0, 3), (0, 0)):
        x = program.input(np.zeros(shape, np.float32))
        program.output(program.op("exp", program.op("add", x, x)), ulps=0)
    program.check(runner)
