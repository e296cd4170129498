// proved_solution [A.mtx] -- solves A x = (1, ..., 1) and proves how far every component of x is from the exact
// solution; without a file A is the 7-point Laplacian of a cube.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/error.hpp>
#include <vouch/generate/poisson.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/solve/direct/sparse_lu.hpp>
#include <vouch/sparse/structure.hpp>
#include <vouch/verify/error_bound.hpp>
#include <vouch/verify/prove.hpp>

namespace {

bool solve_and_prove(const char* path) {
  const vouch::device dev = vouch::device::cpu();
  const vouch::csr<double> A =
      path != nullptr ? vouch::read_csr(dev, path) : vouch::poisson_3d(dev, 12, 12, 12);
  const auto b = vouch::array<double>::from(dev, std::vector<double>(static_cast<std::size_t>(A.rows), 1.0));
  auto x = vouch::array<double>::zeros(dev, A.rows);
  const vouch::solve_report report = vouch::sparse_lu<double>(dev, A, b, x);
  std::printf("%s, ||b - Ax|| / ||b|| = %.2e\n", name(report.status), report.relative_true());
  if (!has_solution(report.status)) return false;

  // The proof that A is nonsingular, made once, serves any number of right-hand sides.
  std::string reason;
  const std::unique_ptr<vouch::certificate> proof =
      vouch::prove_nonsingular(dev, A, vouch::structure<double>(dev, A), {}, reason);
  if (proof == nullptr) {
    std::printf("nothing proved: %s\n", reason.c_str());
    return false;
  }
  const vouch::error_bound bound = vouch::bound_error(dev, A, *proof, b, x);
  std::printf("proved by %s: |x_i - x*_i| <= %.2e for every i, %d digits; %s\n", bound.method.c_str(),
              bound.max_absolute, bound.digits(), bound.reason.c_str());
  return bound.verified;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return solve_and_prove(count > 1 ? arguments[1] : nullptr) ? 0 : 1;
  } catch (const vouch::error& e) {
    std::fprintf(stderr, "%s\n%s\n", e.what(), e.hint().c_str());
    return 2;
  }
}
