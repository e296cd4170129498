#include <vouch/text/nearest_name.hpp>

#include <algorithm>
#include <vector>

namespace vouch {
namespace {

// Optimal string alignment: three rows of the usual table, since a swap of neighbours looks two rows back.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_back(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], two_back[j - 2] + 1);
    }
    two_back.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view typed, std::span<const std::string_view> names) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, typed.size() / 3) + 1;
  for (const std::string_view name : names) {
    const bool is_start = typed.size() >= 2 && name.substr(0, typed.size()) == typed;
    const std::size_t d = is_start ? 1 : distance(typed, name);
    if (d < best_distance) {
      best = name;
      best_distance = d;
    }
  }
  return best;
}

}  // namespace vouch
