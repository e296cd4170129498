#include <algorithm>
#include <cmath>
#include <limits>

#include <vouch/band/elimination.hpp>
#include <vouch/band/factored/factored_storage.hpp>
#include <vouch/core/ieee_environment.hpp>

namespace vouch::detail {
namespace {

template <real T>
using storage_of = typename factored_tridiagonal<T>::storage;

// One matrix, its unused entries as zeros, without the last unknown where that is bordered.
template <real T>
struct matrix_rows {
  tridiagonal_view<const T> A;
  std::int64_t s, n;
  T below(std::int64_t i) const { return i > 0 ? A.dl[A.shape.at(s, i)] : T{0}; }
  T diagonal(std::int64_t i) const { return A.d[A.shape.at(s, i)]; }
  T above(std::int64_t i) const { return i + 1 < n ? A.du[A.shape.at(s, i)] : T{0}; }
  double size(std::int64_t i) const {
    return std::max({std::fabs(double{below(i)}), std::fabs(double{diagonal(i)}), std::fabs(double{above(i)})});
  }
};

struct elimination {
  double growth = 1;
  bool broken = false;
};

// Row by row: what elimination makes of a row over what the row was.
void see(elimination& e, double made, double size) {
  if (!(made <= std::numeric_limits<double>::max())) e.growth = std::numeric_limits<double>::infinity();
  if (size > 0) e.growth = std::max(e.growth, made / size);
}

// stored rows are written; where there are fewer than n, elimination goes on until the factors stand still.
template <real T>
elimination eliminate(const matrix_rows<T>& rows, storage_of<T>& kept, std::int64_t stored) {
  elimination e;
  T up = 0;
  for (std::int64_t i = 0; i < stored; ++i) {
    const T a = rows.below(i), pivot = rows.diagonal(i) - a * up, inverse = T{1} / pivot;
    see(e, std::fabs(double{a} * double{up}) + std::fabs(double{pivot}), rows.size(i));
    e.broken = e.broken || !std::isfinite(inverse);
    up = rows.above(i) * inverse;
    const std::int64_t at = kept.shape.at(rows.s, i);
    kept.lower[at] = a * inverse;
    kept.inverse[at] = inverse;
    kept.upper[at] = up;
  }
  return e;
}

template <real T>
T balancing(double size) {
  int exponent = 0;
  std::frexp(size, &exponent);
  constexpr int most = std::numeric_limits<T>::max_exponent - 2;
  return size > 0 ? static_cast<T>(std::ldexp(1.0, std::clamp(-exponent, -most, most))) : T{1};
}

// The carried row p, q competes with the next one, each measured by the size of the row it was.
template <real T>
elimination eliminate_pivoted(const matrix_rows<T>& rows, storage_of<T>& kept) {
  elimination e;
  T p = rows.diagonal(0), q = rows.above(0), scale = balancing<T>(rows.size(0));
  for (std::int64_t i = 1; i < rows.n; ++i) {
    const T a = rows.below(i), d = rows.diagonal(i), c = rows.above(i), next = balancing<T>(rows.size(i));
    const bool swap = std::fabs(a * next) > std::fabs(p * scale);
    const T pivot = swap ? a : p, upper = swap ? d : q, after = swap ? c : T{0}, inverse = T{1} / pivot;
    const T multiplier = (swap ? p : a) * inverse;
    const std::int64_t at = kept.shape.at(rows.s, i - 1);
    kept.lower[at] = multiplier;
    kept.inverse[at] = inverse;
    kept.upper[at] = upper;
    kept.after[at] = after;
    kept.swapped[at] = swap;
    p = (swap ? q : d) - multiplier * upper;
    q = (swap ? T{0} : c) - multiplier * after;
    scale = swap ? scale : next;
    see(e, std::max(std::fabs(double{p}), std::fabs(double{q})) * scale, 1);
    e.broken = e.broken || !std::isfinite(inverse) || !std::isfinite(p);
  }
  const std::int64_t at = kept.shape.at(rows.s, rows.n - 1);
  kept.inverse[at] = T{1} / p;
  kept.upper[at] = kept.after[at] = kept.lower[at] = 0;
  kept.swapped[at] = 0;
  e.broken = e.broken || !std::isfinite(kept.inverse[at]);
  return e;
}

// Plain factors answer for the residual as well as interchanges do while rows grow no more than this.
constexpr double harmless_growth = 8;

// The number of rows after which plain factors of constant coefficients differ by no more than rounding.
template <real T>
std::int64_t settling(const matrix_rows<T>& rows) {
  constexpr std::int64_t patience = 8192;
  const T a = rows.A.dl[0], d = rows.A.d[0], c = rows.A.du[0];
  T up = c / d, before = 0;
  for (std::int64_t i = 1; i < std::min(rows.n, patience); ++i) {
    before = up;
    up = c * (T{1} / (d - a * up));
    if (!(std::fabs(up - before) > std::fabs(up) * std::numeric_limits<T>::epsilon())) return i + 1;
  }
  return rows.n;
}

template <real T>
void make_room(const tridiagonal_view<const T>& A, storage_of<T>& kept, std::int64_t stored) {
  const batch_shape& given = A.shape;
  const bool shared = given.offsets == nullptr && given.system_stride == 0;
  if (given.offsets != nullptr) {
    kept.offsets.assign(given.offsets, given.offsets + given.systems + 1);
    kept.shape = {given.n, given.systems, 1, 0, kept.offsets.data()};
  } else if (!shared && given.system_stride == 1 && given.systems > 1) {
    kept.shape = interleaved(stored, given.systems);
  } else {
    kept.shape = contiguous(stored, shared ? std::min<std::int64_t>(given.systems, 1) : given.systems);
  }
  const std::int64_t size = given.offsets != nullptr ? kept.offsets.back() : stored * kept.shape.systems;
  for (array<T>* a : {&kept.lower, &kept.inverse, &kept.upper}) *a = array<T>(device::cpu(1), size);
  if (kept.how != storage_of<T>::form::pivoted) return;
  kept.after = array<T>(device::cpu(1), size);
  kept.swapped = array<unsigned char>(device::cpu(1), size);
}

elimination worst_of(const std::vector<elimination>& each) {
  elimination all;
  for (const elimination& e : each) {
    all.growth = std::max(all.growth, e.growth);
    all.broken = all.broken || e.broken;
  }
  return all;
}

template <real T>
elimination eliminate_all(const device& dev, const tridiagonal_view<const T>& A, std::int64_t less,
                          storage_of<T>& kept, std::vector<elimination>& each) {
  const auto count = static_cast<std::int64_t>(each.size());
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static) if (count > 1)
  for (std::int64_t s = 0; s < count; ++s) {
    const matrix_rows<T> rows{A, s, A.shape.rows(s) - less};
    if (rows.n <= 0) continue;
    each[static_cast<std::size_t>(s)] = kept.how == storage_of<T>::form::pivoted
                                            ? eliminate_pivoted(rows, kept)
                                            : eliminate(rows, kept, std::min(kept.shape.n, rows.n));
  }
  return worst_of(each);
}

// Borders plain factors with the last unknown: B z = v, and 1 / (d - w z). False where that division fails.
template <real T>
bool add_border(const device& dev, const tridiagonal_view<const T>& A, storage_of<T>& kept,
                std::int64_t matrices) {
  const std::int64_t n = A.shape.n;
  kept.border = array<T>::zeros(device::cpu(1), std::max<std::int64_t>(n - 1, 0) * matrices);
  kept.corner = array<T>::zeros(device::cpu(1), 3 * matrices);
  const batch_view<T> z{kept.border.data(), {n - 1, matrices, 1, n - 1, nullptr}};
  bool regular = true;
  for (std::int64_t s = 0; s < matrices && n > 1; ++s) {
    z(s, 0) += A.dl[A.shape.at(s, 0)];
    z(s, n - 2) += A.du[A.shape.at(s, n - 2)];
  }
  if (n > 1) solve_factored_cpu<T>(dev, kept, false, z, z);
  for (std::int64_t s = 0; s < matrices; ++s) {
    const std::int64_t last = A.shape.at(s, n - 1);
    T* corner = kept.corner.data() + 3 * s;
    corner[0] = A.du[last];
    corner[1] = A.dl[last];
    const T schur =
        n > 1 ? A.d[last] - corner[0] * z(s, 0) - corner[1] * z(s, n - 2) : A.d[last] + corner[0] + corner[1];
    corner[2] = T{1} / schur;
    regular = regular && std::isfinite(corner[2]);
  }
  return regular;
}

// What plain factors promise.
template <real T>
void read_off(storage_of<T>& kept, const tridiagonal_facts& matrix) {
  kept.decay = decay_of(kept.view(), kept.rows, dropped<T>);
  kept.symmetric = matrix.symmetric;
  const auto within = [](T v) { return std::fabs(v) <= 1; };
  kept.bounded = std::all_of(kept.lower.begin(), kept.lower.end(), within) &&
                 std::all_of(kept.upper.begin(), kept.upper.end(), within);
}

// Keeps the matrices themselves, which solves will eliminate anew; tried here on right-hand sides of their
// size.
template <real T>
elimination keep_matrices(const device& dev, const tridiagonal_view<const T>& A, storage_of<T>& kept,
                          std::vector<elimination>& each) {
  kept.how = storage_of<T>::form::again;
  kept.periodic = A.periodic;
  kept.rows = A.shape.n;
  make_room(A, kept, kept.rows);
  for (array<T>* a : {&kept.after, &kept.border, &kept.corner}) *a = array<T>();
  kept.swapped = array<unsigned char>();
  array<T> b(device::cpu(1), kept.lower.size()), x(device::cpu(1), kept.lower.size());
  for (std::int64_t s = 0; s < kept.shape.systems; ++s) {
    const matrix_rows<T> rows{A, s, A.shape.rows(s)};
    double largest = 0;
    for (std::int64_t i = 0; i < rows.n; ++i) largest = std::max(largest, rows.size(i));
    for (std::int64_t i = 0; i < rows.n; ++i) {
      const std::int64_t from = A.shape.at(s, i), to = kept.shape.at(s, i);
      kept.lower[to] = A.dl[from];
      kept.inverse[to] = A.d[from];
      kept.upper[to] = A.du[from];
      b[to] = static_cast<T>(largest);
    }
  }
  std::vector<elimination_facts> facts(each.size());
  solve_partition<T>(dev, kept.matrices(), {b.data(), kept.shape}, {x.data(), kept.shape}, facts.data());
  for (std::size_t s = 0; s < each.size(); ++s) each[s] = {std::max(1.0, facts[s].largest), facts[s].broken};
  return worst_of(each);
}

}  // namespace

