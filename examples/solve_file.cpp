// solve_file A.mtx [x.txt] -- solves A x = (1, ..., 1) by the method that suits A, on the device that does.
#include <cstdio>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/io/vectors.hpp>
#include <vouch/solve/solver.hpp>

namespace {

bool solve(const char* matrix_path, const char* solution_path) {
  const vouch::device cpu = vouch::device::cpu();
  const auto A = vouch::read_csr(cpu, matrix_path);
  const auto b = vouch::array<double>::from(cpu, std::vector<double>(static_cast<std::size_t>(A.rows), 1.0));
  auto x = vouch::array<double>::zeros(cpu, A.rows);  // the start, then the solution

  const vouch::solve_result result = vouch::solve(cpu, A, b, x);

  std::printf("%s, %s on %s (%s): %s, ||b - Ax|| / ||b|| = %.2e (recomputed)\n", matrix_path,
              result.method.c_str(), result.where.name().c_str(), result.method_reason.c_str(),
              name(result.status), result.relative_true());
  if (!goal_reached(result.status)) std::printf("%s\n", result.reason.c_str());
  if (solution_path != nullptr && has_solution(result.status)) vouch::write_vectors(solution_path, x, x.size());
  return goal_reached(result.status);
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
