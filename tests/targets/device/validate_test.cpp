// SPDX-License-Identifier: Apache-2.0
// embert device validate with embert device serve as the device: the same bits, the right figures,
// and a link that loses, repeats, cuts and changes frames.
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/support/synthetic_blob.hpp"
#include "tests/targets/cli/tool_runner.hpp"

namespace embert::test {
namespace {

using Json = nlohmann::json;

const std::string kModel = EMBERT_BUNDLED_MODEL, kTool = EMBERT_TOOL_PATH;
const std::string kDemo = std::string(EMBERT_SOURCE_DIR) + "/targets/demo";
const std::string kSentences = kDemo + "/sentences.txt";

std::string serve(const std::string& options = "") {
  return "exec:exec '" + kTool + "' device serve '" + kModel + "' " + options;
}
/// The same over a link with faults in `percent` of the frames.
std::string faulty(int seed, double percent) {
  return std::string("exec:exec '") + EMBERT_FAULTY_LINE + "' " + std::to_string(seed) + " " +
         std::to_string(percent) + " \"exec '" + kTool + "' device serve '" + kModel + "'\"";
}

ToolResult validate(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"device", "validate"});
  return run_tool(std::move(arguments));
}
Json json_of(std::vector<std::string> arguments) {
  arguments.push_back("--json");
  const ToolResult result = validate(std::move(arguments));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.exit_code == 0 ? Json::parse(result.out) : Json();
}
void expect_error(const ToolResult& result, int code, const std::string& message) {
  EXPECT_EQ(result.exit_code, code) << result.err;
  EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
}

size_t lines_of(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Validate, FindsTheSameBitsAndCountsTexts) {
  const Json json = json_of({kModel, "--on", serve(), "--texts", kSentences});
  EXPECT_EQ(json["texts"], lines_of(read_bytes(kSentences)));
  EXPECT_EQ(json["same_bits"], json["texts"]);
  EXPECT_EQ(json["damaged_frames"], 0);
  EXPECT_EQ(json["asked_again"], 0);
  EXPECT_EQ(json["unit"], "nanoseconds");
  EXPECT_GT(json["compute_per_text"], 0.0);
  EXPECT_LE(json["compute_seconds"].get<double>(), json["seconds"].get<double>());
  EXPECT_LE(json["arena_high_water"].get<size_t>(), json["arena_bytes"].get<size_t>());
  EXPECT_GT(json["arena_high_water"].get<size_t>(), json["arena_bytes"].get<size_t>() / 2);
}

TEST(Validate, CountsRightLabels) {
  const ScratchFolder scratch;
  const ToolResult labels = run_tool({"classify", kModel, "--json"}, read_bytes(kSentences));
  std::string texts;
  size_t count = 0;
  for (const std::string& line : labels.lines()) {
    const Json json = Json::parse(line);
    const std::string label = ++count == 1 ? "translate" : std::string(json["label"]);
    texts += std::string(json["text"]) + '\t' + label + '\n';
  }
  const Json json =
      json_of({kModel, "--on", serve(), "--labelled", scratch.write("labelled", texts)});
  const double right = static_cast<double>(count - 1) / static_cast<double>(count);
  EXPECT_DOUBLE_EQ(json["accuracy_device"], right);
  EXPECT_DOUBLE_EQ(json["accuracy_here"], right);
}

TEST(Validate, FaultsOnTheLineAreMadeGood) {
  const ScratchFolder scratch;
  std::string texts;
  const std::string sentences = read_bytes(kSentences);
  const int repeats = std::getenv("EMBERT_FULL") != nullptr ? 800 : 40;
  for (int i = 0; i < repeats; ++i) texts += sentences;
  const std::string file = scratch.write("texts", texts);
  const Json json = json_of(
      {kModel, "--on", faulty(7, 10), "--texts", file, "--timeout", "50", "--tries", "100"});
  EXPECT_EQ(json["texts"], lines_of(texts));
  EXPECT_EQ(json["same_bits"], json["texts"]);
  EXPECT_GT(json["asked_again"], 0);
  EXPECT_GT(json["damaged_frames"], 0);
  EXPECT_GT(json["stray_frames"], 0);
}

