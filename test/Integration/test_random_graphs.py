"""Random graphs: every way to compile one gives numpy's result."""

import compare
import numpy as np
import pytest
from generator import random_program

SEEDS = range(24)


@pytest.mark.parametrize("seed", SEEDS)
def test_fused_and_unfused(runner, seed):
    program = random_program(seed)
    fused = program.check(runner)
    program.check(runner, "--no-fusion")
    threads = program.run(runner, "--threads=2")
    for position, (one, two) in enumerate(zip(fused, threads, strict=True)):
        compare.check_bits(one, two, f"output {position} with two threads")


@pytest.mark.parametrize("seed", SEEDS[::3])
def test_dynamic(runner, seed):
    random_program(seed + 100, dynamic=True).check(runner)


@pytest.mark.parametrize("element", ["f64", "f16", "bf16"])
@pytest.mark.parametrize("seed", SEEDS[::6])
def test_other_floats(runner, seed, element):
    random_program(seed + 200, element=element).check(runner)


@pytest.mark.parametrize("cpu", ["x86-64", "x86-64-v3"])
@pytest.mark.parametrize("seed", SEEDS[::6])
def test_other_targets(runner, seed, cpu):
    random_program(seed + 300).check(runner, f"--target-cpu={cpu}")


@pytest.mark.parametrize("seed", SEEDS[::6])
def test_large_graphs(runner, seed):
    random_program(seed + 400, steps=60).check(runner)


@pytest.mark.parametrize("seed", SEEDS[::6])
def test_against_the_reference_evaluator(runner, seed):
    """fuse-run's own op-by-op evaluator agrees with the compiled code."""
    program = random_program(seed + 500)
    path = runner.write(program.text(), ".mlir")
    inputs = [f"--input=arg{i}=@{runner.save(np.asarray(array))}"
              for i, array in enumerate(program.arrays)]
    runner.succeed("fuse-run", path, *inputs, "--verify", "--rtol=1e-3", "--atol=1e-3")
