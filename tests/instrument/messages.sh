#!/bin/bash
# SPDX-License-Identifier: MIT
# messages.sh INKMARK: what the command says of wrong use, of directives that cannot be followed and of
# broken sources, and with which exit code.
set -u
inkmark=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
expect() { # code, text that the messages hold, arguments...
  local code=$1 text=$2
  shift 2
  "$inkmark" instrument "$@" >out 2>err
  local got=$?
  if [ $got != "$code" ] || ! grep -qF "$text" err out; then
    echo "FAILED: $* gave $got, expected $code and '$text'"
    cat err
    failed=1
  fi
}
kernel() { printf '__global__ void k(int *x, int n) {\n%b\n}\n' "$1" >k.cu; }
expect 2 "needs FILE" --list
expect 2 "exclude each other" --list --diff k.cu
expect 2 "is not a regular expression" --list --kernel '(' k.cu
expect 1 "cannot read 'none.cu'" --list none.cu
expect 1 "is a directory" --list .
kernel '// prof: begin A\nx[0]++;'
expect 1 "has no end in its block" k.cu -o m.cu --header-less
[ -e m.cu ] && { echo "FAILED: a file was written"; failed=1; }
kernel 'x[0]++; // prof: end A'
expect 1 "without a 'prof: begin'" k.cu -o m.cu --header-less
kernel '// prof: begin A\n// prof: begin B\n// prof: end A\n// prof: end B'
expect 1 "but 'B' began last, at line 3" k.cu -o m.cu --header-less
kernel '// prof: begin A\nif (n) return;\nx[0]++; // prof: end A'
expect 1 "is left on a way around its end" k.cu -o m.cu --header-less
kernel 'for (int i = 0; i < n; i++) {\n// prof: begin A\n}\n// prof: end A'
expect 1 "error: ends 'A' in another block" k.cu --list --header-less
kernel 'x[0] = /* prof: mark A */ 3;'
expect 1 "does not stand between statements" k.cu -o m.cu --header-less
kernel '// prof: nonsense'
expect 1 "is none of mark, begin" k.cu -o m.cu --header-less
# ranges by hand: followed along every way
hand() { kernel "PROF_KERNEL(K);\\n$1"; }
hand 'PROF_BEGIN(A);\nif (n) { PROF_END(A); return; }\nx[0]++; PROF_END(A);'
expect 0 "" k.cu -o m.cu --header-less
hand 'for (int i = 0; i < n; i++) {\nPROF_BEGIN(A);\nif (i == 3) { PROF_END(A); continue; }\nswitch (n) { case 1: x[0]++; break; default: x[0]--; }\nPROF_END(A); }'
expect 0 "" k.cu -o m.cu --header-less
hand 'PROF_BEGIN_WITH(A, n);\nif (n) { PROF_END(A); return; }\nx[0]++; PROF_END(A);'
expect 0 "" k.cu -o m.cu --header-less
hand 'PROF_BEGIN_WITH(A, n);\nif (n) return;\nPROF_END(A);'
expect 1 "k.cu:4:8: error: at this return: 'PROF_BEGIN(A)', line 3, has no end" k.cu -o m2.cu --header-less
hand 'PROF_BEGIN(A);\nif (n) return;\nPROF_END(A);'
expect 1 "k.cu:4:8: error: at this return: 'PROF_BEGIN(A)', line 3, has no end" k.cu -o m2.cu --header-less
[ -e m2.cu ] && { echo "FAILED: a file was written"; failed=1; }
hand 'if (n) PROF_BEGIN(A);\nx[0]++;\nPROF_END(A);'
expect 1 "k.cu:3:1: error: behind this if: 'PROF_BEGIN(A)', line 3" k.cu --list --header-less
hand 'PROF_BEGIN(A);\nPROF_BEGIN(B);\nPROF_END(A);\nPROF_END(B);'
expect 1 "k.cu:5:1: error: 'PROF_END(A)' ends while 'PROF_BEGIN(B)', line 4, is open" k.cu --list --header-less
hand 'for (int i = 0; i < n; i++) {\nPROF_BEGIN(A);\nif (i == 3) break;\nPROF_END(A); }'
expect 1 "k.cu:5:13: error: at this break: 'PROF_BEGIN(A)', line 4" k.cu --list --header-less
hand 'for (int i = 0; i < n; i++)\nPROF_BEGIN(A);'
expect 1 "k.cu:3:1: error: after one iteration of this loop: 'PROF_BEGIN(A)', line 4" k.cu --list --header-less
hand 'x[0]++; PROF_END(A);'
expect 1 "k.cu:3:9: error: 'PROF_END(A)' has no beginning" k.cu --list --header-less
hand 'PROF_BEGIN(A); x[0]++;'
expect 1 "at the end of the function: 'PROF_BEGIN(A)', line 3" k.cu --list --header-less
# an if whose head is a macro's has its branches too
when='#define WHEN(...) if (__VA_ARGS__)\n'
while IFS='|' read -r code body; do
  printf "$when"'__global__ void k(int *x, int n) {\nPROF_KERNEL(K); int v = n; (void)v;\n%b\nx[0]++;\n}\n' "$body" >k.cu
  expect "$code" "" k.cu -o m.cu --header-less
