#include <vouch/verify/batch_pass.hpp>

#include <algorithm>

#include <vouch/core/config.hpp>
#include <vouch/verify/tridiagonal_rows.hpp>

namespace vouch::detail {
namespace {

double larger_or_nan(double a, double b) { return b > a || b != b ? b : a; }

// Pieces of systems, so that one long system keeps all threads busy as well.
struct piece {
  std::int64_t system, begin, end;
};

std::vector<piece> pieces_of(const batch_shape& shape) {
  constexpr std::int64_t rows = 4096;
  std::vector<piece> all;
  for (std::int64_t s = 0; s < shape.systems; ++s)
    for (std::int64_t begin = 0; begin < shape.rows(s); begin += rows)
      all.push_back({s, begin, std::min(begin + rows, shape.rows(s))});
  return all;
}

}  // namespace

template <class Body>
void largest_of_systems(const device& dev, const batch_shape& host, const batch_shape& shape, const Body& body,
                        array<double>& most) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return largest_of_systems_cuda(dev, host, shape, body, most);
  const std::vector<piece> pieces = pieces_of(host);
  std::vector<double> partial(pieces.size());
#pragma omp parallel for num_threads(dev.threads()) schedule(static) if (pieces.size() > 1)
  for (std::size_t k = 0; k < pieces.size(); ++k)
    for (std::int64_t i = pieces[k].begin; i < pieces[k].end; ++i)
      partial[k] = larger_or_nan(partial[k], body.value(pieces[k].system, i));
  std::fill(most.begin(), most.end(), 0.0);
  for (std::size_t k = 0; k < pieces.size(); ++k)
    most[pieces[k].system] = larger_or_nan(most[pieces[k].system], partial[k]);
}

template <class Body>
void for_systems(const device& dev, std::int64_t count, const Body& body) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return for_systems_cuda(dev, count, body);
#pragma omp parallel for num_threads(dev.threads()) schedule(dynamic) if (count > 1)
  for (std::int64_t k = 0; k < count; ++k) body(k);
}

#define VOUCH_PASS(Body)                                                                               \
  template void largest_of_systems(const device&, const batch_shape&, const batch_shape&, const Body&, \
                                   array<double>&);
VOUCH_VERIFY_BATCH_PASSES(VOUCH_PASS)
#undef VOUCH_PASS
template void for_systems(const device&, std::int64_t, const tridiagonal_lu_body&);

}  // namespace vouch::detail
