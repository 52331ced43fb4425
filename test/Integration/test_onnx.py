"""ONNX nodes end to end, against the onnx package's reference evaluator."""

import warnings

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

RNG = np.random.default_rng(0)


def floats(*shape, low=-3, high=3):
    return RNG.uniform(low, high, shape).astype(np.float32)


def ints(*shape, low=-9, high=10, dtype=np.int32):
    return RNG.integers(low, high, shape).astype(dtype)


def ints64(*values):
    return np.array(values, np.int64)


class Node:
    """One node: its type, its inputs (arrays; those marked constant become
    initialisers; None is an absent optional input) and attributes. `want` stands
    in for the reference where that is wrong."""

    def __init__(self, op, *inputs, constants=(), outputs=1, want=None, **attributes):
        self.op = op
        self.inputs = inputs
        self.constants = constants
        self.outputs = outputs
        self.want = want
        self.attributes = attributes


UNARY = ["Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh",
         "Elu", "Erf", "Exp", "Floor", "HardSigmoid", "HardSwish", "Identity", "IsInf",
         "IsNaN", "LeakyRelu", "Log", "Mish", "Neg", "Reciprocal", "Relu", "Round", "Selu",
         "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh",
         "ThresholdedRelu", "Celu", "Shrink"]
DOMAIN = {"Acos": (-1, 1), "Acosh": (1, 9), "Asin": (-1, 1), "Atanh": (-0.9, 0.9),
          "Log": (0.01, 9), "Sqrt": (0, 9)}
REDUCTIONS = ["ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
              "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"]


def elementwise():
    for op in UNARY:
        low, high = DOMAIN.get(op, (-3, 3))
        yield Node(op, floats(3, 21, low=low, high=high))
    for op in ("Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu"):
        yield Node(op, floats(3, 21), floats(1, 21))
    for op in ("Add", "Sub", "Mul"):
        yield Node(op, ints(3, 21), ints(21))
    yield Node("Div", ints(3, 21), ints(21, low=1))
    yield Node("Pow", floats(3, 21, low=0.1), floats(21))
    yield Node("Mod", ints(3, 21), ints(21, low=1))
    yield Node("Mod", floats(3, 21), floats(21, low=1), fmod=1)
    yield Node("Max", floats(3, 21), floats(21), floats(3, 1))
    yield Node("Min", floats(3, 21))
    yield Node("Sum", floats(3, 21), floats(21), floats(3, 1))
    yield Node("Mean", floats(3, 21), floats(21), floats(3, 1))
    for op in ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"):
        yield Node(op, floats(3, 21).round(), floats(21).round())
    for op in ("And", "Or", "Xor"):
        yield Node(op, ints(3, 21, low=0, high=2, dtype=bool), ints(21, low=0, high=2, dtype=bool))
    yield Node("Not", ints(3, 21, low=0, high=2, dtype=bool))
    for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
        yield Node(op, ints(3, 21), ints(21))
    yield Node("BitwiseNot", ints(3, 21))
    for direction in ("LEFT", "RIGHT"):
        yield Node("BitShift", ints(3, 21, low=0, dtype=np.uint8),
                   ints(21, low=0, high=8, dtype=np.uint8), direction=direction)
    yield Node("Where", ints(3, 1, low=0, high=2, dtype=bool), floats(21), floats(3, 21))
    yield Node("Clip", floats(3, 21), np.float32(-1), np.float32(1), constants=(1, 2))
    yield Node("Clip", floats(3, 21), None, np.float32(1), constants=(2,))
    yield Node("Clip", floats(3, 21))
    for to in (TensorProto.INT32, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BOOL,
               TensorProto.INT8):
        yield Node("Cast", floats(3, 21), to=to)
    yield Node("CastLike", floats(3, 21), ints(1))
    for approximate in ("none", "tanh"):
        yield Node("Gelu", floats(3, 21), approximate=approximate)


