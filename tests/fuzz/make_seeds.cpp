// SPDX-License-Identifier: Apache-2.0
// Writes the first inputs of all fuzz programs: make_seeds FOLDER makes FOLDER/<program>/.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "converter/convert.hpp"
#include "converter/export/write_tokenizer_section.hpp"
#include "converter/import/tokenizer/read_tokenizer.hpp"
#include "tests/fuzz/support/check_text.hpp"
#include "tests/fuzz/support/documents.hpp"
#include "tests/fuzz/support/folder_input.hpp"
#include "tests/fuzz/support/require.hpp"
#include "tests/support/model_folder.hpp"
#include "tests/support/small_tokenizer.hpp"
#include "tests/support/synthetic_blob.hpp"

namespace fs = std::filesystem;

namespace embert::fuzz {
namespace {

using nlohmann::json;

class Seeds {
 public:
  explicit Seeds(fs::path folder) : folder_(std::move(folder)) {}
  void add(const std::string& program, const std::string& bytes) {
    fs::create_directories(folder_ / program);
    std::ofstream file(folder_ / program / ("seed-" + std::to_string(count_++)),
                       std::ios::binary | std::ios::trunc);
    file << bytes;
  }
  std::size_t count() const { return count_; }

 private:
  fs::path folder_;
  std::size_t count_ = 0;
};

const std::vector<std::string>& texts() {
  static const std::vector<std::string> all = {
      "",
      "Hello, world! don't I'll 12,345.6 ``quoted'' text",
      "  two  spaces\t\n\r\n  lines \u00a0\u3000 ",
      "caf\u00e9 cafe\u0301 \u1e9b\u0323 \u212b \ufb01 \uac00\u11a8 \u0f71\u0f72\u0f74",
      "\u4e2d\u56fd \u3053\u3093 \U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea",
      "<s> </s> <mask> [MASK] [CLS]x[SEP] \u2581a \u0120b <0x41>",
      "\xff\xfe\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80\xe4\xb8",
      std::string(700, 'a'),
      std::string(300, 'a') + std::string(300, 'b') + std::string(200, ' '),
      "a\u0301\u0316\u0301\u0327\u0345\u0301 \u05d0\u05b7\u05bc \u0915\u094d\u0937"};
  return all;
}

std::string call_bytes(std::size_t number) {
  const CallBytes bytes = {.tokenizer = static_cast<std::uint8_t>(number),
                           .max_tokens = static_cast<std::uint8_t>(number % 3 * 5),
                           .stride = static_cast<std::uint8_t>(1 + number % 2),
                           .window = static_cast<std::uint8_t>(number % 4 == 3),
                           .truncation = static_cast<std::uint8_t>(number % 8),
                           .split = static_cast<std::uint8_t>(number % 2 * 100),
                           .capacity = static_cast<std::uint8_t>(number % 20)};
  std::string out(sizeof(bytes), '\0');
  std::memcpy(out.data(), &bytes, sizeof(bytes));
  return out;
}

void add_texts(Seeds& seeds) {
  for (std::size_t i = 0; i < 10 * texts().size(); ++i) {
    const std::string input = call_bytes(i / texts().size()) + texts()[i % texts().size()];
    for (const char* program : {"fuzz_wordpiece", "fuzz_unigram", "fuzz_byte_pair"}) {
      seeds.add(program, input);
    }
  }
}

std::string section_of(const json& document) {
  const auto spec = convert::parse_tokenizer_json(document.dump(), "tokenizer.json");
  const std::vector<std::uint8_t> section = convert::write_tokenizer_section(spec);
  return {section.begin(), section.end()};
}

void add_tokenizers(Seeds& seeds) {
  for (const auto& documents :
       {wordpiece_documents(), unigram_documents(), byte_pair_documents()}) {
    for (const json& document : documents) {
      seeds.add("fuzz_tokenizer_json", document.dump());
      std::string text = call_bytes(1);
      for (const std::string& part : texts()) text += part;
      seeds.add("fuzz_tokenizer_section", section_of(document) + text);
      seeds.add("fuzz_tokenizer_folder", json{{"tokenizer.json", document}}.dump());
    }
  }
}

// A field of a protocol buffer that holds fewer than 128 bytes.
std::string bytes_field(int number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number * 8 + 2)) + static_cast<char>(bytes.size()) +
         bytes;
}

