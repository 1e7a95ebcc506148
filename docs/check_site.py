# SPDX-License-Identifier: MIT
"""check_site.py FOLDER: every link of the HTML pages in it that stays on the machine leads to a file, and to a place that it has."""
import html
import os
import re
import sys

folder = sys.argv[1]
texts, names, broken, count = {}, {}, [], 0
for name in sorted(os.listdir(folder)):
    if name.endswith(".html"):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            texts[name] = file.read()
        names[name] = {html.unescape(found) for found in re.findall(r'(?:id|name)="([^"]+)"', texts[name])}
for name, text in texts.items():
    for link in re.findall(r'(?:href|src)="([^"]+)"', text):
        link = html.unescape(link)
        if re.match(r"[a-z]+:", link):
            continue
        count += 1
        path, _, place = link.partition("#")
        path = path or name
        if not os.path.exists(os.path.join(folder, path)):
            broken.append(f"{name}: no '{path}'")
        elif place and path in names and place not in names[path]:
            broken.append(f"{name}: '{path}' has no '{place}'")
for name, text in texts.items():
    broken += [f"{name}: {line} was not understood" for line in re.findall(r"^@(?:section|subsection|ref)\b.*", text, re.M)]
for line in sorted(set(broken)):
    print(line)
print(f"{len(texts)} pages, {count} links, {len(broken)} of them broken")
sys.exit(1 if broken or count < 1000 else 0)
