# SPDX-License-Identifier: MIT
"""check_headers.py FOLDER: each function of the public headers says at a fixed place what it returns and which errors there
are, and each header which threads may call it and how long what it hands out lives. The form, of which docs/doxygen_filter.py
makes paragraphs: "Returns: ..." and then "Errors: ..." end the comment right in front of the declaration; "Threads: ..." and
"Lifetime: ..." stand in the header's opening comment, in front of the example."""
import os
import re
import sys

folder, wrong, count = sys.argv[1], [], 0
STATUS = re.compile(r"INK_ERROR_[A-Z_]+")
statuses = set(STATUS.findall(open(os.path.join(folder, "status.h"), encoding="utf-8").read()))
for name in sorted(os.listdir(folder)):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        text = file.read()
    opening = re.search(r"/\*(?! SPDX)((?:[^*]|\*(?!/))*)\*/", text).group(1).split("@code")[0]
    for word in ("Threads: ", "Lifetime: "):
        if f"\n * {word}" not in opening:
            wrong.append(f"{name}: the opening comment has no '{word.strip()}'")
    declared = list(re.finditer(r"(?:^/\*((?:[^*]|\*(?!/))*)\*/\n)?^INK_API\b([^;()]*?)\b(ink_\w+)\([^;]*;([^\n]*)", text, re.M))
    if not declared or len(declared) != len(re.findall(r"^INK_API\b", text, re.M)):
        wrong.append(f"{name}: not every declaration was understood")
    for comment, kind, function, behind in (match.groups() for match in declared):
        count += 1
        lines = [line.strip(" *") for line in (comment or "").split("\n")]
        parts = [line.split(":")[0] for line in lines if re.match(r"(Returns|Errors): \S", line)]
        if not lines[0]:
            wrong.append(f"{name}: {function} has no comment in front of it")
        if behind.strip():
            wrong.append(f"{name}: {function}: what is said behind it belongs in front of it")
        is_status = "ink_status" in kind.split() and "*" not in kind
        wanted = [] if kind.split()[-1:] == ["void"] else ["Returns", "Errors"] if is_status else ["Returns"]
        if parts != wanted:
            wrong.append(f"{name}: {function} says {parts}, not {wanted}")
        purpose = re.split(r"(?:Returns|Errors): ", " ".join(lines))[0]
        if STATUS.search(purpose):
            wrong.append(f"{name}: {function} tells of errors outside of 'Errors:'")
        for status in set(STATUS.findall(comment or "")) - statuses:
            wrong.append(f"{name}: {function} has an error that is none: {status}")
print("\n".join(wrong) or f"{count} functions say what they return")
sys.exit(bool(wrong) or count < 140)