std::string piece(const std::string& text, float score, int type) {
  std::string number(sizeof(score), '\0');
  std::memcpy(number.data(), &score, sizeof(score));
  return bytes_field(1, bytes_field(1, text) + "\x15" + number + "\x18" + static_cast<char>(type));
}

void add_sentencepiece(Seeds& seeds) {
  const std::string charsmap("\x04\0\0\0\0\0\0\0x\0", 10);
  const std::string pieces =
      piece("<pad>", 0, 3) + piece("<unk>", 0, 2) + piece("[CLS]", 0, 3) + piece("[SEP]", 0, 3) +
      piece("[MASK]", 0, 3) + piece("\u2581a", -1.5F, 1) + piece("9,", -2, 1) +
      piece("\u2581", -3, 1) + piece("x", -3, 4) + bytes_field(2, "\x18\x01\xc0\x02\x01");
  const std::string fairseq = piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("</s>", 0, 3) +
                              piece("\u2581a", -1.5F, 1) + piece("b", -2, 1) + piece("x", -3, 4) +
                              bytes_field(3, bytes_field(2, charsmap));
  for (const char family : {'\0', '\1', '\2', '\x42', '\x82'}) {
    seeds.add("fuzz_sentencepiece", family + (family % 3 == 2 ? pieces : fairseq));
    seeds.add("fuzz_sentencepiece", family + pieces + bytes_field(3, bytes_field(2, charsmap)));
  }
}

// A file's bytes as Latin-1, which may become anything but UTF-8.
json bytes_of(const std::string& text) {
  std::string latin1;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) latin1 += static_cast<char>(0xC0 | byte >> 6);
    latin1 += static_cast<char>(byte >= 0x80 ? 0x80 | (byte & 0x3F) : byte);
  }
  return {{kBytesKey, latin1}};
}

void add_vocabularies(Seeds& seeds) {
  std::string lines;
  for (const std::string& token : test::small_spec().tokens) lines += token + "\n";
  const json bert = {
      {"vocab.txt", lines},
      {"tokenizer_config.json",
       {{"do_lower_case", true},
        {"strip_accents", nullptr},
        {"tokenize_chinese_chars", true},
        {"model_max_length", 512},
        {"tokenizer_class", "BertTokenizer"},
        {"added_tokens_decoder",
         {{"4", {{"content", "[MASK]"}, {"lstrip", true}, {"special", true}}},
          {std::to_string(test::small_spec().tokens.size()), {{"content", "new"}}}}}}},
      {"special_tokens_map.json", {{"unk_token", "[UNK]"}, {"mask_token", "[MASK]"}}}};
  seeds.add("fuzz_tokenizer_folder", bert.dump());
  seeds.add("fuzz_tokenizer_folder", json{{"vocab.txt", bytes_of(lines)}}.dump());
  const json document = byte_pair_documents()[0];
  json vocab = document["model"]["vocab"];
  std::string merges = "#version: 0.2\n";
  for (const json& merge : document["model"]["merges"]) {
    merges += merge[0].get<std::string>() + " " + merge[1].get<std::string>() + "\n";
  }
  const int first = static_cast<int>(vocab.size());
  for (const char* token : {"<s>", "<pad>", "</s>", "<unk>", "<mask>"}) vocab[token] = vocab.size();
  for (const char* type : {"RobertaTokenizer", "GPT2Tokenizer"}) {
    json config = {{"tokenizer_class", type}, {"add_prefix_space", false}, {"bos_token", "<s>"}};
    config["added_tokens_decoder"][std::to_string(first)] = {
        {"content", "<s>"},   {"lstrip", false},      {"rstrip", false},
        {"normalized", true}, {"single_word", false}, {"special", true}};
    seeds.add("fuzz_tokenizer_folder", json{{"vocab.json", vocab},
                                            {"merges.txt", bytes_of(merges)},
                                            {"tokenizer_config.json", config},
                                            {"config.json", {{"model_type", "roberta"}}}}
                                           .dump());
  }
}

json sizes(const char* model_type) {
  return {{"model_type", model_type},      {"hidden_size", 32},       {"num_hidden_layers", 2},
          {"num_attention_heads", 2},      {"intermediate_size", 64}, {"vocab_size", 96},
          {"max_position_embeddings", 34}, {"layer_norm_eps", 1e-5},  {"type_vocab_size", 1},
          {"hidden_act", "gelu"},          {"pad_token_id", 1}};
}

