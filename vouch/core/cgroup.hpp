// vouch/core/cgroup.hpp -- what a container or a job may use of the machine, by Linux's control groups; private.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace vouch {

/// Limits of the control groups that a process is in, of version 1 or 2; nothing where there is none.
class cgroup_limits {
 public:
  /// memberships: a file as /proc/self/cgroup; root: the folder where control groups are mounted.
  explicit cgroup_limits(const std::string& memberships = "/proc/self/cgroup",
                         std::string root = "/sys/fs/cgroup");

  /// Processors by the quota of time, rounded up, at least 1.
  std::optional<int> processors() const;
  /// Bytes that the process may still take, what the kernel keeps of files counted as free.
  std::optional<std::int64_t> memory_left() const;

 private:
  std::string root_;
  std::string unified_, cpu_, memory_;  // folders below the root, "" at the top
};

}  // namespace vouch
