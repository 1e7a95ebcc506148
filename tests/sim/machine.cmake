# SPDX-License-Identifier: MIT
# The machine's conformance: hand-written PTX, and CUDA that nvcc turns into PTX at build time.
if(NOT TARGET sim_machine)
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

foreach(name integer float)
  machine_program(machine_${name}_test machine_${name}_test.c)
  add_test(NAME sim.machine.${name} COMMAND sim_machine_${name}_test)
endforeach()
