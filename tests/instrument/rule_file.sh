#!/bin/bash
# SPDX-License-Identifier: MIT
# rule_file.sh INKMARK: inkmark.conf gives what the same options give, from the folder of the build or one
# above it; options come before it; what is wrong in it is said with its line and nothing is written.
set -u
inkmark=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/build/deep" && cd "$work" || exit 1
cat >k.cu <<'C'
__device__ int work(int n) { for (int i = 0; i < 3; i++) n += i; return n; }
__device__ int other(int n) { return n * 3; }
__global__ void first(int *x) { x[0] = work(x[1]); __syncthreads(); x[2] = other(x[1]); }
__global__ void second(int *x) { for (int i = 0; i < 4; i++) x[i] = work(i); }
C
failed=0
fail() { echo "FAILED: $*"; failed=1; }
marked() { "$inkmark" instrument k.cu -o - --header-less --root . "$@" 2>err; }
# same FILE OPTIONS...: the file's rules are those of the options
same() {
  printf "$1" >inkmark.conf
  shift
  marked >by_file || { fail "$(cat inkmark.conf): $(cat err)"; return; }
  rm inkmark.conf
  marked "$@" >by_options
  cmp -s by_file by_options || fail "the file is not '$*': $(diff by_file by_options)"
}
marked >default
same '' 
same '# nothing\n\n[rules]\n'
same 'calls = true\nwaits = true # both\n' --calls --waits
same 'calls = "^oth"\n' --calls=^oth
same "kernel = '^sec'\r\nloops = true\r\n" --kernel ^sec --loops
same 'exclude = "first|work"\nhold = "none"\ndepth = 2\n' --exclude 'first|work' --hold none --depth 2
same 'hold = "strict"\n' --hold strict
same 'calls = false\nkernels-only = true\nlimit = 1_00\n' --kernels-only --limit 100
same 'lines = true\nkernel = "^second$"' --lines --kernel '^second$'
# options come before the file, --rules before what is found, and it is found from folders below
printf 'kernel = "^second$"\n' >inkmark.conf
marked --kernel ^first >by_both; rm inkmark.conf; marked --kernel ^first >by_options
cmp -s by_both by_options || fail "an option does not come before the file"
printf 'kernels-only = true\nroot = "."\n' >inkmark.conf
(cd build/deep && "$inkmark" instrument ../../k.cu -o - --header-less --root ../.. 2>/dev/null) >by_file
(cd build/deep && "$inkmark" instrument ../../k.cu -o - --header-less 2>/dev/null) >by_root
cmp -s by_file by_root || fail "a root is not as seen from the file"
grep -q PROF_BEGIN by_file && fail "the file in a folder above was not read"
printf 'calls = true\n' >other.toml
marked --rules other.toml >by_file; marked --rules=/dev/null --calls >by_options
cmp -s by_file by_options || fail "--rules is not read instead"
# wrong FILE TEXT: said with its line, exit code 1, nothing written
wrong() {
  printf "$1" >inkmark.conf
  "$inkmark" instrument k.cu -o never.cu --header-less >out 2>err
  [ $? = 1 ] || fail "'$1' gives another exit code"
  grep -qF "$2" err || fail "'$1' says '$(cat err)', not '$2'"
  [ -e never.cu ] && { fail "'$1' wrote a file"; rm never.cu; }
}
wrong 'depth = 1\nloop = true\n' "inkmark.conf:2: no rule is called 'loop'"
wrong 'loops = yes\n' "inkmark.conf:1: 'loops' needs true or false"
wrong 'depth = "2"\n' "'depth' needs a number"
wrong 'depth = 99999999999999999999999\n' "not a number"
wrong 'kernel = solve\n' "'kernel' needs a string in quotes"
wrong 'kernel = "solve\n' "the string has no end"
wrong 'kernel = "a\\\\d"\nkernel = "b"\n' "inkmark.conf:2: 'kernel' has a value already"
wrong 'kernel = "\\d"\n' "unknown escape"
wrong 'hold = "some"\n' "'hold' is one of auto|none|strict, not 'some'"
wrong '[tool]\n' "the only heading is [rules]"
wrong 'loops\n' "'loops' has no value"
wrong 'loops = true false\n' "more than one value"
wrong '= 3\n' "not 'key = value'"
rm inkmark.conf
"$inkmark" instrument k.cu -o never.cu --rules none.toml 2>err && fail "a file that is not there"
grep -q "cannot read 'none.toml'" err || fail "$(cat err)"
printf 'kernel = "("\n' >inkmark.conf
"$inkmark" instrument k.cu --list >out 2>err
[ $? = 2 ] && grep -q "is not a regular expression" err || fail "a broken expression: $(cat err)"
# the name that the file had: read, and said
printf 'kernel = "^second$"\n' >inkmark.toml
rm inkmark.conf
marked >by_old_name
grep -q "inkmark.toml' is read, but it is no TOML: call it inkmark.conf" err || fail "the old name: $(cat err)"
rm inkmark.toml
marked --kernel '^second$' >by_options
diff by_old_name by_options >&2 || fail "the old name gives something else"
# line by line is for one kernel
"$inkmark" instrument k.cu --list --lines 2>err
[ $? = 2 ] && grep -q "needs --kernel" err || fail "--lines without --kernel: $(cat err)"
"$inkmark" instrument k.cu -o never.cu --lines --kernel . --header-less 2>err
[ $? = 1 ] && grep -q "chooses 'first' and 'second' for --lines" err || fail "two kernels: $(cat err)"
[ -e never.cu ] && fail "two kernels: a file was written"
# more sections than a table holds, more marks than the limit: said for each place, and no more than fit
{ echo '__global__ void k(int *x) {'; for ((i = 0; i < 8300; i++)); do echo "x[0]++; // prof: mark M$i"; done; echo '}'; } >k.cu
"$inkmark" instrument k.cu --list --header-less >out 2>err || fail "a full table: $(cat err)"
[ "$(grep -c ': marked' out)" = 8191 ] || fail "$(grep -c ': marked' out) sections instead of 8191"
[ "$(grep -c 'left: the section table is full' out)" = 110 ] || fail "places left: $(grep -c 'table is full' out)"
{ echo '__device__ int w(int);__global__ void k(int *x) {'; for ((i = 0; i < 300; i++)); do echo "x[0] = w($i);"; done; echo '}'; } >k.cu
"$inkmark" instrument k.cu --list --header-less --calls --limit 20 >out 2>err
[ "$(grep -c 'call w.*: marked' out)" = 20 ] || fail "$(grep -c 'call w.*: marked' out) calls instead of 20"
grep -q "(--limit)" out || fail "the limit is not said"
exit $failed
