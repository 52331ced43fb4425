#!/usr/bin/env python3
"""Compares FuseDialect with numpy, onnxruntime, openvino and JAX on ops that are
bound by memory or vector math, beside memcpy of the same bytes.

    .venv/bin/python bench/memory_bound.py [--threads=N] [--models=a,b] …

Every engine runs in a process of its own, pinned to one core for one thread; the
engines take turns for several rounds and the least time of all rounds counts, so
that a disturbance of the machine hits none of them alone. A ratio above 1 means
that FuseDialect is faster. Exits with 1 if a result is wrong.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

from models import MODELS

HERE = pathlib.Path(__file__).resolve().parent
ENGINES = ["fuse", "memcpy", "numpy", "onnxruntime", "openvino", "jax"]
# Of the largest output; engines differ by rounding only.
ERROR_LIMIT = 2e-6


def measure(engine, name, options):
    # Some machines set tuning variables of numpy's BLAS for the whole system.
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith("OPENBLAS_")}
    command = [sys.executable, HERE / "peer.py", engine, name, str(options.threads),
               str(options.seconds), options.directory]
    result = subprocess.run(command, capture_output=True, text=True, env=environment,
                            check=False)
    if result.returncode != 0:
        last = (result.stderr.strip() or "no message").splitlines()[-1]
        print(f"{engine} failed on {name}: {last}", file=sys.stderr)
        return None
    return json.loads(result.stdout.splitlines()[-1])


def race(name, options):
    """The best measurement of each engine, taken in turns."""
    best = {}
    for _ in range(options.rounds):
        for engine in options.engines:
            if engine in best and best[engine] is None:
                continue
            result = measure(engine, name, options)
            if result is None or engine not in best:
                best[engine] = result
            elif result["min_us"] < best[engine]["min_us"]:
                best[engine] = result
    return best


def row(name, best, engines):
    ours = best["fuse"]
    cells = [name, f"{ours['min_us']:.1f}" if ours else "failed"]
    for engine in engines:
        if engine == "fuse":
            continue
        peer = best[engine]
        cells.append("-" if not peer or not ours
                     else f"{peer['min_us']:.1f} ({peer['min_us'] / ours['min_us']:.2f}x)")
    return cells


def print_table(rows):
    widths = [max(len(cells[i]) for cells in rows) for i in range(len(rows[0]))]
    for number, cells in enumerate(rows):
        print("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                        for i, (cell, width) in enumerate(zip(cells, widths))))
        if number == 0:
            print("  ".join("-" * width for width in widths))


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.7,
                        help="of measuring per engine and round")
    parser.add_argument("--models", default=",".join(MODELS), help="comma separated")
    parser.add_argument("--engines", default=",".join(ENGINES), help="comma separated")
    parser.add_argument("--directory", default=str(HERE.parent / "build" / "bench"))
    parser.add_argument("--json", help="also write all measurements to this file")
    options = parser.parse_args()
    options.models = options.models.split(",")
    options.engines = options.engines.split(",")
    for given, known in ((options.models, MODELS), (options.engines, ENGINES)):
        for name in given:
            if name not in known:
                parser.error(f"expected one of {', '.join(known)} but got '{name}'")
    if "fuse" not in options.engines:
        options.engines.insert(0, "fuse")
    return options


def main():
    options = parse_options()
    directory = pathlib.Path(options.directory)
    directory.mkdir(parents=True, exist_ok=True)
    peers = [engine for engine in options.engines if engine != "fuse"]
    rows = [["model", "fuse us", *(f"{peer} us (ratio)" for peer in peers)]]
    everything, wrong = {}, []
    for name in options.models:
        MODELS[name].write(directory)
        best = race(name, options)
        everything[name] = best
        rows.append(row(name, best, options.engines))
        ours = best["fuse"]
        if not ours or not ours["error"] <= ERROR_LIMIT:
            wrong.append(name)
    print(f"{options.threads} thread(s), least of {options.rounds} rounds")
    print_table(rows)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(everything, indent=1) + "\n")
    for name in wrong:
        ours = everything[name]["fuse"]
        reason = f"error {ours['error']:.1e}" if ours else "no result"
        print(f"wrong: {name}: {reason}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
