# SPDX-License-Identifier: Apache-2.0
# Warning flags for everything that embert compiles itself; errors in CI.
option(EMBERT_WERROR "Treat compiler warnings as errors" OFF)

add_library(embert_warnings INTERFACE)
target_compile_options(embert_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wundef
  # {.size = sizeof(input)} names the members it gives; the others are zero on purpose. C compilers know that.
  -Wno-missing-field-initializers
  $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast -Wnon-virtual-dtor -Woverloaded-virtual>
  $<$<BOOL:${EMBERT_WERROR}>:-Werror>)

# embert_library_flags: what runtime and kernels are compiled with (no exceptions, no RTTI, no statics
# with guards), so that they need nothing of a hosted C++ library.
add_library(embert_library_flags INTERFACE)
target_compile_features(embert_library_flags INTERFACE cxx_std_20)
target_compile_options(embert_library_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti -fno-threadsafe-statics>
  -fno-stack-protector -fno-math-errno -ffunction-sections -fdata-sections)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$")
  # Atomic instructions in place: compilers call functions of libgcc, which ask for the processor's version.
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-mno-outline-atomics EMBERT_HAS_OUTLINE_ATOMICS)
  if(EMBERT_HAS_OUTLINE_ATOMICS)
    target_compile_options(embert_library_flags INTERFACE -mno-outline-atomics)
  endif()
endif()
