# SPDX-License-Identifier: Apache-2.0
# emulated_kernels: the sources of the AVX-512, AVX-VNNI and AMX kernels, unchanged, compiled for any x86-64 processor with
# SIMDe (Debian: libsimde-dev). AVX2 stays native: gemm_avx2.cpp contains instructions of its own.
# embert_add_emulated_test: as embert_add_test, with these kernels. The linker takes them, and embert_isa_detect of
# emulated_isas.cpp, before those of the library.
set(emulates OFF)
if(EMBERT_HAS_X86_64 AND operating_system AND
   NOT (EMBERT_GENERIC OR EMBERT_SANITIZE OR BUILD_SHARED_LIBS))
  set(emulates ON)
  find_path(EMBERT_SIMDE simde/x86/avx512.h)
  mark_as_advanced(EMBERT_SIMDE)
endif()
if(EMBERT_SIMDE)
  include(${PROJECT_SOURCE_DIR}/kernels/sources.cmake)
  set(emulated_sources ${kernel_sources_x86_64})
  list(FILTER emulated_sources INCLUDE REGEX "_(avx512vnni|avxvnni|amxint8)\\.cpp$")
  list(TRANSFORM emulated_sources PREPEND ${PROJECT_SOURCE_DIR}/kernels/)
  add_library(emulated_kernels OBJECT ${emulated_sources})
  target_include_directories(emulated_kernels BEFORE PRIVATE ${CMAKE_CURRENT_LIST_DIR}/simde)
  target_include_directories(emulated_kernels PRIVATE ${PROJECT_SOURCE_DIR} ${EMBERT_SIMDE})
  target_compile_definitions(emulated_kernels PRIVATE __AVXVNNI__ __AVX512VNNI__ __AMX_INT8__)
  target_link_libraries(emulated_kernels PRIVATE embert_library_flags)
  # SIMDe's headers are full of warnings; the native build has the warnings of the sources.
  target_compile_options(emulated_kernels PRIVATE -w -Wno-psabi -O2)
endif()

function(embert_add_emulated_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT emulates)
    return()
  elseif(EMBERT_SIMDE)
    embert_add_test(${name}
      SOURCES ${ARG_SOURCES} $<TARGET_OBJECTS:emulated_kernels> ${PROJECT_SOURCE_DIR}/tests/kernels/emulated/emulated_isas.cpp
      LIBRARIES ${ARG_LIBRARIES})
  else()
    add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "NOT TESTED: no SIMDe, install libsimde-dev")
    set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "NOT TESTED")
  endif()
endfunction()