void add_configs(Seeds& seeds) {
  const json options[] = {
      {{"model_type", "bert"},
       {"architectures", {"BertForSequenceClassification"}},
       {"id2label", {{"0", "no"}, {"1", "yes"}}},
       {"label2id", {{"no", 0}, {"yes", 1}}},
       {"problem_type", "single_label_classification"},
       {"pruned_heads", {{"0", {1}}}}},
      {{"model_type", "bert"},
       {"position_embedding_type", "relative_key_query"},
       {"is_decoder", true},
       {"add_cross_attention", true},
       {"cross_attention_hidden_size", 16}},
      {{"model_type", "roberta"}, {"architectures", {"RobertaForMaskedLM"}}},
      {{"model_type", "xlm-roberta"}, {"architectures", {"XLMRobertaForTokenClassification"}}},
      {{"model_type", "camembert"}, {"architectures", {"CamembertForQuestionAnswering"}}},
      {{"model_type", "distilbert"},
       {"dim", 32},
       {"n_layers", 2},
       {"n_heads", 2},
       {"hidden_dim", 64},
       {"activation", "gelu"},
       {"sinusoidal_pos_embds", false}},
      {{"model_type", "mpnet"}, {"relative_attention_num_buckets", 32}},
      {{"model_type", "electra"},
       {"embedding_size", 16},
       {"architectures", {"ElectraForPreTraining"}},
       {"summary_type", "first"}},
      {{"model_type", "albert"},
       {"embedding_size", 16},
       {"num_hidden_groups", 1},
       {"inner_group_num", 1},
       {"hidden_act", "gelu_new"}},
      {{"model_type", "modernbert"},
       {"global_attn_every_n_layers", 3},
       {"local_attention", 8},
       {"global_rope_theta", 160000.0},
       {"local_rope_theta", 10000.0},
       {"norm_eps", 1e-5},
       {"attention_bias", false},
       {"mlp_bias", false},
       {"norm_bias", false},
       {"hidden_activation", "gelu"},
       {"classifier_pooling", "mean"}},
      {{"model_type", "encoder-decoder"}, {"encoder", sizes("bert")}, {"decoder", sizes("bert")}},
      {{"model_type", "mobilebert"},
       {"embedding_size", 16},
       {"true_hidden_size", 16},
       {"intra_bottleneck_size", 16},
       {"num_feedforward_networks", 2},
       {"trigram_input", true},
       {"use_bottleneck", true},
       {"normalization_type", "no_norm"}}};
  for (const json& option : options) {
    json config = sizes("bert");
    config.merge_patch(option);
    seeds.add("fuzz_config", config.dump());
  }
}

// Of a safetensors file with F32 tensors.
json weights_header(
    const std::vector<std::pair<std::string, std::vector<std::uint64_t>>>& tensors) {
  json header = json::object();
  std::uint64_t at = 0;
  for (const auto& [name, shape] : tensors) {
    std::uint64_t bytes = 4;
    for (const std::uint64_t extent : shape) bytes *= extent;
    header[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {at, at + bytes}}};
    at += bytes;
  }
  return header;
}

json module(int index, const char* path, const char* type) {
  return {{"idx", index},
          {"name", std::to_string(index)},
          {"path", path},
          {"type", std::string("sentence_transformers.models.") + type}};
}

