// convert_matrix IN.mtx[.gz] OUT.mtx -- reads a Matrix Market file, says what it holds, and writes it again in
// reverse Cuthill-McKee order: only the lower triangle where it is symmetric.
#include <cstdio>

#include <vouch/core/device.hpp>
#include <vouch/core/error.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/sparse/ordering.hpp>
#include <vouch/sparse/structure.hpp>

namespace {

void convert(const char* from, const char* to) {
  const vouch::device cpu = vouch::device::cpu();
  const auto A = vouch::read_csr(cpu, from);
  const vouch::structure_facts facts = vouch::structure<double>(cpu, A);
  std::printf("%s: %lld by %lld, %lld entries, bandwidth %lld, %s\n", from, static_cast<long long>(A.rows),
              static_cast<long long>(A.cols), static_cast<long long>(A.nonzeros()),
              static_cast<long long>(facts.bandwidth()), facts.symmetric ? "symmetric" : "not symmetric");

  const auto order = vouch::reverse_cuthill_mckee<double>(cpu, A);
  const auto B = vouch::permute<double>(cpu, A, order);
  vouch::write_matrix_market(to, B, facts.symmetric ? vouch::symmetry::symmetric : vouch::symmetry::general);
  std::printf("%s: bandwidth %lld\n", to, static_cast<long long>(vouch::structure<double>(cpu, B).bandwidth()));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: convert_matrix IN.mtx OUT.mtx\n");
    return 2;
  }
  try {
    convert(arguments[1], arguments[2]);
    return 0;
  } catch (const vouch::error& e) {
    std::fprintf(stderr, "%s\n%s\n", e.what(), e.hint().c_str());
    return 2;
  }
}
