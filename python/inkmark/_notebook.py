# SPDX-License-Identifier: MIT
"""`%load_ext inkmark`, and `%%inkmark` in front of a cell: runs it in a session, and shows its report."""
from __future__ import annotations

import argparse
import shlex
from typing import Any, Dict, List

from ._library import Error
from ._session import arm, session


class _Usage(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise Error(f"%%inkmark: {message}")


def _parser() -> argparse.ArgumentParser:
    parser = _Usage(prog="%%inkmark", add_help=False, allow_abbrev=False)
    parser.add_argument("-k", "--kernels", help="regular expression of the kernels to record")
    parser.add_argument("-w", "--warp", action="store_true", help="each warp records, not each block")
    parser.add_argument("-o", "--output", help="the capture's name")
    parser.add_argument("-n", "--name", help="the name that the session has afterwards")
    parser.add_argument("-a", "--activity", action="store_true", help="kernels, copies and calls too")
    parser.add_argument("--arm", action="append", default=[], metavar="NAME", help="a module, by its name")
    return parser


def _options(given: argparse.Namespace) -> Dict[str, Any]:
    return {"kernels": given.kernels, "granularity": "warp" if given.warp else "block", "output": given.output,
            "activity": given.activity}


def load_ipython_extension(shell: Any) -> None:
    """Called by %load_ext inkmark."""

    def cell_magic(line: str, cell: str) -> Any:
        given = _parser().parse_args(shlex.split(line))
        names: List[str] = given.arm
        for name in names:
            if name not in shell.user_ns:
                raise Error(f"%%inkmark --arm: {name!r} is no name of this notebook")
        with session(**_options(given)) as recording:
            for name in names:
                arm(shell.user_ns[name])
            result = shell.run_cell(cell)
        if given.name:
            shell.user_ns[given.name] = recording
        if not result.success:
            return None  # the cell has shown why
        return recording
    shell.register_magic_function(cell_magic, "cell", "inkmark")