def reductions():
    for op in REDUCTIONS:
        x = floats(3, 5, 21, low=0.5)
        yield Node(op, x, ints64(1), constants=(1,))
        yield Node(op, x, ints64(-1, 0), constants=(1,), keepdims=0)
        yield Node(op, x)
        yield Node(op, x, noop_with_empty_axes=1)
    for op in ("ArgMax", "ArgMin"):
        yield Node(op, floats(3, 21).round(), axis=1)
        yield Node(op, floats(3, 21).round(), axis=-1, keepdims=0, select_last_index=1)
    for op in ("Softmax", "LogSoftmax"):
        yield Node(op, floats(3, 5, 21))
        yield Node(op, floats(3, 5, 21), axis=0)
    yield Node("LayerNormalization", floats(3, 5, 21), floats(21), floats(21))
    yield Node("LayerNormalization", floats(3, 5, 21), floats(5, 21), axis=1, epsilon=1e-3)
    yield Node("RMSNormalization", floats(3, 5, 21), floats(21))
    yield Node("BatchNormalization", floats(2, 5, 7), floats(5), floats(5), floats(5),
               floats(5, low=0.5), constants=(1, 2, 3, 4))


def moves():
    x = floats(4, 6, 10)
    yield Node("Reshape", x, ints64(0, -1), constants=(1,))
    yield Node("Flatten", x, axis=2)
    yield Node("Transpose", x, perm=[2, 0, 1])
    yield Node("Transpose", x)
    yield Node("Squeeze", floats(4, 1, 6, 1), ints64(-1), constants=(1,))
    yield Node("Squeeze", floats(4, 1, 6, 1))
    yield Node("Unsqueeze", x, ints64(0, -1), constants=(1,))
    yield Node("Expand", floats(6, 1), ints64(4, 1, 10), constants=(1,))
    yield Node("Slice", x, ints64(1, -1), ints64(100, -100), ints64(0, 2), ints64(2, -3),
               constants=(1, 2, 3, 4))
    yield Node("Slice", x, ints64(1), ints64(3), constants=(1, 2))
    yield Node("Concat", x, floats(4, 2, 10), floats(4, 1, 10), axis=-2)
    yield Node("Split", x, ints64(1, 5), constants=(1,), axis=1, outputs=2)
    yield Node("Split", x, axis=2, num_outputs=3, outputs=3)
    for mode in ("constant", "edge", "reflect", "wrap"):
        yield Node("Pad", floats(4, 6), ints64(1, 2, 0, 3), constants=(1,), mode=mode)
    yield Node("Pad", floats(4, 6), ints64(1, 2), np.float32(7), ints64(-1),
               constants=(1, 2, 3))
    yield Node("Gather", x, ints64(2, -1), axis=1)
    yield Node("Gather", x, np.int64(0))
    yield Node("Tile", floats(4, 6), ints64(2, 3), constants=(1,))
    yield Node("Shape", x)
    yield Node("Shape", x, start=1, end=-1)
    yield Node("Size", x)
    yield Node("ConstantOfShape", ints64(2, 3), constants=(0,),
               value=numpy_helper.from_array(np.array([2.5], np.float32)))


def value_info(name, array):
    return helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


def build(nodes, opset):
    """(model, feeds, expected outputs with their tolerances)."""
    protos, inputs, initialisers, outputs, feeds, expected = [], [], [], [], {}, []
    for number, node in enumerate(nodes):
        names, own = [], []
        for position, array in enumerate(node.inputs):
            if array is None:
                names.append("")
                continue
            name = f"n{number}.{position}"
            names.append(name)
            array = np.asarray(array)
            own.append((name, array))
            if position in node.constants:
                initialisers.append(numpy_helper.from_array(array, name))
            else:
                inputs.append(value_info(name, array))
                feeds[name] = array
        results = [f"r{number}.{i}" for i in range(node.outputs)]
        proto = helper.make_node(node.op, names, results, name=f"{node.op}_{number}",
                                 **node.attributes)
        protos.append(proto)
        # Alone, so that one node's failure in the reference does not hide others.
        single = helper.make_model(helper.make_graph(
            [proto], "one", [value_info(n, a) for n, a in own],
            [helper.make_tensor_value_info(r, TensorProto.UNDEFINED, None) for r in results]),
            opset_imports=[helper.make_opsetid("", opset)])
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            values = ([node.want] if node.want is not None
                      else ReferenceEvaluator(single).run(None, dict(own)))
        for name, value in zip(results, values, strict=True):
            value = np.asarray(value)
            outputs.append(value_info(name, value))
            expected.append((name, value, node))
    graph = helper.make_graph(protos, "nodes", inputs, outputs, initialisers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)],
                              ir_version=10)
    return model, feeds, expected


