# SPDX-License-Identifier: MIT
"""Doxygen's input filter, doxygen_filter.py FILE: headers with their plain comments made Doxygen's. A comment in front of a
declaration, or behind one on its line, is of that declaration; the first one is of the file. Links of pages to what
is no page of the site (sources, the README) become plain text."""
import os
import re
import sys


def plain(text):
    """Doxygen reads its own marks in what is mere text: they are escaped, but in @code ... @endcode."""
    parts = re.split(r"(@code.*?@endcode)", text, flags=re.S)
    escaped = "".join(part if i % 2 else re.sub(r"([\\<>%#@])", r"\\\1", part) for i, part in enumerate(parts))
    # tests/docs/check_headers.py holds headers to this form
    escaped = re.sub(r"^ \* Returns: ", " * @return ", escaped, flags=re.M)
    return re.sub(r"^ \* (Errors|Threads|Lifetime): ", r" * @par \1\n * ", escaped, flags=re.M)


def header(text):
    text = re.sub(r"^(/\* SPDX[^\n]*\*/|// SPDX[^\n]*)\n", "\n", text)
    # runs of // lines become one /* */
    text = re.sub(r"(?:^//(?: [^\n]*)?\n)+", lambda run: "/*" + "\n".join(" *" + line[2:] for line in run.group(0).splitlines())[2:] + " */\n",
                  text, flags=re.M)
    first = True

    def comment(found):
        nonlocal first
        before, body = found.group(1), found.group(2)
        if body.startswith(" ----"):
            return found.group(0)
        if first and not before.strip():
            first = False
            return f"{before}/** @file\n *{plain(body)}*/"
        return f"{before}/**{'<' if before.strip() else ''}{plain(body)}*/"
    text = re.sub(r"^([^\n]*?)/\*((?:[^*]|\*(?!/))*)\*/", comment, text, flags=re.M)
    return re.sub(r"^([^\n/\"*]*\S[^\n/\"*]*?)// ([^\n]*)$", lambda found: f"{found.group(1)}///< {plain(found.group(2))}", text, flags=re.M)


def place(path, heading):
    """The name for Doxygen of a heading that GitHub calls `heading`."""
    return os.path.basename(path).removesuffix(".md").replace("-", "_") + "_" + heading.replace("-", "_")


def page(path, text):
    def link(found):
        name, _, heading = found.group(2).partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
        if re.match(r"[a-z]+:", found.group(2)):
            return found.group(0)
        if os.path.join("docs", "") not in target or not target.endswith(".md"):
            return found.group(1)
        return f"[{' '.join(found.group(1).split())}](@ref {place(target, heading)})" if heading else found.group(0)

    def title(found):
        words = re.sub(r"[^\w\- ]", "", found.group(2).lower()).replace(" ", "-")
        return f"{found.group(0)} {{#{place(path, words)}}}"
    parts = re.split(r"(^```.*?^```)", text, flags=re.M | re.S)  # blocks are left alone
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)", link, parts[i])
        parts[i] = re.sub(r"^(##+) (.+)$", title, parts[i], flags=re.M)
        parts[i] = re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", parts[i])  # Doxygen ends `code at the next ' too
        parts[i] = parts[i].replace("| @", "| \\@")
    return "".join(parts)


with open(sys.argv[1], encoding="utf-8") as file:
    content = file.read()
sys.stdout.write(page(os.path.abspath(sys.argv[1]), content) if sys.argv[1].endswith(".md") else header(content))
