# SPDX-License-Identifier: Apache-2.0
# cmake -DINPUT=file -DOUTPUT=file.cpp -DNAME=symbol -P embed_text.cmake
# Writes a source file that holds the bytes of INPUT as embert::convert::<NAME>Data and <NAME>Size.
file(READ "${INPUT}" bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "(................................)" "\\1\n" lines "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," array "${lines}")
get_filename_component(name "${INPUT}" NAME)
file(WRITE "${OUTPUT}" "// Made of ${name} by embed_text.cmake.
#include <cstddef>

namespace embert::convert {
extern const char ${NAME}Data[];
extern const std::size_t ${NAME}Size;
const char ${NAME}Data[] = {
${array}'\\0'};
const std::size_t ${NAME}Size = ${size};
}  // namespace embert::convert
")
