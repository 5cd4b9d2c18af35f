// SPDX-License-Identifier: Apache-2.0
// An output file survives any failure while it is replaced.
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>
#include <vector>

#include "converter/convert_error.hpp"
#include "converter/export/replace_file.hpp"
#include "converter/files/temporary_file.hpp"

namespace embert::convert {
namespace {

namespace fs = std::filesystem;

class ReplaceFile : public testing::Test {
 protected:
  ReplaceFile()
      : folder_(fs::temp_directory_path() / ("embert_replace_" + std::to_string(getpid()))),
        path_(folder_ / "model.emb") {
    fs::create_directories(folder_);
  }
  ~ReplaceFile() override { fs::remove_all(folder_); }

  static std::vector<std::uint8_t> bytes(std::size_t size, std::uint8_t value) {
    return std::vector<std::uint8_t>(size, value);
  }
  std::vector<std::uint8_t> contents() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_, path_;
};

TEST_F(ReplaceFile, WritesAndReplaces) {
  replace_file(path_, bytes(3'000'000, 1));
  EXPECT_EQ(contents(), bytes(3'000'000, 1));
  fs::permissions(path_, fs::perms::owner_read | fs::perms::owner_write);
  replace_file(path_, bytes(10, 2));
  EXPECT_EQ(contents(), bytes(10, 2));
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(ReplaceFile, TwoFilesOrNone) {
  const fs::path report = folder_ / "report.json";
  const std::vector<std::uint8_t> old = bytes(5, 1), model = bytes(9, 2), page = bytes(7, 3);
  replace_file(path_, old);
  const OutputFile full[] = {{path_, model}, {"/dev/full", page}};
  EXPECT_THROW(replace_files(full), ConvertError);
  EXPECT_EQ(contents(), old);
  EXPECT_EQ(entries(), 1u);
  const OutputFile both[] = {{path_, model}, {report, page}};
  replace_files(both);
  EXPECT_EQ(contents(), model);
  EXPECT_EQ(fs::file_size(report), page.size());
  EXPECT_EQ(entries(), 2u);
}

// Where no lock can be had, the second file's sweep removes the first one. The first output then
// gets an error, not the second one's bytes.
TEST_F(ReplaceFile, AProcessUsesNoNameTwice) {
  TemporaryFile first(folder_);
  ASSERT_EQ(flock(first.descriptor(), LOCK_UN), 0);
  TemporaryFile second(folder_);
  EXPECT_NE(first.name(), second.name());
  EXPECT_EQ(first.sync(), 0);
  EXPECT_EQ(second.sync(), 0);
  EXPECT_EQ(first.rename_to(path_), ENOENT);
  EXPECT_EQ(second.rename_to(path_), 0);
}

// With more than one output the first waits while the others are written.
TEST_F(ReplaceFile, NoOtherProgramRemovesAFileBeforeItsRename) {
  TemporaryFile first(folder_);
  EXPECT_EQ(first.sync(), 0);
  const TemporaryFile sweeps(folder_);
  EXPECT_EQ(first.rename_to(path_), 0);
}

TEST_F(ReplaceFile, AProgramWithoutDestructorsLeavesNoTemporaryFile) {
  const TemporaryFile left(folder_);
  std::optional<TemporaryFile> removed(folder_);
  TemporaryFile renamed(folder_);
  removed.reset();
  EXPECT_EQ(renamed.rename_to(path_), 0);
  EXPECT_EQ(entries(), 2u);
  TemporaryFile::remove_all();
  EXPECT_EQ(entries(), 1u);
  EXPECT_TRUE(fs::exists(path_));
}

// Signals belong to the process, which may be another's.
TEST_F(ReplaceFile, SetsNoSignalHandlers) {
  constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGXFSZ};
  std::vector<void (*)(int)> before;
  for (const int signal : kSignals) before.push_back(std::signal(signal, SIG_DFL));
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int i = 0; i < 200; ++i) replace_file(path_, bytes(100'000, 1));
    done = true;
  });
  std::size_t handlers = 0;
  while (!done) {
    for (const int signal : kSignals) {
      struct sigaction now = {};
      sigaction(signal, nullptr, &now);
      if (now.sa_handler != SIG_DFL) ++handlers;
    }
  }
  writer.join();
  EXPECT_EQ(handlers, 0u);
  for (std::size_t i = 0; i < std::size(kSignals); ++i) std::signal(kSignals[i], before[i]);
}

TEST_F(ReplaceFile, LinkStaysALink) {
  replace_file(path_, bytes(5, 1));
  const fs::path link = folder_ / "link";
  fs::create_symlink("model.emb", link);
  replace_file(link, bytes(6, 2));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(contents(), bytes(6, 2));
}

TEST_F(ReplaceFile, DevicesAreWrittenTo) {
  replace_file("/dev/null", bytes(5, 1));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  if (fs::exists("/dev/full")) {
    EXPECT_THROW(replace_file("/dev/full", bytes(5, 1)), ConvertError);
  }
}

TEST_F(ReplaceFile, NoFolderOrADirectory) {
  for (const fs::path& bad : {folder_, folder_ / "none" / "x", fs::path(), folder_ / ""}) {
    EXPECT_THROW(check_output_path(bad), ConvertError) << bad;
    EXPECT_THROW(replace_file(bad, bytes(5, 1)), ConvertError) << bad;
  }
  EXPECT_EQ(entries(), 0u);
}

TEST_F(ReplaceFile, LongestName) {
  path_ = folder_ / std::string(255, 'n');
  replace_file(path_, bytes(5, 1));
  EXPECT_EQ(contents(), bytes(5, 1));
  EXPECT_THROW(check_output_path(folder_ / std::string(256, 'n')), ConvertError);
  EXPECT_EQ(entries(), 1u);
}

// As /dev/stdout of a program in a pipeline: the pipe has no name of its own.
TEST_F(ReplaceFile, APipeBehindALink) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string link = "/proc/self/fd/" + std::to_string(ends[1]);
  EXPECT_THROW(check_output_path(link), ConvertError);
  close(ends[0]);
  close(ends[1]);
}

