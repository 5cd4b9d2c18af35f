// SPDX-License-Identifier: Apache-2.0
// The lines of the corpora that the reference data has checksums of.
#pragma once

#include <string>
#include <vector>

namespace embert::test {

std::vector<std::string> split_at(const std::string& text, char separator);

/// The lines of a file's text by the rules of the head of corpus_crc.tsv: raw, squad, clinc, conll.
std::vector<std::string> corpus_lines(const std::string& text, const std::string& rule);

}  // namespace embert::test
