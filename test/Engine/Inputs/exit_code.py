"""Runs a command and checks its exit code.

    exit_code.py CODE COMMAND [ARGUMENT]…

The command's output stays as it is. A signal is never the right code.
"""

import subprocess
import sys

code = subprocess.run(sys.argv[2:]).returncode
if code != int(sys.argv[1]):
    sys.exit(f"expected exit code {sys.argv[1]} but got {code}")
