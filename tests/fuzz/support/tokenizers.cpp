// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/support/tokenizers.hpp"

#include <cstdio>
#include <fstream>
#include <iterator>

#include "tests/runtime/tokenizer/tokenizer_harness.hpp"

namespace embert::fuzz {

struct Tokenizers::Tokenizer : test::TestTokenizer {
  using TestTokenizer::TestTokenizer;
};

Tokenizers::Tokenizers(const std::vector<nlohmann::json>& documents,
                       const std::vector<std::string>& reference_folders) {
  const auto add = [this](const std::string& text) {
    tokenizers_.push_back(
        std::make_unique<Tokenizer>(convert::parse_tokenizer_json(text, "tokenizer.json")));
  };
  for (const nlohmann::json& document : documents) add(document.dump());
  for (const std::string& folder : reference_folders) {
    std::ifstream file(EMBERT_SHARED_DIR "/reference/tokenizer_families/" + folder +
                       "/tokenizer.json");
    if (file) add({std::istreambuf_iterator<char>(file), {}});
  }
  std::fprintf(stderr, "%zu tokenizers\n", tokenizers_.size());
}

Tokenizers::~Tokenizers() = default;

void Tokenizers::check(const TextCall& call) const {
  check_text(tokenizers_[call.bytes.tokenizer % tokenizers_.size()]->view(), call);
}

}  // namespace embert::fuzz