done <<'W'
0|PROF_BEGIN(A); WHEN (n) PROF_END(A); else PROF_END(A);
0|PROF_BEGIN(A); WHEN (n) { PROF_END(A); return; } PROF_END(A);
0|PROF_BEGIN(A); WHEN (int w = n; w > 2) { PROF_END(A); } else { PROF_END(A); }
0|PROF_BEGIN(A); WHEN (int w = n) { PROF_END(A); } else { PROF_END(A); }
0|WHEN (n) { v++; } else { PROF_BEGIN(A); if (n > 2) { PROF_END(A); return; } PROF_END(A); }
1|PROF_BEGIN(A); WHEN (n) PROF_END(A);
1|PROF_BEGIN(A); WHEN (n) return; PROF_END(A);
1|WHEN (n) PROF_BEGIN(A); else v++; PROF_END(A);
W
# values that are set from one another: each is judged once, not along every way between them
kernel 'int a = threadIdx.x, b = a, c = b, d = c, e = d, f = e;\na += b + c + d + e + f; b += a + c + d + e + f; c += a + b + d + e + f;\nd += a + b + c + e + f; e += a + b + c + d + f; f += a + b + c + d + e;\nif (a > n) __syncthreads();\nx[0] = f;'
expect 0 "k.cu:5:1: the condition depends on the thread" k.cu -o m.cu --header-less --waits --parse-seconds 60
# goto: forward, backward, to labels that only a goto reaches; labels of lambdas are their own
no_remark() { # the range ends on every way, and nothing is said of it
  expect 0 "" k.cu -o m.cu --header-less
  grep -E "ranges|the range of|error" err && { echo "FAILED: something is said of a goto that stays"; failed=1; }
}
hand 'PROF_BEGIN(A);\nif (n) goto out;\nx[0]++;\nout: PROF_END(A);'
no_remark
hand 'again:\nPROF_BEGIN(A);\nx[0]++;\nPROF_END(A);\nif (x[0] < n) goto again;'
no_remark
hand 'PROF_BEGIN(A);\ngoto test;\nbody: x[0]++;\ntest: if (x[0] < n) goto body;\nPROF_END(A);'
no_remark
hand 'if (n) goto late;\nreturn;\ninner: PROF_END(A);\nreturn;\nlate: PROF_BEGIN(A);\ngoto inner;'
no_remark
hand 'PROF_BEGIN(A);\nif (n) goto out;\nPROF_END(A);\nout: x[0]++;'
expect 1 "k.cu:4:8: error: the goto to 'out', line 6, leaves the range of 'PROF_BEGIN(A)', line 3" k.cu -o m3.cu --header-less
[ -e m3.cu ] && { echo "FAILED: a file was written"; failed=1; }
hand 'if (n) goto in;\nPROF_BEGIN(A);\nx[0]++;\nin: PROF_END(A);'
expect 1 "k.cu:3:8: error: the goto to 'in', line 6, jumps into the range of 'PROF_BEGIN(A)', line 4" k.cu --list --header-less
hand 'again: x[0]++;\nPROF_BEGIN(A);\nif (x[0] < n) goto again;\nPROF_END(A);'
expect 1 "k.cu:5:15: error: the goto to 'again', line 3, leaves the range of 'PROF_BEGIN(A)', line 4" k.cu --list --header-less
hand 'goto late;\ninner: x[0]++;\nreturn;\nlate: PROF_BEGIN(A);\ngoto inner;'
expect 1 "k.cu:5:1: error: at this return: 'PROF_BEGIN(A)', line 6, has no end" k.cu --list --header-less
hand 'void *to = &&out;\nPROF_BEGIN(A);\ngoto *to;\nout: PROF_END(A);'
expect 0 "was not checked: 'k' has a goto to an address" k.cu --list --header-less
# marks that record nothing: before PROF_KERNEL, and in a kernel that has none
while IFS='|' read -r text code; do
  printf '__device__ int deep(int n) { PROF_SCOPE(Deep); return n; }\n__device__ int by(int n) { return deep(n); }\n%b\n' "$code" >k.cu
  expect 0 "$text" --list --kernel '^k$' --header-less k.cu
  { [ "$text" ] || grep -E "record(s)? nothing|only its marked form" out; } | grep . && [ -z "$text" ] &&
    { echo "FAILED: something is said of '$code'"; failed=1; }
