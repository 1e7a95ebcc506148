# SPDX-License-Identifier: MIT
"""circles.py ROOT: no file of the C sources includes, by way of others, one that includes it. A .c file and the .h file of
its name count as one; public headers are files of their own. Also, merge/read and merge/join include nothing of merge/write, and
output, table, decode and capture nothing of cuda."""
import os
import re
import sys

FOLDERS = ("runtime", "cli", "instrument", "verify", "device", "selftest")
NOT_FROM = (("runtime/merge/read/", "write/"), ("runtime/merge/join/", "write/"), ("runtime/output/", "cuda/"),
            ("runtime/table/", "cuda/"), ("runtime/decode/", "cuda/"), ("runtime/capture/", "cuda/"))


def name_of(path):
    public = "public " if "/inkmark/" in "/" + path else ""
    return public + os.path.splitext(os.path.basename(path))[0]


def includes_of(root):
    of = {}
    for folder in FOLDERS:
        for at, _, names in os.walk(os.path.join(root, folder)):
            for name in names:
                if os.path.splitext(name)[1] in (".c", ".h", ".cuh"):
                    path = os.path.relpath(os.path.join(at, name), root)
                    with open(os.path.join(root, path), encoding="utf-8") as file:
                        of[path] = re.findall(r'^\s*#\s*include\s+"([^"]+)"', file.read(), re.M)
    return of


def circles(edges):
    """Of each file that reaches itself, the shortest way."""
    found = []
    for start in sorted(edges):
        way, seen = [[start]], {start}
        while way:
            path = way.pop(0)
            for following in sorted(edges.get(path[-1], ())):
                if following == start:
                    found.append(path + [start])
                    way = []
                    break
                if following not in seen:
                    seen.add(following)
                    way.append(path + [following])
    return found


def main():
    of = includes_of(sys.argv[1])
    assert len(of) > 300, f"only {len(of)} files were found in {sys.argv[1]}"
    paths = {os.path.basename(path): path for path in of}
    faults = [f"{path} includes {target}" for path, all_of in of.items() for target in all_of
              for folder, other in NOT_FROM
              if path.startswith(folder) and f"/{other}" in paths.get(os.path.basename(target), "") and "inkmark/" not in target]
    # Names are unique within a part: rings are looked for in each one alone.
    for folder in FOLDERS:
        mine = {path: all_of for path, all_of in of.items() if path.startswith(folder + "/")}
        known, edges = {name_of(path) for path in mine}, {}
        for path, all_of in mine.items():
            edges.setdefault(name_of(path), set()).update(
                name_of(target) for target in all_of if name_of(target) in known and name_of(target) != name_of(path))
        faults += [" -> ".join(way) for way in circles(edges)]
    for fault in faults:
        print(fault)
    print(f"{len(of)} files, {len(faults)} faults")
    sys.exit(bool(faults))


main()
