# Configuration of the lit tests; the build fills in lit.site.cfg.py.

import os

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "FuseDialect"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "Integration", "Unit", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.fuse_binary_dir, "test")

config.substitutions.append(("%python", config.python))
config.substitutions.append(("%fuse_src_root", config.fuse_source_dir))
config.substitutions.append(("%fuse_obj_root", config.fuse_binary_dir))

llvm_config.with_system_environment(["HOME", "TMP", "TEMP"])
llvm_config.use_default_substitutions()
fuse_bin = os.path.join(config.fuse_binary_dir, "bin")
# A tool that is not built yet stays as written, so that its tests fail with
# "command not found" rather than all tests at discovery.
llvm_config.add_tool_substitutions(
    [
        ToolSubst(name, unresolved="ignore")
        for name in (
            "fuse-compile",
            "fuse-opt",
            "fuse-run",
            "llc",
            "llvm-dwarfdump",
            "llvm-nm",
            "llvm-objdump",
            "llvm-readobj",
            "mlir-opt",
            "mlir-translate",
            "opt",
            "split-file",
        )
    ],
    [fuse_bin, config.llvm_tools_dir],
)
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
llvm_config.with_environment("PATH", fuse_bin, append_path=True)