void add_model_folders(Seeds& seeds) {
  const test::ModelContent bert = test::make_model(
      {.hidden = 8, .layers = 1, .heads = 2, .intermediate = 8, .vocab = 12, .positions = 8});
  std::vector<std::pair<std::string, std::vector<std::uint64_t>>> tensors;
  for (const test::StoredTensor& tensor : bert.tensors) {
    tensors.emplace_back(tensor.name, tensor.shape);
  }
  json folder = {{"config.json", bert.config}, {"model.safetensors", weights_header(tensors)}};
  seeds.add("fuzz_model_folder", folder.dump());
  folder["modules.json"] = {module(0, "", "Transformer"), module(1, "1_Pooling", "Pooling"),
                            module(2, "2_Dense", "Dense"), module(3, "3_Normalize", "Normalize")};
  folder["1_Pooling/config.json"] = {{"word_embedding_dimension", 8},
                                     {"pooling_mode_mean_tokens", true},
                                     {"pooling_mode_cls_token", false},
                                     {"include_prompt", true}};
  folder["2_Dense/config.json"] = {{"in_features", 8},
                                   {"out_features", 4},
                                   {"bias", true},
                                   {"activation_function", "torch.nn.modules.activation.Tanh"}};
  folder["2_Dense/model.safetensors"] =
      weights_header({{"linear.weight", {4, 8}}, {"linear.bias", {4}}});
  folder["sentence_bert_config.json"] = {{"max_seq_length", 8}, {"do_lower_case", false}};
  folder["config_sentence_transformers.json"] = {
      {"prompts", {{"query", "query: "}, {"passage", ""}}}, {"default_prompt_name", "query"}};
  seeds.add("fuzz_model_folder", folder.dump());
  folder["1_Pooling/config.json"] = {{"embedding_dimension", 8}, {"pooling_mode", {"cls", "max"}}};
  seeds.add("fuzz_model_folder", folder.dump());

  const json tokenizer = unigram_documents()[0];
  const std::uint64_t tokens = tokenizer["model"]["vocab"].size() + 1;  // and <mask>
  json fixed = {{"tokenizer.json", tokenizer},
                {"modules.json", {module(0, ".", "StaticEmbedding")}},
                {"model.safetensors", weights_header({{"embedding.weight", {tokens, 4}}})}};
  seeds.add("fuzz_model_folder", fixed.dump());
  json mapped =
      weights_header({{"embeddings", {3, 4}}, {"weights", {tokens}}, {"mapping", {tokens}}});
  mapped[kDataKey] = {0, 0, 0, 64};  // 2 as float32
  json distilled = {
      {"tokenizer.json", tokenizer},
      {"config.json", {{"model_type", "model2vec"}, {"normalize", true}, {"max_length", 512}}},
      {"model.safetensors", mapped}};
  seeds.add("fuzz_model_folder", distilled.dump());
  distilled["model.safetensors"] = weights_header({{"embeddings", {tokens, 4}}});
  seeds.add("fuzz_model_folder", distilled.dump());
}

test::SyntheticModel small_model(std::uint32_t flags, std::uint32_t heads) {
  test::SyntheticModel model;
  model.hidden_size = 12;
  model.num_heads = 2;
  model.head_size = 6;
  model.intermediate_size = 20;
  model.vocab_size = 40;  // room for the tokenizers
  model.max_positions = 8;
  model.type_vocab_size = 2;
  model.num_labels = 3;
  model.num_token_labels = 2;
  model.flags = flags;
  model.heads = heads;
  model.selftest_ids = {2, 5, 3};
  return model;
}

test::SyntheticSection vector_section(std::uint32_t hidden) {
  BlobVector record = {};
  record.num_poolings = 2;
  record.poolings[0] = kPoolingMean;
  record.poolings[1] = 4;  // weighted mean
  record.vector_size = 2 * hidden;
  record.pooled_scale = 0x3A800000;  // 2^-10
  record.pooled_multiplier = 1 << 30;
  record.pooled_shift = 36;
  test::SyntheticSection section = {kSectionVector, std::vector<std::uint8_t>(sizeof(record))};
  std::memcpy(section.bytes.data(), &record, sizeof(record));
  return section;
}

/// With bottlenecks, more feed-forward networks and words with their neighbours.
test::SyntheticModel small_bottlenecks(std::uint32_t kind, bool layer_norms, std::uint32_t heads) {
  test::SyntheticModel model = small_model(kStackBottleneck | kStackWordProjection, heads);
  model.bottleneck = {kind == kBottleneckNone ? model.hidden_size : 8u, 3, kind, 0};
  model.layer_norms = layer_norms;
  model.word_size = 5;
  return model;
}

/// Adds a blob that the runtime opens.
void add_blob(Seeds& seeds, const std::vector<std::uint8_t>& bytes) {
  const test::AlignedBytes blob(bytes);
  embert_model model;
  require(
      embert_model_open(blob.data(), blob.size(), EMBERT_ISA_SCALAR, &model) == EMBERT_STATUS_OK,
      "a seed is a valid blob");
  seeds.add("fuzz_blob", {bytes.begin(), bytes.end()});
}

