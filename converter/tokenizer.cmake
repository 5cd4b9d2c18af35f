# SPDX-License-Identifier: Apache-2.0
# The part of the converter that builds on every system, so that the tokenizer is tested there: writes the blob's
# tokenizer section and, where there are files, reads those of the tokenizer.
add_library(embert_convert_tokenizer STATIC
  ${CMAKE_CURRENT_LIST_DIR}/model/code_points.cpp
  ${CMAKE_CURRENT_LIST_DIR}/export/tokenizer/byte_pair_arrays.cpp
  ${CMAKE_CURRENT_LIST_DIR}/export/tokenizer/charsmap_keys.cpp
  ${CMAKE_CURRENT_LIST_DIR}/export/tokenizer/double_array.cpp
  ${CMAKE_CURRENT_LIST_DIR}/export/tokenizer/unigram_arrays.cpp
  ${CMAKE_CURRENT_LIST_DIR}/export/tokenizer/wordpiece_arrays.cpp
  ${CMAKE_CURRENT_LIST_DIR}/export/write_tokenizer_section.cpp)
target_compile_features(embert_convert_tokenizer PUBLIC cxx_std_20)
target_include_directories(embert_convert_tokenizer PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(embert_convert_tokenizer PRIVATE embert_warnings)
if(operating_system)
  find_package(nlohmann_json 3.11 REQUIRED)
  target_sources(embert_convert_tokenizer PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/import/json_file.cpp
    ${CMAKE_CURRENT_LIST_DIR}/import/tokenizer/added_token.cpp
    ${CMAKE_CURRENT_LIST_DIR}/import/tokenizer/base64.cpp
    ${CMAKE_CURRENT_LIST_DIR}/import/tokenizer/bpe/bpe_json.cpp
    ${CMAKE_CURRENT_LIST_DIR}/import/tokenizer/bpe/byte_pair_merges.cpp
    ${CMAKE_CURRENT_LIST_DIR}/import/tokenizer/parse_tokenizer_json.cpp
    ${CMAKE_CURRENT_LIST_DIR}/import/tokenizer/read_normalizer.cpp
    ${CMAKE_CURRENT_LIST_DIR}/import/tokenizer/read_post_processor.cpp
    ${CMAKE_CURRENT_LIST_DIR}/import/tokenizer/read_pre_tokenizer.cpp
    ${CMAKE_CURRENT_LIST_DIR}/import/tokenizer/read_tokenizer.cpp
    ${CMAKE_CURRENT_LIST_DIR}/import/tokenizer/sentencepiece/read_sentencepiece.cpp
    ${CMAKE_CURRENT_LIST_DIR}/import/tokenizer/sentencepiece/sentencepiece_file.cpp
    ${CMAKE_CURRENT_LIST_DIR}/import/tokenizer/token_table.cpp
    ${CMAKE_CURRENT_LIST_DIR}/import/tokenizer/unigram_json.cpp
    ${CMAKE_CURRENT_LIST_DIR}/import/tokenizer/bpe/vocab_merges_files.cpp
    ${CMAKE_CURRENT_LIST_DIR}/import/tokenizer/wordpiece_json.cpp)
  target_link_libraries(embert_convert_tokenizer PUBLIC embert_files nlohmann_json::nlohmann_json)
else()
  target_sources(embert_convert_tokenizer PRIVATE ${CMAKE_CURRENT_LIST_DIR}/convert_error.cpp)
endif()
embert_unity(embert_convert_tokenizer 8)
