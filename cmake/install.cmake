# SPDX-License-Identifier: MIT
# What `cmake --install` puts where, and what find_package(inkmark) and pkg-config then find.
include(CMakePackageConfigHelpers)

set_target_properties(inkmark_device PROPERTIES EXPORT_NAME inkmark)
target_link_libraries(inkmark_device INTERFACE ${CMAKE_DL_LIBS})
set_target_properties(inkmark_shared PROPERTIES EXPORT_NAME shared)
set_target_properties(inkmark_static PROPERTIES EXPORT_NAME static)
add_library(inkmark::inkmark ALIAS inkmark_device)
add_library(inkmark::shared ALIAS inkmark_shared)
add_library(inkmark::static ALIAS inkmark_static)

install(TARGETS inkmark_device inkmark_shared inkmark_static EXPORT inkmarkTargets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET inkmark_preload) # what `inkmark record` preloads
  install(TARGETS inkmark_preload LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
# Names that our own sources share, but no header declares, get a prefix: a program may have such names as well.
install(CODE "execute_process(COMMAND ${PROJECT_SOURCE_DIR}/cmake/prefix_names.sh \"${CMAKE_NM}\" \"${CMAKE_OBJCOPY}\"
  \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/$<TARGET_FILE_NAME:inkmark_static>\" COMMAND_ERROR_IS_FATAL ANY)")
install(DIRECTORY device/inkmark runtime/include/inkmark DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.cuh")

set(inkmark_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/inkmark)
install(EXPORT inkmarkTargets NAMESPACE inkmark:: DESTINATION ${inkmark_cmake_dir})
configure_package_config_file(cmake/inkmarkConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/inkmarkConfig.cmake INSTALL_DESTINATION ${inkmark_cmake_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/inkmarkConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/inkmarkConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/inkmarkConfigVersion.cmake DESTINATION ${inkmark_cmake_dir})

# pkg-config: the prefix is found from where the file lies, so `cmake --install --prefix` may move it;
# absolute folders stay as given.
file(RELATIVE_PATH inkmark_pc_up
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(folder LIBDIR INCLUDEDIR)
  if(IS_ABSOLUTE ${CMAKE_INSTALL_${folder}})
    set(inkmark_pc_${folder} ${CMAKE_INSTALL_${folder}})
  else()
    set(inkmark_pc_${folder} "\${prefix}/${CMAKE_INSTALL_${folder}}")
  endif()
endforeach()
configure_file(cmake/inkmark.pc.in ${CMAKE_CURRENT_BINARY_DIR}/inkmark.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/inkmark.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET inkmark)
  install(TARGETS inkmark RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(TARGET inkmark_rewriter)
    install(TARGETS inkmark_rewriter RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
  install(DIRECTORY ${CMAKE_BINARY_DIR}/cli/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
    FILES_MATCHING PATTERN "*.1")
  install(FILES ${CMAKE_BINARY_DIR}/cli/completion/inkmark
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${CMAKE_BINARY_DIR}/cli/completion/_inkmark
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${CMAKE_BINARY_DIR}/cli/completion/inkmark.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
