#include "reduce_peers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <limits>
#include <memory>
#include <sstream>

#include <vouch/text/mapped_file.hpp>

#include "timing.hpp"

namespace vouch::bench {
namespace {

using answer = reduce_peer::answer;

// As the published program read its file.
std::optional<answer> by_stream(const std::string& path) {
  answer result{0, std::vector<double>(9, std::numeric_limits<double>::infinity())};
  result.seconds = seconds_of([&] {
    std::ifstream file(path);
    long count = 0;
    std::string stars;
    for (file >> count; count > 0 && file >> stars; --count)
      for (double& least : result.minimum) {
        long value = 0;
        file >> value;
        least = std::min(least, static_cast<double>(value));
      }
  });
  return result;
}

std::optional<answer> by_from_chars(const std::string& path) {
  std::array<long, 9> least;
  least.fill(std::numeric_limits<long>::max());
  answer result;
  result.seconds = seconds_of([&] {
    const input_file file(path);
    const mapped_file map(file);
    const char* p = std::find(map.begin(), map.end(), '\n');
    for (std::size_t e = 0; p < map.end();) {
      while (p < map.end() && (*p <= ' ' || *p == '*')) ++p;
      long value = 0;
      p = std::from_chars(p, map.end(), value).ptr;
      least[e] = std::min(least[e], value);
      e = e == 8 ? 0 : e + 1;
      while (p < map.end() && (*p <= ' ' || *p == '*')) ++p;
    }
  });
  result.minimum.assign(least.begin(), least.end());
  return result;
}

// What a command prints: seconds, where it measures itself, and the minima.
std::optional<answer> by_command(const std::string& command, bool prints_seconds) {
  std::string text;
  const double seconds = seconds_of([&] {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    char piece[256];
    while (pipe && std::fgets(piece, sizeof piece, pipe.get()) != nullptr) text += piece;
  });
  std::istringstream numbers(text);
  answer result{seconds, std::vector<double>(9)};
  if (prints_seconds) numbers >> result.seconds;
  for (double& least : result.minimum) numbers >> least;
  if (!numbers) return std::nullopt;
  return result;
}

std::optional<answer> by_awk(const std::string& path) {
  return by_command(
      "awk 'NR == 1 { next } $1 == \"***\" { r = 0; next } { for (j = 1; j <= 3; ++j) { k = 3 * r + j; if (!(k "
      "in m) "
      "|| $j < m[k]) m[k] = $j } ++r } END { for (k = 1; k <= 9; ++k) print m[k] }' '" +
          path + "' 2>/dev/null",
      false);
}

std::optional<answer> by_numpy(const std::string& path) {
  return by_command(
      "python3 -c \"import sys, time, numpy; t = time.perf_counter(); m = numpy.loadtxt(sys.argv[1], "
      "skiprows=1, "
      "comments='*').reshape(-1, 9).min(axis=0); print(time.perf_counter() - t, *m)\" '" +
          path + "' 2>/dev/null",
      true);
}

}  // namespace

const std::vector<reduce_peer>& reduce_peers() {
  static const std::vector<reduce_peer> all = {{"C++ stream reader", by_stream},
                                               {"std::from_chars, 1 thread", by_from_chars},
                                               {"awk", by_awk},
                                               {"NumPy loadtxt", by_numpy}};
  return all;
}

}  // namespace vouch::bench
