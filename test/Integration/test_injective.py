"""Ops that move elements, against numpy: results are exact."""

import numpy as np
import pytest
from program import Program
from types_and_values import ordinary

LARGE = 2**63 - 1

# Op, input shape, attributes.
MOVES = [
    ("reshape", (4, 6), {"shape": [3, -1]}),
    ("reshape", (4, 6), {"shape": [0, 2, 3]}),
    ("reshape", (4, 6), {"shape": [24]}),
    ("reshape", (1, 1), {"shape": []}),
    ("reshape", (), {"shape": [1, 1, 1]}),
    ("reshape", (0, 3), {"shape": [3, 0], "allow_zero": True}),
    ("reshape", (2, 3, 2, 3), {"shape": [6, 6]}),
    ("squeeze", (1, 5, 1, 7), {"axes": [0, 2]}),
    ("squeeze", (1,), {"axes": [0]}),
    ("unsqueeze", (5, 7), {"axes": [0, 2, 4]}),
    ("unsqueeze", (), {"axes": [0]}),
    ("transpose", (5, 37), {"permutation": [1, 0]}),
    ("transpose", (3, 17, 18), {"permutation": [2, 0, 1]}),
    ("transpose", (3, 4, 19), {"permutation": [1, 0, 2]}),
    ("transpose", (2, 3, 1, 2, 3, 2, 1, 5), {"permutation": [7, 0, 3, 2, 1, 6, 5, 4]}),
    ("transpose", (), {"permutation": []}),
    ("transpose", (0, 4), {"permutation": [1, 0]}),
    ("expand", (3, 1), {"shape": [2, 3, 20]}),
    ("expand", (3, 20), {"shape": [1, 20]}),
    ("expand", (), {"shape": [2, 2]}),
    ("expand", (1, 4), {"shape": [0, 4]}),
    ("slice", (5, 37), {"axes": [1], "starts": [3], "ends": [35], "steps": [1]}),
    ("slice", (5, 37), {"axes": [1], "starts": [1], "ends": [LARGE], "steps": [3]}),
    ("slice", (5, 37), {"axes": [1], "starts": [-1], "ends": [-LARGE], "steps": [-1]}),
    ("slice", (5, 37), {"axes": [0, 1], "starts": [-2, 30], "ends": [LARGE, 2],
                        "steps": [1, -5]}),
    ("slice", (5, 37), {"axes": [0], "starts": [4], "ends": [4], "steps": [1]}),
    ("slice", (5, 37), {"axes": [0], "starts": [100], "ends": [200], "steps": [1]}),
    ("slice", (5, 37), {"axes": [1], "starts": [0], "ends": [37], "steps": [LARGE]}),
    ("pad", (5, 7), {"low": [0, 3], "high": [2, 11]}),
    ("pad", (5, 7), {"low": [1, 2], "high": [3, 4], "mode": "edge"}),
    ("pad", (5, 7), {"low": [4, 6], "high": [4, 6], "mode": "reflect"}),
    ("pad", (5, 7), {"low": [1, 9], "high": [5, 20], "mode": "wrap"}),
    ("pad", (5, 37), {"low": [-1, 3], "high": [1, -20]}),
    ("pad", (0, 3), {"low": [1, 0], "high": [1, 2]}),
    ("pad", (), {"low": [], "high": []}),
    ("tile", (3, 5), {"repeats": [2, 3]}),
    ("tile", (3, 5), {"repeats": [1, 0]}),
    ("tile", (7,), {"repeats": [9]}),
    ("identity", (3, 5), {}),
]
ELEMENTS = ["f32", "i8", "f64", "bf16", "i1", "ui64"]


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("element", ELEMENTS)
def test_moves(runner, rng, element, dynamic):
    program = Program(dynamic)
    for name, shape, attributes in MOVES:
        x = program.input(ordinary(element, shape, rng, -100, 100), element)
        program.output(program.op(name, x, **attributes), ulps=0)
    program.check(runner)


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("element", ELEMENTS)
def test_several_operands_or_results(runner, rng, element, dynamic):
    program = Program(dynamic)

    def value(*shape):
        return program.input(ordinary(element, shape, rng, -100, 100), element)

    x, y, z = value(3, 17), value(3, 5), value(3, 1)
    program.output(program.op("concat", x, y, z, axis=1), ulps=0)
    program.output(program.op("concat", x, x, axis=0), ulps=0)
    program.output(program.op("concat", value(0, 4), value(2, 4), axis=0), ulps=0)
    program.output(program.op("concat", value(7), axis=0), ulps=0)
    for part in program.op("split", x, axis=1, sizes=[2, 0, 15]):
        program.output(part, ulps=0)
    for part in program.op("split", x, axis=0, sizes=[1, 2]):
        program.output(part, ulps=0)
    fill = program.input(ordinary(element, (), rng, 1, 100), element)
    program.output(program.op("pad", x, fill, low=[1, 2], high=[0, 18]), ulps=0)
    program.check(runner)


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_gather(runner, rng, index_type, dynamic):
    """Negative indices count from the end; no index reads outside."""
    program = Program(dynamic)
    limits = np.iinfo(index_type)
    for shape, axis, indices in (
            ((9, 20), 0, [2, 0, 8]), ((9, 20), 1, [[-1, 3], [0, -20]]), ((9, 20), 0, 4),
            ((4, 4), 0, [2]), ((5,), 0, []), ((2, 3, 19), 1, [1, 1, 1, 2, 0]),
            ((3, 18), 0, [3, 100, -4, limits.max, limits.min])):
        x = program.input(ordinary("f32", shape, rng))
        program.output(program.op("gather", x, program.input(np.array(indices, index_type)),
                                  axis=axis), ulps=0)
    program.check(runner)


