# SPDX-License-Identifier: MIT
"""check_map.py MAP CUBIN NVDISASM [SOURCE]: `inkmark verify --map` against a reader of the machine code that shares nothing with it:
every instruction once, its opcode, the hash of the code; and with SOURCE the sections that its lines name."""
import collections
import hashlib
import json
import re
import struct
import subprocess
import sys


def sections_of(cubin):
    """The bytes of each `.text.NAME` of an ELF file."""
    data = open(cubin, "rb").read()
    at, size, count, names = struct.unpack_from("<Q10xHHH", data, 0x28)
    heads = [struct.unpack_from("<IIQQQQ", data, at + i * size) for i in range(count)]
    text = heads[names][4]
    out = {}
    for head in heads:
        name = data[text + head[0]:data.index(b"\0", text + head[0])].decode()
        if name.startswith(".text."):
            out[name[6:]] = data[head[4]:head[4] + head[5]]
    return out


def instructions_of(cubin, nvdisasm):
    """Of each section the opcodes by offset, from a listing of another form than verify reads (raw, no labels)."""
    out, name = collections.defaultdict(dict), None
    listing = subprocess.run([nvdisasm, "-raw", "-ndf", cubin], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        section = re.match(r"\s*\.section\s+\.text\.([^,\s]+)", line)
        if section:
            name = section.group(1)
        found = re.match(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)", line)
        if found and name:
            out[name][int(found.group(1), 16)] = found.group(2)
    return out


def check(map_path, cubin, nvdisasm, source):
    maps = json.load(open(map_path))["maps"]
    code, listed = sections_of(cubin), instructions_of(cubin, nvdisasm)
    assert maps
    for m in maps:
        name, found = m["kernel"], m["instructions"]
        assert m["code_sha256"] == hashlib.sha256(code[name]).hexdigest(), name
        offsets = [i["offset"] for i in found]
        assert offsets == list(range(0, len(code[name]), 16)), (name, len(offsets), len(code[name]))
        for i in found:
            assert listed[name][i["offset"]] == i["opcode"], (name, i, listed[name][i["offset"]])
            assert m["rows"][i["row"]]["section"] == i["section"], i
        counted = collections.Counter(i["section"] for i in found)
        own = collections.Counter(i["section"] for i in found if i["own"])
        assert all(r["instructions"] == counted[r["section"]] and r["own"] == own[r["section"]] for r in m["rows"]), name
        assert all(i["section"] == "(padding)" for i in found if i["opcode"] == "NOP" and i["offset"] > offsets[-1] - 48), name
        reads = [i for i in found if "stamp" in i]
        assert len(reads) == sum(s["copies"] for s in m["stamps"]), name
        for i in reads:  # a clock read belongs to what it closes
            closes = m["stamps"][i["stamp"]]["closes"]
            assert closes is None or i["section"] == closes, (i, closes)
    if source:
        check_lines(maps, source)
    print(f"{len(maps)} maps, {sum(len(m['instructions']) for m in maps)} instructions")


def check_lines(maps, source):
    seen = set()
    wanted = {}
    for number, line in enumerate(open(source), 1):
        said = re.search(r"// in (.*)$", line)
        if said:
            wanted[number] = set(said.group(1).split(" | "))
    for m in maps:
        for i in m["instructions"]:
            line = i.get("line")
            if i["own"] or line not in wanted or not i["file"].endswith("map.cu") or (
                    i["kind"] not in ("memory", "shared", "barrier") and not i["opcode"].startswith("CALL")):
                continue
            assert set(i["section"].split(" | ")) == wanted[line], (m["kernel"], i, wanted[line])
            seen.add(line)
    assert seen == set(wanted), f"lines without an instruction: {sorted(set(wanted) - seen)}"


check(*sys.argv[1:4], sys.argv[4] if len(sys.argv) > 4 else None)
