#!/bin/bash
# SPDX-License-Identifier: MIT
# bench/peers.sh --flashinfer DIR --ikp DIR --warpscope DIR --tvm DIR [--form NAME=FILE,DIR] [--arch 90]: what a section costs
# with inkmark and with the macros in your own copies of those projects (peers.md says which). Needs nvcc, and
# nvdisasm as the tests do.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$root/bench/peers/count_sections.py" "$@"
