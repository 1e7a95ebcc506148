# SPDX-License-Identifier: MIT
"""The command `inkmark` of the wheel, which lies inside of this package."""
import os
import sys

from ._library import PACKAGE


def main() -> None:
    command = os.path.join(PACKAGE, "bin", "inkmark")
    if not os.path.exists(command):
        sys.exit("this inkmark was installed without its command: 'pip install .' in the source tree's own folder has it")
    os.execv(command, ["inkmark", *sys.argv[1:]])
