# SPDX-License-Identifier: MIT
"""`python -m inkmark [OPTIONS --] app.py [ARGUMENTS]`: `inkmark record` of this Python with that script, or with
`-m MODULE`."""
import os
import shutil
import sys
from typing import List, Optional, Tuple

from ._library import PACKAGE

_USAGE = """usage: python -m inkmark [OPTIONS --] SCRIPT [ARGUMENTS]
       python -m inkmark [OPTIONS --] -m MODULE [ARGUMENTS]
records what SCRIPT runs on the GPU; OPTIONS are those of `inkmark record` (inkmark record --help)"""


def _split(arguments: List[str]) -> Tuple[List[str], List[str]]:
    """(options of record, what Python is given)."""
    if arguments and arguments[0].startswith("-") and arguments[0] not in ("-m", "-c"):
        at = arguments.index("--") if "--" in arguments else len(arguments)
        return arguments[:at], arguments[at + 1:]
    return [], arguments


def _command() -> Optional[str]:
    inside = os.path.join(PACKAGE, "bin", "inkmark")
    return inside if os.path.exists(inside) else shutil.which("inkmark")


def main() -> int:
    arguments = sys.argv[1:]
    if arguments[:1] in (["-h"], ["--help"]):
        print(_USAGE)
        return 0
    options, rest = _split(arguments)
    if not rest:
        print(("no '--' between the options and the script\n" if options and "--" not in arguments else "no script\n") + _USAGE,
              file=sys.stderr)
        return 2
    command = _command()
    if command is None:
        print("cannot find the command 'inkmark' on the PATH", file=sys.stderr)
        return 1
    sys.stdout.flush()
    os.execv(command, [command, "record", *options, "--", sys.executable, *rest])


if __name__ == "__main__":
    sys.exit(main())