done <<'W'
k.cu:4:9: warning: marks of 'k' from here to its PROF_KERNEL, line 4, record nothing|__global__ void k(int *x) {\nx[0]++; PROF_MARK(A); PROF_KERNEL(K); PROF_MARK(B); }
k.cu:4:1: warning: marks of 'k' from here to its PROF_KERNEL, line 6, record nothing|__global__ void k(int *x) {\nPROF_CLOCKS(); x[0]++;\n\nPROF_KERNEL(K); PROF_MARK(B); }
k.cu:4:1: warning: marks of 'k' from here to its PROF_KERNEL, line 5, record nothing|__global__ void k(int *x) {\nfor (int i = 0; i < 99; i++) x[i]++;\nPROF_KERNEL(K); }
|__global__ void k(int *x) { PROF_KERNEL(K); PROF_MARK(B); x[0] = by(1); }
|__global__ void k(int *x) { if (x[0]) { PROF_KERNEL(K); PROF_MARK(B); } else { PROF_KERNEL(L); PROF_MARK(B); } }
|__global__ void k(int *x) { x[0]++; }
|__global__ void k(int *x) { PROF_KERNEL(K); auto f = [&] { PROF_LAMBDA(); PROF_MARK(A); }; f(); }
k.cu:3:1: note: 'k' has marks by hand, the first in line 3, but no PROF_KERNEL: only its marked form records them|__global__ void k(int *x) { PROF_MARK(A); }
k.cu:3:1: note: 'k' has marks by hand, the first in line 4, but no PROF_KERNEL: only|__global__ void k(int *x) { auto f = [&] {\nPROF_LAMBDA(); PROF_MARK(A); }; f(); }
k.cu:3:1: note: 'k' calls 'deep', which has marks by hand, the first in k.cu:1, but has no PROF_KERNEL: only its marked form|__global__ void k(int *x) { x[0] = by(1); }
k.cu:3:1: warning: 'other' has marks by hand, the first in line 3, but no PROF_KERNEL: they record nothing|__global__ void other(int *x) { PROF_ITER(3); }\n__global__ void k(int *x) {}
k.cu:3:1: note: 'other' calls 'deep', which has marks by hand, the first in k.cu:1, but has no PROF_KERNEL: they record nothing|__global__ void other(int *x) { x[0] = by(1); }\n__global__ void k(int *x) {}
W
# a function that takes the context of a track of rows is left, be it the first of the file or not
for before in '' '__device__ float other(float x) { return x * 2; }\n'; do
  printf "$before"'__device__ float part(PROF_PARAMS_ROWS(Mine, float x, int n)) { for (int i = 0; i < n; i++) x = x * 1.5f + 2; return x; }\n'\
