"""The models of the memory-bound benchmark: as ONNX files, with numpy and JAX.

Each model is a few ops whose time is bound by memory or by vector math, with
shapes from real networks.
"""

import dataclasses
import math
from collections.abc import Callable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


@dataclasses.dataclass
class Model:
    """A graph with one output `out`. `numpy` and `jax` compute the same, from
    the inputs by position (`jax` gets the modules jax and jax.numpy first)."""

    name: str
    inputs: dict
    output: tuple
    nodes: list
    numpy: Callable
    jax: Callable
    constants: dict = dataclasses.field(default_factory=dict)

    def write(self, directory):
        """Writes DIRECTORY/NAME.onnx and returns its path."""
        graph = helper.make_graph(
            self.nodes, self.name,
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
             for name, shape in self.inputs.items()],
            [helper.make_tensor_value_info("out", TensorProto.FLOAT, self.output)],
            [numpy_helper.from_array(value, name)
             for name, value in self.constants.items()])
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
        onnx.checker.check_model(model)
        path = directory / f"{self.name}.onnx"
        onnx.save(model, path)
        return path

    def feeds(self):
        rng = np.random.default_rng(0)
        return {name: rng.standard_normal(shape).astype(np.float32)
                for name, shape in self.inputs.items()}

    def bytes(self):
        """Bytes that must be read and written at least."""
        elements = math.prod(self.output) + sum(map(math.prod, self.inputs.values()))
        return 4 * (elements + sum(v.size for v in self.constants.values()
                                   if v.dtype == np.float32))


def node(op, inputs, output, name=None, **attributes):
    return helper.make_node(op, inputs, [output], name=name or op.lower(), **attributes)


def numpy_softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def softmax(name, shape):
    return Model(name, {"x": shape}, shape, [node("Softmax", ["x"], "out", axis=-1)],
                 numpy_softmax, lambda jax, jnp: lambda x: jax.nn.softmax(x, -1))


def layer_norm(rows, columns):
    def with_numpy(x):
        d = x - x.mean(-1, keepdims=True)
        return d / np.sqrt((d * d).mean(-1, keepdims=True) + np.float32(1e-5))

    def with_jax(jax, jnp):
        def function(x):
            d = x - x.mean(-1, keepdims=True)
            return d * jax.lax.rsqrt((d * d).mean(-1, keepdims=True) + 1e-5)
        return function

    return Model("layer_norm", {"x": (rows, columns)}, (rows, columns),
                 [node("LayerNormalization", ["x", "scale", "bias"], "out", axis=-1)],
                 with_numpy, with_jax,
                 {"scale": np.ones(columns, np.float32),
                  "bias": np.zeros(columns, np.float32)})


def gelu_bias(rows, columns):
    """gelu(x) + b as exporters write it: five primitive ops and an addition."""
    root = np.float32(math.sqrt(2))

    def with_numpy(x, b):
        from scipy.special import erf
        return np.float32(0.5) * x * (erf(x / root) + np.float32(1)) + b

    nodes = [node("Div", ["x", "root"], "scaled"), node("Erf", ["scaled"], "erf"),
             node("Add", ["erf", "one"], "shifted"),
             node("Mul", ["x", "shifted"], "product", "mul"),
             node("Mul", ["product", "half"], "gelu", "halve"),
             node("Add", ["gelu", "b"], "out", "bias")]
    return Model("gelu_bias", {"x": (rows, columns), "b": (columns,)}, (rows, columns),
                 nodes, with_numpy,
                 lambda jax, jnp: lambda x, b: jax.nn.gelu(x, approximate=False) + b,
                 {"root": root, "one": np.float32(1), "half": np.float32(0.5)})


def all_models():
    activation = (100, 120, 120)
    yield Model("sub_exp", {"x": activation, "m": (100, 120, 1)}, activation,
                [node("Sub", ["x", "m"], "difference", "functional_1/activation_2/sub"),
                 node("Exp", ["difference"], "out", "functional_1/activation_2/Exp")],
                lambda x, m: np.exp(x - m), lambda jax, jnp: lambda x, m: jnp.exp(x - m))
    yield Model("exp", {"x": activation}, activation, [node("Exp", ["x"], "out")],
                np.exp, lambda jax, jnp: jnp.exp)
    yield softmax("softmax_128", (12, 128, 128))
    yield softmax("softmax_4096", (64, 4096))
    yield layer_norm(512, 768)
    yield gelu_bias(512, 3072)
    yield Model("row_sums", {"x": (2048, 1024)}, (2048,),
                [node("ReduceSum", ["x", "axes"], "out", keepdims=0)],
                lambda x: x.sum(1), lambda jax, jnp: lambda x: x.sum(1),
                {"axes": np.array([1], np.int64)})


MODELS = {model.name: model for model in all_models()}
