//===- OutputFileTest.cpp - Files that are whole or not there -------------===//

#include "FuseDialect/Engine/OutputFile.h"
#include "FuseDialect/Engine/EngineError.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace mlir::fuse;

namespace {

class OutputFileTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("fuse-output", directory));
    path = directory;
    sys::path::append(path, "file");
  }
  void TearDown() override { sys::fs::remove_directories(directory); }

  static Error put(StringRef path, StringRef text) {
    return writeFile(path, [&](raw_pwrite_stream &os) {
      os << text;
      return Error::success();
    });
  }
  static std::string read(StringRef path) {
    auto buffer = MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : "(none)";
  }
  int countFiles() {
    std::error_code code;
    int count = 0;
    for (sys::fs::directory_iterator it(directory, code), end; it != end;
         it.increment(code))
      ++count;
    return count;
  }

  SmallString<128> directory, path;
};

TEST_F(OutputFileTest, WritesAndReplaces) {
  ASSERT_FALSE(put(path, "one"));
  EXPECT_EQ(read(path), "one");
  ASSERT_FALSE(put(path, "two"));
  EXPECT_EQ(read(path), "two");
  EXPECT_EQ(countFiles(), 1);
}

TEST_F(OutputFileTest, AFailureLeavesWhatWasThere) {
  auto fail = [](raw_pwrite_stream &os) {
    os << "half";
    return makeError("no");
  };
  EXPECT_EQ(toString(writeFile(path, fail)), "no");
  EXPECT_EQ(countFiles(), 0);
  ASSERT_FALSE(put(path, "one"));
  EXPECT_EQ(toString(writeFile(path, fail)), "no");
  EXPECT_EQ(read(path), "one");
  EXPECT_EQ(countFiles(), 1);
}

TEST_F(OutputFileTest, KeepsASymbolicLink) {
  SmallString<128> link(directory);
  sys::path::append(link, "link");
  ASSERT_FALSE(put(path, "one"));
  ASSERT_FALSE(sys::fs::create_link(path, link));
  ASSERT_FALSE(put(link, "two"));
  EXPECT_TRUE(sys::fs::is_symlink_file(link));
  EXPECT_EQ(read(path), "two");
}

TEST_F(OutputFileTest, KeepsThePermissions) {
  ASSERT_FALSE(put(path, "one"));
  ASSERT_FALSE(sys::fs::setPermissions(path, sys::fs::owner_read |
                                                 sys::fs::owner_write));
  ASSERT_FALSE(put(path, "two"));
  EXPECT_EQ(*sys::fs::getPermissions(path),
            sys::fs::owner_read | sys::fs::owner_write);
}

TEST_F(OutputFileTest, FailuresOfTheSystemAreErrors) {
  EXPECT_EQ(toString(put(directory, "x")),
            ("cannot write '" + directory + "': Is a directory").str());
  EXPECT_EQ(toString(put("/nonexistent/file", "x")),
            "cannot write '/nonexistent/file': No such file or directory");
  // Every write to this device fails.
  EXPECT_EQ(toString(put("/dev/full", "x")),
            "cannot write '/dev/full': No space left on device");
}

TEST_F(OutputFileTest, DevicesAreWrittenDirectly) {
  ASSERT_FALSE(put("/dev/null", "x"));
  sys::fs::file_status status;
  ASSERT_FALSE(sys::fs::status("/dev/null", status));
  EXPECT_EQ(status.type(), sys::fs::file_type::character_file);
}

} // namespace
