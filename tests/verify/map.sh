#!/bin/bash
# SPDX-License-Identifier: MIT
# map.sh INKMARK NVCC ROOT ARCH: `inkmark verify --map` of the examples and of kernels whose lines say their section; and that the
# hash of the code tells builds apart.
set -u
inkmark=$1 nvcc=$2 root=$3 arch=$4
. "$root/tests/nvdisasm.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED sm_$arch: $*"; failures=$((failures + 1)); }
build() { "$nvcc" -I "$root/device" -O3 -std=c++17 "-arch=sm_$arch" -cubin "$@" || exit 1; }
check() { python3 "$root/tests/verify/check_map.py" "$work/map.json" "$work/$1.cubin" "$INKMARK_NVDISASM" "${@:2}" || fail "$1"; }

cp "$root/tests/verify/map.cu" "$work/map.cu"
build -lineinfo -o "$work/map.cubin" "$work/map.cu"
"$inkmark" verify --map -o "$work/map.json" "$work/map.cubin" || fail "verify --map"
check map "$work/map.cu"
hash_of() { python3 -c '
import json, sys
print(*(m["code_sha256"] for m in json.load(open(sys.argv[1]))["maps"] if "loop" in m["kernel"]))' "$1"; }
first=$(hash_of "$work/map.json")

mkdir "$work/elsewhere" && cp "$work/map.cu" "$work/elsewhere/renamed.cu"
build -o "$work/elsewhere/plain.cubin" "$work/elsewhere/renamed.cu"
python3 - "$work/elsewhere/plain.cubin" "$first" "$root/tests/verify/check_map.py" <<'END' || fail "the same code elsewhere, without -lineinfo"
import hashlib, re, sys
source = open(sys.argv[3]).read().split("check(*sys.argv")[0]
exec(source)
code = sections_of(sys.argv[1])
assert sys.argv[2] in [hashlib.sha256(text).hexdigest() for name, text in code.items() if "loop" in name], "another hash"
END
build -lineinfo -DOTHER_BUILD -o "$work/other.cubin" "$work/map.cu"
"$inkmark" verify --map -o "$work/other.json" "$work/other.cubin" || fail "verify --map of the other build"
[ -n "$first" ] && [ "$first" != "$(hash_of "$work/other.json")" ] || fail "another sign, the same hash"

[ "$arch" = 90 ] && examples="solver matmul pipeline" || examples=
for example in $examples; do
  build -lineinfo -o "$work/$example.cubin" "$root/examples/$example.cu"
  "$inkmark" verify --map -o "$work/map.json" "$work/$example.cubin" || fail "$example"
  check "$example"
done
"$inkmark" verify --map --format sarif "$work/map.cubin" >/dev/null 2>&1
[ $? = 2 ] || fail "--map --format"
exit $((failures > 0))