'__device__ float alike(PROF_PARAMS(float x, int n)) { for (int i = 0; i < n; i++) x = x * 1.5f + 2; return x; }\n'\
'__global__ void k(float *p, int n) { p[0] = part(PROF_ARGS(p[0], n)) + alike(PROF_ARGS(p[1], n)); }\n' >k.cu
  expect 0 "loop for i < n in alike: marked" k.cu --list --loops --depth 4 --header-less
  grep "in part" out && { echo "FAILED: a function with a context of rows is marked"; failed=1; }
done
# comma operators that would be taken in place of ours, and those that would not
cat >body.cu <<'C'
template <class T> struct vec { T v; }; struct mine {}; struct any { template <class T> __device__ any(T &&); };
template <class T> __device__ vec<T> make(T x);
template <class T> __global__ void k(T *x) { x[0] = make(x[1]).v + make(x[2]).v; }
C
while IFS='|' read -r taken text; do
  { sed 2,9d body.cu; echo "$text"; sed 1d body.cu; } >comma.cu
  expect 0 "2 calls" --list --calls --header-less comma.cu
  grep -q "comma.cu:[2-9]:.*this 'operator,' may take any type" out
  [ $? = "$taken" ] || { echo "FAILED: '$text' is seen wrongly ($taken)"; cat out; failed=1; }
done <<'W'
0|template <class A, class B> __device__ int operator,(A &&, B &&);
0|template <class A> __device__ int operator,(const A &, mine);
0|template <class A, class... B> __device__ int operator,(A, vec<B...>);
0|namespace user { namespace { template <class A, class B> __device__ A operator,(A &&a, B &&) { return a; } } }
0|__device__ int operator,(const any &, mine);
0|struct holder { template <class A> friend __device__ int operator,(A &&, holder) { return 1; } };
1|template <class A, class B> __device__ int operator,(A &, B &&);
1|template <class A, class B> __device__ int operator,(vec<A>, B &&);
1|template <class A> __device__ int operator,(mine, A &&);
1|struct member { template <class A> __device__ int operator,(A &&); };
1|__device__ int operator,(any &, mine);
1|template <class A, class B> __device__ int operator+(A &&, B &&);
W
# a header of -include, and what it includes: nvcc reads these by itself, so they are not marked
printf '__device__ inline int deep(int n) { for (int i = 0; i < n; i++) n ^= i; return n; }\n' >deep.cuh
printf '#include "deep.cuh"\n__global__ void forced(int *x) { x[0] = deep(3); }\n' >pre.cuh
kernel 'x[0] = deep(n);'
expect 0 "kernel forced: left: is in a header of -include, which nvcc reads by itself" k.cu --list --depth 3 \
  --out-dir forced --root . --header-less -- -include pre.cuh
grep "deep.cuh" out && { echo "FAILED: a place in what a header of -include includes is listed"; failed=1; }
expect 0 "1 mark" k.cu --depth 3 --out-dir forced --root . --header-less -- -include pre.cuh
grep -F "ink[" forced/pre.cuh forced/deep.cuh && { echo "FAILED: a header of -include was marked"; failed=1; }
printf '__global__ void k(int *x) { x[0] = missing(; }\n#include "none.h"\nint }' >broken.cu
expect 0 "" broken.cu -o broken.out.cu --header-less
printf 'no CUDA here' >plain.cu
expect 0 "" plain.cu -o plain.out.cu --header-less
cmp plain.cu plain.out.cu || { echo "FAILED: a file without kernels was changed"; failed=1; }
# a misspelt section: taken as one of its own, and said; names that resemble no declared one are just new
{ echo 'PROF_SECTIONS(Mine, Load, Compute)'; echo '__global__ void k(int *x) { PROF_KERNEL(Load);'
  printf 'x[0]++; PROF_MARK(%s);\n' Lod Load Compute Other; echo '}'; } >k.cu
