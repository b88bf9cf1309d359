"""python -m stress try CLASS SEED FIRST LAST: ask these problems, one after another, and print what broke."""

import argparse
import sys
from collections import Counter

from stress.problems import CLASSES, draw
from stress.trial import ask
from stress.watch import LIMIT


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m stress", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    attempt = commands.add_parser("try", help="ask some problems in this process")
    attempt.add_argument("kind", choices=CLASSES)
    attempt.add_argument("seed", type=int)
    attempt.add_argument("first", type=int)
    attempt.add_argument("last", type=int)
    attempt.add_argument("--limit", type=float, default=LIMIT, help="seconds of processor time")
    args = parser.parse_args(arguments)
    endings: Counter[str] = Counter()
    for index in range(args.first, args.last):
        outcome = ask(draw(args.kind, args.seed, index), args.limit)
        endings[outcome.status or outcome.ending] += 1
        for finding in outcome.findings:
            print(f"{args.kind}-{args.seed}-{index}", finding.kind, "|", finding.words, flush=True)
    print(dict(endings))
    return 0


if __name__ == "__main__":
    sys.exit(main())