void add_synthetic_blobs(Seeds& seeds) {
  constexpr std::uint32_t kClassifier = kHeadPooler | kHeadClassifier;
  constexpr std::uint32_t kEveryHead = kClassifier | kHeadTokenClassifier | kHeadLm |
                                       kHeadLmTransform | kHeadPooledTransform |
                                       kHeadTokenTransform | kHeadLmActivation;
  constexpr std::uint32_t kModern =
      kStackPreNorm | kStackEmbeddingNorm | kStackRotary | kStackLocalAttention | kStackGatedFfn;
  std::vector<test::SyntheticModel> models = {
      small_model(0, kClassifier),
      small_model(kStackPaddingPosition | kStackScoreBias, kEveryHead),
      small_model(kModern, kEveryHead),
      small_model(kStackEmbeddingProjection | kStackSharedLayers,
                  kEveryHead & ~std::uint32_t{kHeadPooledTransform}),
      small_model(kStackRotary, kHeadPooler | kHeadPooledAsIs | kHeadClassifier),
      small_model(0, kHeadVector),
      small_model(kStackEmbeddings4Bit, kClassifier),
      small_model(kStackPlanes, kClassifier),
      small_model(kStackPlanes, kClassifier),
      small_bottlenecks(kBottleneckShared, /*layer_norms=*/false, kEveryHead | kHeadLmUntied),
      small_bottlenecks(kBottleneckShared, /*layer_norms=*/true, kHeadPooler),
      small_bottlenecks(kBottleneckInput, /*layer_norms=*/true, kClassifier),
      small_bottlenecks(kBottleneckOutput, /*layer_norms=*/true, kClassifier),
      small_bottlenecks(kBottleneckNone, /*layer_norms=*/false, kClassifier),
      small_model(kStackCausal, kHeadLm),
      small_model(kStackCausal | kStackRotary | kStackCrossAttention, kEveryHead),
      small_model(kStackCausal | kStackCrossAttention, kEveryHead)};
  models[2].rotary_tables = 2;
  models[3].num_layers = 3;
  models[3].shared = {{0, 0}, {0, 1}, {0, 1}};
  models[5].optional = {test::prompts_section(1, 0, std::string("q\0q: \0", 6)),
                        vector_section(models[5].hidden_size)};
  models[8].planes = {
      .qkv = kPlanesAll, .probabilities = kPlanesScores, .copied_inputs = 3, .first_columns = 16};
  models[10].flags |= kStackEmbeddings4Bit;
  models[14].start_id = 2;
  models[14].end_id = 3;
  models[15].cross_hidden_size = 8;  // of states that the caller has
  test::SyntheticModel& two_stacks = models.back();
  two_stacks.cross_hidden_size = two_stacks.hidden_size;
  two_stacks.encoder = {small_model(0, 0)};
  for (const test::SyntheticModel& model : models) {
    for (const json& document : {wordpiece_documents()[0], unigram_documents()[2]}) {
      const std::string section = section_of(document);
      add_blob(seeds, test::make_synthetic_blob(model, {section.begin(), section.end()}));
    }
  }
}

void add_planes_of_two_stacks(Seeds& seeds) {
  const std::vector<std::uint8_t> bytes =
      test::make_synthetic_blob(test::planes_of_two_stacks(small_model(0, 0)));
  seeds.add("fuzz_blob", {bytes.begin(), bytes.end()});
}

/// Models of the families, as transformers saves them.
void add_reference_blobs(Seeds& seeds) {
  for (const auto& folder :
       fs::directory_iterator(EMBERT_SOURCE_DIR "/tests/data/reference/families")) {
    add_blob(seeds, convert::convert({.folder = folder.path(), .certify = false}).blob);
  }
}

/// A family and options; then weights: from which on, how many, what they become.
void add_conversions(Seeds& seeds) {
  const std::string many("\xff\xff", 2);
  const auto bytes = [](float value) { return std::string(reinterpret_cast<char*>(&value), 4); };
  for (char family = 0; family < 8; ++family) {
    for (const char options : {'\0', '\3', '\7'}) seeds.add("fuzz_conversion", {family, options});
    for (const float value : {0.0F, 1e-44F, 1e-42F, 1e-37F, 1e37F, 3e38F}) {
      const std::string start = {family, 1};
      seeds.add("fuzz_conversion", start + std::string("\x80\0\1\0", 4) + bytes(value));
      seeds.add("fuzz_conversion", start + std::string("\0\4\x40\0", 4) + bytes(value));
      seeds.add("fuzz_conversion", start + std::string("\0\0", 2) + many + bytes(value));
    }
  }
}

