// SPDX-License-Identifier: Apache-2.0
// Hostile JSON and wrong fields, each with its exact error message.
#include "converter/import/json_file.hpp"

#include <gtest/gtest.h>

#include "tests/support/error_text.hpp"
#include "tests/support/model_folder.hpp"
#include "tests/support/system/linear_time.hpp"

namespace embert::convert {
namespace {

using test::error_text;

std::string parse_error(const std::string& text, const JsonLimits& limits = {}) {
  return error_text([&] { parse_json(text, "a.json", limits); });
}

TEST(JsonFile, ReadsAFile) {
  const test::TempFolder folder;
  const auto path = folder.write("a.json", R"({"a": [1, 2.5, "x", null, true]})");
  const Json document = read_json_file(path, "a.json");
  EXPECT_EQ(document["a"].size(), 5U);
}

TEST(JsonFile, RefusesDuplicateKeys) {
  EXPECT_EQ(parse_error(R"({"a": 1, "a": 2})"),
            "a.json: key \"a\" is there twice; keys of one JSON object must differ");
  EXPECT_EQ(parse_error(R"([{"b": {"a": 1, "\u0061": 2}}])"),
            "a.json: key \"a\" is there twice; keys of one JSON object must differ");
  EXPECT_EQ(parse_error(R"({"x\u001b[31m": 1, "x\u001b[31m": 2})"),
            "a.json: key \"x?[31m\" is there twice; keys of one JSON object must differ");
  EXPECT_EQ(parse_error(R"({"a": {"b": 1}, "b": {"a": 1}, "c": [{"a": 1}, {"a": 1}]})"),
            "no error");
}

TEST(JsonFile, RefusesWhatIsNotJson) {
  const std::string start = "a.json: not valid JSON: ";
  for (const char* text :
       {"", "{", "{\"a\": }", "{\"a\": 1} x", "{\"a\": NaN}", "{\"a\": 1e999}",
        "{\"a\": \"\xC3\x28\"}", "{\"a\": \"\xED\xA0\x80\"}", "{'a': 1}", "// c\n1"}) {
    const std::string message = parse_error(text);
    EXPECT_EQ(message.substr(0, start.size()), start) << text;
    EXPECT_EQ(message.find('\n'), std::string::npos) << text;
    EXPECT_LT(message.size(), 300U) << text;
  }
  EXPECT_LT(parse_error("{\"" + std::string(100000, 'k')).size(), 300U);
}

TEST(JsonFile, HoldsItsLimits) {
  EXPECT_EQ(parse_error(std::string(100000, '[')), "a.json: JSON is nested deeper than 32 levels");
  EXPECT_EQ(parse_error(std::string(32, '[') + std::string(32, ']')), "no error");
  EXPECT_EQ(parse_error(std::string(33, '[') + std::string(33, ']')),
            "a.json: JSON is nested deeper than 32 levels");
  EXPECT_EQ(parse_error("[1, 2, 3]", {8, 32, 100}), "a.json: 9 bytes of JSON; at most 8 are read");
  EXPECT_EQ(parse_error("[1, 2, 3]", {9, 32, 3}),
            "a.json: more than 3 JSON values; this is no file of a model");
}

TEST(JsonFile, ManyObjectsTakeLinearTime) {
  test::expect_linear_time(20'000, test::json_objects, [](const std::string& text) {
    EXPECT_EQ(parse_error(text), "no error");
  });
}

TEST(JsonFile, RefusesFilesThatCanNotBeRead) {
  const test::TempFolder folder;
  EXPECT_EQ(error_text([&] { read_json_file(folder.path() / "b.json", "b.json"); }),
            "b.json: file not found");
  EXPECT_EQ(error_text([&] { read_json_file(folder.path(), "b.json"); }),
            "b.json: is not a regular file");
  const auto path = folder.write("b.json", "[1, 2, 3]");
  EXPECT_EQ(error_text([&] {
              read_json_file(path, "b.json", {8, 32, 100});
            }),
            "b.json: 9 bytes; at most 8 are read");
  const auto pointer =
      folder.write("c.json", "version https://git-lfs.github.com/spec/v1\noid sha256:00\n");
  EXPECT_EQ(error_text([&] { read_json_file(pointer, "c.json"); }),
            "c.json: is a Git LFS pointer, not the file itself; run `git lfs pull` in its folder");
}

TEST(JsonFields, GivesTypedValues) {
  const Json document = Json::parse(R"({"i": 7, "n": 2.5, "b": true, "s": "x", "none": null})");
  const JsonFields fields(document, "c.json");
  EXPECT_EQ(fields.get_int("i", 0, 7), 7);
  EXPECT_EQ(fields.get_int("none", 0, 7, 3), 3);
  EXPECT_EQ(fields.get_number("n", 0), 2.5);
  EXPECT_EQ(fields.get_number("i", 0), 7.0);
  EXPECT_TRUE(fields.get_bool("b", false));
  EXPECT_FALSE(fields.get_bool("none", false));
  EXPECT_EQ(fields.get_string("s"), "x");
  EXPECT_EQ(fields.get_string("absent", "y"), "y");
  EXPECT_TRUE(fields.has("s"));
  EXPECT_FALSE(fields.has("none"));
}

TEST(JsonFields, NamesFileAndKey) {
  const Json document = Json::parse(
      R"({"i": 7, "n": 2.5, "big": 18446744073709551615, "s": "x", "o": {}, "a": [1, 2]})");
  const JsonFields fields(document, "c.json");
  EXPECT_EQ(error_text([&] { fields.get_int("z", 0, 9); }), "c.json: \"z\" is missing");
  EXPECT_EQ(error_text([&] { fields.get_int("i", 8, 9); }),
            "c.json: \"i\" must be a whole number from 8 to 9, found 7");
  EXPECT_EQ(error_text([&] { fields.get_int("n", 0, 9); }),
            "c.json: \"n\" must be a whole number from 0 to 9, found 2.5");
  EXPECT_EQ(error_text([&] { fields.get_int("big", -1, 9); }),
            "c.json: \"big\" must be a whole number from -1 to 9, found 18446744073709551615");
  EXPECT_EQ(error_text([&] { fields.get_int("s", 0, 9, 1); }),
            "c.json: \"s\" must be a whole number from 0 to 9, found \"x\"");
  EXPECT_EQ(error_text([&] { fields.get_number("s", 0); }),
            "c.json: \"s\" must be a number, found \"x\"");
  EXPECT_EQ(error_text([&] { fields.get_bool("i", false); }),
            "c.json: \"i\" must be true or false, found 7");
  EXPECT_EQ(error_text([&] { fields.get_string("a"); }),
            "c.json: \"a\" must be a string, found an array of 2");
  EXPECT_EQ(error_text([&] { fields.get_string("o", "x"); }),
            "c.json: \"o\" must be a string, found an object");
  EXPECT_EQ(error_text([&] { JsonFields(document["a"], "d.json"); }),
            "d.json: expected a JSON object, found an array of 2");
}

// Such a file counts as one that is there: a model is not converted as if it had never been.
TEST(FileExists, ALinkThatLeadsNowhere) {
  const test::TempFolder folder;
  EXPECT_FALSE(file_exists(folder.path() / "none"));
  EXPECT_FALSE(file_exists(folder.write("file", "") / "below"));
  std::filesystem::create_symlink("none", folder.path() / "link");
  EXPECT_TRUE(file_exists(folder.path() / "link"));
  EXPECT_EQ(error_text([&] { read_json_file(folder.path() / "link", "link"); }),
            "link: cannot be opened: No such file or directory");
  std::filesystem::create_symlink("circle", folder.path() / "circle");
  EXPECT_TRUE(file_exists(folder.path() / "circle"));
  EXPECT_EQ(error_text([&] { read_json_file(folder.path() / "circle", "circle"); }),
            "circle: cannot be opened: Too many levels of symbolic links");
}

TEST(Printable, KeepsMessagesToOneSafeLine) {
  EXPECT_EQ(printable("a\nb\tc\x7F"), "a?b?c?");
  EXPECT_EQ(printable("caf\xC3\xA9 \xE4\xB8\xAD \xF0\x9F\x99\x82"),
            "caf\xC3\xA9 \xE4\xB8\xAD \xF0\x9F\x99\x82");
  EXPECT_EQ(printable("\xC3(\xC0\xAF\xED\xA0\x80\xF5\xC2\x9B"), "?(???????");
  EXPECT_EQ(printable("abcdef", 4), "abcd...");
  EXPECT_EQ(printable("abc\xC3\xA9", 4), "abc...");
}

}  // namespace
}  // namespace embert::convert
