# SPDX-License-Identifier: MIT
# Sourced by examples/demo.sh and tests/run.sh: brings what a fresh Debian 12 or 13 lacks. Debian
# packages are installed when we are root or may use sudo; a CUDA compiler and Python packages go
# into .venv, npm packages into node_modules, both inside the repository's folder.
# The caller sets `set -eu` and root=<repository>.

setup_say() { printf '==> %s\n' "$*" >&2; }
setup_fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# The CUDA that PyPI's packages must be: the one that the simulated device stands in for.
setup_cuda_packages='nvidia-cuda-nvcc==13.0.* nvidia-cuda-crt==13.0.* nvidia-cuda-runtime==13.0.*
  nvidia-cuda-cccl==13.0.* nvidia-nvvm==13.0.* nvidia-nvtx==13.0.*'
setup_cupti_package='nvidia-cuda-cupti==13.0.*'

shopt -s extglob
# setup_lacks WHAT: a command; a file when it has a slash (a pattern is fine); import:MODULE.
setup_lacks() {
  case $1 in
    import:*) ! python3 -c "import ${1#import:}" >/dev/null 2>&1 ;;
    */*) ! compgen -G "$1" >/dev/null ;;
    *) ! command -v "$1" >/dev/null 2>&1 ;;
  esac
}

# setup_debian WHAT=PACKAGE...: installs the packages whose command or file is not there.
setup_debian() {
  local pair missing=()
  for pair; do
    if setup_lacks "${pair%%=*}"; then missing+=("${pair#*=}"); fi
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  local sudo=()
  if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
      sudo=(sudo -n)
    else
      setup_fail "these packages are missing: ${missing[*]}; run as root: apt-get install ${missing[*]}"
    fi
  fi
  command -v apt-get >/dev/null 2>&1 ||
    setup_fail "these are missing, and this system has no apt-get: ${missing[*]}"
  setup_say "installing ${missing[*]}"
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 -qq update >&2 ||
    setup_say "apt-get update failed, trying with the lists that are here"
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 -qq install -y \
    --no-install-recommends "${missing[@]}" >&2 || setup_fail "apt-get could not install ${missing[*]}"
}

# What every build needs; libclang 19 for the rewriter (`inkmark nvcc`).
setup_build_tools() {
  setup_debian gcc=gcc g++=g++ cmake=cmake ninja=ninja-build python3=python3 \
    '/usr/include/zlib.h=zlib1g-dev' '/usr/include/zstd.h=libzstd-dev' \
    import:ensurepip=python3-venv \
    '/usr/include/*/sys/cdefs.h=libc6-dev' '/etc/ssl/certs/ca-certificates.crt=ca-certificates' \
    '/usr/lib/llvm-@(19|[2-9][0-9])/include/clang-c/Index.h=libclang-19-dev'
}

setup_venv() {
  [ -x "$root/$1/bin/pip" ] && return 0
  setup_say "making $1"
  rm -rf "${root:?}/$1"
  python3 -m venv "$root/$1" || setup_fail "python3 -m venv does not work (Debian: python3-venv)"
}

# setup_pip NAME ARGUMENTS...: pip install once; again when the arguments or a listed file change. Into .venv, or the
# folder that setup_into names.
setup_pip() {
  local into=${setup_into:-.venv}
  local name=$1 stamp argument
  shift
  stamp=$(
    printf '%s\n' "$@"
    for argument; do if [ -f "$argument" ]; then cat "$argument"; fi; done
  )
  setup_venv "$into"
  if [ "$(cat "$root/$into/$name.stamp" 2>/dev/null)" = "$stamp" ]; then return 0; fi
  setup_say "pip installs into $into: $name"
  "$root/$into/bin/pip" install -q --disable-pip-version-check --retries 5 "$@" >&2 ||
    setup_fail "pip could not install $name"
  printf '%s\n' "$stamp" >"$root/$into/$name.stamp"
}

# PyPI's CUDA has no lib64 and no name to link by.
setup_cuda_layout() {
  ln -sfn lib "$1/lib64"
  ln -sfn libcudart.so.13 "$1/lib/libcudart.so"
}

# CUPTI's headers, which a toolkit may lack; the build finds them in .venv.
setup_cupti() {
  local file
  for file in "$1"/include/cupti.h "$1"/extras/CUPTI/include/cupti.h; do
    if [ -e "$file" ]; then return 0; fi
  done
  setup_pip cupti "$setup_cupti_package"
}

# Leaves nvcc on the PATH, and CUDA_HOME. INKMARK_HIDE_NVCC=1 looks away from an installed one.
setup_cuda() {
  local folder found=
  if [ -z "${INKMARK_HIDE_NVCC:-}" ]; then
    for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
      if [ -z "$found" ] && [ -n "$folder" ] && [ -x "$folder/bin/nvcc" ]; then found=$folder; fi
    done
    if [ -z "$found" ] && command -v nvcc >/dev/null 2>&1; then
      found=$(readlink -f "$(command -v nvcc)")
      found=${found%/bin/nvcc}
    fi
  fi
  if [ -z "$found" ]; then
    # shellcheck disable=SC2086 # a list of words
    setup_pip cuda $setup_cuda_packages $setup_cupti_package
    found=$(echo "$root"/.venv/lib/python3*/site-packages/nvidia/cu13)
    [ -x "$found/bin/nvcc" ] || setup_fail "PyPI's packages brought no nvcc"
    setup_cuda_layout "$found"
  fi
  setup_cupti "$found"
  export CUDA_HOME=$found PATH=$found/bin:$PATH
  setup_say "nvcc: $found/bin/nvcc"
}

# setup_env_file BUILD: writes BUILD/env.sh, after setup_cuda.
setup_env_file() {
  local build cuda
  printf -v build %q "$1"
  printf -v cuda %q "$CUDA_HOME"
  cat >"$1/env.sh" <<END
# Puts inkmark, nvcc and the CUDA runtime on the paths of a shell: . build/env.sh
# Where there is no GPU the runtime is the simulated device.
CUDA_HOME=$cuda
PATH=$build/cli:\$CUDA_HOME/bin:\$PATH
if [ -e /dev/nvidiactl ] || [ -e /dev/dxg ] || [ -e /dev/nvhost-ctrl-gpu ] || [ -e /dev/nvgpu ]; then
  LD_LIBRARY_PATH=\$CUDA_HOME/lib64\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}
else
  LD_LIBRARY_PATH=$build/device/sim\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}
fi
export CUDA_HOME PATH LD_LIBRARY_PATH
END
}

setup_jobs() { nproc 2>/dev/null || echo 2; }