TEST(Validate, TakesTextsOfTheWholeBuffer) {
  const ScratchFolder scratch;
  const std::string longest(1 << 16, 'a');
  const Json json =
      json_of({kModel, "--on", serve(), "--texts", scratch.write("longest", longest)});
  EXPECT_EQ(json["same_bits"], 1);
  expect_error(
      validate({kModel, "--on", serve(), "--texts", scratch.write("longer", longest + 'a')}), 2,
      "the device takes 65536");
}

TEST(Validate, NamesAnotherModel) {
  const ScratchFolder scratch;
  const std::string other = scratch.path("other.emb");
  const ToolResult made =
      run_tool({"convert", kDemo + "/tiny-intent", "-o", other, "--calibration", kSentences});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  expect_error(validate({other, "--on", serve(), "--texts", kSentences}), 2,
               "the device runs one of");
}

TEST(Validate, NamesAnotherProtocol) {
  // Sends a refusal of protocol version 2, as a firmware of another version would.
  const ScratchFolder scratch;
  const std::string script = scratch.write(
      "other.py",
      "import sys\n"
      "def crc32c(data):\n"
      "  r = 0xffffffff\n"
      "  for b in data:\n"
      "    r ^= b\n"
      "    for _ in range(8): r = r >> 1 ^ (0x82f63b78 if r & 1 else 0)\n"
      "  return (r ^ 0xffffffff).to_bytes(4, 'little')\n"
      "body = bytes([2, 255, 1, 0, 2])\n"
      "out = bytearray()\n"
      "for group in (body + crc32c(body)).split(b'\\0'): out += bytes([len(group) + 1]) + group\n"
      "sys.stdout.buffer.write(b'\\0' + out + b'\\0'); sys.stdout.flush(); sys.stdin.read()\n");
  expect_error(
      validate({kModel, "--on", "exec:exec python3 '" + script + "'", "--texts", kSentences}), 2,
      "the device speaks protocol version 2, this tool version 1");
}

TEST(Validate, RefusesWhatIsNoDevice) {
  const std::vector<std::string> texts = {"--texts", kSentences, "--timeout", "20", "--tries", "3"};
  const auto on = [&](const std::string& address) {
    std::vector<std::string> arguments = {kModel, "--on", address};
    arguments.insert(arguments.end(), texts.begin(), texts.end());
    return validate(arguments);
  };
  expect_error(on("exec:true"), 2, "the device has gone");
  expect_error(on("exec:exec cat"), 2, "no answer to request 1");
  expect_error(on("exec:exec yes"), 2, "no answer to request 1");
  expect_error(on("exec:exec cat /dev/zero"), 2, "no answer to request 1");
  expect_error(on("exec:echo hello; echo out of order"), 2,
               "the device has gone; the last that it wrote: out of order");
  expect_error(on("exec:head -c 1000 /dev/zero | tr '\\0' x; echo end"), 2,
               "the device has gone; the last that it wrote: ..." + std::string(197, 'x') + "end");
  expect_error(on("exec:trap '' TERM; sleep 60"), 2,
               "no answer to request 1");  // although the program ignores TERM
  expect_error(on("serial:/dev/null"), 2, "Inappropriate ioctl");
  expect_error(on("serial:/no/such:9600"), 2, "No such file");
  expect_error(on("serial:/dev/null:1234"), 1, "baud \"1234\"");
  const ScratchFolder scratch;
  const std::string by_path = scratch.path("pci-0000:00:14.0");
  std::filesystem::create_symlink("/dev/null", by_path);
  expect_error(on("serial:" + by_path), 2, "Inappropriate ioctl");
  expect_error(on("serial:" + by_path + ":1234"), 1, "baud \"1234\"");
  expect_error(on("tcp:localhost:1"), 2, "tcp:localhost:1");
  expect_error(on("tcp:[::1]:1"), 2, "tcp:[::1]:1");
  expect_error(on("tcp:localhost:65537"), 1, "port \"65537\": expected 1 to 65535");
  expect_error(on("tcp:localhost:"), 1, "expected 1 to 65535");
  expect_error(on("usb:1"), 1, "expected exec:COMMAND");
  expect_error(on("exec:"), 1, "expected exec:COMMAND");
}

