#!/bin/bash
# SPDX-License-Identifier: MIT
# What comes into a recorded program asks the environment by secure_getenv alone, which gives a set-uid program nothing:
# secure_environment.sh NM FOLDER LIBRARY...: of FOLDER, the device headers, the text is read.
set -u
nm=$1 headers=$2
shift 2
for library; do
  asked=$("$nm" -D --undefined-only "$library" | grep -owE '(secure_)?getenv' | sort -u)
  [ "$asked" = secure_getenv ] || { echo "FAILED: '$library' asks by: ${asked:-nothing}"; exit 1; }
done
grep -rnw secure_getenv "$headers" >/dev/null || { echo "FAILED: '$headers' asks for nothing: is it the folder of the headers?"; exit 1; }
if grep -rnwE '^[^*/]*getenv' "$headers"; then echo "FAILED: a header asks by getenv"; exit 1; fi
echo "$# libraries and the headers ask by secure_getenv"
