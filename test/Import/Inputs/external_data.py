"""Writes models whose initialiser `w` of 32 floats lies in another file.

    external_data.py DIRECTORY

DIRECTORY/models/good.onnx is right. Each of the others is wrong in one way.
"""

import os
import pathlib
import shutil
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

root = pathlib.Path(sys.argv[1])
shutil.rmtree(root, ignore_errors=True)
models = root / "models"
(models / "data").mkdir(parents=True)
weights = np.arange(32, dtype=np.float32)
(models / "data" / "weights.bin").write_bytes(b"\0" * 64 + weights.tobytes())
(root / "secret.bin").write_bytes(weights.tobytes())
os.symlink(root / "secret.bin", models / "link.bin")
os.symlink(root, models / "up")
os.mkfifo(models / "pipe")
# As a prefix "models" is the same, as a directory it is not.
(root / "models2").mkdir()
shutil.copy(root / "secret.bin", root / "models2")


def write(name, **entries):
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[32])
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=str(value))
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"], name="add")], "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [32])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [32])], [tensor])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (models / f"{name}.onnx").write_bytes(model.SerializeToString())


write("good", location="data/weights.bin", offset=64, length=128)
write("rest", location="data/weights.bin", offset=64)
write("no_location", offset=64)
write("missing", location="data/none.bin")
write("parent", location="../secret.bin")
write("absolute", location=root / "secret.bin")
write("link", location="link.bin")
write("link_above", location="up/secret.bin")
write("sibling", location="../models2/secret.bin")
write("pipe", location="pipe")
write("directory", location="data")
write("beyond", location="data/weights.bin", offset=65)
write("far", location="data/weights.bin", offset=2**64 - 1)
write("negative", location="data/weights.bin", offset=-1)
write("length", location="data/weights.bin", length=4)
