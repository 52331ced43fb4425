"""Fixtures of the executed tests."""

import numpy as np
import pytest
from runner import BIN, Runner


def pytest_sessionstart(session):
    missing = [tool for tool in ("fuse-compile", "fuse-opt", "fuse-run")
               if not (BIN / tool).exists()]
    if missing:
        pytest.exit(f"expected {', '.join(missing)} in '{BIN}': build first, or set "
                    "FUSE_BIN", returncode=1)


@pytest.fixture
def runner(tmp_path):
    """Runs tools in a fresh directory."""
    return Runner(tmp_path)


@pytest.fixture
def rng(request):
    """Random numbers that depend on the test's name alone."""
    return np.random.default_rng(list(request.node.nodeid.encode()))