expect 0 "k.cu:3:9: warning: 'Lod' is in no PROF_SECTIONS and is taken as a section of its own; did you mean 'Load'?" \
  k.cu -o m.cu --header-less
[ "$(grep -c 'did you mean' err)" = 1 ] || { echo "FAILED: names that are right: $(cat err)"; failed=1; }
printf 'a /*ink[*/ b' >damaged.cu
expect 1 "cannot strip 'damaged.cu': line 1: an insertion has no end" --strip damaged.cu -o x.cu
# markers that were damaged: nothing is taken for ours that may be the user's, nothing is written
printf '__global__ void k(int *x) {\n  int a = 1;\n  // prof: mark A\n  a += 2;\n  // prof: mark B\n#pragma unroll\n  for (int i = 0; i < 99; i++) x[i] = a;\n}\n' >whole.cu
"$inkmark" instrument whole.cu -o whole.out.cu --header-less --loops 2>err || { cat err; failed=1; }
"$inkmark" instrument --strip whole.out.cu -o - | cmp - whole.cu || { echo "FAILED: strip"; failed=1; }
damage() { # what the messages hold, sed's command
  sed "$2" whole.out.cu >damaged.cu
  cmp -s whole.out.cu damaged.cu && { echo "FAILED: '$2' changes nothing"; failed=1; }
  expect 1 "$1" --strip damaged.cu -o never.cu
  [ -e never.cu ] && { echo "FAILED: '$2': a file was written"; failed=1; rm never.cu; }
}
damage "an insertion has no end" '0,/\/\*ink\]\*\//s//\/*ink ]*\//'
damage "the end of an insertion has no begin" '0,/\/\*ink\[\*\//s//\/*ink [*\//'
damage "the end of an insertion has no begin" '1s/begin //'
damage "line 1: an insertion has no end" 's/rewriter: end/rewriter ended/'
damage "an insertion holds a line break" 's/PROF_KERNEL/\nPROF_KERNEL/'
damage "an insertion holds a line break" 's/^#line 6 /#line x /'
# both markers of a pair damaged: what is left of an insertion is found by its words, or its brackets
cat >pairs.cu <<'C'
struct big { int a[40]; ~big(); };
__device__ int twice(int n) { return 2 * n; }
__device__ void none(int n);
__device__ big make(int n);
__global__ void named(int *x, int n, int Load_L2) {
  // prof: mark Swap
  for (int i = 0; i < 99; i++) x[i] = twice(i) + twice(x[0]);
  for (int k = 0; k < 99; k++) { x[k]++; }
  if (twice(x[1])) x[2] = make(3).a[1];
  for (int k = 0; k < n; none(k), k++) for (int m = 0; m < 4; m++) x[m] += k;
  if (x[0]) return none(x[2]);
  auto f = [](int v) { return v + 1; }; x[4] = f(x[3]);
}
C
"$inkmark" instrument pairs.cu -o pairs.out.cu --header-less --calls --loops --depth 3 2>err || { cat err; failed=1; }
"$inkmark" instrument --strip pairs.out.cu -o - | cmp - pairs.cu || { echo "FAILED: strip of pairs.cu"; failed=1; }
python3 - "$inkmark" "$here/../../device/inkmark/rewritten.cuh" <<'C' || failed=1
import re, subprocess, sys
text = open('pairs.out.cu').read()
pairs = list(re.finditer(r'/\*ink\[\*/(.*?)/\*ink\]\*/', text, re.S))
kinds, failed = set(), 0
def refused(damaged, what):
    global failed
    open('damaged.cu', 'w').write(damaged)
    done = subprocess.run([sys.argv[1], 'instrument', '--strip', 'damaged.cu', '-o', '-'], capture_output=True, text=True)
    if done.returncode != 1 or done.stdout or not re.search(r"line \d+: .*markers", done.stderr):
        print(f"FAILED: strip with {what}: {done.returncode}, '{done.stderr}'")
        failed = 1