// A process that is killed leaves its temporary file; the next run removes it, but not that of a
// process that still writes.
TEST_F(ReplaceFile, SweepsUpAfterKilledProcesses) {
  std::optional<TemporaryFile> held(folder_);
  ASSERT_GE(held->descriptor(), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    close(held->descriptor());
    const TemporaryFile left(folder_);
    if (left.descriptor() >= 0) raise(SIGKILL);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(entries(), 2u);
  replace_file(path_, bytes(5, 1));
  EXPECT_TRUE(fs::exists(held->name()));
  EXPECT_EQ(entries(), 2u);
  held.reset();
  EXPECT_EQ(entries(), 1u);
}

// A limit of the file size acts as a full disk: write() fails half-way.
TEST_F(ReplaceFile, FullDiskKeepsTheOldFile) {
  replace_file(path_, bytes(100, 7));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit fails
    const rlimit limit = {1'500'000, 1'500'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      replace_file(path_, bytes(4'000'000, 8));
    } catch (const ConvertError&) {
      _exit(42);
    }
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 42);
  EXPECT_EQ(contents(), bytes(100, 7));
  EXPECT_EQ(entries(), 1u);
}

// A process that only replaces the file is ended at many moments. The file always has one of the
// two contents, whole, and after the next run no other file is left.
TEST_F(ReplaceFile, SignalsLeaveAWholeFile) {
  const std::size_t size = 2'000'000;
  replace_file(path_, bytes(size, 0));
  for (int round = 0; round < 12; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (std::uint8_t value = 0;; value ^= 1) replace_file(path_, bytes(size, value));
    }
    usleep(static_cast<useconds_t>(2000 + round * 1700));
    kill(child, round % 2 == 0 ? SIGTERM : SIGINT);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << round;
    const std::vector<std::uint8_t> found = contents();
    ASSERT_EQ(found.size(), size);
    EXPECT_EQ(found, bytes(size, found[0]));
    replace_file(path_, found);
    EXPECT_EQ(entries(), 1u) << round;
  }
}

}  // namespace
}  // namespace embert::convert