def test_shape_of(runner):
    for dynamic in (False, True):
        program = Program(dynamic)
        x = program.input(np.zeros((3, 1, 7), np.float32))
        program.output(program.op("shape_of", x, start=0, end=3))
        program.output(program.op("shape_of", x, start=1, end=2))
        program.check(runner)


@pytest.mark.parametrize("element", ["f32", "i8", "f64"])
def test_every_tail_length(runner, rng, element):
    program = Program()
    for length in range(1, 66):
        x = program.input(ordinary(element, (2, length), rng, -100, 100), element)
        case = length % 4
        if case == 0:
            moved = program.op("transpose", x, permutation=[1, 0])
        elif case == 1:
            moved = program.op("slice", x, axes=[1], starts=[-1], ends=[-LARGE], steps=[-1])
        elif case == 2:
            moved = program.op("concat", x, x, axis=1)
        else:
            moved = program.op("pad", x, low=[0, 1], high=[1, 2])
        program.output(program.op("neg", moved), ulps=0)
    program.check(runner)


def test_chains_of_moves(runner, rng):
    """Moves composed in one kernel: each index goes through all of them."""
    program = Program()
    x = program.input(ordinary("f32", (6, 5, 8), rng))
    y = program.op("transpose", x, permutation=[2, 0, 1])
    y = program.op("slice", y, axes=[0, 2], starts=[7, 1], ends=[-LARGE, 5], steps=[-2, 1])
    y = program.op("pad", y, low=[1, 0, 0], high=[0, 2, 3], mode="edge")
    y = program.op("reshape", y, shape=[5, -1])
    program.output(program.op("exp", y), ulps=2)
    z = program.op("reshape", program.op("concat", x, x, axis=2), shape=[12, 40])
    z = program.op("gather", z, program.constant(np.array([5, -1, 0], np.int64)), axis=0)
    program.output(program.op("reduce_sum", program.op("tanh", z), axes=[1]),
                   rtol=1e-5, atol=1e-5)
    # The gather reads what the addition computed, not its input.
    w = program.op("gather", program.op("add", x, program.constant(np.float32(1))),
                   program.constant(np.array([2], np.int64)), axis=0)
    program.output(w, ulps=0.51)
    program.check(runner)
