#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

#include <temporary.hpp>
#include <vouch/core/error.hpp>
#include <vouch/text/file.hpp>

namespace vouch {
namespace {

using testing::content_of;
using testing::gzipped;
using testing::temporary_folder;

std::string read_all(input_file& file, std::size_t piece = 1000) {
  std::string text;
  std::string some(piece, '\0');
  while (const std::size_t got = file.read(some.data(), piece)) text.append(some, 0, got);
  return text;
}

std::string read_all(const std::string& path) {
  input_file file(path);
  return read_all(file);
}

std::string long_text() {
  std::string text;
  for (int k = 0; k < 40000; ++k) text += std::to_string(k * 7919 % 100003) + (k % 10 ? " " : "\n");
  return text;
}

template <class Error>
std::string message(const std::string& path) {
  try {
    read_all(path);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(InputFile, ReadsARegularFileInOrderAndAtOffsets) {
  temporary_folder folder;
  const std::string text = long_text();
  input_file file(folder.file("a", text));
  EXPECT_TRUE(file.random_access());
  EXPECT_EQ(file.most_bytes(), static_cast<std::int64_t>(text.size()));
  EXPECT_EQ(file.peek(10), text.substr(0, 10));
  char some[100];
  ASSERT_EQ(file.read_at(5000, some, 100), 100u);
  EXPECT_EQ(std::string(some, 100), text.substr(5000, 100));
  EXPECT_EQ(file.read_at(static_cast<std::int64_t>(text.size()) - 3, some, 100), 3u);
  EXPECT_EQ(file.peek(200), text.substr(0, 200));
  EXPECT_EQ(read_all(file), text);
  EXPECT_EQ(file.read(some, 100), 0u);
}

TEST(InputFile, ReadsGzipWhateverItsName) {
  temporary_folder folder;
  const std::string text = long_text();
  input_file file(folder.file("a.mtx", gzipped(text)));
  EXPECT_FALSE(file.random_access());
  EXPECT_GE(file.most_bytes(), static_cast<std::int64_t>(text.size()));
  EXPECT_EQ(file.peek(4), text.substr(0, 4));
  EXPECT_EQ(read_all(file), text);
}

TEST(InputFile, BoundsTheBestCompression) {
  temporary_folder folder;
  const std::string zeros(50'000'000, '\0');
  EXPECT_GE(input_file(folder.file("a", gzipped(zeros))).most_bytes(), 50'000'000);
}

TEST(InputFile, ReadsConcatenatedMembers) {
  temporary_folder folder;
  EXPECT_EQ(read_all(folder.file("a", gzipped("one ") + gzipped("") + gzipped("two"))), "one two");
  EXPECT_EQ(read_all(folder.file("b", gzipped(""))), "");
}

TEST(InputFile, ReadsGzipThatIsPaddedWithZeros) {
  temporary_folder folder;
  const std::string text = long_text(), packed = gzipped(text);
  for (const std::size_t zeros : {1, 511, 200'000}) {
    EXPECT_EQ(read_all(folder.file("padded", packed + std::string(zeros, '\0'))), text) << zeros;
    const std::string path = folder.file("more", packed + std::string(zeros, '\0') + packed);
    EXPECT_EQ(message<parse_error>(path), path + ": bytes follow the zeros behind the compressed data")
        << zeros;
  }
}

TEST(InputFile, RefusesBrokenGzip) {
  temporary_folder folder;
  const std::string packed = gzipped(long_text());
  for (const std::size_t size : {std::size_t{2}, std::size_t{9}, packed.size() / 2, packed.size() - 1}) {
    const std::string path = folder.file("cut", packed.substr(0, size));
    EXPECT_EQ(message<parse_error>(path), path + ": the compressed data end early") << size;
  }
  std::string flipped = packed;
  flipped[packed.size() - 6] ^= 1;  // in the checksum
  EXPECT_EQ(message<parse_error>(folder.file("crc", flipped)), folder.path("crc") + ": broken gzip data");
  EXPECT_EQ(message<parse_error>(folder.file("tail", packed + "garbage")),
            folder.path("tail") + ": broken gzip data");
}

TEST(InputFile, ReadsAPipe) {
  temporary_folder folder;
  const std::string text = long_text();
  for (const std::string& sent : {text, gzipped(text), std::string("x")}) {
    const std::string path = folder.path("pipe" + std::to_string(sent.size()));
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(path, std::ios::binary) << sent; });
    const std::string got = read_all(path);
    writer.join();
    EXPECT_EQ(got, sent == "x" ? "x" : text);
  }
}

TEST(InputFile, SaysWhatTheSystemRefused) {
  temporary_folder folder;
  EXPECT_EQ(message<file_error>(folder.path("none")),
            "cannot read '" + folder.path("none") + "': No such file or directory");
  EXPECT_EQ(message<file_error>(folder.path("")), "cannot read '" + folder.path("") + "': Is a directory");
  EXPECT_EQ(read_all(folder.file("empty", "")), "");
  const std::string locked = folder.file("locked", "x");
  chmod(locked.c_str(), 0);
  if (geteuid() == 0) return;  // root may read everything
  EXPECT_EQ(message<file_error>(locked), "cannot read '" + locked + "': Permission denied");
}

TEST(AtomicFile, AppearsWhenCommitted) {
  temporary_folder folder;
  const std::string text = long_text();
  {
    atomic_file file(folder.path("a"));
    for (std::size_t k = 0; k < text.size(); k += 777) file.write(std::string_view(text).substr(k, 777));
    EXPECT_FALSE(std::filesystem::exists(folder.path("a")));
    EXPECT_EQ(folder.files(), 1u);
    file.commit();
    EXPECT_EQ(content_of(folder.path("a")), text);
  }
  EXPECT_EQ(folder.files(), 1u);
}

TEST(AtomicFile, IsOnTheDiskBehindACommitToIt) {
  const temporary_folder folder;
  atomic_file file(folder.path("a"));
  file.write("text");
  EXPECT_EQ(content_of(folder.path("a")), "");
  file.commit_to_disk();
  EXPECT_EQ(content_of(folder.path("a")), "text");
  EXPECT_EQ(folder.files(), 1u);
  atomic_file pipe("/dev/null");
  pipe.write("text");
  pipe.commit_to_disk();
}

TEST(AtomicFile, LeavesNothingWithoutCommit) {
  temporary_folder folder;
  folder.file("old", "kept");
  {
    atomic_file file(folder.path("old"));
    file.write("new");
    atomic_file other(folder.path("other"));
    other.write("new");
  }
  EXPECT_EQ(content_of(folder.path("old")), "kept");
  EXPECT_EQ(folder.files(), 1u);
}

TEST(AtomicFile, ReplacesAFileAndKeepsItsMode) {
  temporary_folder folder;
  const std::string path = folder.file("old", "old");
  chmod(path.c_str(), 0640);
  atomic_file file(path);
  file.write("new");
  file.commit();
  struct stat facts {};
  stat(path.c_str(), &facts);
  EXPECT_EQ(facts.st_mode & 0777, 0640u);
  EXPECT_EQ(content_of(path), "new");
}

TEST(AtomicFile, GivesNewFilesTheUsualMode) {
  temporary_folder folder;
  const mode_t mask = umask(027);
  atomic_file file(folder.path("a"));
  file.commit();
  umask(mask);
  struct stat facts {};
  stat(folder.path("a").c_str(), &facts);
  EXPECT_EQ(facts.st_mode & 0777, 0640u);
}

TEST(AtomicFile, WritesThroughALink) {
  temporary_folder folder;
  folder.file("target", "old");
  std::filesystem::create_symlink("target", folder.path("link"));
  atomic_file file(folder.path("link"));
  file.write("new");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
  EXPECT_EQ(content_of(folder.path("target")), "new");
}

TEST(AtomicFile, WritesThroughALinkToNothing) {
  temporary_folder folder;
  std::filesystem::create_directory(folder.path("sub"));
  std::filesystem::create_symlink("sub/one", folder.path("link"));
  std::filesystem::create_symlink("two", folder.path("sub/one"));
  EXPECT_EQ(file_behind(folder.path("link")), std::filesystem::canonical(folder.path("sub")).string() + "/two");
  atomic_file file(folder.path("link"));
  file.write("new");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("sub/one")));
  EXPECT_EQ(content_of(folder.path("sub/two")), "new");
  std::filesystem::create_symlink("round", folder.path("round"));
  EXPECT_THROW(atomic_file(folder.path("round")), file_error);
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("round")));
}

