# SPDX-License-Identifier: MIT
# The machine's conformance: hand-written PTX, and CUDA that nvcc turns into PTX at build time.
if(NOT TARGET sim_machine)
  inkmark_left_out("the simulated device is not built" sim.machine)
  return()
endif()

# machine_test(NAME SOURCES...): a program on the machine's objects.
function(machine_program name)
  add_executable(sim_${name} ${ARGN} machine_check.c $<TARGET_OBJECTS:sim_machine>)
  target_compile_definitions(sim_${name} PRIVATE _GNU_SOURCE)
  target_include_directories(sim_${name} PRIVATE
    $<TARGET_PROPERTY:sim_machine,INTERFACE_INCLUDE_DIRECTORIES>)
  # the host's arithmetic must be as literal as the device's
  target_compile_options(sim_${name} PRIVATE -ffp-contract=off -frounding-math)
  target_link_libraries(sim_${name} PRIVATE inkmark_flags m)
endfunction()

foreach(name integer float forms link config)
  machine_program(machine_${name}_test machine_${name}_test.c)
  add_test(NAME sim.machine.${name} COMMAND sim_machine_${name}_test)
endforeach()

machine_program(machine_select_test machine_select_test.c)
add_test(NAME sim.machine.select COMMAND sim_machine_select_test ${CMAKE_CURRENT_SOURCE_DIR}/select.txt)

if(NOT INKMARK_NVCC)
  inkmark_left_out("no nvcc: the simulated machine is tested with hand-written PTX only" sim.machine.left_out)
  return()
endif()

# machine_ptx_test(NAME TARGETS...): machine_NAME.cu as PTX of each target, machine_NAME_test on it.
function(machine_ptx_test name)
  machine_program(machine_${name}_test machine_${name}_test.c)
  foreach(target IN LISTS ARGN)
    set(ptx ${CMAKE_CURRENT_BINARY_DIR}/machine_${name}.${target}.ptx)
    add_custom_command(OUTPUT ${ptx}
      COMMAND ${INKMARK_NVCC_LAUNCHER} ${INKMARK_NVCC} -ptx -lineinfo -std=c++17 -Wno-deprecated-gpu-targets
              -diag-suppress 20054
              -arch=compute_${target} -o ${ptx} ${CMAKE_CURRENT_SOURCE_DIR}/machine_${name}.cu
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/machine_${name}.cu
      COMMENT "nvcc machine_${name}.${target}.ptx" VERBATIM)
    add_custom_target(machine_${name}_${target} ALL DEPENDS ${ptx})
    add_test(NAME sim.machine.${name}.${target}
      COMMAND sim_machine_${name}_test ${ptx} ${target})
  endforeach()
endfunction()

machine_ptx_test(warp 75 90)
machine_ptx_test(memory 75 90)
machine_ptx_test(math 75 120)
machine_ptx_test(async 90a 120a) # setmaxnreg
machine_ptx_test(cluster 90a)
machine_ptx_test(matrix 90)

machine_program(machine_clock_test machine_clock_test.c)
add_test(NAME sim.machine.clock
  COMMAND sim_machine_clock_test ${CMAKE_CURRENT_BINARY_DIR}/machine_warp.75.ptx)

# a build for debuggers: other code, -G's sections and directives, the same results
set(debug ${CMAKE_CURRENT_BINARY_DIR}/machine_warp.debug.ptx)
add_custom_command(OUTPUT ${debug}
  COMMAND ${INKMARK_NVCC_LAUNCHER} ${INKMARK_NVCC} -ptx -G -Wno-deprecated-gpu-targets -arch=compute_75 -o ${debug}
          ${CMAKE_CURRENT_SOURCE_DIR}/machine_warp.cu
  DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/machine_warp.cu
  COMMENT "nvcc machine_warp.debug.ptx" VERBATIM)
add_custom_target(machine_warp_debug ALL DEPENDS ${debug})
add_test(NAME sim.machine.warp.debug COMMAND sim_machine_warp_test ${debug} 75)
