#!/bin/bash
# SPDX-License-Identifier: MIT
# sarif.sh INKMARK NVCC ROOT: what verify finds as SARIF, held against its schema and rules by Microsoft's validator,
# and against what --format json says.
set -u
inkmark=$1 nvcc=$2 root=$3
. "$root/tests/nvdisasm.sh"
validator=$root/node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool
[ -f "$validator" ] || { echo "SKIPPED: no SARIF validator in node_modules (tests/run.sh installs it)"; exit 77; }
[ -x "$validator" ] || chmod +x "$validator"
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/a b ü"
cp "$root/tests/verify/adversarial.cu" "$work/a b ü/adversarial.cu"
"$nvcc" -I "$root/device" -O3 -std=c++17 -arch=sm_90 -lineinfo -cubin -o "$work/it.cubin" "$work/a b ü/adversarial.cu" || exit 1
"$inkmark" verify --format sarif -o "$work/it.sarif" "$work/it.cubin"
[ $? = 3 ] || { echo "FAILED: no exit code 3"; exit 1; }
"$inkmark" verify --format json -o "$work/it.json" "$work/it.cubin"
"$validator" validate "$work/it.sarif" >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }
grep -q "1 files scanned" "$work/said" || { cat "$work/said"; exit 1; }
if grep -q ": error " "$work/said"; then cat "$work/said"; exit 1; fi
sed 's/"startLine"/"startLime"/' "$work/it.sarif" >"$work/bad.sarif" # the validator sees what is wrong
"$validator" validate "$work/bad.sarif" 2>&1 | grep -q ": error " || { echo "FAILED: the validator takes everything"; exit 1; }
python3 - "$work/it.sarif" "$work/it.json" <<'P'
import collections, json, os, sys
from urllib.parse import unquote, urlparse
sarif, plain = (json.load(open(path)) for path in sys.argv[1:3])
results = sarif["runs"][0]["results"]
kinds = collections.Counter(r["ruleId"] for r in results)
kernels = plain["kernels"]
assert kinds["INK0001"] == sum(len(k["leaks"]) for k in kernels) > 0, kinds
assert kinds["INK0002"] == sum(len(k["gone"]) for k in kernels) > 0, kinds
assert kinds["INK0003"] == sum(s["copies"] == 0 for k in kernels for s in k["stamps"]) > 0, kinds
for result in results:
    where = result["locations"][0]["physicalLocation"]
    path = unquote(urlparse(where["artifactLocation"]["uri"]).path)
    assert os.path.exists(path), path
    assert 0 < where["region"]["startLine"] <= len(open(path).readlines())
print(dict(kinds))
P
