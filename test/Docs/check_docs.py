"""Runs the examples of Markdown pages.

    check_docs.py PAGE.md…

Fenced blocks, by their info string:

    mlir                 must pass fuse-opt. A fragment, such as one op, is
                         wrapped into a function that defines the values it uses.
                         One with an ellipsis (… or ...) is an abbreviation, which
                         is not checked.
    mlir file=NAME       as above, and NAME holds it for the commands that follow.
    text file=NAME       NAME holds the text.
    console              each line after `$ ` is run by bash, in a directory with
                         the files so far; what follows is what it prints. `...`
                         stands for any text, alone on a line for any lines.
    console approximate  as above, any number may stand for another.
    console no-check     not run.

Other blocks are not looked at. Prints what differs; exit code 1 if something does.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^( *)```(.*)$")
ELLIPSIS = re.compile(r"…|\.\.\.(?!\))")
NAME = r"%[A-Za-z_0-9]+"
TYPE = r"[a-z]+<[^>]*>"


class Block:
    def __init__(self, line, info, text):
        words = info.split()
        self.line = line
        self.language = words[0] if words else ""
        self.flags = {word for word in words[1:] if "=" not in word}
        self.options = dict(word.split("=", 1) for word in words[1:] if "=" in word)
        self.text = text


def blocks_of(page):
    """The fenced blocks of a page, without the fence's indentation."""
    blocks, start = [], None
    for number, line in enumerate(page.splitlines(), 1):
        fence = FENCE.match(line)
        if fence and start is None:
            start, indent, info, lines = number, len(fence[1]), fence[2], []
        elif fence and not fence[2].strip():
            blocks.append(Block(start, info, "\n".join(lines) + "\n"))
            start = None
        elif start is not None:
            lines.append(line[indent:] if line[:indent].isspace() else line)
    if start is not None:
        raise ValueError(f"expected an end of the block that starts at line {start}")
    return blocks


def split_types(text):
    return re.findall(TYPE, text)


def free_values(fragment):
    """The values that a fragment uses but does not define, with their types, and
    the kernels that it launches, with theirs."""
    types, kernels, defined = {}, {}, set()
    for line in fragment.splitlines():
        line = line.split("//")[0]
        for inner, outer, type_ in re.findall(f"({NAME}) = ({NAME}) : ({TYPE})", line):
            defined.add(inner)
            types.setdefault(outer, type_)
        definition = re.match(rf"\s*({NAME})(?::\d+)? = ", line)
        if definition:
            defined.add(definition[1])
            line = line[definition.end():]
        launched = []
        for names, listed in re.findall(r"(?:ins|outs)\(([^:()]*) : ([^()]*)\)", line):
            launched += split_types(listed)
            for name, type_ in zip(re.findall(NAME, names), split_types(listed)):
                types.setdefault(name, type_)
        kernel = re.search(r"fuse\.launch (@\w+)", line)
        if kernel:
            results = line.rsplit("->", 1)[1] if "->" in line else ""
            kernels[kernel[1]] = (launched, split_types(results))
        functional = re.search(r": \(([^()]*)\) ->", line)
        if functional:
            operands = re.findall(NAME, line[:functional.start()])
            for name, type_ in zip(operands, split_types(functional[1])):
                types.setdefault(name, type_)
        single = re.search(rf"({NAME})(?: \{{[^}}]*\}})? : ({TYPE})\s*$", line)
        if single:
            types.setdefault(single[1], single[2])
    return {n: t for n, t in types.items() if n not in defined}, kernels


def complete(fragment):
    """A fragment as a module that fuse-opt accepts."""
    if re.search(r"^\s*(module|func\.func|\"?builtin\.module)", fragment, re.MULTILINE):
        return fragment
    values, kernels = free_values(fragment)
    arguments = ", ".join(f"{name}: {type_}" for name, type_ in values.items())
    text = "".join(
        f"func.func private {name}({', '.join(operands)}) -> ({', '.join(results)}) "
        "attributes {fuse.kernel}\n" for name, (operands, results) in kernels.items())
    return text + f"func.func private @example({arguments}) {{\n{fragment}  return\n}}\n"


def check_mlir(blocks, directory):
    """All of a page's programs in one process; failures with their line."""
    failures = []
    separator = "// -----\n"
    path = directory / "all-examples.mlir"
    path.write_text(separator.join(complete(block.text) for block in blocks))
    command = ["fuse-opt", "--split-input-file", str(path), "-o", "/dev/null"]
    if subprocess.run(command, capture_output=True, check=False).returncode == 0:
        return failures
    for block in blocks:
        path = directory / "example.mlir"
        path.write_text(complete(block.text))
        result = subprocess.run(["fuse-opt", str(path), "-o", "/dev/null"],
                                capture_output=True, text=True, check=False)
        if result.returncode != 0:
            failures.append(f"line {block.line}: {result.stderr.strip()}\n{path.read_text()}")
    # All pass alone: then it is their combination that fails.
    return failures or [f"{' '.join(command)} fails"]


def pattern_of(expected, approximate):
    """A regular expression for what a command may print."""
    parts = []
    for line in expected.splitlines():
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
            continue
        text = re.escape(line.rstrip()).replace(re.escape("..."), ".*")
        if approximate:
            # Columns move with the width of their numbers.
            text = re.sub(r"\d+(?:\\\.\d+)?(?:e\\?[-+]\d+)?", r"[-+.e\\d]+", text)
            text = re.sub(r"(?:\\ )+", r" +", text)
        parts.append(text + r" *\n")
    return re.compile("".join(parts))


def check_console(block, directory):
    failures = []
    steps = re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
    for step in steps:
        command, _, expected = step.partition("\n")
        while command.endswith("\\"):
            more, _, expected = expected.partition("\n")
            command = command[:-1] + more.removeprefix("> ")
        result = subprocess.run(["bash", "-c", command], cwd=directory, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                check=False)
        printed = result.stdout if not result.stdout or result.stdout.endswith("\n") \
            else result.stdout + "\n"
        if not pattern_of(expected, "approximate" in block.flags).fullmatch(printed):
            failures.append(f"line {block.line}: $ {command}\nexpected:\n{expected}"
                            f"printed (exit code {result.returncode}):\n{printed}")
    return failures


def main(path):
    blocks = blocks_of(pathlib.Path(path).read_text())
    failures = []
    programs = [b for b in blocks if b.language == "mlir" and not ELLIPSIS.search(b.text)]
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        if programs:
            failures += check_mlir(programs, directory)
        for block in blocks:
            if "file" in block.options:
                (directory / block.options["file"]).write_text(block.text)
            elif block.language == "console" and "no-check" not in block.flags:
                failures += check_console(block, directory)
    for failure in failures:
        print(f"{path}: {failure}", file=sys.stderr)
    sessions = sum(block.language == "console" and "no-check" not in block.flags
                   for block in blocks)
    print(f"{path}: {len(programs)} programs, {sessions} sessions, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(max([main(page) for page in sys.argv[1:]]))
