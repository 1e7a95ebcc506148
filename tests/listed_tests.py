# SPDX-License-Identifier: MIT
"""The tests of a build folder, as CMake wrote them down: `ctest --show-only` leaves out the command of a test whose program is
not built yet."""
import os
import re

WORD = re.compile(r'\[(=*)\[(.*?)\]\1\]|"((?:\\.|[^"\\])*)"|([^\s()"]+)', re.S)


def words_of(text):
    return [bracket or re.sub(r"\\(.)", r"\1", quoted) or bare for _, bracket, quoted, bare in WORD.findall(text)]


def listed_tests(build, folder=""):
    """{name: (words of the command, REQUIRED_FILES, labels)}"""
    found = {}
    with open(os.path.join(build, folder, "CTestTestfile.cmake"), encoding="utf-8") as file:
        calls = re.findall(r"^(\w+)\((.*?)\)$", file.read(), re.M | re.S)
    for call, text in calls:
        words = words_of(text)
        if call == "subdirs":
            found.update(listed_tests(build, os.path.join(folder, words[0])))
        elif call == "add_test":
            found[words[0]] = (words[1:], [], [])
        elif call == "set_tests_properties":
            values = dict(zip(words[2::2], words[3::2]))
            found[words[0]] = (found[words[0]][0], values.get("REQUIRED_FILES", "").split(";"), values.get("LABELS", "").split(";"))
    return found
