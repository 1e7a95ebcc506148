# SPDX-License-Identifier: MIT
# Runs a program and holds its exit code and output against what is expected:
# cmake -D PROGRAM=a;b -D CODE=86 [-D STDERR=regex] [-D STDOUT=regex] -P expect.cmake
execute_process(COMMAND ${PROGRAM} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
message(STATUS "exit code ${code}\nstdout: ${out}\nstderr: ${err}")
if(NOT code STREQUAL CODE)
  message(FATAL_ERROR "exit code ${code}, expected ${CODE}")
endif()
if(DEFINED STDERR AND NOT err MATCHES "${STDERR}")
  message(FATAL_ERROR "stderr does not match '${STDERR}'")
endif()
if(DEFINED STDOUT AND NOT out MATCHES "${STDOUT}")
  message(FATAL_ERROR "stdout does not match '${STDOUT}'")
endif()
