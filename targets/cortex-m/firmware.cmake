# SPDX-License-Identifier: Apache-2.0
# embert_add_firmware(<name> MEMORY <bytes> SOURCES ...): builds the firmware of a board. The board's folder has board.ld,
# which describes the board's memories, and the sources that implement board.hpp.
set(cortex_m ${CMAKE_CURRENT_LIST_DIR})
enable_language(ASM)

function(embert_add_firmware name)
  cmake_parse_arguments(ARG "" "MEMORY" "SOURCES" ${ARGN})
  if(NOT EXISTS "${EMBERT_FIRMWARE_MODEL}" OR IS_DIRECTORY "${EMBERT_FIRMWARE_MODEL}")
    message(FATAL_ERROR "EMBERT_FIRMWARE_MODEL=\"${EMBERT_FIRMWARE_MODEL}\": expected the absolute path of a file of `embert convert`")
  endif()
  set(EMBERT_FIRMWARE_MEMORY ${ARG_MEMORY} CACHE STRING "Bytes for arena, outputs and the buffer of the serial port")
  add_executable(${name} ${ARG_SOURCES} ${cortex_m}/firmware.cpp ${cortex_m}/model.S ${cortex_m}/start.c)
  set_target_properties(${name} PROPERTIES SUFFIX .elf)
  set_source_files_properties(${cortex_m}/model.S PROPERTIES
    COMPILE_OPTIONS "-DEMBERT_FIRMWARE_MODEL=\"${EMBERT_FIRMWARE_MODEL}\"" OBJECT_DEPENDS ${EMBERT_FIRMWARE_MODEL})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE EMBERT_FIRMWARE_MEMORY=${EMBERT_FIRMWARE_MEMORY})
  target_link_libraries(${name} PRIVATE embert_device embert_library_flags embert_warnings)
  target_link_options(${name} PRIVATE -nostartfiles -Wl,--gc-sections -Wl,-Map=${name}.map
    -L${cortex_m} -T${CMAKE_CURRENT_SOURCE_DIR}/board.ld)
endfunction()