void add_records(Seeds& seeds) {
  const std::string many("\0\7\0", 3), short_lines("\0\3\x10", 3);
  const std::string lines =
      "{\"id\":7,\"text\":\"a\",\"more\":{\"x\":[1,2.5,null,\"\\u00e9\"]}}\n{\"text\":\"\"}\r\n"
      "{\"text\":\"a\",\"vector\":1,\"truncated\":true}\n[]\n";
  const std::string pairs = "{\"pair\":\"b\",\"text\":\"a\"}\n{\"pair\":1,\"text\":\"a\"}\n";
  const std::string lists =
      "{\"query\":\"q\",\"documents\":[\"a\",\"b\"]}\n"
      "{\"documents\":[],\"query\":\"q\"}\n{\"query\":\"q\"}";
  seeds.add("fuzz_records", many + lines);
  seeds.add("fuzz_records", short_lines + lines);
  seeds.add("fuzz_records", "\1" + many.substr(1) + pairs);
  seeds.add("fuzz_records", "\2" + many.substr(1) + lists);
  seeds.add("fuzz_records", "\x80" + many.substr(1) + "a text\nanother\ttext\n\n\xff");
  seeds.add("fuzz_records", "\x81" + many.substr(1) + "a\tb\r\n\t\na\tb\tc\n");
  seeds.add("fuzz_records", "\x82" + many.substr(1) + "q\ta\tb\tc\nq\n");
}

/// Parts of fuzz_device_client: a kind, a count and so many bytes.
std::string line_part(char kind, const std::string& bytes) {
  return kind + std::string(1, static_cast<char>(bytes.size())) + bytes;
}

void add_device_lines(Seeds& seeds) {
  const std::string hello = line_part(2, std::string(24, '\1') + "mps3-an547, mve");
  const std::string run = line_part(2, std::string(36, '\2'));
  const std::string refusal = line_part(1, std::string("\1\xff\1\0\1", 5));
  seeds.add("fuzz_device_client", hello + run + run + run);
  seeds.add("fuzz_device_client", line_part(0, "starting\r\nready\n") + hello + run);
  seeds.add("fuzz_device_client",
            refusal + hello + line_part(0, std::string("\0\3abc\0", 6)) + run);
  seeds.add("fuzz_device_client", hello + line_part(1, "\2\x82\2") + line_part(3, ""));
  seeds.add("fuzz_device_client", hello + line_part(1, std::string("\1\xff\2\0\4", 5)));
  seeds.add("fuzz_device_client", line_part(2, "short") + line_part(0, std::string(200, 'x')));
}

/// A byte for the buffer, then the parts of fuzz_device_session: 0 or 1, a count, so many bytes.
void add_device_requests(Seeds& seeds) {
  const std::string buffer("\x40"), hello = line_part(1, std::string("\1\1\1\0", 4));
  const std::string run = line_part(1, std::string("\1\2\2\0hello aab", 13));
  seeds.add("fuzz_device_session", buffer + hello + run + run);
  seeds.add("fuzz_device_session", buffer + line_part(0, "noise") + hello);
  seeds.add("fuzz_device_session", buffer + line_part(1, std::string("\2\1\1\0", 4)));
  seeds.add("fuzz_device_session", buffer + line_part(1, std::string("\1\7\1\0", 4)));
  seeds.add("fuzz_device_session", "\1" + run + line_part(0, std::string("\0\3ab\0\0", 6)));
  seeds.add("fuzz_device_session", buffer + line_part(1, "\1\2\3" + std::string(250, 'a')));
}

void add_http_requests(Seeds& seeds) {
  const std::string end = "\r\n", json = "Content-Type: application/json\r\n";
  const std::string post = "POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\n" + json;
  const std::string body =
      R"({"model":"m","input":["a",["b","c"],{"text":"\u00e9"}],"top_n":-1.5e3})";
  const std::string length = "Content-Length: " + std::to_string(body.size()) + end;
  seeds.add("fuzz_http_request", post + length + end + body);
  seeds.add("fuzz_http_request",
            post + length + "Expect: 100-continue\r\nConnection: close, TE\r\n" + end + body);
  seeds.add("fuzz_http_request", post + "Transfer-Encoding: chunked\r\n" + end + "0" + end + end);
  seeds.add("fuzz_http_request", post + "Content-Encoding: gzip\r\n" + end);
  seeds.add("fuzz_http_request", "GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n[[[[]]]]");
  seeds.add("fuzz_http_request",
            "GET /v1/models/a%20b?c HTTP/1.1\r\nHost: [::1]:80\r\nAuthorization: Bearer k\r\n\r\n");
}

