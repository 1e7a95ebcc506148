# SPDX-License-Identifier: MIT
add_executable(bench_outputs bench_outputs.c ${PROJECT_SOURCE_DIR}/tests/output/made_capture.c)
target_compile_definitions(bench_outputs PRIVATE _GNU_SOURCE)
target_include_directories(bench_outputs PRIVATE ${PROJECT_SOURCE_DIR}/tests/output)
target_link_libraries(bench_outputs PRIVATE inkmark_static inkmark_flags)
add_custom_target(bench_host_outputs COMMAND bench_outputs DEPENDS bench_outputs USES_TERMINAL)
add_dependencies(bench bench_host_outputs)

# Size, and time until the page can be used, in a real browser.
find_program(INKMARK_NODE node)
if(INKMARK_BUILD_TESTS AND INKMARK_NODE)
  add_custom_target(bench_host_page COMMAND ${INKMARK_NODE} ${CMAKE_CURRENT_SOURCE_DIR}/page_load.js $<TARGET_FILE:output_tool>
    DEPENDS output_tool USES_TERMINAL)
  add_dependencies(bench bench_host_page)
endif()
