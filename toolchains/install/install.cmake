# SPDX-License-Identifier: Apache-2.0
# cmake --install: library, headers, CMake package, pkg-config file and the tool.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/embert)
install(TARGETS embert EXPORT embert-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY runtime/include/embert DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT embert-targets NAMESPACE embert:: DESTINATION ${package_dir})
if(EMBERT_TOOL)
  install(TARGETS embert_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(EMBERT_SERVE)
    install(TARGETS embert_server RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endif()


# Sources for a firmware outside this tree: find_package(embert) sets embert_FIRMWARE to firmware.cmake.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^cortex-m")
  set(firmware_root ${CMAKE_INSTALL_DATADIR}/embert)
  install(DIRECTORY targets/cortex-m targets/device DESTINATION ${firmware_root}/targets)
  install(FILES toolchains/warnings.cmake DESTINATION ${firmware_root}/toolchains)
endif()

configure_package_config_file(toolchains/install/embert-config.cmake.in embert-config.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_DATADIR NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(embert-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/embert-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/embert-config-version.cmake
  toolchains/install/find_host_libraries.cmake
  DESTINATION ${package_dir})

# Of a static library the consumer links what it needs, too.
set(embert_pc_libs "-L\${libdir} -lembert")
set(embert_pc_private)
if(EMBERT_HOST_LIBRARIES)
  set(embert_pc_private -lpthreadpool)
endif()
if(NOT BUILD_SHARED_LIBS)
  string(APPEND embert_pc_libs " ${embert_pc_private}")
  set(embert_pc_private "")
endif()
# From the pkg-config file to the prefix, so that the installed tree can be moved.
file(RELATIVE_PATH embert_pc_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(toolchains/install/embert.pc.in embert.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/embert.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})