TEST(AtomicFile, WritesDevicesDirectly) {
  atomic_file null("/dev/null");
  null.write("x");
  null.commit();
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  atomic_file full("/dev/full");
  full.write("x");
  EXPECT_THROW(full.commit(), file_error);
}

TEST(AtomicFile, SaysWhatTheSystemRefused) {
  temporary_folder folder;
  const auto refused = [](const std::string& path) -> std::string {
    try {
      atomic_file file(path);
    } catch (const file_error& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(refused(folder.path("")), "cannot write '" + folder.path("") + "': Is a directory");
  EXPECT_EQ(refused(folder.path("none/a")),
            "cannot write '" + folder.path("none/a") + "': No such file or directory");
  EXPECT_EQ(refused(""), "cannot write '': No such file or directory");
  EXPECT_EQ(folder.files(), 0u);
}

TEST(AtomicFiles, AppearTogether) {
  temporary_folder folder;
  atomic_files files;
  for (const char* name : {"a", "b"}) {
    atomic_file& file = files.open(folder.path(name));
    file.write(name);
    file.finish();
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path("a")));
  EXPECT_FALSE(std::filesystem::exists(folder.path("b")));
  files.commit();
  EXPECT_EQ(content_of(folder.path("a")), "a");
  EXPECT_EQ(content_of(folder.path("b")), "b");
  EXPECT_EQ(folder.files(), 2u);
}

// The last of them cannot be finished, or its name was taken in the meantime.
TEST(AtomicFiles, LeaveNothingWhereOneFails) {
  temporary_folder folder;
  {
    folder.file("old", "kept");
    atomic_files files;
    files.open(folder.path("a")).write("new");
    files.open(folder.path("old")).write("new");
    files.open("/dev/full").write("new");
    EXPECT_THROW(files.commit(), file_error);
  }
  EXPECT_EQ(folder.files(), 1u);
  EXPECT_EQ(content_of(folder.path("old")), "kept");
  {
    atomic_files files;
    files.open(folder.path("a")).write("new");
    files.open(folder.path("b")).write("new");
    std::filesystem::create_directory(folder.path("b"));
    EXPECT_THROW(files.commit(), file_error);
  }
  EXPECT_EQ(folder.files(), 2u);  // "old" and the directory
}

TEST(AtomicFile, IsRemovedBySignalHandlers) {
  temporary_folder folder;
  atomic_file file(folder.path("a"));
  file.write("x");
  EXPECT_EQ(folder.files(), 1u);
  remove_unfinished_files();
  EXPECT_EQ(folder.files(), 0u);
  EXPECT_THROW(file.commit(), file_error);
}

TEST(file_part, fills_what_the_file_skips) {
  const temporary_folder folder;
  const std::string path = folder.path("shared"), middle = long_text();
  {
    atomic_file file(path);
    file.write("begin ");
    file_part other(file.unfinished_name());
    other.write_at(6 + 5, std::string_view(middle).substr(5));
    file.skip(static_cast<std::int64_t>(middle.size()));
    other.write_at(6, std::string_view(middle).substr(0, 5));
    file.write(" end");
    other.to_disk();
    EXPECT_EQ(folder.files(), 1u);
    file.commit_to_disk();
  }
  EXPECT_EQ(content_of(path), "begin " + middle + " end");
  EXPECT_THROW(file_part(folder.path("missing")), file_error);
  EXPECT_EQ(atomic_file("/dev/null").unfinished_name(), "");
}

}  // namespace
}  // namespace vouch
