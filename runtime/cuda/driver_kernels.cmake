# SPDX-License-Identifier: MIT
# Writes PTX as a C file: bytes, for a string literal of that length is not portable.
# Usage: cmake -D PTX=... -D OUT=... -P driver_kernels.cmake
if(EXISTS "${PTX}")
  file(READ ${PTX} bytes HEX)
endif()
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUT} "/* Made by driver_kernels.cmake. */\nextern const unsigned char ink_i_driver_ptx[];\n"
  "const unsigned char ink_i_driver_ptx[] = {\n${bytes}0};\n")
