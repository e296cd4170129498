
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/solve/loop/spd_check.hpp>

namespace vouch {
namespace {

template <real T>
structure_facts facts_of(const device& dev, csr_view<const T> A) {
  if (!dev.is_cuda()) return structure(dev, A);
  const device host = device::cpu();
  const csr<T> copied = copy(host, dev, A);
  return structure<T>(host, copied);
}

}  // namespace

std::string not_symmetric_reason(const structure_facts& facts) {
  if (!facts.square)
    return string_printf("the matrix is %lld by %lld, not square", static_cast<long long>(facts.rows),
                         static_cast<long long>(facts.cols));
  if (!facts.symmetric && facts.first_unsymmetric) {
    const unsymmetric_entry& e = *facts.first_unsymmetric;
    const auto row = static_cast<long long>(e.row + 1), col = static_cast<long long>(e.col + 1);
    return string_printf("the matrix is not symmetric: entry (%lld, %lld) is %.9g, entry (%lld, %lld) is %.9g",
                         row, col, e.value, col, row, e.mirrored);
  }
  return {};
}

std::string not_spd_reason(const structure_facts& facts) {
  if (std::string reason = not_symmetric_reason(facts); !reason.empty()) return reason;
  if (facts.first_zero_diagonal >= 0 && facts.first_zero_diagonal == facts.first_nonpositive_diagonal)
    return string_printf("the diagonal entry of row %lld is zero: the matrix is not positive definite",
                         static_cast<long long>(facts.first_zero_diagonal + 1));
  if (facts.first_nonpositive_diagonal >= 0)
    return string_printf(
        "the diagonal entry of row %lld is not positive: the matrix is not positive definite%s",
        static_cast<long long>(facts.first_nonpositive_diagonal + 1),
        facts.diagonal_negative ? " (all are negative: negate the matrix and the right-hand side)" : "");
  return {};
}

template <real T>
void check_spd(const device& dev, csr_view<const T> A) {
  const ieee_environment here;
  const std::string reason = not_spd_reason(facts_of(dev, A));
  if (!reason.empty()) throw value_error("conjugate gradients cannot solve this system: " + reason);
}

template <real T>
void check_symmetric(const device& dev, csr_view<const T> A) {
  const ieee_environment here;
  const std::string reason = not_symmetric_reason(facts_of(dev, A));
  if (!reason.empty()) throw value_error("MINRES cannot solve this system: " + reason);
}

template VOUCH_PUBLIC void check_symmetric(const device&, csr_view<const float>);
template VOUCH_PUBLIC void check_symmetric(const device&, csr_view<const double>);
template VOUCH_PUBLIC void check_spd(const device&, csr_view<const float>);
template VOUCH_PUBLIC void check_spd(const device&, csr_view<const double>);

}  // namespace vouch
