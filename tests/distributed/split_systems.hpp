// tests/distributed/split_systems.hpp -- systems that several ranks share.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/distributed/row_matrix.hpp>
#include <vouch/generate/problems.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch::testing {

/// The text of the exception that work throws; "" where it throws none.
template <class E = error>
std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const E& e) {
    return e.what();
  }
  return "";
}

struct named_matrix {
  std::string name;
  csr<double> A;
};

/// From some rows to some thousand.
inline std::vector<named_matrix> shared_matrices() {
  const device cpu = device::cpu(1);
  const auto make = [&](const char* problem, std::int64_t n, const char* order = "natural") {
    problem_options options;
    options.nx = n;
    options.order = order;
    return generate_problem(cpu, problem, options);
  };
  std::vector<named_matrix> all;
  all.push_back({"seven points", make("poisson-3d", 22)});
  all.push_back({"jumping coefficients", make("diffusion-3d", 18)});
  all.push_back({"elasticity", make("elasticity-3d", 9)});
  all.push_back({"elements in random order", make("elements-3d", 17, "random")});
  all.push_back({"fewer rows than ranks of blocks", make("poisson-2d", 37)});
  all.push_back({"one row", make("poisson-1d", 1)});
  return all;
}

/// The entries that are this rank's share of a list of all.
inline std::vector<matrix_entry> share_of(const communicator& ranks, csr_view<const double> A) {
  std::vector<matrix_entry> entries;
  const std::int64_t begin = A.nonzeros * ranks.rank() / ranks.size(),
                     end = A.nonzeros * (ranks.rank() + 1) / ranks.size();
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (k >= begin && k < end) entries.push_back({static_cast<std::int32_t>(i), A.col[k], A.val[k]});
  return entries;
}

/// This rank's elements.
inline std::vector<double> part_of(const row_matrix& A, const std::vector<double>& whole) {
  return {whole.begin() + A.first_row(), whole.begin() + A.first_row() + A.rows()};
}

/// All elements, on every rank.
inline std::vector<double> whole_of(const row_matrix& A, const double* part) {
  return gather_all<double>(A.ranks(), {part, static_cast<std::size_t>(A.rows())});
}

inline const std::vector<int> numbers_of_ranks{1, 2, 3, 4, 7, 16};

}  // namespace vouch::testing