template <real T>
void factor(const device& dev, const tridiagonal_view<const T>& A, storage_of<T>& kept, factor_report& report) {
  using form = typename storage_of<T>::form;
  report.matrix = examine(dev, A);
  const bool shared = A.shape.offsets == nullptr && A.shape.system_stride == 0;
  const std::int64_t matrices = shared ? std::min<std::int64_t>(A.shape.systems, 1) : A.shape.systems;
  const std::int64_t less = A.periodic ? 1 : 0;  // the last unknown of a ring is bordered
  kept.rows = std::max<std::int64_t>(A.shape.n - less, 0);
  std::int64_t stored = kept.rows;
  if (shared && A.shape.row_stride == 0 && stored > 0) stored = settling<T>({A, 0, stored});
  std::vector<elimination> each(static_cast<std::size_t>(matrices));
  const bool dominant = report.matrix.dominance >= 1 || report.matrix.column_dominance >= 1;
  // Without its last unknown a ring that does not dominate may be singular, or nearly, though it is not. And
  // where sums of numbers overflow, or inverses, rows must be scaled to one size.
  bool factored = report.matrix.largest < static_cast<double>(std::numeric_limits<T>::max()) / 64 &&
                  (!A.periodic || (dominant && A.shape.offsets == nullptr));
  elimination all;
  if (factored) {
    make_room(A, kept, stored);
    all = eliminate_all(dev, A, less, kept, each);
    if (!A.periodic && (all.broken || (!dominant && !(all.growth <= harmless_growth)))) {
      kept.how = form::pivoted;
      make_room(A, kept, kept.rows);
      all = eliminate_all(dev, A, less, kept, each);
    }
    if (kept.how == form::plain) read_off<T>(kept, report.matrix);
    factored = !all.broken && (!A.periodic || add_border(dev, A, kept, matrices));
  }
  if (!factored) all = keep_matrices(dev, A, kept, each);
  report.interchanges = kept.how != form::plain;
  report.growth = all.growth;
  if (!all.broken) return;
  report.status = solve_status::breakdown;
  for (std::size_t s = 0; s < each.size() && report.broken_system < 0; ++s)
    if (each[s].broken) report.broken_system = static_cast<std::int64_t>(s);
  report.broken_system = std::max<std::int64_t>(report.broken_system, 0);
  report.reason = "singular to working precision";
  if (matrices > 1) report.reason = "matrix " + std::to_string(report.broken_system) + " is " + report.reason;
}

