# SPDX-License-Identifier: Apache-2.0
# GoogleTest for systems other than this one, from the distribution's source package (Debian: googletest).
find_path(EMBERT_GOOGLETEST_SOURCE_DIR googletest/CMakeLists.txt
  HINTS /usr/src/googletest NO_CMAKE_FIND_ROOT_PATH DOC "Sources of GoogleTest")
if(NOT EMBERT_GOOGLETEST_SOURCE_DIR)
  message(FATAL_ERROR "Cross builds of the tests compile GoogleTest (Debian: googletest). Install it, name its sources with "
    "EMBERT_GOOGLETEST_SOURCE_DIR, or build without tests: -DEMBERT_TESTS=OFF")
endif()
set(INSTALL_GTEST OFF)
if(NOT operating_system)
  set(gtest_disable_pthreads ON CACHE INTERNAL "Without an operating system")
endif()
add_subdirectory(${EMBERT_GOOGLETEST_SOURCE_DIR}/googletest ${CMAKE_CURRENT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
if(NOT TARGET GTest::gtest)
  add_library(GTest::gtest ALIAS gtest)
  add_library(GTest::gtest_main ALIAS gtest_main)
endif()
if(NOT operating_system)
  # newlib has no regular expressions and hides what POSIX adds to the C library from strict C++.
  target_compile_definitions(gtest PUBLIC _POSIX_C_SOURCE=200809L _POSIX_PATH_MAX=256 GTEST_HAS_POSIX_RE=0)
endif()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "wasm32-wasi")
  # No dup() for redirected output, and no exceptions.
  target_compile_definitions(gtest PUBLIC GTEST_HAS_STREAM_REDIRECTION=0)
  target_compile_options(gtest PRIVATE -fno-exceptions)
endif()
