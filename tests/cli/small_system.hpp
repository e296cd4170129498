// tests/cli/small_system.hpp -- small matrices as files, and the long double arithmetic that judges answers.
#pragma once
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include <vouch/core/random.hpp>

namespace vouch::testing {

struct small_system {
  struct entry {
    int row, col;  // from 0, lower triangle
    double value;
  };
  int n = 0;
  std::vector<entry> lower;

  /// The text of a symmetric coordinate file.
  std::string file() const {
    std::ostringstream text;
    text.precision(17);
    text << "%%MatrixMarket matrix coordinate real symmetric\n" << n << ' ' << n << ' ' << lower.size() << '\n';
    for (const entry& e : lower) text << e.row + 1 << ' ' << e.col + 1 << ' ' << e.value << '\n';
    return text.str();
  }

  /// A x.
  std::vector<long double> times(const std::vector<double>& x) const {
    std::vector<long double> y(static_cast<std::size_t>(n));
    for (const entry& e : lower) {
      const auto i = static_cast<std::size_t>(e.row), j = static_cast<std::size_t>(e.col);
      y[i] += static_cast<long double>(e.value) * x[j];
      if (i != j) y[j] += static_cast<long double>(e.value) * x[i];
    }
    return y;
  }

  /// ||b - A x|| / ||b||.
  double relative_residual(const std::vector<double>& b, const std::vector<double>& x) const {
    const std::vector<long double> y = times(x);
    long double rr = 0, bb = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      rr += (b[i] - y[i]) * (b[i] - y[i]);
      bb += static_cast<long double>(b[i]) * b[i];
    }
    return static_cast<double>(std::sqrt(rr / bb));
  }
};

/// Second differences with a varying coefficient: positive definite, its solutions no short numbers.
inline small_system chain(int n) {
  small_system system{n, {}};
  const auto weight = [](int i) { return 1 + random_unit(7, static_cast<std::uint64_t>(i)); };
  for (int i = 0; i < n; ++i) {
    if (i > 0) system.lower.push_back({i, i - 1, -weight(i)});
    system.lower.push_back({i, i, weight(i) + weight(i + 1)});
  }
  return system;
}

inline std::vector<double> ones(int n) { return std::vector<double>(static_cast<std::size_t>(n), 1.0); }

/// The numbers of a text, in order.
inline std::vector<double> numbers(const std::string& text) {
  std::vector<double> all;
  const char* p = text.c_str();
  for (char* end = nullptr;; p = end) {
    const double value = std::strtod(p, &end);
    if (end == p) return all;
    all.push_back(value);
  }
}

}  // namespace vouch::testing
