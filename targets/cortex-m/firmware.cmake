# SPDX-License-Identifier: Apache-2.0
# embert_add_firmware(<name> MEMORY <bytes> SOURCES ... [LINKER_SCRIPT <file>]): builds the firmware of a board with the model
# EMBERT_FIRMWARE_MODEL. The sources implement board.hpp; the linker script, board.ld of the calling folder if none is given,
# describes the board's memories. The function is the same in this tree and in an installed package, where find_package(embert)
# sets embert_FIRMWARE to the path of this file.
set(cortex_m ${CMAKE_CURRENT_LIST_DIR})
get_filename_component(embert_firmware_root ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
enable_language(ASM)

# An installed package has the sources of the device protocol: they are compiled for each firmware.
if(NOT TARGET embert_device)
  include(${embert_firmware_root}/toolchains/warnings.cmake)
  add_subdirectory(${embert_firmware_root}/targets/device embert_device)
endif()

function(embert_add_firmware name)
  cmake_parse_arguments(ARG "" "MEMORY;LINKER_SCRIPT" "SOURCES" ${ARGN})
  if(NOT EXISTS "${EMBERT_FIRMWARE_MODEL}" OR IS_DIRECTORY "${EMBERT_FIRMWARE_MODEL}")
    message(FATAL_ERROR "EMBERT_FIRMWARE_MODEL=\"${EMBERT_FIRMWARE_MODEL}\": expected the absolute path of a file of `embert convert`")
  endif()
  if(NOT ARG_LINKER_SCRIPT)
    set(ARG_LINKER_SCRIPT ${CMAKE_CURRENT_SOURCE_DIR}/board.ld)
  endif()
  # -DEMBERT_FIRMWARE_MEMORY has bytes for arena, outputs and the buffer of the serial port in place of the board's MEMORY.
  if(EMBERT_FIRMWARE_MEMORY)
    set(ARG_MEMORY ${EMBERT_FIRMWARE_MEMORY})
  endif()
  add_executable(${name} ${ARG_SOURCES} ${cortex_m}/firmware.cpp ${cortex_m}/model.S ${cortex_m}/start.c)
  set_target_properties(${name} PROPERTIES SUFFIX .elf LINK_DEPENDS "${ARG_LINKER_SCRIPT};${cortex_m}/firmware.ld")
  set_source_files_properties(${cortex_m}/model.S PROPERTIES
    COMPILE_OPTIONS "-DEMBERT_FIRMWARE_MODEL=\"${EMBERT_FIRMWARE_MODEL}\"" OBJECT_DEPENDS ${EMBERT_FIRMWARE_MODEL})
  target_include_directories(${name} PRIVATE ${embert_firmware_root})
  target_compile_definitions(${name} PRIVATE EMBERT_FIRMWARE_MEMORY=${ARG_MEMORY})
  target_link_libraries(${name} PRIVATE embert_device embert_library_flags embert_warnings)
  target_link_options(${name} PRIVATE -nostartfiles -Wl,--gc-sections -Wl,-Map=${name}.map
    -L${cortex_m} -T${ARG_LINKER_SCRIPT})
endfunction()
