# SPDX-License-Identifier: MIT
# Sourced, with the repository in $root: names .venv's disassembler, or the PATH's, to inkmark and the test,
# which is skipped where there is none.
nvidia_tool() {
  local found
  found=$(compgen -G "$root/.venv/lib/python3*/site-packages/nvidia/cu13/bin/$1" | head -n 1)
  printf '%s' "${found:-$(command -v "$1")}"
}
INKMARK_NVDISASM=$(nvidia_tool nvdisasm)
export INKMARK_NVDISASM
if [ -z "$INKMARK_NVDISASM" ]; then
  echo "SKIPPED: no nvdisasm in .venv nor on the PATH (tests/run.sh installs it)"
  exit 77
fi
