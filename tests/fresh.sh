#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs a command in a fresh minimal Debian, on a copy of this checkout: shows that the set-up brings all
# that it needs. Needs root, debootstrap and the package registries (of Debian, PyPI and npm).
# tests/fresh.sh [--again] RELEASE [COMMAND...]      default: ./tests/run.sh
#   RELEASE  bookworm or 12, trixie or 13
#   --again  in the system of the last call, over the copy that is there, rather than in a new one
# The system lies in INKMARK_FRESH (default: /var/tmp/inkmark-fresh-RELEASE) and stays there; what is
# mounted goes when the command ends. INKMARK_FRESH_MIRROR is Debian's mirror.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
usage() { sed -n 's/^# \(tests\/fresh.sh.*\)/usage: \1/p' "$0" >&2; exit 2; }
again=
if [ "${1:-}" = --again ]; then again=1; shift; fi
case ${1:-} in
  12 | bookworm) release=bookworm ;;
  13 | trixie) release=trixie ;;
  *) usage ;;
esac
shift
[ $# -gt 0 ] || set -- ./tests/run.sh
root=${INKMARK_FRESH:-/var/tmp/inkmark-fresh-$release}
mirror=${INKMARK_FRESH_MIRROR:-http://deb.debian.org/debian}
[ "$(id -u)" = 0 ] || { echo "it needs root" >&2; exit 1; }

make_system() {
  command -v debootstrap >/dev/null || { echo "it needs debootstrap: apt-get install debootstrap" >&2; exit 1; }
  if [ -e "$root" ]; then
    [ -e "$root/.inkmark-fresh" ] || { echo "'$root' is not of this script, remove it yourself" >&2; exit 1; }
    rm -rf --one-file-system "$root"
  fi
  mkdir -p "$root"
  touch "$root/.inkmark-fresh"
  debootstrap --variant=minbase "$release" "$root" "$mirror"
  # how this machine reaches its registries: proxies and certificates
  grep -rhsE '^ *Acquire::[^{}]*;' /etc/apt/apt.conf /etc/apt/apt.conf.d | grep -v IndexTargets \
    >"$root/etc/apt/apt.conf.d/90here" || true
  if [ -d /usr/local/share/ca-certificates ]; then
    mkdir -p "$root/usr/local/share/ca-certificates"
    cp /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates/" 2>/dev/null || true
  fi
  printf 'deb %s %s main\ndeb %s %s-updates main\n' "$mirror" "$release" "$mirror" "$release" \
    >"$root/etc/apt/sources.list"
  touch "$root/.inkmark-fresh-made"
}

[ -n "$again" ] && [ -e "$root/.inkmark-fresh-made" ] || make_system
mkdir -p "$root/root/inkmark"
cd "$source"
git ls-files -z | tar --null -T - -cf - | tar -C "$root/root/inkmark" --no-same-owner -xf -
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
cp -L /etc/hosts "$root/etc/hosts"
# Of the environment only what says how registries are reached.
words=()
while IFS= read -r -d '' word; do
  case $word in
    [Hh][Tt][Tt][Pp]*_[Pp][Rr][Oo][Xx][Yy]=* | [Nn][Oo]_[Pp][Rr][Oo][Xx][Yy]=* | PIP_CERT=* | PIP_INDEX_URL=* | \
      PIP_EXTRA_INDEX_URL=* | PIP_TRUSTED_HOST=* | PIP_DEFAULT_TIMEOUT=* | SSL_CERT_FILE=* | \
      NODE_EXTRA_CA_CERTS=* | npm_config_*=*) words+=("$word") ;;
  esac
done < <(env -0)
# namespaces of its own: mounts and processes that are left end with the command
export root
# shellcheck disable=SC2016 # expanded inside
exec unshare --mount --pid --fork --kill-child bash -c '
  set -e
  mount --make-rprivate /
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  exec chroot "$root" env -i "$@"' fresh \
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "${words[@]}" \
  sh -c 'cd /root/inkmark && exec "$@"' sh "$@" </dev/null
