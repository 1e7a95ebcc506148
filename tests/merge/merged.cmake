# SPDX-License-Identifier: MIT
# Merged traces: of each of the real traces beside the repository (skipped where they are absent), and of
# traces made here, as Perfetto's own trace processor loads them.
if(NOT TARGET inkmark)
  return()
endif()
add_executable(fit_capture fit_capture.c made_capture.c)
target_compile_definitions(fit_capture PRIVATE _GNU_SOURCE)
target_link_libraries(fit_capture PRIVATE inkmark_static inkmark_flags)
set(merged_tools $<TARGET_FILE:inkmark> $<TARGET_FILE:fit_capture> ${PROJECT_SOURCE_DIR}/node_modules)
# Name, and of how many kernels one gets a launch: this trace processor's time grows with the square of
# the number of tracks.
foreach(sample "kineto_a100_small.json.gz 1" "kineto_rocm_small.json.gz 1" "kineto_b200_vllm.json.gz 12"
    "kineto_v100_absolute_us.json.gz 40" "nsys_2022_1gpu.sqlite 1" "nsys_h100_2gpu.sqlite 4 111")
  string(REPLACE " " ";" sample ${sample})
  list(GET sample 0 file)
  list(GET sample 1 every)
  list(REMOVE_AT sample 0 1) # what is left is the process
  string(REGEX REPLACE "\\..*" "" name ${file})
  add_test(NAME merge.real_${name} COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/check_merged.py ${merged_tools}
    ${PROJECT_SOURCE_DIR}/../shared/samples/${file} ${every} ${sample})
  set_tests_properties(merge.real_${name} PROPERTIES SKIP_RETURN_CODE 77)
endforeach()
foreach(captures one several)
  add_test(NAME merge.made_${captures} COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/check_made.py ${merged_tools} ${captures})
  set_tests_properties(merge.made_${captures} PROPERTIES SKIP_RETURN_CODE 77)
endforeach()
add_test(NAME merge.nsight COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/check_nsight.py ${merged_tools})
set_tests_properties(merge.nsight PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME merge.packets COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/check_packets.py ${merged_tools}
  $<TARGET_FILE:foreign_tool>)
set_tests_properties(merge.packets PROPERTIES SKIP_RETURN_CODE 77)
add_executable(rank_names rank_names.c)
target_compile_definitions(rank_names PRIVATE _GNU_SOURCE)
target_include_directories(rank_names PRIVATE ${PROJECT_SOURCE_DIR}/runtime)
target_link_libraries(rank_names PRIVATE inkmark_static inkmark_flags)
add_test(NAME merge.rank_names COMMAND rank_names)
if(TARGET cudart AND INKMARK_BUILD_EXAMPLES)
  add_test(NAME merge.ranks COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/check_ranks.py $<TARGET_FILE:inkmark>
    ${PROJECT_BINARY_DIR}/examples/solver ${PROJECT_SOURCE_DIR}/node_modules)
  set_tests_properties(merge.ranks PROPERTIES LABELS nosan SKIP_RETURN_CODE 77)
elseif(INKMARK_BUILD_EXAMPLES)
  inkmark_left_out("needs the simulated device" merge.ranks)
endif()
if(INKMARK_NVCC AND TARGET sim_cupti)
  add_test(NAME merge.correlation COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/check_correlation.py $<TARGET_FILE:inkmark>
    ${PROJECT_BINARY_DIR}/tests/activity/busy ${PROJECT_SOURCE_DIR}/node_modules)
  set_tests_properties(merge.correlation PROPERTIES LABELS nosan SKIP_RETURN_CODE 77)
else()
  inkmark_left_out("needs nvcc and the simulated device with CUPTI (its headers)" merge.correlation)
endif()

# The whole command, blind: up to 20 seeds of each real trace.
add_executable(plan_capture plan_capture.c made_capture.c)
target_compile_definitions(plan_capture PRIVATE _GNU_SOURCE)
target_link_libraries(plan_capture PRIVATE inkmark_static inkmark_flags)
add_test(NAME merge.write_failure COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/check_write_failure.py $<TARGET_FILE:inkmark>
  $<TARGET_FILE:plan_capture> ${PROJECT_SOURCE_DIR}/node_modules)
set_tests_properties(merge.write_failure PROPERTIES SKIP_RETURN_CODE 77)
set(sampled ${PROJECT_SOURCE_DIR}/tests/sample.sh)
add_test(NAME merge.streams COMMAND ${sampled} 7 21 python3 ${CMAKE_CURRENT_SOURCE_DIR}/check_streams.py
  $<TARGET_FILE:inkmark> $<TARGET_FILE:plan_capture> ${PROJECT_SOURCE_DIR}/node_modules 1)
add_test(NAME merge.loop COMMAND ${sampled} 4 10 python3 ${CMAKE_CURRENT_SOURCE_DIR}/check_blind.py $<TARGET_FILE:inkmark>
  $<TARGET_FILE:plan_capture> ${PROJECT_SOURCE_DIR}/node_modules
  alike:${PROJECT_SOURCE_DIR}/../shared/samples/nsys_h100_2gpu.sqlite 1)
foreach(file kineto_a100_small.json.gz kineto_rocm_small.json.gz kineto_b200_vllm.json.gz kineto_v100_absolute_us.json.gz
    nsys_2022_1gpu.sqlite nsys_h100_2gpu.sqlite)
  string(REGEX REPLACE "\\..*" "" name ${file})
  add_test(NAME merge.export_blind_${name} COMMAND ${sampled} 4 20 python3 ${CMAKE_CURRENT_SOURCE_DIR}/check_blind.py
    $<TARGET_FILE:inkmark> $<TARGET_FILE:plan_capture> ${PROJECT_SOURCE_DIR}/node_modules
    ${PROJECT_SOURCE_DIR}/../shared/samples/${file} 1)
  list(APPEND blind merge.export_blind_${name})
endforeach()
set_tests_properties(merge.streams merge.loop ${blind} PROPERTIES SKIP_RETURN_CODE 77 LABELS sampled)
