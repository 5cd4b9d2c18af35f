# SPDX-License-Identifier: Apache-2.0
# Reads tokenizer files and writes the blob's tokenizer section: the part of the converter that builds on every system,
# so that the tokenizer is tested there.
find_package(nlohmann_json 3.11 REQUIRED)
add_library(embert_convert_tokenizer OBJECT
  ${CMAKE_CURRENT_LIST_DIR}/convert_error.cpp
  ${CMAKE_CURRENT_LIST_DIR}/export/double_array.cpp
  ${CMAKE_CURRENT_LIST_DIR}/import/json_file.cpp
  ${CMAKE_CURRENT_LIST_DIR}/import/tokenizer/parse_tokenizer_json.cpp
  ${CMAKE_CURRENT_LIST_DIR}/import/tokenizer/read_tokenizer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/export/write_tokenizer_section.cpp)
target_compile_features(embert_convert_tokenizer PUBLIC cxx_std_20)
target_include_directories(embert_convert_tokenizer PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(embert_convert_tokenizer PUBLIC nlohmann_json::nlohmann_json PRIVATE embert_warnings)
