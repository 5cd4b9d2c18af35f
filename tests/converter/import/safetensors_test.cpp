// SPDX-License-Identifier: Apache-2.0
// A file that breaks each rule of the safetensors format, and the values of the float types.
#include "converter/import/weights/safetensors_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/support/error_text.hpp"
#include "tests/support/model_folder.hpp"

namespace embert::convert {
namespace {

using test::error_text;

class Safetensors : public ::testing::Test {
 protected:
  // The error of a file with these bytes.
  std::string open_error(const std::string& bytes) {
    const auto path = folder_.write("m.safetensors", bytes);
    return error_text([&] { SafetensorsFile(path, "m.safetensors"); });
  }
  std::string header_error(const std::string& header, const std::string& data = "") {
    return open_error(test::safetensors_bytes(header, data));
  }
  // The error of a file with one tensor "t" and this entry; `data_bytes` of data follow.
  std::string entry_error(const std::string& entry, std::size_t data_bytes = 0) {
    return header_error("{\"t\":" + entry + "}", std::string(data_bytes, '\0'));
  }

  test::TempFolder folder_;
};

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

TEST_F(Safetensors, ReadsSoundFiles) {
  const auto path = folder_.write(
      "m.safetensors",
      test::safetensors_bytes({test::store_floats("b", {2, 2}, {1, -2, 0.5F, 3}),
                               test::store_floats("a", {}, {7}),
                               test::store_floats("none", {0, 5}, {}),
                               {"ids", "I32", {2}, std::string("\x05\0\0\0\xFF\xFF\xFF\xFF", 8)}}));
  const SafetensorsFile file(path, "m.safetensors");
  EXPECT_EQ(file.tensors().size(), 4U);
  EXPECT_EQ(file.find("b")->shape, (std::vector<std::uint64_t>{2, 2}));
  EXPECT_EQ(file.find("c"), nullptr);
  EXPECT_EQ(file.read_float("b"), (std::vector<float>{1, -2, 0.5F, 3}));
  EXPECT_EQ(file.read_float("a"), (std::vector<float>{7}));
  EXPECT_TRUE(file.read_float("none").empty());
  EXPECT_EQ(file.read_int32("ids"), (std::vector<std::int32_t>{5, -1}));
  EXPECT_EQ(header_error("{}"), "no error");
  EXPECT_EQ(header_error("{}      "), "no error");
}

TEST_F(Safetensors, HeaderLength) {
  EXPECT_EQ(
      open_error(""),
      "m.safetensors: 0 bytes; a safetensors file begins with the 8-byte length of its header");
  EXPECT_EQ(
      open_error(std::string(7, '\0')),
      "m.safetensors: 7 bytes; a safetensors file begins with the 8-byte length of its header");
  EXPECT_EQ(
      open_error(std::string("\x03\0\0\0\0\0\0\0{}", 10)),
      "m.safetensors: header of 3 bytes does not fit the file of 10; the file is cut off or no "
      "safetensors file");
  EXPECT_EQ(open_error(std::string("\x01\xE1\xF5\x05\0\0\0\0{}", 10)),
            "m.safetensors: header of 100000001 bytes; the format allows 100000000");
  EXPECT_EQ(open_error(std::string(8, '\xFF') + "{}"),
            "m.safetensors: header of 18446744073709551615 bytes; the format allows 100000000");
  EXPECT_EQ(open_error(std::string(8, '\0')), "m.safetensors: the header must begin with '{'");
}

TEST_F(Safetensors, HeaderText) {
  EXPECT_EQ(header_error(" {}"), "m.safetensors: the header must begin with '{'");
  EXPECT_EQ(header_error("\xEF\xBB\xBF{}"), "m.safetensors: the header must begin with '{'");
  EXPECT_EQ(header_error("[]"), "m.safetensors: the header must begin with '{'");
  const std::string start = "m.safetensors: header: not valid JSON: ";
  for (const std::string header : {"{", "{}x", "{\"a\xFF\":1}", "{,}"}) {
    EXPECT_EQ(header_error(header).substr(0, start.size()), start) << header;
  }
  EXPECT_EQ(header_error("{\"t\":" + entry("F32", "[]", "[0,4]") +
                             ",\"t\":" + entry("F32", "[]", "[0,4]") + "}",
                         "0000"),
            "m.safetensors: header: key \"t\" is there twice; keys of one JSON object must differ");
  EXPECT_EQ(
      entry_error(R"({"dtype":"F32","dtype":"F32","shape":[],"data_offsets":[0,4]})", 4),
      "m.safetensors: header: key \"dtype\" is there twice; keys of one JSON object must differ");
  EXPECT_EQ(entry_error(entry("F32", "[[[1]]]", "[0,4]"), 4),
            "m.safetensors: header: JSON is nested deeper than 4 levels");
}

TEST_F(Safetensors, Metadata) {
  EXPECT_EQ(header_error(R"({"__metadata__":{"a":"b"}})"), "no error");
  EXPECT_EQ(header_error(R"({"__metadata__":["a"]})"),
            "m.safetensors: __metadata__ must be an object of strings, found an array of 1");
  EXPECT_EQ(header_error(R"({"__metadata__":{"a":1}})"),
            "m.safetensors: __metadata__ \"a\" must be a string, found 1");
}

TEST_F(Safetensors, EntryFields) {
  const std::string where = "m.safetensors: tensor \"t\": ";
  EXPECT_EQ(entry_error("3"),
            where + "expected an object with dtype, shape and data_offsets, found 3");
  EXPECT_EQ(entry_error(R"({"shape":[],"data_offsets":[0,4]})"), where + "\"dtype\" is missing");
  EXPECT_EQ(entry_error(R"({"dtype":"F32","data_offsets":[0,4]})"), where + "\"shape\" is missing");
  EXPECT_EQ(entry_error(R"({"dtype":"F32","shape":[]})"), where + "\"data_offsets\" is missing");
  EXPECT_EQ(entry_error(R"({"dtype":"F32","shape":[],"data_offsets":[0,4],"x":1})", 4),
            where + "unknown field \"x\"; a tensor has dtype, shape and data_offsets");
  EXPECT_EQ(entry_error(entry("F33", "[]", "[0,4]")), where + "unknown dtype \"F33\"");
  EXPECT_EQ(entry_error(R"({"dtype":32,"shape":[],"data_offsets":[0,4]})"),
            where + "\"dtype\" must be a string, found 32");
  EXPECT_EQ(entry_error(entry("F32", "1", "[0,4]")), where + "\"shape\" must be an array, found 1");
  EXPECT_EQ(entry_error(entry("F32", "[-1]", "[0,4]")),
            where + "\"shape\" must hold whole numbers from 0 on, found -1");
  EXPECT_EQ(entry_error(entry("F32", "[1.0]", "[0,4]")),
            where + "\"shape\" must hold whole numbers from 0 on, found 1.0");
  EXPECT_EQ(entry_error(entry("F32", "[\"1\"]", "[0,4]")),
            where + "\"shape\" must hold whole numbers from 0 on, found \"1\"");
  EXPECT_EQ(
      entry_error(entry("F32", "[18446744073709551616]", "[0,4]")).substr(0, where.size() + 52),
      where + "\"shape\" must hold whole numbers from 0 on, found 1.8");
  EXPECT_EQ(entry_error(entry("F32", "[1]", "[0]")),
            where + "data_offsets must be [begin, end], found 1 numbers");
  EXPECT_EQ(entry_error(entry("F32", "[1]", "[0,4,8]")),
            where + "data_offsets must be [begin, end], found 3 numbers");
  std::string ones = "[1";
  for (int i = 1; i < 65; ++i) ones += ",1";
  EXPECT_EQ(entry_error(entry("F32", ones + "]", "[0,4]")),
            where + "shape has 65 dimensions; at most 64 are read");
}

TEST_F(Safetensors, SizesAndOffsets) {
  const std::string where = "m.safetensors: tensor \"t\": ";
  EXPECT_EQ(entry_error(entry("F32", "[1]", "[4,0]"), 4),
            where + "data_offsets begin 4 is after end 0");
  EXPECT_EQ(entry_error(entry("F32", "[2]", "[0,4]"), 4),
            where + "shape [2] of F32 is 8 bytes, but data_offsets hold 4");
  EXPECT_EQ(entry_error(entry("F16", "[3, 5]", "[0,60]"), 60),
            where + "shape [3, 5] of F16 is 30 bytes, but data_offsets hold 60");
  EXPECT_EQ(entry_error(entry("F4", "[3]", "[0,1]"), 1),
            where + "shape [3] of F4 does not fill whole bytes");
  EXPECT_EQ(entry_error(entry("F4", "[4]", "[0,2]"), 2), "no error");
  // Products that wrap to 0 in 64 bits: 2^32 * 2^32 elements, 2^62 * 4 bytes, 2^61 * 2^3 bits.
  EXPECT_EQ(entry_error(entry("U8", "[4294967296,4294967296]", "[0,0]")),
            where + "the product of shape [4294967296, 4294967296] does not fit 64 bits");
  EXPECT_EQ(entry_error(entry("F32", "[4611686018427387904]", "[0,0]")),
            where + "the product of shape [4611686018427387904] does not fit 64 bits");
  EXPECT_EQ(entry_error(entry("U8", "[2305843009213693952]", "[0,0]")),
            where + "the product of shape [2305843009213693952] does not fit 64 bits");
  EXPECT_EQ(
      entry_error(entry("F32", "[2]", "[0,8]"), 4),
      where + "data_offsets end 8 is outside the 4 bytes of data; the file is cut off or damaged");
  EXPECT_EQ(entry_error(entry("F32", "[1]", "[18446744073709551608,18446744073709551612]"), 4),
            where +
                "data_offsets end 18446744073709551612 is outside the 4 bytes of data; the file is "
                "cut off or damaged");
}

TEST_F(Safetensors, HolesAndOverlaps) {
  const auto two = [&](const std::string& a, const std::string& b, std::size_t bytes) {
    return header_error(
        "{\"a\":" + entry("F32", "[2]", a) + ",\"b\":" + entry("F32", "[2]", b) + "}",
        std::string(bytes, '\0'));
  };
  EXPECT_EQ(two("[0,8]", "[8,16]", 16), "no error");
  EXPECT_EQ(two("[8,16]", "[0,8]", 16), "no error");
  EXPECT_EQ(two("[0,8]", "[4,12]", 12),
            "m.safetensors: tensor \"b\": data begins at 4, expected 8; tensors overlap");
  EXPECT_EQ(two("[0,8]", "[0,8]", 8),
            "m.safetensors: tensor \"b\": data begins at 0, expected 8; tensors overlap");
  EXPECT_EQ(two("[0,8]", "[12,20]", 20),
            "m.safetensors: tensor \"b\": data begins at 12, expected 8; there is a hole");
  EXPECT_EQ(two("[4,12]", "[12,20]", 20),
            "m.safetensors: tensor \"a\": data begins at 4, expected 0; there is a hole");
  EXPECT_EQ(two("[0,8]", "[8,16]", 20),
            "m.safetensors: 4 bytes after the last tensor belong to no tensor");
  EXPECT_EQ(header_error("{}", "x"),
            "m.safetensors: 1 bytes after the last tensor belong to no tensor");
}

TEST_F(Safetensors, EveryTruncationIsRefused) {
  const std::string bytes = test::safetensors_bytes(
      {test::store_floats("a", {3}, {1, 2, 3}), test::store_floats("b", {2}, {1, 2}, "F16")});
  ASSERT_EQ(open_error(bytes), "no error");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(open_error(bytes.substr(0, size)), "no error") << size;
  }
}

TEST_F(Safetensors, FlippedHeaderBytesNeverCrash) {
  const std::string bytes = test::safetensors_bytes(
      {test::store_floats("a", {3}, {1, 2, 3}), test::store_floats("b", {2}, {1, 2}, "F16")});
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int mask : {0x01, 0x10, 0x80, 0xFF}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ mask);
      const std::string message = open_error(changed);
      EXPECT_EQ(message.find('\n'), std::string::npos);
    }
  }
}

