# SPDX-License-Identifier: Apache-2.0
# embert_find_host_library(NAME) defines embert::NAME. Distributions ship cpuinfo and pthreadpool with different package
# files or none, so header and library are looked up directly. The build uses it for both, the installed package for
# pthreadpool.
function(embert_find_host_library name)
  if(TARGET embert::${name})
    return()
  endif()
  string(TOUPPER ${name} upper)
  find_path(EMBERT_${upper}_INCLUDE_DIR ${name}.h)
  find_library(EMBERT_${upper}_LIBRARY ${name})
  mark_as_advanced(EMBERT_${upper}_INCLUDE_DIR EMBERT_${upper}_LIBRARY)
  if(NOT EMBERT_${upper}_INCLUDE_DIR OR NOT EMBERT_${upper}_LIBRARY)
    set(install "Install it")
    if(CMAKE_CROSSCOMPILING)
      set(without -DEMBERT_HOST_LIBRARIES=OFF)
      if(name STREQUAL cpuinfo)
        set(without -DEMBERT_CONVERTER=OFF)
      endif()
      set(install "Unpack it for the target with toolchains/make_sysroot.sh, build without it (${without})")
    endif()
    message(FATAL_ERROR "embert needs ${name} (Debian: lib${name}-dev). ${install}, or name it with "
      "EMBERT_${upper}_INCLUDE_DIR and EMBERT_${upper}_LIBRARY.")
  endif()
  add_library(embert::${name} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(embert::${name} PROPERTIES
    IMPORTED_LOCATION "${EMBERT_${upper}_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${EMBERT_${upper}_INCLUDE_DIR}")
endfunction()
