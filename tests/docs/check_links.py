# SPDX-License-Identifier: MIT
"""check_links.py SOURCE: every link of a Markdown page to a file of the repository leads to one, and to a heading that it has;
docs/README.md lists every page of docs/ once."""
import os
import re
import sys

source = os.path.abspath(sys.argv[1])
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def text_of(path):
    """The page's text without its blocks and code."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"^```.*?^```", "", file.read(), flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", lambda found: found.group(0).replace("[", " "), text)


def anchors_of(path):
    """The names that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ +(.+?) *$", text_of(path), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def pages():
    for folder, folders, names in os.walk(source):
        folders[:] = [name for name in folders if not name.startswith((".", "build", "node_modules"))]
        yield from (os.path.join(folder, name) for name in names if name.endswith(".md"))


broken, count = [], 0
for page in pages():
    for link in LINK.findall(text_of(page)):
        if re.match(r"[a-z]+:", link):
            continue
        count += 1
        path, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(target):
            broken.append(f"{os.path.relpath(page, source)}: no '{path}'")
        elif anchor and target.endswith(".md") and anchor not in anchors_of(target):
            broken.append(f"{os.path.relpath(page, source)}: '{path or page}' has no heading '#{anchor}'")

docs = os.path.join(source, "docs")
listed = [os.path.normpath(os.path.join(docs, link.partition("#")[0])) for link in LINK.findall(text_of(os.path.join(docs, "README.md")))]
for page in pages():
    if page.startswith(docs + os.sep) and page != os.path.join(docs, "README.md") and listed.count(page) != 1:
        broken.append(f"docs/README.md lists '{os.path.relpath(page, docs)}' {listed.count(page)} times")
if broken or count < 50:
    sys.exit("\n".join(broken) or f"only {count} links were found")
print(f"{count} links lead somewhere")