TEST_F(Safetensors, OtherTypesAreAnErrorOnlyWhenRead) {
  const auto path = folder_.write(
      "m.safetensors",
      test::safetensors_bytes({{"position_ids", "I64", {1, 2}, std::string(16, '\0')}}));
  const SafetensorsFile file(path, "m.safetensors");
  EXPECT_EQ(
      error_text([&] { file.read_float("position_ids"); }),
      "m.safetensors: tensor \"position_ids\" must be F32, F16 or BF16, found I64; store the model "
      "in one of these types");
  EXPECT_EQ(error_text([&] { file.read_int32("position_ids"); }),
            "m.safetensors: tensor \"position_ids\" must be I32, found I64");
  EXPECT_EQ(error_text([&] { file.read_float("x"); }), "m.safetensors: tensor \"x\" is missing");
}

TEST_F(Safetensors, FilesThatCanNotBeRead) {
  EXPECT_EQ(error_text([&] { SafetensorsFile(folder_.path() / "none", "none"); }),
            "none: file not found");
  EXPECT_EQ(error_text([&] { SafetensorsFile(folder_.path(), "f"); }), "f: is not a regular file");
}

// Mapped into memory, such a file ended the process with SIGBUS.
TEST_F(Safetensors, AFileThatBecomesShorter) {
  constexpr std::size_t kFloats = 8192;  // more than a page
  const auto path = folder_.write(
      "m.safetensors", test::safetensors_bytes(
                           {{"w", "F32", {kFloats}, std::string(kFloats * sizeof(float), 'x')}}));
  const SafetensorsFile file(path, "m.safetensors");
  EXPECT_EQ(file.read_float("w").size(), kFloats);
  std::filesystem::resize_file(path, 4096);
  EXPECT_EQ(error_text([&] { file.read_float("w"); }),
            "m.safetensors: became shorter while it was read; try again");
}

