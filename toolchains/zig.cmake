# SPDX-License-Identifier: Apache-2.0
# Linux on another processor, or with another or older C library, by the compiler of the Python package ziglang. The portable
# wheels are built with it (targets/python/build_wheels.sh).
# Give the target and the program, such as
#   cmake --toolchain toolchains/zig.cmake -DEMBERT_ZIG_TARGET=aarch64-linux-gnu.2.17 -DEMBERT_ZIG=FOLDER_OF_ZIGLANG/zig
# No library of this machine is used; make_headers.sh copies the headers of CLI11 and nlohmann/json.
if(NOT EMBERT_ZIG OR NOT EMBERT_ZIG_TARGET)
  message(FATAL_ERROR "toolchains/zig.cmake needs EMBERT_ZIG, the program, and EMBERT_ZIG_TARGET, such as x86_64-linux-gnu.2.17")
endif()
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES EMBERT_ZIG EMBERT_ZIG_TARGET)

set(CMAKE_SYSTEM_NAME Linux)
string(REGEX MATCH "^[a-z0-9_]+" CMAKE_SYSTEM_PROCESSOR ${EMBERT_ZIG_TARGET})
set(CMAKE_C_COMPILER ${EMBERT_ZIG} cc -target ${EMBERT_ZIG_TARGET})
set(CMAKE_CXX_COMPILER ${EMBERT_ZIG} c++ -target ${EMBERT_ZIG_TARGET})
# zig takes NEON for granted on ARMv7; distributions and the runtime do not. -mcpu is its only way to name features.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "arm")
  set(CMAKE_C_FLAGS_INIT -mcpu=baseline-neon-d32)
  set(CMAKE_CXX_FLAGS_INIT -mcpu=baseline-neon-d32)
endif()

# zig always links its C++ library statically, and says that -static-libstdc++ is of no use. The library brings 20 MB of debug
# information, which Debian's strip can not remove from files of other processors.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-s -Wno-unused-command-line-argument")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-s -Wno-unused-command-line-argument")
# The machine's own ar does not know the object files of other processors.
foreach(language C CXX)
  set(CMAKE_${language}_ARCHIVE_CREATE "${EMBERT_ZIG} ar qcs <TARGET> <OBJECTS>")
  set(CMAKE_${language}_ARCHIVE_APPEND "${EMBERT_ZIG} ar qs <TARGET> <OBJECTS>")
  set(CMAKE_${language}_ARCHIVE_FINISH "")
endforeach()

get_filename_component(CMAKE_FIND_ROOT_PATH ${CMAKE_CURRENT_LIST_DIR}/../build/headers ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
