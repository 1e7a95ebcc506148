#!/bin/bash
# SPDX-License-Identifier: MIT
# found.sh INKMARK NVCC ROOT ARCH: what verify says of found.cu, kernel by kernel: work that it once took for held or did not judge,
# marks that it called removed, and false alarms.
set -u
inkmark=$1 nvcc=$2 root=$3 arch=$4
. "$root/tests/nvdisasm.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$nvcc" -I "$root/device" -O3 "-arch=sm_$arch" -lineinfo -DINKMARK_NO_COST -cubin -o "$work/found.cubin" "$root/tests/verify/found.cu" || exit 1
"$inkmark" verify --format json -o "$work/said" "$work/found.cubin"
[ $? = 3 ] || { echo "FAILED: no exit code 3"; exit 1; }
python3 - "$work/said" "$root/tests/verify/found.cu" "${arch%a}" <<'P'
import json, re, sys
said, source, arch = sys.argv[1:3] + [int(sys.argv[3])]
kernels = {k["kernel"].split("(")[0]: k for k in json.load(open(said))["kernels"]}
line = {m.group(1): n for n, text in enumerate(open(source), 1) if (m := re.search(r"// sinks: (\w+)$", text))}
failures = []


def opcodes(kernel, where):
    """How many instructions of the line moved, by opcode; an entry more than once is a failure."""
    entries = [l for l in kernels[kernel]["leaks"] if l["line"] == line[where] and l["file"].endswith("found.cu")]
    if len(entries) != 1:
        return f"{len(entries)} entries of line {line[where]} in {kernels[kernel]['leaks']}"
    return {re.split("[. ]", w)[0]: int(w.split(" x ")[1]) for w in entries[0]["instructions"].split(", ")}


def expect(what, is_so, found):
    if not is_so:
        failures.append(f"{what}: {found}")


for kernel, where, wanted in (("one_line", "product", {"IMAD"}), ("one_line", "mix", {"SHF", "LOP3"}), ("permutes", "bytes", {"PRMT"}),
                              ("macros", "step", {"IMAD"}), ("braced", "braces", {"IMAD"}), ("uniforms", "uniform", {"UFFMA" if arch >= 120 else "FFMA"}), ("sums", "sum", {"IADD3", "IADD", "IMAD", "VIADD"}),
                              ("intrinsics", "intrinsic", {"IDP", "IMAD", "LOP3", "IADD3", "LEA", "PRMT"})):
    found = opcodes(kernel, where)
    expect(f"{kernel} {where}", isinstance(found, dict) and set(found) & wanted, found)
expect("permutes: all three", opcodes("permutes", "bytes") == {"PRMT": 3}, opcodes("permutes", "bytes"))
expect("intrinsics: no header is shown", all(l["file"].endswith("found.cu") for l in kernels["intrinsics"]["leaks"]), kernels["intrinsics"]["leaks"])
for kernel in kernels.values():
    names = [s["name"] for s in kernel["stamps"]]
    expect(f"{kernel['kernel']}: every mark has its clock read", all(s["copies"] for s in kernel["stamps"]) and len(set(names)) == len(names), kernel["stamps"])
for kernel in "macros", "braced":
    k = kernels[kernel]
    expect(f"{kernel}: the marks' names and one line", [s["name"] for s in k["stamps"]] == ["First", "Second", "Third"] and not k["not_judged"] and
           len({l["line"] for l in k["leaks"]}) == 1, k)
expect("crowded: not judged, not held", kernels["crowded"]["not_judged"] >= 3 and not kernels["crowded"]["leaks"], kernels["crowded"])
for kernel in "pasted", "included":
    k = kernels[kernel]
    expect(f"{kernel}: no move that is none, and no 'held'", k["not_judged"] and not k["leaks"] and {s["name"] for s in k["stamps"]} == {"First", "Second", "Third"}, k)
expect("quoted: three marks", [s["name"] for s in kernels["quoted"]["stamps"]] == ["First", "Second", "Third"], kernels["quoted"]["stamps"])
expect("prints is held", not kernels["prints"]["leaks"], kernels["prints"]["leaks"])
expect("own_store is held", not kernels["own_store"]["leaks"], kernels["own_store"]["leaks"])
if arch >= 90:
    expect("waits is held", not kernels["waits"]["leaks"], kernels["waits"]["leaks"])
expect("all kernels", len(kernels) == 14 + (arch >= 90), list(kernels))
print("\n".join(failures) or f"sm_{arch}: {len(kernels)} kernels as they are")
sys.exit(bool(failures))
P
