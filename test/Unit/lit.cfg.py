# Configuration of the GoogleTests: every program in build/bin/unit.

import os

import lit.formats

config.name = "FuseDialect-Unit"
config.suffixes = []
config.test_exec_root = os.path.join(config.fuse_binary_dir, "bin", "unit")
config.test_source_root = config.test_exec_root
config.test_format = lit.formats.GoogleTest(".", "Tests")
