// SPDX-License-Identifier: Apache-2.0
// Every code that a call can return, with its line.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/targets/hosted/hosted_fixture.hpp"

namespace embert::test {
namespace {

void expect_error(embert_hosted_result result, embert_hosted_result code, const std::string& part) {
  EXPECT_EQ(result, code);
  EXPECT_NE(std::string(embert_hosted_error()).find(part), std::string::npos)
      << embert_hosted_error();
}

TEST(Refused, FilesThatAreNoModel) {
  const ScratchFolder scratch;
  embert_hosted* model = nullptr;
  expect_error(embert_hosted_open(scratch.path("none.emb").c_str(), nullptr, &model),
               EMBERT_HOSTED_FILE, "none.emb: cannot be opened");
  EXPECT_EQ(model, nullptr);
  expect_error(
      embert_hosted_open(scratch.write("x.emb", std::string(5000, 'x')).c_str(), nullptr, &model),
      EMBERT_HOSTED_FILE, "EMBERT_STATUS_BLOB_MAGIC");
}

TEST(Refused, WrongArguments) {
  const ScratchFolder scratch;
  const std::string path = write_model(scratch, "m.emb", classifier(3));
  embert_hosted* made = nullptr;
  expect_error(embert_hosted_open(path.c_str(), nullptr, nullptr), EMBERT_HOSTED_ARGUMENT,
               "model is null");
  expect_error(embert_hosted_open(nullptr, nullptr, &made), EMBERT_HOSTED_ARGUMENT, "path is null");
  embert_hosted_options options = {};
  expect_error(embert_hosted_open(path.c_str(), &options, &made), EMBERT_HOSTED_ARGUMENT,
               "embert_hosted_options.size is 0");
  options.size = sizeof(options);
  options.max_tokens = 33;
  expect_error(embert_hosted_open(path.c_str(), &options, &made), EMBERT_HOSTED_ARGUMENT,
               "the model has 32 positions, not 33");
  options.max_tokens = 0;
  options.isa = "sse9";
  expect_error(embert_hosted_open(path.c_str(), &options, &made), EMBERT_HOSTED_ARGUMENT,
               "isa \"sse9\": not on this machine");

  options = {.size = sizeof(options), .map = 2};
  expect_error(embert_hosted_open(path.c_str(), &options, &made), EMBERT_HOSTED_ARGUMENT,
               "map: it takes 0 or 1");

  const ModelHandle model = open_model(path);
  const Texts list({"a", "b"});
  embert_hosted_texts view = list.view();
  embert_hosted_vector_options vector_options = vectors_as(EMBERT_VECTOR_FLOAT32);
  std::vector<uint8_t> vectors(2 * 4 * 36);
  const auto call = [&] {
    return embert_hosted_embed(model.get(), &view, &vector_options, vectors.data(), vectors.size());
  };
  ASSERT_EQ(call(), EMBERT_HOSTED_OK) << embert_hosted_error();
  EXPECT_STREQ(embert_hosted_error(), "");
  vector_options.dimensions = 37;
  expect_error(call(), EMBERT_HOSTED_ARGUMENT, "dimensions 37: the vectors of");
  vector_options = vectors_as(static_cast<embert_vector_format>(7));
  expect_error(call(), EMBERT_HOSTED_ARGUMENT, "format 7");
  vector_options = vectors_as(EMBERT_VECTOR_FLOAT32);
  vector_options.pooling = 4;
  expect_error(call(), EMBERT_HOSTED_ARGUMENT, "pooling 4");
  vector_options.pooling = 0;
  vector_options.prompt_name = "query";
  expect_error(call(), EMBERT_HOSTED_ARGUMENT, "the model has no prompt \"query\"");
  vector_options.prompt_name = nullptr;
  view.batch = 1025;
  expect_error(call(), EMBERT_HOSTED_ARGUMENT, "batch 1025: at most 1024");
  view = list.view();
  const uint64_t falling[] = {0, 2, 1};
  view.offsets = falling;
  expect_error(call(), EMBERT_HOSTED_ARGUMENT, "offsets[2] is 1, less than the 2 before it");
  view = list.view();
  vectors.resize(vectors.size() - 1);
  expect_error(call(), EMBERT_HOSTED_ARGUMENT, "2 vectors take 144 bytes each");
  expect_error(embert_hosted_score(model.get(), &view, "tanh", nullptr), EMBERT_HOSTED_ARGUMENT,
               "function \"tanh\": there are softmax, sigmoid and none");
}

TEST(Refused, ATaskThatTheModelCannotDo) {
  const ScratchFolder scratch;
  const ModelHandle model = open_model(write_model(scratch, "m.emb", token_classifier(3)));
  const Texts list({"a"});
  const embert_hosted_texts view = list.view();
  float scores[3];
  expect_error(embert_hosted_score(model.get(), &view, nullptr, scores), EMBERT_HOSTED_ARGUMENT,
               "the model has no classifier (EMBERT_STATUS_NO_CLASSIFIER); it can do: embed");
}

int stop_at_once(void* context, size_t done, size_t total) {
  *static_cast<std::pair<size_t, size_t>*>(context) = {done, total};
  return 1;
}

TEST(Refused, ACancelledCall) {
  const ScratchFolder scratch;
  const ModelHandle model = open_model(write_model(scratch, "m.emb", classifier(3)), 2);
  const Texts list(random_texts(20000, 4));
  embert_hosted_texts view = list.view();
  std::pair<size_t, size_t> seen = {0, 0};
  view.progress = stop_at_once;
  view.progress_context = &seen;
  std::vector<float> scores(3 * view.count);
  expect_error(embert_hosted_score(model.get(), &view, nullptr, scores.data()),
               EMBERT_HOSTED_CANCELLED, "cancelled");
  EXPECT_EQ(seen.second, view.count);
}

/// Runs in a child and returns its exit code.
template <typename Function>
int in_child(const Function& function) {
  const pid_t child = fork();
  if (child == 0) _exit(function());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Refused, AModelOfTheParent) {
  const ScratchFolder scratch;
  const std::string path = write_model(scratch, "m.emb", classifier(3));
  ModelHandle model = open_model(path, 2);
  const Texts list({"a", "b"});
  const embert_hosted_texts view = list.view();
  const std::vector<uint8_t> expected = embed(model.get(), view, vectors_as(EMBERT_VECTOR_INT16));
  const int code = in_child([&] {
    std::vector<uint8_t> vectors(expected.size());
    const embert_hosted_vector_options options = vectors_as(EMBERT_VECTOR_INT16);
    const embert_hosted_result result =
        embert_hosted_embed(model.get(), &view, &options, vectors.data(), vectors.size());
    if (result != EMBERT_HOSTED_FORKED) return 1;
    if (std::string(embert_hosted_error()).find("opened before fork()") == std::string::npos) {
      return 2;
    }
    model.reset();  // must not wait for threads that are not there
    const ModelHandle own = open_model(path, 2);
    return embed(own.get(), view, options) == expected ? 0 : 3;
  });
  EXPECT_EQ(code, 0);
  EXPECT_TRUE(embed(model.get(), view, vectors_as(EMBERT_VECTOR_INT16)) == expected)
      << "the parent goes on";
}

}  // namespace
}  // namespace embert::test