def check(runner, nodes, opset, *flags):
    model, feeds, expected = build(list(nodes), opset)
    results = runner.run_model(model.SerializeToString(), ".onnx", feeds,
                               {name: None for name, _, _ in expected}, *flags)
    failures = []
    for got, (name, want, node) in zip(results, expected, strict=True):
        label = f"{name} ({node.op} {node.attributes})"
        if got.dtype != want.dtype or got.shape != want.shape:
            failures.append(f"{label}: got {got.dtype}{got.shape}, want "
                            f"{want.dtype}{want.shape}")
        elif want.dtype.kind == "f":
            close = 1e-3 if want.dtype == np.float16 else 1e-5
            if not np.allclose(got, want, rtol=close, atol=close, equal_nan=True):
                failures.append(f"{label}: largest error {np.nanmax(np.abs(got - want))}")
        elif not np.array_equal(got, want):
            failures.append(f"{label}: {np.count_nonzero(got != want)} of {want.size} differ")
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("flags", [(), ("--no-fusion",)], ids=["fused", "unfused"])
@pytest.mark.parametrize("nodes", [elementwise, reductions, moves], ids=lambda f: f.__name__)
def test_nodes(runner, nodes, flags):
    check(runner, nodes(), 23, *flags)


def test_older_opsets(runner):
    """Attributes that later became inputs, and axes that had other defaults."""
    x = floats(3, 5, 21)
    e = np.exp(x)
    check(runner, [
        Node("ReduceSum", x, axes=[1], keepdims=0),
        Node("ReduceMax", x, axes=[-1, 0]),
        Node("Squeeze", floats(3, 1, 2), axes=[1]),
        Node("Unsqueeze", x, axes=[0]),
        Node("Split", floats(6, 4), axis=0, split=[2, 4], outputs=2),
        # Before opset 13, softmax flattens from the axis on. The reference
        # evaluator does not know that.
        Node("Softmax", x, axis=1, want=e / e.sum((1, 2), keepdims=True)),
        Node("LogSoftmax", x, axis=2),
    ], 11)
    check(runner, [
        Node("Clip", x, min=-1.0, max=1.0),
        Node("Slice", x, starts=[1, 2], ends=[100, -1], axes=[1, 2]),
        Node("Pad", floats(4, 6), pads=[1, 2, 0, 3], value=7.0),
    ], 9)


def test_hostile_files(runner):
    """Truncated and corrupted models: an error or a result, never a signal."""
    model, _, _ = build(list(moves())[:6] + list(reductions())[:4], 23)
    content = model.SerializeToString()
    onnx.checker.check_model(model)
    rng = np.random.default_rng(1)
    out = runner.path(".mlir")
    for trial in range(60):
        damaged = bytearray(content)
        if trial % 3 == 0:
            damaged = damaged[:int(rng.integers(len(damaged)))]
        for position in rng.integers(len(damaged) or 1, size=trial % 5 + 1):
            if damaged:
                damaged[int(position)] = int(rng.integers(256))
        path = runner.write(bytes(damaged), ".onnx")
        result = runner.tool("fuse-compile", path, "--compile-to=import", "-o", out)
        assert result.returncode in (0, 1, 4), result.stderr
        assert (result.returncode == 0) == out.exists(), "a failed compilation left a file"
        assert result.returncode == 0 or result.stderr.strip()
        out.unlink(missing_ok=True)
