#!/bin/bash
# SPDX-License-Identifier: MIT
# names.sh INKMARK NVCC ROOT: people see names as the source has them, the middle of long ones left out; JSON has both
# whole; --kernel takes either.
set -u
inkmark=$1 nvcc=$2 root=$3
. "$root/tests/nvdisasm.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$nvcc" -I "$root/device" -O3 -arch=sm_90 -lineinfo -cubin -o "$work/names.cubin" "$root/tests/verify/names.cu" || exit 1
for format in text json sarif; do
  "$inkmark" verify --format "$format" -o "$work/$format" "$work/names.cubin" || [ $? = 3 ]
done
"$inkmark" verify -k 'own::step<int' "$work/names.cubin" >"$work/source" || [ $? = 3 ]
"$inkmark" verify -k '_ZN3own4stepIiLi4' "$work/names.cubin" >"$work/mangled" || [ $? = 3 ]
"$inkmark" verify -k 'own::stop' "$work/names.cubin" 2>"$work/none" && exit 1
python3 - "$work" <<'P'
import ctypes, json, sys
read = lambda name: open(f"{sys.argv[1]}/{name}").read()
try:
    ctypes.CDLL("libstdc++.so.6")
except OSError:
    print("SKIPPED: no libstdc++.so.6, whose demangler is used")
    sys.exit(77)
kernels = json.loads(read("json"))["kernels"]
odd, = [k for k in kernels if k["kernel"] == "_ZN3own4pathIQQEEvv"]
assert odd["demangled"] == "own::path<...> as _ZN3own4pathIQQEEvv", odd["demangled"]
assert odd["demangled"] + " (names.cubin" in read("text"), read("text")
kernels.remove(odd)
short, = [k for k in kernels if k["demangled"].startswith("void own::step<int, 4>(")]
long, = [k for k in kernels if k["demangled"].startswith("void own::step<own::policy_of_a_pipeline")]
assert all(k["kernel"].startswith("_ZN3own4step") for k in kernels) and len(kernels) == 2 and len(long["demangled"]) > 140
lines = [line for line in read("text").splitlines() if "judged" in line and " stamps, " in line]
names = sorted(line.split(" (names.cubin")[0] for line in lines)
cut = long["demangled"][:70] + " ... " + long["demangled"][-45:]
assert names == sorted([short["demangled"], cut]), names
assert read("text").count("_ZN") == 1, read("text")
results = json.loads(read("sarif"))["runs"][0]["results"]
where = {(l["fullyQualifiedName"], l["decoratedName"]) for r in results for p in r["locations"] for l in p["logicalLocations"]}
assert where and where <= {(short["demangled"], short["kernel"]), (cut, long["kernel"])}, where
for name in "source", "mangled":
    assert short["demangled"] in read(name) and cut not in read(name), read(name)
assert "own::step<int, 4>" in read("none"), read("none")
P
code=$?
[ $code = 0 ] || exit $code
echo ok
