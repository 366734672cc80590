"""The command line: `python -m tests.fuzz N [--seed FIRST] [--all]`."""

import argparse
import sys

from .search import search


def main():
    """Read the command line, try the seeds and say how it went."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("n", type=int, help="how many seeds")
    parser.add_argument("--seed", type=int, default=0, help="the first of them")
    parser.add_argument("--all", action="store_true", help="go on after a failure")
    options = parser.parse_args()
    failed = search(range(options.seed, options.seed + options.n), options.all)
    if failed:
        sys.exit(f"failed: {'seeds' if len(failed) > 1 else 'seed'} {', '.join(map(str, failed))}")
    print(f"all claims held on seeds {options.seed} to {options.seed + options.n - 1}")


if __name__ == "__main__":
    main()
