#!/bin/bash
# SPDX-License-Identifier: MIT
# front.sh INKMARK NVCC: `inkmark nvcc` with the command lines that builds use.
set -u
inkmark=$1 nvcc=$2
device=$(cd "$(dirname "$0")/../../device" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir tmp inc && export TMPDIR=$work/tmp INKMARK_STRICT=1 INKMARK_RULES="--root ."
cat >inc/part.cuh <<'C'
#pragma once
template <class T> __global__ void part(T *x) { for (int i = 0; i < 3; i++) x[threadIdx.x] += i; }
C
printf '#include "part.cuh"\n__global__ void k(int *x) { x[0] = 1; }\nvoid f(int *x) { k<<<1, 1>>>(x); part<<<1, 1>>>(x); }\n' >a.cu
printf '__global__ void main_kernel() {}\nvoid f(int *);\nint main() { main_kernel<<<1, 1>>>(); f(nullptr); }\n' >b.cu
cp b.cu c.cpp
printf -- '-Iinc "-arch=compute_75" -std=c++17' >options
failed=0
fail() { echo "FAILED: $*"; failed=1; }
front() { "$inkmark" nvcc "$@" >out 2>&1 || { fail "$*"; cat out; }; }
marked() { grep -qa "$2" "$1" || fail "$1 has no '$2'"; }
front "$nvcc" --options-file options -dc a.cu -o a.o && marked a.o 'part (inc/part.cuh:2)'
front "$nvcc" -arch=compute_75 -x cu -dc c.cpp -o c.o && marked c.o 'main_kernel (c.cpp:1)'
cp b.cu d.txt # any name, with -x cu; standard input is said to get no marks
front "$nvcc" -arch=compute_75 -x=cu -dc d.txt -o d.o && marked d.o 'main_kernel (d.txt:1)'
front "$nvcc" -arch=compute_75 -x cu -dc - -o e.o <b.cu && grep -q 'standard input is compiled without marks' out || fail "standard input"
front "$nvcc" -arch=compute_75 -cudart shared a.o c.o -o linked # goes to nvcc as it is
INKMARK_GUARD=fix INKMARK_CACHE=$work/cache front "$nvcc" -Iinc -arch=compute_75 -cudart shared a.cu b.cu -o both && marked both 'main_kernel (b.cu:1)'
# a header that two sources mark in different ways: each gets its own
export INKMARK_RULES="--root . --calls --loops --depth 8"
printf '#include "user2.cuh"\n__global__ void other(int *x) { x[0] = 1; }\n' >other.cu
printf 'static __device__ int twice(int x) { for (int i = 0; i < 2; i++) x *= 2; return x; }\n' >user2.cuh
printf '#include "user2.cuh"\n__global__ void user2(int *x) { x[0] = twice(x[1]); }\nint main() { user2<<<1, 1>>>(0); }\n' >user2.cu
front "$nvcc" -arch=compute_75 -cudart shared other.cu user2.cu -o split && marked split 'user2 (user2.cu:2)'
front "$nvcc" -arch=compute_75 -c other.cu user2.cu && marked user2.o 'for i < 2 (user2.cuh:1)' && [ -s other.o ] ||
  fail "two objects"
INKMARK_RULES="--root ."
front "$nvcc" -Iinc -arch=compute_75 -ptx a.cu && marked a.ptx globaltimer
# one line of each source, remarks with nvcc's -v, and nothing of it with INKMARK_QUIET
printf '__global__ void few(int *x, int n) {\n  if (threadIdx.x > 3) for (int i = 0; i < n; i++) x[i]++;\n}\n' >few.cu
echo 'int host() { return 1; }' >host.cu
front "$nvcc" -arch=compute_75 -c few.cu host.cu && printf "inkmark: '%s\n" "few.cu': 1 kernel, 1 section" "host.cu': no kernels" |
  cmp - out || { fail "what was done"; cat out; }
front "$nvcc" -arch=compute_75 -v -c few.cu && grep -q "^inkmark: few.cu:2:3: the condition depends" out || { fail "-v"; cat out; }
front "$nvcc" -arch=compute_75 -Xptxas -v -c few.cu && ! grep -q "condition depends" out || { fail "-Xptxas -v is not -v"; cat out; }
(INKMARK_QUIET=1 front "$nvcc" -arch=compute_75 -c few.cu) && [ ! -s out ] || { fail "INKMARK_QUIET"; cat out; }
"$inkmark" nvcc "$nvcc" -Iinc -E a.cu >e1 2>/dev/null; "$nvcc" -Iinc -E a.cu >e2 2>/dev/null
cmp e1 e2 || fail "-E differs"
"$inkmark" nvcc "$nvcc" -Iinc -MM a.cu >e1 2>/dev/null; "$nvcc" -Iinc -MM a.cu >e2 2>/dev/null
cmp e1 e2 || fail "-MM differs"
"$inkmark" nvcc "$nvcc" -Iinc -M a.cu >e1 2>/dev/null; "$nvcc" -Iinc -M a.cu >e2 2>/dev/null
cmp e1 e2 || fail "-M differs"
# a dependency file that -MF does not name, of an object and of PTX: byte for byte nvcc's but for our headers
for form in "-c a.cu -o d.o" "-ptx a.cu -o d.ptx" "-c a.cu"; do
  rm -f ./*.d
  "$nvcc" -Iinc -arch=compute_75 -MMD $form 2>/dev/null
  name=$(ls ./*.d); mv "$name" plain.txt
  front "$nvcc" -Iinc -arch=compute_75 -MMD $form
  [ -e "$name" ] || fail "-MMD $form makes no $name"
  for word in $(tr -d '\\' <plain.txt); do
    grep -qF -- "$word" "$name" || fail "-MMD $form: $name lacks '$word'"
  done
  grep -q "$TMPDIR" "$name" && fail "-MMD $form names files of ours"
done
front "$nvcc" -Iinc -arch=sm_80 -cubin a.cu -o a.cubin && marked a.cubin ink_ # names are in host code
front "$nvcc" -Iinc -gencode arch=compute_75,code=sm_75 -gencode=arch=compute_80,code=[sm_80,compute_80] -fatbin a.cu -o a.fatbin
front "$nvcc" -Iinc -gencode arch=compute_75,code=sm_75 -gencode=arch=compute_80,code=[sm_80,compute_80] -c a.cu -o two.o &&
  marked two.o 'part (inc/part.cuh:2)'
front "$nvcc" -Iinc -arch=sm_80 -dc a.cu -o rdc.o && front "$nvcc" -arch=sm_80 -dlink rdc.o -o linked.o && [ -s linked.o ]
(PATH=$(dirname "$nvcc"):$PATH front -Iinc -arch=compute_75 -c a.cu -o bare.o) && marked bare.o 'part (inc/part.cuh:2)'
"$inkmark" nvcc "$nvcc" --version >e1 2>&1; "$nvcc" --version >e2 2>&1
cmp e1 e2 || fail "--version differs"
"$inkmark" nvcc "$nvcc" --no-such-flag -c a.cu >e1 2>&1 && fail "an unknown flag is taken"
"$nvcc" --no-such-flag -c a.cu >e2 2>&1
cmp e1 e2 || fail "other messages for an unknown flag"
# the rules of a file in the folder of the build; what is wrong in it stops the build
printf 'kernel = "^k$"\n' >inkmark.conf
front "$nvcc" -Iinc -arch=compute_75 -c a.cu -o rules.o && marked rules.o 'k (a.cu:2)'
grep -qa 'part (inc' rules.o && fail "inkmark.conf was not read"
printf 'kernel = \n' >inkmark.conf
"$inkmark" nvcc "$nvcc" -c a.cu -o never.o 2>e1 && fail "a broken inkmark.conf"
grep -q "inkmark.conf:1: 'kernel' needs a string" e1 || { fail "a broken inkmark.conf"; cat e1; }
rm inkmark.conf
# marks by hand and marked files need our headers: nvcc gets their folder, whatever else is to be done
printf '#include <inkmark/mark.cuh>\n__global__ void by_hand(int *x) { PROF_KERNEL(Only); x[0]++; PROF_MARK(Mine); }\n' >hand.cu
front "$nvcc" -arch=compute_75 -c hand.cu -o hand.o && marked hand.o Mine
printf '#include "inc/none.cuh"\n' >through.cu
printf '#  include <inkmark/mark.cuh>\nstatic int nothing;\n' >inc/none.cuh
front "$nvcc" -arch=compute_75 -c through.cu -o through.o
"$inkmark" instrument a.cu -o again.cu -- -Iinc 2>e1 || fail "$(cat e1)"
front "$nvcc" -Iinc -arch=compute_75 -c again.cu -o again.o && marked again.o 'k (a.cu:2)'
for way in -E -M -MM; do
  front "$nvcc" $way hand.cu
  "$nvcc" $way b.cu >e1 2>&1; front "$nvcc" $way b.cu && cmp out e1 || fail "$way of another file is touched"
done
# nvcc itself for a misspelt section, with a word of ours
printf 'PROF_SECTIONS(Table, Load)\n__global__ void k(int *x) { PROF_KERNEL(Load); x[0]++; PROF_MARK(Lod); }\n' |
  cat hand.cu - >typo.cu
front "$nvcc" -arch=compute_75 -c typo.cu -o typo.o && grep -q "typo.cu:4:56: warning: 'Lod' .* did you mean 'Load'?" out ||
  { fail "a misspelt section"; cat out; }
"$nvcc" -I"$device" -arch=compute_75 -c typo.cu -o typo.o >e1 2>&1 && fail "nvcc takes it"
grep -q 'namespace "names_of_PROF_SECTIONS" has no member "Lod"' e1 || { fail "nvcc's message"; cat e1; }
# a launcher before nvcc
mkdir bin && printf '#!/bin/bash\necho "$1" >>launched\nexec "$@"\n' >bin/ccache && chmod +x bin/ccache
(PATH=$work/bin:$PATH front ccache "$nvcc" -Iinc -arch=compute_75 -c a.cu -o launched.o) && marked launched.o 'part (inc/part.cuh:2)'
[ "$(cat launched)" = "$nvcc" ] || fail "the launcher got '$(cat launched)'"
# names with blanks, quotes and letters of other alphabets; the same call twice at once
mkdir "deep er" && printf 'static __device__ int h(int i) { return i + 1; }\n' >"häder one.cuh"
printf '#include "häder one.cuh"\n__global__ void k(int *x) { for (int i = 0; i < 40; i++) x[i] = h(i); }\n' >"kärnel x's.cu"
odd=("$nvcc" -arch=compute_75 -MD -MF "deep er/d.d" -c "kärnel x's.cu" -o "deep er/o.o")
INKMARK_GUARD=fix INKMARK_CACHE=$work/cache "$inkmark" nvcc "${odd[@]}" >second 2>&1 &
INKMARK_GUARD=fix INKMARK_CACHE=$work/cache front "${odd[@]}" && wait $! && marked "deep er/o.o" "for i < 40 (kärnel x's.cu:2)" || { fail "twice at once"; cat second; }
grep -q 'häder\\ one.cuh' "deep er/d.d" && ! grep -q "$TMPDIR" "deep er/d.d" || fail "$(grep der "deep er/d.d")"
(TMPDIR=/nonexistent "$inkmark" nvcc "$nvcc" -c a.cu -o never.o >e1 2>&1) && fail "marked without a temporary folder"
grep -q "cannot write to '/nonexistent': no such file or directory" e1 || { fail "no temporary folder"; cat e1; }
unset INKMARK_STRICT
# marks that do not compile: the file is compiled without them, and its own name is said
cat >spoilt.cu <<'C'
#undef PROF_KERNEL
#define PROF_KERNEL(...) static_assert(false, "spoilt")
__global__ void spoilt(int *x) { x[0]++; }
C
{ echo '#include <inkmark/mark.cuh>'; cat spoilt.cu; } >spoilt_too.cu
# a directive that cannot be followed: no marks of ours; those by hand stay
printf '__global__ void odd(int *x) {\n  x[0]++; // prof: end A\n}\n' >odd.cu
{ echo '#include <inkmark/mark.cuh>'; echo 'PROF_SECTIONS(Table, Only, Mine)'; sed 1d hand.cu; cat odd.cu; } >odd_too.cu
while read -r name text; do
  "$inkmark" nvcc "$nvcc" -arch=compute_75 -c $name.cu -o $name.o >out 2>&1 || fail "$name.cu"
  grep -qxF "inkmark: '$name.cu' is compiled $text" out || { fail "not said: $text"; cat out; }
done <<'W'
odd without marks
odd_too with the marks by hand alone
W
marked odd_too.o Mine
falls_back() { # what is said, the sources
  local text=$1
  shift
  "$inkmark" nvcc "$nvcc" -arch=compute_75 -dc "$@" >out 2>&1 || { fail "no second try: $*"; cat out; }
  grep -qxE "inkmark: $text: (\./)?spoilt.*static assertion failed with \"spoilt\".*; INKMARK_STRICT=1 shows all" out || { fail "not said: $text"; cat out; }
  grep -qF "$TMPDIR" out && { fail "names a copy of ours"; cat out; }
}
falls_back "'./spoilt.cu' does not compile with marks and was compiled without them" ./spoilt.cu -o spoilt.o
falls_back "'spoilt.cu' \(and 1 more\) does not compile with marks and was compiled without them" spoilt.cu b.cu
falls_back "'spoilt_too.cu' does not compile with added marks and was compiled with those by hand alone" spoilt_too.cu
printf '#error broken on purpose\n__global__ void k() {}\n' >broken.cu
"$inkmark" nvcc "$nvcc" -c broken.cu >e1 2>&1 && fail "a broken file compiles"
"$nvcc" -c broken.cu >e2 2>&1
cmp e1 e2 || { fail "other messages of a broken file"; cat e1; }
[ -z "$(ls tmp)" ] || fail "left in the temporary folder: $(ls tmp)"
exit $failed
