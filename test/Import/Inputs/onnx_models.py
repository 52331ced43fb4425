"""Builds the ONNX models that a test file holds as text.

    onnx_models.py TEST DIRECTORY

Each section `#--- NAME [opset=N]` of TEST becomes DIRECTORY/NAME.onnx. A section
holds a model in ONNX's text form (onnx.parser); with `opset=N` the header of the
model is added. A line `#metadata NODE KEY=VALUE` attaches a property to a node,
which the text form cannot express. Models are written as they are, right or
wrong.
"""

import pathlib
import re
import sys

import onnx.parser

test, directory = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
directory.mkdir(parents=True, exist_ok=True)
_, *sections = re.split(r"^#--- *(.*)$", test.read_text(), flags=re.MULTILINE)
for header, text in zip(sections[::2], sections[1::2]):
    name, *options = header.split()
    if "." in name:
        continue  # A file of another kind, for split-file.
    for option in options:
        opset = int(option.removeprefix("opset="))
        text = f'<ir_version: 8, opset_import: ["": {opset}]>\n' + text
    model = onnx.parser.parse_model(text)
    for node, key, value in re.findall(r"#metadata (\S+) (\S+?)=(.*)", text):
        (match,) = [n for n in model.graph.node if n.name == node]
        match.metadata_props.add(key=key, value=value)
    (directory / f"{name}.onnx").write_bytes(model.SerializeToString())