// The listener's queue is full, so a connection waits as if the board were off.
TEST(Validate, WaitsForAConnectionAsLongAsForAnAnswer) {
  const auto open_socket = [] { return socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0); };
  const int listener = open_socket();
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const of_any_kind = reinterpret_cast<sockaddr*>(&address);
  socklen_t bytes = sizeof(address);
  ASSERT_EQ(bind(listener, of_any_kind, bytes), 0);
  ASSERT_EQ(listen(listener, 0), 0);
  ASSERT_EQ(getsockname(listener, of_any_kind, &bytes), 0);
  std::vector<int> waiting(8);
  for (int& s : waiting) {
    s = open_socket();
    (void)connect(s, of_any_kind, bytes);
  }
  expect_error(validate({kModel, "--on", "tcp:127.0.0.1:" + std::to_string(ntohs(address.sin_port)),
                         "--texts", kSentences, "--timeout", "100"}),
               2, "Connection timed out");
  for (const int s : waiting) close(s);
  close(listener);
}

TEST(Validate, EndsTheProgramIfASignalEndsTheTool) {
  const ScratchFolder scratch;
  const std::string program = scratch.write("program.sh",
                                            "trap 'echo ended >\"$1\"; exit' TERM\n"
                                            "sleep 60 &\n"
                                            "wait\n");
  const std::string said = scratch.path("said");
  // The program that the shell of exec: starts, not the shell itself.
  const std::string command = "timeout -s KILL 3 '" + kTool + "' device validate '" + kModel +
                              "' --texts '" + kSentences + "' --on \"exec:sh '" + program + "' '" +
                              said + "' & wait\" 2>/dev/null";
  EXPECT_NE(std::system(command.c_str()), 0);
  for (int i = 0; i < 100 && !std::filesystem::exists(said); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_TRUE(std::filesystem::exists(said));
}

TEST(Validate, TextsWithoutAnAnswerAreNoSuccess) {
  expect_error(validate({kModel, "--on", serve("--tokens 1"), "--texts", kSentences}), 2,
               "12 of 12 texts have no answer, neither there nor here, the first in line 1: "
               "EMBERT_STATUS_BUFFER_TOO_SMALL");
}

TEST(Serve, RefusesAModelThatGivesOtherBits) {
  std::string blob = read_bytes(kModel);
  BlobHeader header;
  std::memcpy(&header, blob.data(), sizeof(header));
  BlobSection selftest = {};
  for (std::size_t i = 0; i < header.section_count && selftest.kind != kSectionSelftest; ++i) {
    std::memcpy(&selftest, blob.data() + sizeof(header) + i * sizeof(selftest), sizeof(selftest));
  }
  ASSERT_EQ(selftest.kind, kSectionSelftest);
  blob[selftest.offset] ^= 1;  // of the checksum
  seal_blob(reinterpret_cast<std::uint8_t*>(blob.data()), blob.size());
  const ScratchFolder scratch;
  expect_error(run_tool({"device", "serve", scratch.write("model.emb", blob)}), 3,
               "gives other bits here than where it was made");
}

TEST(Validate, RefusesBadTexts) {
  const ScratchFolder scratch;
  const auto with = [&](const std::string& bytes, bool labelled) {
    return validate({kModel, "--on", serve(), labelled ? "--labelled" : "--texts",
                     scratch.write("texts", bytes)});
  };
  expect_error(with("", false), 2, "has no text");
  expect_error(validate({kModel, "--on", serve()}), 1, "--texts FILE or --labelled FILE");
  expect_error(with("a\ttranslate\nb\n", true), 2, "line 2: expected text, a tab and a label");
  expect_error(with("a\tno such\n", true), 2, "line 1: the model has no label \"no such\"");
  expect_error(with("a\n" + std::string(1 << 17, 'x') + "\n", false), 2, "line 2: 131072 bytes");
  expect_error(validate({kModel, "--on", serve(), "--texts", scratch.path("none")}), 2,
               "cannot be opened");
  expect_error(validate({kModel, "--on", serve(), "--texts", kDemo}), 2, "is not a regular file");
  expect_error(validate({kModel, "--on", serve(), "--texts", "/dev/zero"}), 2,
               "/dev/zero: is not a regular file");
}

}  // namespace
}  // namespace embert::test