/// A function of fuzz_tasks, a count, and numbers.
void add_task_numbers(Seeds& seeds) {
  constexpr char kMostFunctions = 16;  // the program takes them modulo their number
  std::string numbers;
  for (int i = 0; i < 600; ++i) numbers += static_cast<char>(i * i * 37 >> 3);
  const std::string scale("\0\0\x80\x3a", 4);  // 2^-10, little-endian
  for (char function = 0; function < kMostFunctions; ++function) {
    seeds.add("fuzz_tasks", std::string(1, function) + '\7' + scale + numbers);
    seeds.add("fuzz_tasks", std::string(1, function) + '\3' + '\2' + scale + numbers);
  }
}

test::StoredTensor tensor(const char* name, const std::vector<std::uint64_t>& shape) {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) count *= extent;
  std::vector<float> values;
  for (std::uint64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(static_cast<int>(i * 7 % 11) - 5) / 8);
  }
  return test::store_floats(name, shape, values);
}

/// A Dense module of 8 to 8 values.
void write_dense(const test::TempFolder& folder, const std::string& path, const char* activation) {
  folder.write(path + "/config.json",
               json{{"in_features", 8},
                    {"out_features", 8},
                    {"bias", true},
                    {"activation_function", std::string("torch.nn.modules.") + activation}}
                   .dump());
  folder.write(
      path + "/model.safetensors",
      test::safetensors_bytes({tensor("linear.weight", {8, 8}), tensor("linear.bias", {8})}));
}

/// Adds blobs with parts that the synthetic model lacks: static embeddings, and dense modules
/// behind pooling.
void add_converted_blobs(Seeds& seeds) {
  using convert::EmbeddingBits;
  for (const EmbeddingBits bits : {EmbeddingBits::k8, EmbeddingBits::k4}) {
    const test::TempFolder table, encoder;
    const json document = unigram_documents()[0];
    const std::uint64_t tokens = document["model"]["vocab"].size() + 1;  // and <mask>
    table.write("tokenizer.json", document.dump());
    table.write("model.safetensors",
                test::safetensors_bytes({tensor("embedding.weight", {tokens, 8})}));
    test::write_model_folder(
        encoder.path(),
        {.hidden = 8, .layers = 1, .intermediate = 8, .positions = 8, .tokenizer = true});
    encoder.write("1_Pooling/config.json", json{{"word_embedding_dimension", 8},
                                                {"pooling_mode_max_tokens", true},
                                                {"pooling_mode_mean_tokens", false}}
                                               .dump());
    for (const test::TempFolder* folder : {&table, &encoder}) {
      const json first =
          folder == &table ? module(0, ".", "StaticEmbedding") : module(0, "", "Transformer");
      json modules = {first, module(1, "1_Pooling", "Pooling"), module(2, "2_Dense", "Dense"),
                      module(3, "3_Dense", "Dense"), module(4, "4_Normalize", "Normalize")};
      if (folder == &table) modules.erase(1);
      folder->write("modules.json", modules.dump());
      write_dense(*folder, "2_Dense", "activation.Tanh");
      write_dense(*folder, "3_Dense", "linear.Identity");
      add_blob(
          seeds,
          convert::convert({.folder = folder->path(), .embeddings = bits, .certify = false}).blob);
    }
  }
}

}  // namespace
}  // namespace embert::fuzz

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "make_seeds FOLDER\n");
    return 2;
  }
  embert::fuzz::Seeds seeds(arguments[1]);
  embert::fuzz::add_texts(seeds);
  embert::fuzz::add_tokenizers(seeds);
  embert::fuzz::add_sentencepiece(seeds);
  embert::fuzz::add_vocabularies(seeds);
  embert::fuzz::add_configs(seeds);
  embert::fuzz::add_model_folders(seeds);
  embert::fuzz::add_synthetic_blobs(seeds);
  embert::fuzz::add_converted_blobs(seeds);
  embert::fuzz::add_planes_of_two_stacks(seeds);
  embert::fuzz::add_reference_blobs(seeds);
  embert::fuzz::add_conversions(seeds);
  embert::fuzz::add_records(seeds);
  embert::fuzz::add_device_lines(seeds);
  embert::fuzz::add_device_requests(seeds);
  embert::fuzz::add_http_requests(seeds);
  embert::fuzz::add_task_numbers(seeds);
  std::printf("%zu seeds\n", seeds.count());
}
