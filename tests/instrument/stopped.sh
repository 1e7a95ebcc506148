#!/bin/bash
# SPDX-License-Identifier: MIT
# stopped.sh INKMARK: a parse over its time falls back and says so; a signal ends the command, what it runs
# and its temporary files, wherever it comes. The compiler here is a script that says when it has begun.
set -u
inkmark=$1
command -v pgrep >/dev/null || { echo "skipped: no pgrep"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir tmp && export TMPDIR=$work/tmp INKMARK_RULES="--root ."
failed=0
fail() { echo "FAILED: $*"; failed=1; }
{ # takes minutes, but only where the toolkit's headers are there
  echo '#ifdef CUDART_VERSION'
  echo 'template <int N> constexpr int turns() { int s = 0; for (int i = 0; i < 100000; i++) s += i & 1; return s; }'
  for ((i = 0; i < 20000; i++)); do echo "static_assert(turns<$i>() > 0);"; done
  echo '#endif'
  echo '__global__ void k(int *x) { for (int i = 0; i < 40; i++) x[i] = i; }'
} >slow.cu
echo '__global__ void k(int *x) { for (int i = 0; i < 40; i++) x[i] = i; }' >quick.cu

"$inkmark" instrument slow.cu -o m.cu --parse-seconds 1 --root . 2>err || fail "a slow source: $(cat err)"
grep -q "'slow.cu' was parsed without the toolkit's headers: took longer than 1 s" err || fail "not said: $(cat err)"
grep -q 'm.cu: 1 kernel, 1 mark' err || fail "the other parse marks nothing: $(cat err)"
"$inkmark" instrument --list slow.cu --parse-seconds 1 --root . 2>err | grep -q 'header-less parse (took longer' ||
  fail "--list does not say which parse"
[ -z "$(ls tmp)" ] || fail "left in the temporary folder: $(ls tmp)"

mkdir bin
cat >bin/nvcc <<'C'
#!/bin/bash
# a compiler that leaves a file and a child of its own when it is ended, as nvcc does
touch "$TMPDIR/tmpxft_1"
bash -c 'sleep 3600; true' "$0" &
touch "${0%/*}/../begun"
wait
C
chmod +x bin/nvcc
# ended SIGNAL WHAT COMMAND...: it runs in a session of its own, as under a terminal, when the signal comes
ended() {
  local signal=$1 what=$2
  shift 2
  rm -f begun
  setsid "$@" >out 2>&1 &
  local pid=$! i
  for ((i = 0; i < 20000; i++)); do
    case $what in
    compile) [ -e begun ] && break ;;
    parse) [ "$(pgrep -c -f -- "$work/slow.cu")" -ge 2 ] && sleep 0.3 && break ;; # it and its child
    esac
    sleep 0.05
  done
  ((i < 20000)) || fail "$signal, $what: it did not begin: $(cat out)"
  kill -"$signal" "$pid" 2>/dev/null || fail "$signal, $what: it had ended: $(cat out)"
  wait "$pid"
  local code=$?
  [ $code = $((128 + $(kill -l "$signal"))) ] || fail "$signal, $what: code $code: $(cat out)"
  for ((i = 0; i < 20000; i++)); do pgrep -f "$work/(slow|quick|bin)" >/dev/null || break; sleep 0.05; done
  ((i < 20000)) || fail "$signal, $what: still running: $(pgrep -af "$work/(slow|quick|bin)")"
  [ -z "$(ls tmp)" ] || { fail "$signal, $what: left: $(find tmp)"; rm -rf tmp/*; }
}
for signal in TERM HUP; do
  ended $signal compile "$inkmark" nvcc "$work/bin/nvcc" -c "$work/quick.cu" -o "$work/o.o"
  ended $signal parse "$inkmark" nvcc "$work/bin/nvcc" -c "$work/slow.cu" -o "$work/o.o"
  ended $signal parse "$inkmark" instrument "$work/slow.cu" -o "$work/never.cu"
done
# Ctrl-C reaches the whole group; a shell's background jobs ignore SIGINT, so python starts them
interrupted() {
  python3 - "$work" "$@" <<'C'
import os, signal, subprocess, sys, time
work, what, command = sys.argv[1], sys.argv[2], sys.argv[3:]
signal.signal(signal.SIGINT, signal.SIG_DFL)
child = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
begun = time.monotonic()
def running():
    listed = subprocess.run(["pgrep", "-c", "-s", str(child.pid)], capture_output=True, text=True)
    return int(listed.stdout)
while not (os.path.exists(work + "/begun") if what == "compile" else running() >= 2):
    if time.monotonic() - begun > 1000: sys.exit("it did not begin")
    time.sleep(0.05)
time.sleep(0.3)
os.killpg(child.pid, signal.SIGINT)
code = child.wait(1000)
for _ in range(20000):
    if not running(): break
    time.sleep(0.05)
sys.exit(None if code == -signal.SIGINT and not running() else "code %d, %d running" % (code, running()))
C
}
for what in compile parse; do
  rm -f begun
  source=$([ $what = parse ] && echo slow.cu || echo quick.cu)
  interrupted $what "$inkmark" nvcc "$work/bin/nvcc" -c "$work/$source" -o "$work/o.o" || fail "Ctrl-C, $what"
  [ -z "$(ls tmp)" ] || { fail "Ctrl-C, $what: left: $(find tmp)"; rm -rf tmp/*; }
done
interrupted parse "$inkmark" instrument "$work/slow.cu" -o "$work/never.cu" || fail "Ctrl-C, instrument"
[ -z "$(ls tmp)" ] || fail "Ctrl-C, instrument: left: $(find tmp)"
[ -e never.cu ] && fail "a file was written"
exit $failed
