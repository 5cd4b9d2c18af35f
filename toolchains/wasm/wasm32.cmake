# SPDX-License-Identifier: Apache-2.0
# WebAssembly for browsers and Node: clang and wasm-ld, without a C library and without WASI. targets/web/module has the
# five functions of string.h that the runtime calls.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang)
set(CMAKE_CXX_COMPILER clang++)
set(CMAKE_C_COMPILER_TARGET wasm32)
set(CMAKE_CXX_COMPILER_TARGET wasm32)
option(EMBERT_WASM_SIMD "Use vectors of 128 bits, which browsers have had since 2021" OFF)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES EMBERT_WASM_SIMD)
set(wasm_flags "-mbulk-memory -msign-ext -mnontrapping-fptoint -isystem \"${CMAKE_CURRENT_LIST_DIR}/../../targets/web/module/include\"")
if(EMBERT_WASM_SIMD)
  string(APPEND wasm_flags " -msimd128")
endif()
set(CMAKE_C_FLAGS_INIT "${wasm_flags} -ffunction-sections -fdata-sections")
set(CMAKE_CXX_FLAGS_INIT "${wasm_flags} -ffunction-sections -fdata-sections")
# A page loads the module; what time goes into are the kernels, which have flags of their own.
set(CMAKE_CXX_FLAGS_RELEASE "-Oz -DNDEBUG" CACHE STRING "Flags of Release builds")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
