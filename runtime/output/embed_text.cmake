# SPDX-License-Identifier: MIT
# cmake -DINPUT=page.html -DOUTPUT=page.c -DNAME=ink_report_page -DHEADER=report_page.h -P embed_text.cmake
# A C array with the bytes of INPUT and a zero byte after them.
file(READ "${INPUT}" hex HEX)
string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(WRITE "${OUTPUT}" "/* Made from ${NAME}'s page at build time. */
#include \"${HEADER}\"
const unsigned char ${NAME}[] = {
${bytes}0x00};
")