namespace {

// The least window of factors that always multiplies to at most bound; rows where some factor exceeds 1.
//
// A queue of two stacks has the product of the window without a division: `front` holds products of the older
// part from each of its rows to its end, `back` the product of the newer part.
template <real T>
std::int64_t window(const T* factors, const batch_shape& shape, std::int64_t s, std::int64_t rows,
                    double bound) {
  const std::int64_t stored = std::min(shape.n, rows);
  const bool repeats = shape.n < rows;
  constexpr std::int64_t patience = 16384;  // rows of the repeated factor that are tried
  const auto factor = [&](std::int64_t i) {
    return std::fabs(static_cast<double>(factors[shape.at(s, std::min(i, stored - 1))]));
  };
  std::vector<double> front;
  double back = 1;
  std::int64_t widest = 0, begin = 0, back_begin = 0;  // the rows begin to i multiply to more than bound
  const std::int64_t last = repeats ? std::min(rows, 2 * stored + patience) : rows;
  for (std::int64_t i = 0; i < last; ++i) {
    if (!(factor(i) <= 1)) return rows;
    back *= factor(i);
    while (begin <= i && (front.empty() ? 1.0 : front.back()) * back <= bound) {
      if (front.empty()) {
        double product = 1;
        for (std::int64_t k = i; k >= back_begin; --k) front.push_back(product *= factor(k));
        back = 1;
        back_begin = i + 1;
      }
      front.pop_back();
      ++begin;
    }
    widest = std::max(widest, i - begin + 2);
  }
  const bool known = begin > 0 && (!repeats || widest < patience / 2);
  return known ? std::min(widest, rows) : rows;
}

}  // namespace

template <real T>
std::int64_t decay_of(const factor_view<T>& factors, std::int64_t rows, double bound) {
  std::int64_t widest = 0;
  for (std::int64_t s = 0; s < factors.shape.systems; ++s) {
    const std::int64_t n = factors.shape.offsets != nullptr ? factors.shape.rows(s) : rows;
    if (n == 0) continue;
    for (const T* which : {factors.lower, factors.upper})
      widest = std::max(widest, window(which, factors.shape, s, n, bound));
    if (widest >= rows) return rows;
  }
  return std::min(widest, rows);
}

template void factor(const device&, const tridiagonal_view<const float>&, storage_of<float>&, factor_report&);
template void factor(const device&, const tridiagonal_view<const double>&, storage_of<double>&, factor_report&);
template std::int64_t decay_of(const factor_view<float>&, std::int64_t, double);
template std::int64_t decay_of(const factor_view<double>&, std::int64_t, double);

}  // namespace vouch::detail