for pair in pairs:
    kinds.add(re.sub(r'\w+_L\d+\w*', 'S', pair[1]))
    for left in (pair[1], '/* ink[*/' + pair[1] + '/*ink ]*/', '/*ink[' + pair[1] + 'ink]*/'):
        refused(text[:pair.start()] + left + text[pair.end():], repr(left))
begin, end = text.index('// inkmark'), text.index('// inkmark rewriter: end') + len('// inkmark rewriter: end\n')
refused('\n'.join(line for line in text.split('\n') if 'inkmark rewriter' not in line), 'the header laid bare')
words = set(re.findall(r'^#define (INK_(?!I_)\w+)\(', open(sys.argv[2]).read(), re.M))
assert len(words) > 12, words
for word in words: # whatever the header has for the rewriter
    refused(text + f'\n{word}(Load);\n', word)
# other text of the user's, names that resemble ours too, is none of it
fine = text.replace('x[k]++;', 'x[k] += Load_L2; PROF_MARK(Load_L2); /* INK_BEFORE */')
open('fine.cu', 'w').write(fine)
back = subprocess.run([sys.argv[1], 'instrument', '--strip', 'fine.cu', '-o', '-'], capture_output=True, text=True)
if back.stdout != open('pairs.cu').read().replace('x[k]++;', 'x[k] += Load_L2; PROF_MARK(Load_L2); /* INK_BEFORE */'):
    print('FAILED: an edited text', back.stderr)
    failed = 1
assert len(kinds) > 14 and len(pairs) > 20, (kinds, len(pairs))
sys.exit(failed)
C
# what is no source, and sources that would be written to
: >empty.cu
expect 0 "'empty.cu' is empty" empty.cu -o empty.out.cu --header-less
printf 'a\0b' >binary.cu
expect 1 "cannot mark 'binary.cu': it is not text" binary.cu -o never.cu
python3 -c 'import random; random.seed(1); open("random.cu", "wb").write(random.randbytes(3000))'
expect 1 "cannot mark 'random.cu': it is not text" random.cu -o never.cu
{ printf '__global__ void k(int *x) { for (int i = 0; i < 99; i++) x[i] = i; } // one zero byte, in Latin-1: \0 \344\n'; yes '// a line' | head -50; } >zero.cu
expect 0 "zero.out.cu: 1 kernel, 1 mark" zero.cu -o zero.out.cu --header-less
expect 1 "cannot read '/dev/null': is not a regular file" /dev/null -o never.cu
printf '__global__ void k(int *x) { for (int i = 0; i < 99; i++) x[i] = i; }\n' >k.cu
cp k.cu before.cu && ln -s k.cu link.cu && ln k.cu second.cu && mkdir in && ln -s .. in/up
for output in k.cu ./k.cu link.cu second.cu in/up/k.cu; do
  expect 1 "cannot write '$output': it is the source itself" k.cu -o "$output" --header-less
done
expect 1 "cannot write './k.cu': it is the source itself" k.cu --out-dir . --header-less
cmp k.cu before.cu && [ -h link.cu ] || { echo "FAILED: a source was written to"; failed=1; }
expect 0 "inkmark: done.cu: 1 kernel, 1 mark" k.cu -o done.cu --header-less
expect 0 "folder/k.cu: 1 kernel, 1 mark" k.cu --out-dir folder --header-less
# --kernel of the command line that chooses nothing in the only file: the kernels it has, the nearest first
expect 1 "no kernel of 'k.cu' matches 'nope'; there is 'k'" -k nope k.cu -o never.cu --header-less
printf '__global__ void far_off(int *x) {}\n__global__ void step(int *x) {}\n__global__ void sum(int *x) {}\n' >several.cu
for way in "-o never.cu" "--out-dir never" --diff; do
  expect 1 "no kernel of 'several.cu' matches '^stop'; there are 'step', 'sum', 'far_off'" -k '^stop' several.cu $way --header-less
  [ -s out ] && { echo "FAILED: something comes out for no kernel"; failed=1; }
