# SPDX-License-Identifier: MIT
# The machine below device/sim/machine.h, as objects for the stand-in runtime and the tests.
add_library(sim_machine OBJECT
  ${CMAKE_CURRENT_LIST_DIR}/cluster.c
  ${CMAKE_CURRENT_LIST_DIR}/device.c
  ${CMAKE_CURRENT_LIST_DIR}/exec_async.c
  ${CMAKE_CURRENT_LIST_DIR}/exec_atomic.c
  ${CMAKE_CURRENT_LIST_DIR}/exec_barrier.c
  ${CMAKE_CURRENT_LIST_DIR}/exec_bits.c
  ${CMAKE_CURRENT_LIST_DIR}/exec_bulk.c
  ${CMAKE_CURRENT_LIST_DIR}/exec_compare.c
  ${CMAKE_CURRENT_LIST_DIR}/exec_control.c
  ${CMAKE_CURRENT_LIST_DIR}/exec_convert.c
  ${CMAKE_CURRENT_LIST_DIR}/exec_float.c
  ${CMAKE_CURRENT_LIST_DIR}/exec_half.c
  ${CMAKE_CURRENT_LIST_DIR}/exec_integer.c
  ${CMAKE_CURRENT_LIST_DIR}/exec_matrix.c
  ${CMAKE_CURRENT_LIST_DIR}/exec_mbarrier.c
  ${CMAKE_CURRENT_LIST_DIR}/exec_memory.c
  ${CMAKE_CURRENT_LIST_DIR}/exec_mma.c
  ${CMAKE_CURRENT_LIST_DIR}/exec_move.c
  ${CMAKE_CURRENT_LIST_DIR}/exec_print.c
  ${CMAKE_CURRENT_LIST_DIR}/exec_warp.c
  ${CMAKE_CURRENT_LIST_DIR}/grid.c
  ${CMAKE_CURRENT_LIST_DIR}/instruction_log.c
  ${CMAKE_CURRENT_LIST_DIR}/memory_ranges.c
  ${CMAKE_CURRENT_LIST_DIR}/module.c
  ${CMAKE_CURRENT_LIST_DIR}/program.c
  ${CMAKE_CURRENT_LIST_DIR}/ptx_declare.c
  ${CMAKE_CURRENT_LIST_DIR}/ptx_decode.c
  ${CMAKE_CURRENT_LIST_DIR}/ptx_decode_more.c
  ${CMAKE_CURRENT_LIST_DIR}/ptx_instruction.c
  ${CMAKE_CURRENT_LIST_DIR}/ptx_lex.c
  ${CMAKE_CURRENT_LIST_DIR}/ptx_link.c
  ${CMAKE_CURRENT_LIST_DIR}/ptx_names.c
  ${CMAKE_CURRENT_LIST_DIR}/ptx_parse.c
  ${CMAKE_CURRENT_LIST_DIR}/ptx_rows.c
  ${CMAKE_CURRENT_LIST_DIR}/ptx_words.c
  ${CMAKE_CURRENT_LIST_DIR}/scheduler.c
  ${CMAKE_CURRENT_LIST_DIR}/sim_clock.c
  ${CMAKE_CURRENT_LIST_DIR}/sim_config.c
  ${CMAKE_CURRENT_LIST_DIR}/warp.c)
target_include_directories(sim_machine PUBLIC
  $<BUILD_INTERFACE:${CMAKE_CURRENT_LIST_DIR}>)
set_target_properties(sim_machine PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_definitions(sim_machine PRIVATE _GNU_SOURCE)
# Float results must be the device's: no fused operations, rounding modes that change at run time.
target_compile_options(sim_machine PRIVATE -ffp-contract=off -fno-math-errno -frounding-math)
target_link_libraries(sim_machine PRIVATE inkmark_flags PUBLIC m)
