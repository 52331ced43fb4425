"""Adds up test results in JUnit's XML format and prints "N passed, N failed".

Exit code 1 if a test failed, and also if a runner wrote no results: one that
dies at start must not look like success. Skipped tests count as neither.
"""

import sys
import xml.etree.ElementTree as ElementTree


def count(path):
    """(passed, failed) of the test cases in one file."""
    passed = failed = 0
    for case in ElementTree.parse(path).iter("testcase"):
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            failed += 1
        elif "skipped" not in kinds:
            passed += 1
    return passed, failed


def main(paths):
    passed = failed = 0
    for path in paths:
        try:
            counts = count(path)
        except (OSError, ElementTree.ParseError) as error:
            print(f"no results in '{path}': {error}", file=sys.stderr)
            counts = (0, 1)
        if counts == (0, 0):
            print(f"no tests ran in '{path}'", file=sys.stderr)
            counts = (0, 1)
        passed += counts[0]
        failed += counts[1]
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
