// Control groups as Linux shows them, in folders made for it.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include <vouch/core/cgroup.hpp>

#include "temporary.hpp"

namespace vouch {
namespace {

class control_groups : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(folder_.path(name)).parent_path());
    folder_.file(name, text);
  }
  cgroup_limits limits(const std::string& memberships) const {
    write("memberships", memberships);
    return cgroup_limits(folder_.path("memberships"), folder_.path("."));
  }

 private:
  testing::temporary_folder folder_;
};

TEST_F(control_groups, of_version_2_bind_from_the_top_down) {
  write("pods/a/cpu.max", "250000 100000\n");
  write("pods/cpu.max", "max 100000\n");
  write("pods/a/memory.max", "max\n");
  write("pods/a/memory.current", "100\n");
  write("pods/memory.max", "5000\n");
  write("pods/memory.current", "2000\n");
  write("pods/memory.stat", "anon 900\ninactive_file 400\nactive_file 300\nslab 11\n");
  EXPECT_EQ(limits("0::/pods/a\n").processors(), 3);
  EXPECT_EQ(limits("0::/pods/a\n").memory_left(), 5000 - 2000 + 700);
  write("pods/cpu.max", "100000 100000\n");
  EXPECT_EQ(limits("0::/pods/a\n").processors(), 1);
  EXPECT_EQ(limits("0::/pods\n").processors(), 1);
}

// The container's own groups are the root that it sees; where it sees the names of outside, they are not there.
TEST_F(control_groups, of_containers_are_at_the_root) {
  write("cpu.max", "50000 100000\n");
  write("memory.max", "4000\n");
  write("memory.current", "5000\n");
  for (const char* memberships : {"0::/\n", "0::/docker/0123\n"}) {
    EXPECT_EQ(limits(memberships).processors(), 1) << memberships;
    EXPECT_EQ(limits(memberships).memory_left(), 0) << memberships;
  }
}

TEST_F(control_groups, of_version_1_have_a_folder_for_each_controller) {
  const std::string memberships = "9:name=systemd:/x\n4:memory:/job\n3:cpu,cpuacct:/job\n0::/\n";
  write("cpu/job/cpu.cfs_quota_us", "-1\n");
  write("cpu/job/cpu.cfs_period_us", "100000\n");
  write("memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  write("memory/job/memory.usage_in_bytes", "77\n");
  EXPECT_FALSE(limits(memberships).processors());
  EXPECT_FALSE(limits(memberships).memory_left());
  write("cpu/job/cpu.cfs_quota_us", "400000\n");
  write("memory/job/memory.limit_in_bytes", "1000\n");
  write("memory/job/memory.stat", "inactive_file 5\ntotal_inactive_file 20\ntotal_active_file 3\n");
  EXPECT_EQ(limits(memberships).processors(), 4);
  EXPECT_EQ(limits(memberships).memory_left(), 1000 - 77 + 23);
}

TEST_F(control_groups, that_say_nothing_bind_nothing) {
  EXPECT_FALSE(limits("").processors());
  EXPECT_FALSE(limits("nonsense\n::\n").memory_left());
  write("cpu.max", "1000 0\n");
  write("memory.max", "many\n");
  EXPECT_FALSE(limits("0::/\n").processors());
  EXPECT_FALSE(limits("0::/\n").memory_left());
  EXPECT_FALSE(cgroup_limits("/there/is/no/file", "/nor/folder").processors());
}

}  // namespace
}  // namespace vouch
