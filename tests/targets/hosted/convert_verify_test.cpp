// SPDX-License-Identifier: Apache-2.0
// embert_hosted_convert and embert_hosted_verify: a file appears whole or not at all.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/support/model_folder.hpp"
#include "tests/targets/hosted/hosted_fixture.hpp"

namespace embert::test {
namespace {

using Json = nlohmann::ordered_json;

class Convert : public testing::Test {
 protected:
  Convert() {
    write_model_folder(folder_.path(), {.labels = 3, .tokenizer = true});
    conversion_.size = sizeof(conversion_);
    conversion_.folder = folder_.path().c_str();
    conversion_.output = output_.c_str();
    conversion_.options = R"({"rounding": "nearest", "threads": 1})";
  }
  void expect_refused(embert_hosted_result code, const std::string& part) {
    EXPECT_EQ(embert_hosted_convert(&conversion_, nullptr), code);
    EXPECT_NE(std::string(embert_hosted_error()).find(part), std::string::npos)
        << embert_hosted_error();
  }

  const TempFolder folder_;
  const ScratchFolder scratch_;
  const std::string output_ = scratch_.path("m.emb");
  embert_hosted_conversion conversion_ = {};
};

int count_stages(void* context, const char* stage, double done) {
  EXPECT_NE(std::strlen(stage), 0u);
  EXPECT_GE(done, 0);
  EXPECT_LE(done, 1);
  ++*static_cast<int*>(context);
  return 0;
}

TEST_F(Convert, MakesAModelThatFitsItsFolder) {
  int stages = 0;
  conversion_.progress = count_stages;
  conversion_.progress_context = &stages;
  char* report = nullptr;
  ASSERT_EQ(embert_hosted_convert(&conversion_, &report), EMBERT_HOSTED_OK)
      << embert_hosted_error();
  EXPECT_GT(stages, 2);
  EXPECT_EQ(Json::parse(report)["rounding"], "nearest");
  EXPECT_EQ(Json::parse(report)["blob_bytes"], read_bytes(output_).size());
  embert_hosted_free(report);

  const ModelHandle model = open_model(output_, 2);
  const Texts list(random_texts(40, 6));
  embert_hosted_texts view = list.view();
  char* json = nullptr;
  ASSERT_EQ(embert_hosted_verify(model.get(), conversion_.folder, &view, &json), EMBERT_HOSTED_OK)
      << embert_hosted_error();
  EXPECT_EQ(Json::parse(json)["texts"], 40);
  EXPECT_EQ(Json::parse(json)["compared"], "logits");
  embert_hosted_free(json);
  view.progress = [](void*, size_t, size_t) { return 1; };
  EXPECT_EQ(embert_hosted_verify(model.get(), conversion_.folder, &view, &json),
            EMBERT_HOSTED_CANCELLED);
  EXPECT_EQ(embert_hosted_verify(model.get(), scratch_.path("none").c_str(), &view, &json),
            EMBERT_HOSTED_FILE);
  view.count = 0;
  EXPECT_EQ(embert_hosted_verify(model.get(), conversion_.folder, &view, &json),
            EMBERT_HOSTED_ARGUMENT);
}

/// The second texts of pairs are compared, too.
TEST_F(Convert, PairsAreVerifiedAsPairs) {
  ASSERT_EQ(embert_hosted_convert(&conversion_, nullptr), EMBERT_HOSTED_OK)
      << embert_hosted_error();
  const ModelHandle model = open_model(output_, 1);
  const Texts list(std::vector<std::string>(7, "a cat"));
  const Texts seconds(std::vector<std::string>(7, "a mat"));
  const auto compared = [&](const embert_hosted_texts& texts) {
    char* json = nullptr;
    EXPECT_EQ(embert_hosted_verify(model.get(), conversion_.folder, &texts, &json),
              EMBERT_HOSTED_OK)
        << embert_hosted_error();
    const Json result = Json::parse(json);
    embert_hosted_free(json);
    return result;
  };
  embert_hosted_texts view = list.view();
  const Json alone = compared(view);
  view.pair_bytes = seconds.view().bytes;
  view.pair_offsets = seconds.view().offsets;
  const Json pairs = compared(view);
  EXPECT_GT(pairs["tokens"], alone["tokens"]);
  EXPECT_FALSE(alone["worst"][0].contains("pair"));
  EXPECT_EQ(pairs["worst"][0]["pair"], "a mat");
}

TEST_F(Convert, RefusesWhatItCannotDo) {
  const std::string none = scratch_.path("none");
  conversion_.folder = none.c_str();
  expect_refused(EMBERT_HOSTED_FILE, "config.json");
  conversion_.folder = folder_.path().c_str();
  const std::string deep = scratch_.path("no/such/m.emb");
  conversion_.output = deep.c_str();
  expect_refused(EMBERT_HOSTED_WRITE, "m.emb: cannot write");
  const std::string input = folder_.path() / "config.json";
  conversion_.output = input.c_str();
  expect_refused(EMBERT_HOSTED_ARGUMENT, "is a file of the model folder");
  conversion_.output = nullptr;
  expect_refused(EMBERT_HOSTED_ARGUMENT, "output is null");
  conversion_.output = output_.c_str();
  conversion_.options = R"({"rounding": "up"})";
  expect_refused(EMBERT_HOSTED_ARGUMENT, "rounding \"up\": there are gptq and nearest");
  conversion_.options = R"({"embeddings": "2bit"})";
  expect_refused(EMBERT_HOSTED_ARGUMENT, "embeddings \"2bit\": there are 8bit and 4bit");
  conversion_.options = R"({"precision": "best"})";
  expect_refused(EMBERT_HOSTED_ARGUMENT, "precision \"best\": there are fast, balanced and high");
  conversion_.options = R"({"layout": "n4k4"})";
  expect_refused(EMBERT_HOSTED_ARGUMENT, "layout \"n4k4\": there are n16k4 and n8k16");
  conversion_.options = R"({"speed": 1})";
  expect_refused(EMBERT_HOSTED_ARGUMENT, "convert: unknown option \"speed\"");
  EXPECT_TRUE(scratch_.names().empty());
}

TEST_F(Convert, ACancelledOneLeavesTheOldFile) {
  scratch_.write("m.emb", "old");
  conversion_.progress = [](void*, const char*, double done) { return done > 0.5 ? 1 : 0; };
  expect_refused(EMBERT_HOSTED_CANCELLED, "cancelled");
  EXPECT_EQ(read_bytes(output_), "old");
  EXPECT_EQ(scratch_.names(), std::vector<std::string>{"m.emb"});
}

TEST_F(Convert, AFullDiskLeavesTheOldFile) {
  scratch_.write("m.emb", "old");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);        // the library leaves signals alone
    const rlimit limit = {10000, 10000};  // a longer file is refused, as on a full disk
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(static_cast<int>(embert_hosted_convert(&conversion_, nullptr)));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, EMBERT_HOSTED_WRITE);
  EXPECT_EQ(read_bytes(output_), "old");
  EXPECT_EQ(scratch_.names(), std::vector<std::string>{"m.emb"});
}

}  // namespace
}  // namespace embert::test