done
[ -e never.cu ] || [ -e never ] && { echo "FAILED: a file was written for no kernel"; failed=1; }
# among several files, by a rule file, in a list and where there is no kernel it is no error
expect 0 "2 kernels" --list -k 'far|sum' several.cu --header-less
expect 0 "not chosen by --kernel" --list -k nope several.cu --header-less
expect 0 "chosen/several.cu: as it was" k.cu several.cu -k '^k$' --out-dir chosen --header-less
expect 0 "plain.out.cu: as it was" plain.cu -k nope -o plain.out.cu --header-less
echo "kernel = 'nope'" >none.toml
expect 0 "as it was" k.cu --rules none.toml -o ruled.cu --header-less
expect 0 "plain.out.cu: as it was, there is nothing to mark" plain.cu -o plain.out.cu --header-less
"$inkmark" instrument k.cu -o - --header-less 2>err | cmp - done.cu || { echo "FAILED: -o -"; failed=1; }
grep -q 'kernel,' err && { echo "FAILED: -o - says what was done"; failed=1; }
# two sources that need other marks in one header: said, and the first one's header stays
printf 'static __device__ int w(int n) { for (int i = 0; i < 2; i++) n += i; return n; }\n' >w.cuh
printf '#include "w.cuh"\n__global__ void k(int *x) { x[0] = 1; }\n' >one.cu
printf '#include "w.cuh"\n__global__ void k(int *x) { x[0] = w(1); }\n' >two.cu
expect 1 "another source has other marks in it; 'two.cu' needs an --out-dir of its own" one.cu two.cu \
  --out-dir both --header-less --loops --depth 3
[ -e both/one.cu ] && [ ! -e both/two.cu ] || { echo "FAILED: $(ls both)"; failed=1; }
printf '#include "w.cuh"\nint main() { return 0; }\n' >host.cu
expect 1 "another source has other marks in it; 'host.cu' needs an --out-dir of its own" two.cu host.cu \
  --out-dir unmarked --header-less --loops --depth 3
