#!/bin/bash
# SPDX-License-Identifier: MIT
# Why nothing was recorded: the true reason, with programs that do have marks. record_reasons.sh INKMARK EXAMPLES_FOLDER
# What needs root (a set-uid file of another user, file capabilities) is named where it is left out.
set -u
inkmark=$1 solver=$2/solver
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
chmod 755 "$work"
unset LD_PRELOAD LD_LIBRARY_PATH
failed=0
bad() { echo "FAILED: $*"; failed=1; }

# says WORDS ARGUMENTS...: `record` says the words, and nothing of a kernel that did not run
says() {
  local words=$1
  shift
  "$@" >out 2>message
  grep -qF -- "$words" message || bad "$*: no word of '$words': $(cat message)"
  grep -q 'no kernel with PROF_KERNEL ran' message && bad "$*: a reason that is not true: $(cat message)"
  rm -f x.ink*
}

says "nothing was recorded: 'env' starts the program without the environment" \
  "$inkmark" record --device sim -o x.ink -- env -i "$solver"
says "nothing was recorded: 'env' starts the program without" "$inkmark" record --device sim -o x.ink -- env - A=1 "$solver"
says "nothing was recorded: 'env' starts the program without" "$inkmark" record --device sim -o x.ink -- env -u A -u LD_PRELOAD "$solver"
says "nothing was recorded: 'env' starts the program without" "$inkmark" record --device sim -o x.ink -- env -vi "$solver"
# what stands behind -u is a name, whatever letters it has
"$inkmark" record --device sim -o x.ink -- env -uDISPLAYi true >out 2>message
grep -q 'nothing was recorded' message || bad "env -uDISPLAYi: no reason: $(cat message)"
grep -q 'starts the program without' message && bad "env -uDISPLAYi: a reason that is not true: $(cat message)"
says "nothing was kept: '-o /dev/null' throws the capture away" "$inkmark" record --device sim -o /dev/null -- "$solver"
says 'is inkmark itself' "$inkmark" record --device sim -o x.ink -- "$inkmark" record --device sim -o inner.ink -- "$solver"
says "nothing was recorded: '$solver' ended with exit code" "$inkmark" record --device sim -o x.ink -- "$solver" --no-such-option
# an environment that is only added to is recorded
"$inkmark" record --device sim -o x.ink -- env A=1 "$solver" >out 2>message
grep -q "wrote 'x.ink'" message || bad "env A=1: $(cat message)"
rm -f x.ink

# a script without an interpreter in its first line runs as it does without record; one whose interpreter is gone
printf '"%s" $1 && echo "$# $2"\n' "$solver" >script && chmod +x script
"$inkmark" record --device sim -o x.ink -- ./script '' 'a b' >out 2>message
grep -q "wrote 'x.ink'" message && grep -qx '2 a b' out || bad "a script: $(cat out message)"
rm -f x.ink
printf '#!/no/such\n' >script
"$inkmark" record --device sim -o x.ink -- ./script >out 2>message
[ $? = 127 ] && grep -q "cannot run './script': the interpreter or loader that it names is not there" message ||
  bad "no interpreter: $(cat message)"

# a daemon: the capture comes when it has recorded something
"$inkmark" record --device sim -o x.ink -- sh -c "setsid sh -c 'while [ ! -e go ]; do sleep 0.1; done; exec \"$solver\"' >/dev/null 2>&1 & echo \$! >pid" >out 2>message
grep -q "process $(cat pid).* goes on" message || bad "a daemon: $(cat message)"
touch go
while kill -0 "$(cat pid)" 2>/dev/null; do sleep 0.1; done
ls x.ink* >/dev/null 2>&1 || bad 'the daemon left no capture'
rm -f x.ink* go

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
  mkdir "$work/build" && (cd "$(dirname "$inkmark")/.." && # for a user who may not go into where it was built
    cp -a --parents cli/inkmark runtime/libinkmark-preload.so device/sim/lib* "$work/build") || exit 1
  inkmark=$work/build/cli/inkmark
  cp "$solver" bits && chown 65533:65533 bits && chmod 4755 bits
  says "' is set-uid, so the loader leaves out what is preloaded" \
    setpriv --reuid 65534 --regid 65534 --clear-groups "$inkmark" record --device sim -o /dev/shm/inkmark-reasons-$$.ink -- ./bits
  chmod 2755 bits
  says "' is set-gid, so the loader leaves out" \
    setpriv --reuid 65534 --regid 65534 --clear-groups "$inkmark" record --device sim -o /dev/shm/inkmark-reasons-$$.ink -- ./bits
  chmod 755 bits
  if command -v setcap >/dev/null && setcap cap_net_raw+ep bits 2>/dev/null; then
    says "' has file capabilities, so the loader leaves out" \
      setpriv --reuid 65534 --regid 65534 --clear-groups "$inkmark" record --device sim -o /dev/shm/inkmark-reasons-$$.ink -- ./bits
  else
    echo "part SKIPPED: no setcap, or no file capabilities here"
  fi
  rm -f /dev/shm/inkmark-reasons-$$.ink*
else
  echo "part SKIPPED: set-uid files of another user need root"
fi
exit $failed
