// Generates, writes, reads and solves a system through the installed package; any failure is the exit code.
#include <cstdio>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/error.hpp>
#include <vouch/generate/poisson.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/sparse/spmv.hpp>

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const vouch::device dev = vouch::device::best();
  const vouch::device cpu = vouch::device::cpu();
  std::printf("vouch %s, %s CUDA, on %s\n", vouch::version, vouch::built_with_cuda ? "with" : "without",
              dev.kind());

  vouch::write_matrix_market(arguments[1], vouch::poisson_2d(cpu, 20, 30), vouch::symmetry::symmetric);
  const auto A = vouch::read_csr(cpu, arguments[1]).to(dev);
  if (A.rows != 600 || A.nonzeros() != 5 * 600 - 2 * (20 + 30)) return 1;

  // b = A * ones, so that every element of the solution is 1.
  const auto ones = vouch::array<double>::from(dev, std::vector<double>(600, 1.0));
  auto b = vouch::array<double>::zeros(dev, 600);
  vouch::spmv<double>(dev, 1.0, A, ones, 0.0, b);
  auto x = vouch::array<double>::zeros(dev, 600);
  const vouch::solve_report report = vouch::cg<double>(dev, A, b, x);
  if (report.status != vouch::solve_status::converged) return 1;
  for (const double element : x.to_vector())
    if (!(element > 1 - 1e-5 && element < 1 + 1e-5)) return 1;

  // An exception of the library is caught as its own type across the library's border.
  try {
    vouch::read_csr(cpu, "no such file.mtx");
  } catch (const vouch::file_error& e) {
    return e.what()[0] == '\0' ? 1 : 0;
  }
  return 1;
}