TEST_F(Safetensors, OtherFormatsUnderItsName) {
  const auto error_of = [&](std::string_view bytes) {
    const auto path = folder_.write("m", std::string(bytes));
    return error_text([&] { SafetensorsFile(path, "m"); });
  };
  EXPECT_EQ(error_of("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"),
            "m: is a Git LFS pointer, not the file itself; run `git lfs pull` in its folder");
  EXPECT_TRUE(error_of("GGUF\3").starts_with("m: is a file of GGUF (llama.cpp); give the"));
  EXPECT_TRUE(error_of("\x08\x07\x12\x07pytorch").starts_with("m: is a file of ONNX; give the"));
  EXPECT_TRUE(error_of("PK\x03\x04...").starts_with("m: is a file of PyTorch; give the"));
}

TEST_F(Safetensors, AllHalfPrecisionValues) {
  test::StoredTensor halves{"h", "F16", {65536}, {}}, bfloats{"b", "BF16", {65536}, {}};
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const char pair[2] = {static_cast<char>(bits & 0xFF), static_cast<char>(bits >> 8)};
    halves.bytes.append(pair, 2);
    bfloats.bytes.append(pair, 2);
  }
  const auto path = folder_.write("m.safetensors", test::safetensors_bytes({halves, bfloats}));
  const SafetensorsFile file(path, "m.safetensors");
  const std::vector<float> h = file.read_float("h"), b = file.read_float("b");
  // value = (-1)^sign * fraction * 2^exponent; the fraction has a hidden bit where the exponent is
  // not 0.
  const auto value = [](unsigned bits, int fraction_bits, int exponent_bits, int bias) {
    const int exponent = static_cast<int>(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    const int fraction = static_cast<int>(bits) & ((1 << fraction_bits) - 1);
    double magnitude = 0;
    if (exponent == (1 << exponent_bits) - 1) {
      magnitude = fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                                : std::numeric_limits<double>::infinity();
    } else if (exponent == 0) {
      magnitude = std::ldexp(fraction, 1 - bias - fraction_bits);
    } else {
      magnitude = std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
    }
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
  };
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const double half = value(bits, 10, 5, 15), bfloat = value(bits, 7, 8, 127);
    ASSERT_TRUE(std::isnan(half) ? std::isnan(h[bits]) : static_cast<double>(h[bits]) == half)
        << bits;
    ASSERT_EQ(std::signbit(half), std::signbit(h[bits])) << bits;
    ASSERT_TRUE(std::isnan(bfloat) ? std::isnan(b[bits]) : static_cast<double>(b[bits]) == bfloat)
        << bits;
  }
  // Other tests rely on the test support's writer: it must store the values that it is given.
  for (unsigned bits = 0; bits < 0x7C00; ++bits) {
    const std::string stored = test::store_floats("h", {1}, {h[bits]}, "F16").bytes;
    ASSERT_EQ(stored, halves.bytes.substr(2 * bits, 2)) << bits;
  }
}

}  // namespace
}  // namespace embert::convert
