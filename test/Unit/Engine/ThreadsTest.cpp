//===- ThreadsTest.cpp - Tests of the limits of control groups ------------===//

#include "FuseDialect/Engine/Threads.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mlir::fuse;

namespace {

class ThreadsTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("fuse-threads", root));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(root); }

  void write(llvm::StringRef name, llvm::StringRef text) {
    llvm::SmallString<256> path(root);
    llvm::sys::path::append(path, name);
    ASSERT_FALSE(
        llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path)));
    std::error_code code;
    llvm::raw_fd_ostream(path, code) << text;
    ASSERT_FALSE(code);
  }

  llvm::SmallString<256> root;
};

TEST_F(ThreadsTest, NoControlGroupsNoLimit) {
  EXPECT_EQ(getControlGroupThreads(root, 8), 8);
}

TEST_F(ThreadsTest, Version2QuotaOfAnyAncestor) {
  write("proc/self/cgroup", "0::/a/b\n");
  write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(getControlGroupThreads(root, 8), 8);
  write("sys/fs/cgroup/a/cpu.max", "250000 100000\n");
  EXPECT_EQ(getControlGroupThreads(root, 8), 2);
  EXPECT_EQ(getControlGroupThreads(root, 1), 1);
}

TEST_F(ThreadsTest, PathOfTheHostInAContainer) {
  write("proc/self/cgroup", "0::/host/path\n");
  write("sys/fs/cgroup/cpu.max", "300000 100000\n");
  EXPECT_EQ(getControlGroupThreads(root, 8), 3);
}

TEST_F(ThreadsTest, LessThanOneProcessorIsOneThread) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(getControlGroupThreads(root, 8), 1);
}

TEST_F(ThreadsTest, Version1) {
  write("proc/self/cgroup", "3:memory:/m\n2:cpu,cpuacct:/job\n");
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "400000\n");
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(getControlGroupThreads(root, 8), 4);
}

TEST_F(ThreadsTest, ThisProcessMayRunAThread) {
  EXPECT_GE(getDefaultThreads(), 1);
}

} // namespace
