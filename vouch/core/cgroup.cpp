#include <vouch/core/cgroup.hpp>

#include <algorithm>
#include <fstream>
#include <string_view>
#include <utility>

namespace vouch {
namespace {

// The first number in a file; nothing where there is none, as in "max 100000".
std::optional<std::int64_t> number_in(const std::string& file) {
  std::ifstream in(file);
  std::int64_t number = 0;
  if (in >> number) return number;
  return {};
}

// The numbers behind these words in a file of lines of a word and a number, added up.
std::int64_t sum_of(const std::string& file, std::string_view first, std::string_view second) {
  std::ifstream in(file);
  std::int64_t sum = 0, number = 0;
  for (std::string word; in >> word >> number;)
    if (word == first || word == second) sum += number;
  return sum;
}

std::optional<std::int64_t> lesser(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b ? std::min(*a, *b) : a ? a : b;
}

// The least that `limit` finds in a folder and those above it, all of which bind. In a container the folder may be named
// as it is outside, and not be there.
template <class Limit>
std::optional<std::int64_t> least(const std::string& top, const std::string& folder, const Limit& limit) {
  std::optional<std::int64_t> found = limit(top);
  for (std::size_t end = folder.size(); end != folder.npos && end > 0; end = folder.rfind('/', end - 1))
    found = lesser(found, limit(top + folder.substr(0, end)));
  return found;
}

std::optional<std::int64_t> rounded_up(std::int64_t quota, std::optional<std::int64_t> period) {
  if (quota <= 0 || !period || *period <= 0) return {};
  return (quota + *period - 1) / *period;
}

std::optional<std::int64_t> processors_of_unified(const std::string& folder) {
  std::ifstream in(folder + "/cpu.max");
  std::int64_t quota = 0, period = 0;
  if (!(in >> quota >> period)) return {};
  return rounded_up(quota, period);
}

std::optional<std::int64_t> processors_of(const std::string& folder) {
  return rounded_up(number_in(folder + "/cpu.cfs_quota_us").value_or(-1),
                    number_in(folder + "/cpu.cfs_period_us"));
}

std::optional<std::int64_t> left(std::optional<std::int64_t> limit, std::optional<std::int64_t> taken,
                                 std::int64_t kept_files) {
  constexpr std::int64_t none = std::int64_t{1} << 60;  // how version 1 writes that there is no limit
  if (!limit || !taken || *limit >= none) return {};
  return std::max<std::int64_t>(0, *limit - *taken + kept_files);
}

std::optional<std::int64_t> memory_of_unified(const std::string& folder) {
  return left(number_in(folder + "/memory.max"), number_in(folder + "/memory.current"),
              sum_of(folder + "/memory.stat", "inactive_file", "active_file"));
}

std::optional<std::int64_t> memory_of(const std::string& folder) {
  return left(number_in(folder + "/memory.limit_in_bytes"), number_in(folder + "/memory.usage_in_bytes"),
              sum_of(folder + "/memory.stat", "total_inactive_file", "total_active_file"));
}

bool lists(std::string_view names, std::string_view name) {
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    if (names.substr(begin, end - begin) == name) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

cgroup_limits::cgroup_limits(const std::string& memberships, std::string root) : root_(std::move(root)) {
  std::ifstream in(memberships);
  for (std::string line; std::getline(in, line);) {  // number:controllers:/folder
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    std::string folder = line.substr(second + 1);
    if (folder == "/") folder.clear();
    if (controllers.empty()) unified_ = folder;
    if (lists(controllers, "cpu")) cpu_ = folder;
    if (lists(controllers, "memory")) memory_ = folder;
  }
}

std::optional<int> cgroup_limits::processors() const {
  const auto found =
      lesser(least(root_, unified_, processors_of_unified), least(root_ + "/cpu", cpu_, processors_of));
  if (!found) return {};
  return static_cast<int>(std::clamp<std::int64_t>(*found, 1, 1 << 20));
}

std::optional<std::int64_t> cgroup_limits::memory_left() const {
  return lesser(least(root_, unified_, memory_of_unified), least(root_ + "/memory", memory_, memory_of));
}

}  // namespace vouch
