# SPDX-License-Identifier: MIT
"""A page of docs/ as its test sees it: fenced blocks in their order, with what the text in front of each says of it."""
import re

LEFT_OUT = re.compile(r"\*Not run by the tests: (.+)\.\*$")
FILE_NAME = re.compile(r"(?://|#) ([\w./-]+\.\w+)$")
FIGURE = re.compile(r"(?<=_)[0-9a-f]{8}\b|\d(?:[\d,]*\d)?(?:\.\d+)?(?:e-?\d+)?")


class Block:
    """One fenced block. `first` and `last` are the indices of its lines between the fences."""

    def __init__(self, language, first, before):
        self.language, self.first, self.last, self.lines = language, first, first, []
        found = LEFT_OUT.search(before)
        self.left_out = found.group(1) if found else None

    @property
    def text(self):
        return "".join(line + "\n" for line in self.lines)

    @property
    def file_name(self):
        """The name in the block's first line, as `// relax.cu`."""
        found = FILE_NAME.match(self.lines[0]) if self.lines else None
        return found.group(1) if found and self.language not in ("sh", "text") else None


def blocks_of(lines):
    blocks, open_block, before = [], None, ""
    for number, line in enumerate(lines):
        if open_block is None and line.startswith("```"):
            open_block = Block(line[3:].strip(), number + 1, before)
        elif open_block is not None and line.rstrip() == "```":
            open_block.last = number
            blocks.append(open_block)
            open_block, before = None, ""
        elif open_block is not None:
            open_block.lines.append(line)
        elif line.strip():
            before = line.strip()
    if open_block is not None:
        raise ValueError(f"the block in line {open_block.first} does not end")
    return blocks


def masked(line):
    """The line without its figures and with single blanks: what is the same with every compiler and on every machine."""
    return " ".join(FIGURE.sub("#", line).split())


def matched(wanted, found):
    """For each wanted line the index of the found one that it stands for; `...` stands for any lines. None where the found
    lines are not as wanted."""
    # places[i][j]: the first i wanted lines can stand for the first j found ones
    wanted_masked, found_masked = [masked(line) for line in wanted], [masked(line) for line in found]
    places = [[False] * (len(found) + 1) for _ in range(len(wanted) + 1)]
    places[0][0] = True
    for i, line in enumerate(wanted_masked):
        for j in range(len(found) + 1):
            if line == "...":
                places[i + 1][j] = places[i][j] or (j > 0 and places[i + 1][j - 1])
            else:
                places[i + 1][j] = j > 0 and places[i][j - 1] and line == found_masked[j - 1]
    if not places[len(wanted)][len(found)]:
        return None
    lines, j = [None] * len(wanted), len(found)
    for i in range(len(wanted) - 1, -1, -1):
        if wanted_masked[i] == "...":
            while not places[i][j]:
                j -= 1
        else:
            j -= 1
            lines[i] = j
    return lines
