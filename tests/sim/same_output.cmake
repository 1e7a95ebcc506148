# SPDX-License-Identifier: MIT
# Runs a program three times; all must end with 0 and print the same, and not nothing. With OTHER
# (a variable=value) a fourth run must print something else: cmake -D PROGRAM=... -P same_output.cmake
foreach(i RANGE 1 3)
  execute_process(COMMAND ${PROGRAM} RESULT_VARIABLE code OUTPUT_VARIABLE out${i})
  # how many checks another thread made does not belong to the output
  string(REGEX REPLACE "[0-9]+ checks," "" out${i} "${out${i}}")
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "exit code ${code}: ${out${i}}")
  endif()
endforeach()
if(NOT out1 MATCHES "clock [0-9]+" OR NOT out1 STREQUAL out2 OR NOT out1 STREQUAL out3)
  message(FATAL_ERROR "three runs do not print the same")
endif()
if(DEFINED OTHER)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env ${OTHER} ${PROGRAM} OUTPUT_VARIABLE out4)
  string(REGEX REPLACE "[0-9]+ checks," "" out4 "${out4}")
  if(out1 STREQUAL out4)
    message(FATAL_ERROR "${OTHER} changes nothing: the comparison sees nothing")
  endif()
endif()