cp one.cu three.cu
expect 0 "same/host.cu: as it was" one.cu three.cu host.cu --out-dir same --header-less --kernels-only
[ "$(ls same)" = "$(printf 'host.cu\none.cu\nthree.cu\nw.cuh')" ] || { echo "FAILED: $(ls same)"; failed=1; }
expect 1 "cannot write '/dev/full': no space left on device" k.cu -o /dev/full --header-less
expect 1 "cannot write 'none/m.cu': no such file or directory" k.cu -o none/m.cu --header-less
# broken sources: clang's first errors, where they are, and how many
printf '__global__ void k(int *x) { x[0] = 1; x[1] = ; x[2] = ; }\n' >broken.cu
expect 0 "broken.cu:1:46: warning: clang says: expected expression" broken.cu -o m.cu --header-less
expect 0 "'broken.cu': 2 errors in the header-less parse" --list broken.cu --header-less
# what errors hide: a kernel that is not seen, and one whose body has some
cat >hidden.cu <<'C'
template <class T> __global__ void declared(T *x);
__global__ void fine(int *x) { x[0] = 1; }
__global__ void __launch_bounds__(32) inside(int *x) { for (int i = 0; i < 3; i++) x[i] = ; }
unknown_t foo(
__global__ void lost(int *x) { x[0] = 1; }
#if 0
__global__ void skipped(int *x) {
#endif
__global__ void __launch_bounds__(32) last(other<int *x) { x[0] = 1; }
C
expect 0 "hidden.cu:5:1: warning: the kernel 'lost' is not seen, because of errors in the parse" hidden.cu -o m.cu --header-less
expect 0 "hidden.cu:9:1: warning: the kernel 'last' is not seen" hidden.cu -o m.cu --header-less
expect 0 "hidden.cu:3:1: warning: 1 error of the parse in 'inside': calls and loops of it may be missing" hidden.cu -o m.cu --header-less
[ "$(grep -c 'hidden.cu:.*: warning: [^c]' err)" = 3 ] || { echo "FAILED: other kernels are said to be hidden:"; cat err; failed=1; }
# without version control: headers beside the source are the project's, those far off are not, and that is said
mkdir -p tree/src/a/b/c tree/include/deep && echo '__global__ void in_header(int *x) { for (int i = 0; i < 3; i++) x[i] = 1; }' >tree/include/deep/k.cuh
echo '#include <deep/k.cuh>' | tee tree/src/near.cu >tree/src/a/b/c/far.cu
cd / || exit 1 # the current folder would be the root
"$inkmark" instrument --list --header-less --out-dir "$work/tree.out" "$work/tree/src/near.cu" -- -I"$work/tree/include" >"$work/out" 2>&1
grep -q "kernel in_header: marked" "$work/out" || { echo "FAILED: a header beside the source is left"; cat "$work/out"; failed=1; }
"$inkmark" instrument --list --header-less --out-dir "$work/tree.out" "$work/tree/src/a/b/c/far.cu" -- -I"$work/tree/include" >"$work/out" 2>&1
grep -q "1 kernel of '$work/tree/include/deep/k.cuh' is left: the file is outside of the root '$work/tree/src/a/b/c' (--root)" "$work/out" ||
  { echo "FAILED: a header far off:"; cat "$work/out"; failed=1; }
# all kernels are in a library's header, and call functions of the project
mkdir -p "$work/tree/lib" && printf '#pragma once\ntemplate <class Op> __global__ void launch_it(int *x, int n) {\n  Op op;\n  op(x, n);\n}\n' >"$work/tree/lib/launch.cuh"
cat >"$work/tree/src/a/b/c/op.cu" <<'C'
#include <launch.cuh>
struct fill {
  __device__ void operator()(int *x, int n) {
    for (int i = 0; i < n; i++) {
      x[i] = i;
      __syncthreads();
    }
  }
};
void run(int *x) { launch_it<fill><<<1, 32>>>(x, 8); }
C
"$inkmark" instrument --list --header-less --out-dir "$work/tree.out" "$work/tree/src/a/b/c/op.cu" -- -I"$work/tree/lib" >"$work/out" 2>&1
grep -q "kernel launch_it: marked" "$work/out" && grep -q "__syncthreads in operator(): marked" "$work/out" &&
  grep -q "'$work/tree/lib/launch.cuh' is marked too: all kernels are there, outside of the root" "$work/out" ||
  { echo "FAILED: kernels of a library's header:"; cat "$work/out"; failed=1; }
cd "$work" || exit 1
# a compilation database that is not there, and one that is none: our line alone, nothing of libclang's
mkdir bad empty && printf '[{"directory' >bad/compile_commands.json && printf '[]' >empty/compile_commands.json
while IFS='|' read -r folder text; do
  expect 1 "$text" -p $folder --list k.cu
  [ "$(wc -l <err)" = 1 ] || { echo "FAILED: more than our line for -p $folder:"; cat err; failed=1; }
done <<'W'
/nonexistent|inkmark: cannot read 'compile_commands.json' in '/nonexistent': no such file or directory
k.cu|inkmark: cannot read 'compile_commands.json' in 'k.cu': no such file or directory
bad|inkmark: 'bad/compile_commands.json' is not a list of compile commands
empty|inkmark: 'k.cu' is not in the 'compile_commands.json' of 'empty'
W
exit $failed
