// Intervals: arrays of pairs lo, hi, which are vouch::interval<double> in memory.
#include <functional>

#include <vouch/dense/blas3.hpp>
#include <vouch/dense/rounded_sums.hpp>
#include <vouch/dense/small_systems.hpp>
#include <vouch/interval/elementary.hpp>
#include <vouch/interval/functions.hpp>
#include <vouch/interval/text.hpp>

#include "bindings.hpp"

namespace vouchnum {
namespace {

using set = vouch::interval<double>;
using pairs = nb::ndarray<const double, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
using points = nb::ndarray<const double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

vouch::array<set> read_sets(const pairs& p) {
  const auto n = static_cast<std::int64_t>(p.shape(0));
  vouch::array<set> all(vouch::device::cpu(1), n);
  for (std::int64_t i = 0; i < n; ++i) all[i] = set::unchecked(p.data()[2 * i], p.data()[2 * i + 1]);
  return all;
}

nb::object pairs_to_numpy(vouch::array<set>&& sets) {
  auto* const kept = new vouch::array<set>(std::move(sets));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<vouch::array<set>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, double>(reinterpret_cast<double*>(kept->data()),
                                                 {static_cast<std::size_t>(kept->size()), 2}, owner));
}

template <class Operation>
nb::object each(const pairs& x, const pairs& y, const Operation& operation) {
  if (x.shape(0) != y.shape(0)) throw vouch::shape_error("intervals: arrays of different lengths");
  const vouch::array<set> a = read_sets(x), b = read_sets(y);
  vouch::array<set> result(vouch::device::cpu(1), a.size());
  for (std::int64_t i = 0; i < a.size(); ++i) result[i] = operation(a[i], b[i]);
  return pairs_to_numpy(std::move(result));
}

nb::object binary(const std::string& name, pairs x, pairs y) {
  if (name == "add") return each(x, y, [](set a, set b) { return a + b; });
  if (name == "subtract") return each(x, y, [](set a, set b) { return a - b; });
  if (name == "multiply") return each(x, y, [](set a, set b) { return a * b; });
  if (name == "divide") return each(x, y, [](set a, set b) { return a / b; });
  if (name == "power") return each(x, y, [](set a, set b) { return vouch::pow(a, b); });
  if (name == "hull") return each(x, y, [](set a, set b) { return vouch::hull(a, b); });
  if (name == "intersection") return each(x, y, [](set a, set b) { return vouch::intersection(a, b); });
  throw vouch::value_error("intervals: there is no operation " + name);
}

nb::object unary(const std::string& name, pairs x) {
  using function = set (*)(set);
  static const std::pair<const char*, function> all[] = {
      {"sqrt", [](set a) { return vouch::sqrt(a); }},    {"square", [](set a) { return vouch::sqr(a); }},
      {"absolute", [](set a) { return vouch::abs(a); }}, {"exp", [](set a) { return vouch::exp(a); }},
      {"log", [](set a) { return vouch::log(a); }},      {"sin", [](set a) { return vouch::sin(a); }},
      {"cos", [](set a) { return vouch::cos(a); }},      {"tan", [](set a) { return vouch::tan(a); }},
      {"arctan", [](set a) { return vouch::atan(a); }},  {"arcsin", [](set a) { return vouch::asin(a); }},
      {"arccos", [](set a) { return vouch::acos(a); }},  {"sinh", [](set a) { return vouch::sinh(a); }},
      {"cosh", [](set a) { return vouch::cosh(a); }},    {"tanh", [](set a) { return vouch::tanh(a); }}};
  for (const auto& [known, f] : all)
    if (name == known) {
      vouch::array<set> a = read_sets(x);
      for (std::int64_t i = 0; i < a.size(); ++i) a[i] = f(a[i]);
      return pairs_to_numpy(std::move(a));
    }
  throw vouch::value_error("intervals: there is no function " + name);
}

nb::object sizes(const std::string& name, pairs x) {
  const vouch::array<set> a = read_sets(x);
  vouch::array<double> result(vouch::device::cpu(1), a.size());
  for (std::int64_t i = 0; i < a.size(); ++i)
    result[i] = name == "mid" ? vouch::mid(a[i]) : name == "rad" ? vouch::rad(a[i]) : vouch::wid(a[i]);
  return to_numpy(std::move(result));
}

nb::object parse(const std::vector<std::string>& texts) {
  vouch::array<set> all(vouch::device::cpu(1), static_cast<std::int64_t>(texts.size()));
  for (std::size_t i = 0; i < texts.size(); ++i)
    all[static_cast<std::int64_t>(i)] = vouch::parse_interval<double>(texts[i]);
  return pairs_to_numpy(std::move(all));
}

std::vector<std::string> texts(pairs x) {
  std::vector<std::string> all;
  const vouch::array<set> a = read_sets(x);
  for (std::int64_t i = 0; i < a.size(); ++i) all.push_back(vouch::interval_text(a[i]));
  return all;
}

// Entries column after column.
vouch::matrix<set> matrix_of(const pairs& p, std::int64_t rows, std::int64_t cols) {
  if (static_cast<std::int64_t>(p.shape(0)) != rows * cols)
    throw vouch::shape_error("intervals: not as many entries");
  vouch::matrix<set> A(vouch::device::cpu(1), rows, cols);
  for (std::int64_t k = 0; k < rows * cols; ++k)
    A.data()[k] = set::unchecked(p.data()[2 * k], p.data()[2 * k + 1]);
  return A;
}

nb::object entries_to_numpy(const vouch::matrix<set>& A) {
  return pairs_to_numpy(vouch::array<set>::from(vouch::device::cpu(1),
                                                {A.data(), static_cast<std::size_t>(A.rows() * A.cols())}));
}

nb::object matmul(pairs A, pairs B, std::int64_t m, std::int64_t k, std::int64_t n, const std::string& mode,
                  int threads) {
  const vouch::matrix<set> left = matrix_of(A, m, k), right = matrix_of(B, k, n);
  vouch::matrix<set> C(vouch::device::cpu(1), m, n);
  without_lock([&] {
    vouch::gemm<set, set, set>(cpu_of(threads), vouch::transpose::no, vouch::transpose::no, set(1), left.read(),
                               right.read(), set(0), C.all(),
                               mode == "tight"   ? vouch::gemm_mode::tight
                               : mode == "exact" ? vouch::gemm_mode::exact
                                                 : vouch::gemm_mode::fast);
    return true;
  });
  return entries_to_numpy(C);
}

nb::object matmul_points(points A, points B, const std::string& mode, int threads) {
  const auto view = [](const points& p) {
    const auto rows = static_cast<std::int64_t>(p.shape(0));
    return vouch::matrix_view<const double>{p.data(), rows, static_cast<std::int64_t>(p.shape(1)),
                                            std::max<std::int64_t>(1, rows)};
  };
  if (A.shape(1) != B.shape(0)) throw vouch::shape_error("matmul: shapes that do not fit");
  vouch::matrix<set> C(vouch::device::cpu(1), static_cast<std::int64_t>(A.shape(0)),
                       static_cast<std::int64_t>(B.shape(1)));
  without_lock([&] {
    vouch::gemm<double, double, set>(cpu_of(threads), vouch::transpose::no, vouch::transpose::no, set(1),
                                     view(A), view(B), set(0), C.all(),
                                     mode == "tight"   ? vouch::gemm_mode::tight
                                     : mode == "exact" ? vouch::gemm_mode::exact
                                                       : vouch::gemm_mode::fast);
    return true;
  });
  return entries_to_numpy(C);
}

nb::tuple solve(pairs A, pairs B, std::int64_t n, std::int64_t k, int threads) {
  const vouch::matrix<set> left = matrix_of(A, n, n), right = matrix_of(B, n, k);
  const auto found = without_lock(
      [&] { return vouch::enclose_solution<set, set>(cpu_of(threads), left.read(), right.read()); });
  return nb::make_tuple(vouch::name(found.result), entries_to_numpy(found.enclosure));
}

nb::tuple inverse(pairs A, std::int64_t n, int threads) {
  const vouch::matrix<set> matrix = matrix_of(A, n, n);
  const auto found = without_lock([&] { return vouch::enclose_inverse<set>(cpu_of(threads), matrix.read()); });
  return nb::make_tuple(vouch::name(found.result), entries_to_numpy(found.enclosure));
}

nb::tuple determinant(pairs A, std::int64_t n, int threads) {
  const vouch::matrix<set> matrix = matrix_of(A, n, n);
  const auto found =
      without_lock([&] { return vouch::enclose_determinant<set>(cpu_of(threads), matrix.read()); });
  return nb::make_tuple(vouch::name(found.result), found.enclosure.lo(), found.enclosure.hi());
}

nb::tuple three(const vouch::rounded<double>& r) { return nb::make_tuple(r.down, r.nearest, r.up); }

}  // namespace

void bind_intervals(nb::module_& m) {
  m.def("interval_binary", binary);
  m.def("interval_unary", unary);
  m.def("interval_sizes", sizes);
  m.def("interval_parse", parse);
  m.def("interval_texts", texts);
  m.def("interval_matmul", matmul);
  m.def("interval_matmul_points", matmul_points);
  m.def("interval_solve", solve);
  m.def("interval_inverse", inverse);
  m.def("interval_determinant", determinant);
  m.def("rounded_sum", [](vector_in<double> x, int threads) {
    return three(without_lock([&] { return vouch::rounded_sum<double>(cpu_of(threads), read(x)); }));
  });
  m.def("rounded_dot", [](vector_in<double> x, vector_in<double> y, int threads) {
    return three(without_lock([&] { return vouch::rounded_dot<double>(cpu_of(threads), read(x), read(y)); }));
  });
}

}  // namespace vouchnum
