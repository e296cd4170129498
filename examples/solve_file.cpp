// solve_file A.mtx [x.txt] -- solves A x = (1, ..., 1) by conjugate gradients on the best device.
#include <cstdio>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/error.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/io/vectors.hpp>
#include <vouch/solve/cg.hpp>
#include <vouch/solve/precond/make.hpp>

namespace {

bool solve(const char* matrix_path, const char* solution_path) {
  const vouch::device cpu = vouch::device::cpu();
  const vouch::device dev = vouch::device::best();  // a GPU where there is one

  const auto A = vouch::read_csr(dev, matrix_path);
  const auto b = vouch::array<double>::from(dev, std::vector<double>(static_cast<std::size_t>(A.rows), 1.0));
  auto x = vouch::array<double>::zeros(dev, A.rows);  // the start, then the solution
  const auto M = vouch::make_preconditioner<double>(dev, A, "jacobi");

  const vouch::solve_report report = vouch::cg<double>(dev, A, b, x, {.rtol = 1e-8}, M.get());
  std::printf("%s, %s: %s after %lld iterations, ||b - Ax|| / ||b|| = %.2e (recomputed)\n", matrix_path,
              dev.name().c_str(), name(report.status), static_cast<long long>(report.iterations),
              report.relative_true());
  if (!goal_reached(report.status)) std::printf("%s\n", report.reason.c_str());
  if (solution_path != nullptr && has_solution(report.status))
    vouch::write_vectors(solution_path, x.to(cpu), x.size());
  return goal_reached(report.status);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2 || count > 3) {
    std::fprintf(stderr, "usage: solve_file A.mtx [x.txt]\n");
    return 2;
  }
  try {
    return solve(arguments[1], count == 3 ? arguments[2] : nullptr) ? 0 : 1;
  } catch (const vouch::error& e) {
    std::fprintf(stderr, "%s\n%s\n", e.what(), e.hint().c_str());
    return 2;
  }
}
