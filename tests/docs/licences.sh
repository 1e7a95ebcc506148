#!/bin/bash
# SPDX-License-Identifier: MIT
# licences.sh ROOT: every file of the repository says its licence, as REUSE wants it (https://reuse.software).
cd "$1" || exit 1
if [ ! -x .venv/bin/reuse ]; then echo "SKIPPED: no reuse: tests/run.sh brings it (PyPI: reuse)"; exit 77; fi
if [ ! -e .git ]; then echo "SKIPPED: no git: what belongs to the repository is not known"; exit 77; fi
.venv/bin/reuse lint
