# SPDX-License-Identifier: MIT
# cmake -D IN=mark_impl.cuh -D OUT=copy -P open_kernel.cmake: the header with class kernel's members
# public, for the one test that presets its counts.
file(READ ${IN} text)
set(closed "template <class Source, u64 Table> class kernel {")
string(FIND "${text}" "${closed}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "${IN} has no '${closed}'")
endif()
string(REPLACE "${closed}" "template <class Source, u64 Table> struct kernel {" text "${text}")
string(REPLACE "private:" "public:" text "${text}")
file(WRITE ${OUT} "${text}")
