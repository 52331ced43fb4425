"""Runs the project's tools."""

import os
import pathlib
import subprocess

import numpy as np
from types_and_values import BFLOAT16

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("FUSE_BIN", ROOT / "build" / "bin"))


class Runner:
    """Runs tools in one scratch directory. Whatever the input, a tool must end
    with an exit code of its own and never by a signal."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.counter = 0

    def path(self, suffix):
        self.counter += 1
        return self.directory / f"f{self.counter}{suffix}"

    def write(self, content, suffix):
        path = self.path(suffix)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content)
        return path

    def tool(self, name, *arguments, timeout=300):
        """Runs a tool to its end; returns the completed process (text)."""
        command = [str(BIN / name), *map(str, arguments)]
        result = subprocess.run(command, capture_output=True, text=True,
                                timeout=timeout, check=False, cwd=self.directory)
        assert result.returncode >= 0, (
            f"{name} died by signal {-result.returncode}: {result.stderr[-2000:]}")
        return result

    def succeed(self, name, *arguments, timeout=300):
        result = self.tool(name, *arguments, timeout=timeout)
        assert result.returncode == 0, (
            f"{name}: exit code {result.returncode}: {result.stderr[-3000:]}\n"
            f"command: {' '.join(map(str, result.args))}")
        return result

    def fail(self, name, *arguments, code=None):
        """Expects an error: a documented exit code and a message."""
        result = self.tool(name, *arguments)
        allowed = (1, 2, 3, 4) if code is None else (code,)
        assert result.returncode in allowed, (
            f"{name}: expected exit code {allowed} but got {result.returncode}: "
            f"{result.stderr[-2000:]}")
        assert result.stderr.strip(), f"{name} failed without a message"
        return result

    def save(self, array):
        path = self.path(".npy")
        np.save(path, array)
        return path

    def load(self, path, element):
        """Reads a result; numpy has no name for bfloat16 and reads raw bytes."""
        array = np.load(path)
        if element == "bf16" and array.dtype != BFLOAT16:
            assert array.dtype.itemsize == 2, array.dtype
            return array.view(BFLOAT16)
        return array

    def run_model(self, model, suffix, inputs, outputs, *flags, timeout=300):
        """Runs a model given as text or bytes with fuse-run. `inputs` maps names
        to arrays, `outputs` names to element types; returns the outputs' arrays
        in order."""
        path = self.write(model, suffix)
        arguments = [f"--input={name}=@{self.save(array)}" for name, array in inputs.items()]
        files = {name: self.path(".npy") for name in outputs}
        arguments += [f"--output={name}=@{file}" for name, file in files.items()]
        self.succeed("fuse-run", path, *arguments, *flags, timeout=timeout)
        return [self.load(files[name], element) for name, element in outputs.items()]
