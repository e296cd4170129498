#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <vouch/band/band_residual.hpp>
#include <vouch/band/elimination.hpp>
#include <vouch/band/mixed.hpp>
#include <vouch/band/solve.hpp>
#include <vouch/core/error.hpp>

namespace vouch {
namespace {

using detail::band_residual_facts;
using detail::elimination_facts;
using method = tridiagonal_method;

void require_shapes(const batch_shape& A, const batch_shape& b, const batch_shape& x) {
  const auto text = [](const batch_shape& s) {
    return std::to_string(s.systems) + " of " + std::to_string(s.n) + " rows";
  };
  const bool same =
      A.n == b.n && b.n == x.n && b.systems == x.systems && (A.systems == b.systems || A.systems == 1);
  const bool alike =
      (A.offsets == nullptr) == (b.offsets == nullptr) && (b.offsets == nullptr) == (x.offsets == nullptr);
  if (!same || !alike)
    throw shape_error("tridiagonal solve: A is " + text(A) + ", b " + text(b) + ", x " + text(x));
  for (std::int64_t s = 0; b.offsets != nullptr && s < b.systems; ++s)
    if (A.rows(s) != b.rows(s) || x.rows(s) != b.rows(s))
      throw shape_error("tridiagonal solve: system " + std::to_string(s) + " has " + std::to_string(A.rows(s)) +
                        " rows in A, " + std::to_string(b.rows(s)) + " in b");
}

// One matrix for all right-hand sides is a batch that stands still.
template <real T>
tridiagonal_view<const T> spread(const tridiagonal_view<const T>& A, std::int64_t systems) {
  tridiagonal_view<const T> all = A;
  if (A.shape.systems == 1 && A.shape.offsets == nullptr) {
    all.shape.systems = systems;
    all.shape.system_stride = 0;
  }
  return all;
}

method choose(const batch_shape& b, bool periodic, double dominance, int threads, method asked) {
  if (asked != method::automatic) return asked;
  if (periodic || dominance < 1) return method::partition;
  const bool fills_the_machine = b.systems >= 4 * threads || b.n < detail::partition_least;
  return fills_the_machine ? method::thomas : method::partition;
}

// Where the rows of many short systems need interchanges, whole systems side by side do better than pieces.
template <real T>
bool side_by_side(const batch_shape& b, bool periodic) {
  return !periodic && b.systems >= 8 && b.n < 8 * detail::partition_least;
}

template <real T>
void eliminate_in_single(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                         const batch_view<T>& x, elimination_facts* facts) {
  if constexpr (sizeof(T) == sizeof(double)) detail::solve_in_single(dev, A, b, x, facts);
}

template <real T>
std::string eliminate(const device& dev, method how, const tridiagonal_view<const T>& A,
                      const batch_view<const T>& b, const batch_view<T>& x, elimination_facts* facts) {
  switch (how) {
    case method::thomas:
      detail::solve_thomas(dev, A, b, x, facts);
      return b.shape.systems > 1 ? "systems side by side in vectors" : "one sweep down, one up";
    case method::cyclic_reduction:
      detail::solve_cyclic_reduction(dev, A, b, x, facts);
      return "a system a thread";
    case method::pcr:
      detail::solve_pcr(dev, A, b, x, facts);
      return "a system a thread";
    default:
      break;
  }
  if (side_by_side<T>(b.shape, A.periodic)) {
    detail::solve_pivoted(dev, A, b, x, facts);
    return "systems side by side in vectors, rows change places";
  }
  detail::solve_partition(dev, A, b, x, facts);
  return "pieces side by side in vectors, rows change places";
}

// The systems' verdicts.
struct judgement {
  std::vector<band_residual_facts> residuals;
  std::vector<elimination_facts> eliminations;
  double rtol = 0, atol = 0, unit = 0;

  bool converged(std::size_t s) const {
    const double norm = residuals[s].residual.value();
    return norm <= std::max(rtol * residuals[s].rhs.value(), atol) && !(eliminations[s].broken && norm != 0);
  }
  // A backward error above that of elimination without growth is corrected once, whatever the tolerance.
  bool wants_correction(std::size_t s, bool first) const {
    return !converged(s) || (first && !eliminations[s].broken && residuals[s].backward_error() > 4 * unit);
  }
  std::vector<bool> to_correct(bool first) const {
    std::vector<bool> those(residuals.size());
    for (std::size_t s = 0; s < residuals.size(); ++s) those[s] = wants_correction(s, first);
    return those;
  }
  double relative(std::size_t s) const {
    const double norm = residuals[s].residual.value(), rhs = residuals[s].rhs.value();
    return norm == 0 ? 0 : rhs > 0 ? norm / rhs : std::numeric_limits<double>::infinity();
  }
  // The sum over systems of what is missed, to see whether a correction helped; NaN counts as everything.
  double distance() const {
    double worst = 0;
    for (std::size_t s = 0; s < residuals.size(); ++s)
      if (!converged(s)) worst = std::max(worst, std::isnan(relative(s)) ? 1e300 : relative(s));
    return worst;
  }
};

void report_systems(const judgement& found, tridiagonal_report& report) {
  double worst = -1;
  bool broken = false;
  for (std::size_t s = 0; s < found.residuals.size(); ++s) {
    const double relative = found.relative(s), rank = std::isnan(relative) ? 1e301 : relative;
    if (rank > worst) {
      worst = rank;
      report.worst_system = static_cast<std::int64_t>(s);
      report.true_residual = found.residuals[s].residual.value();
      report.rhs_norm = found.residuals[s].rhs.value();
    }
    const double error = found.residuals[s].backward_error();
    if (!(error <= report.backward_error)) report.backward_error = error;
    if (found.converged(s)) continue;
    ++report.systems_missed;
    if (report.first_missed.size() < 100) report.first_missed.push_back(static_cast<std::int64_t>(s));
    broken = broken || found.eliminations[s].broken || !std::isfinite(relative);
  }
  const bool many = found.residuals.size() > 1;
  const std::string which =
      many ? "system " + std::to_string(report.first_missed.empty() ? 0 : report.first_missed[0])
           : std::string("the matrix");
  if (report.systems_missed == 0) {
    report.status = solve_status::converged;
    report.reason = "the recomputed residual meets the tolerance";
  } else if (broken) {
    report.status = solve_status::breakdown;
    report.reason = which + (report.method == "partition" || report.method == "auto"
                                 ? " is singular to working precision"
                                 : " needs interchanges of rows or is singular");
  } else {
    report.status = solve_status::stagnated;
    report.reason = which + " keeps a residual above the tolerance";
  }
}

void report_growth(const judgement& found, method how, tridiagonal_report& report) {
  double largest = 0;
  for (const elimination_facts& f : found.eliminations) largest = std::max(largest, f.largest);
  const double of = how == method::partition ? 1.0 : report.matrix.largest;
  report.growth = of > 0 ? std::max(1.0, largest / of) : 1;
  constexpr double worrying = 1e4;
  if (report.growth > worrying && how != method::partition)
    report.warnings.push_back("coefficients grew by " + std::to_string(report.growth) +
                              " without interchanges of rows; partition keeps them small");
}

template <real T>
void add_correction(const device& dev, const batch_view<T>& x, const T* dx, const std::vector<bool>& those) {
#pragma omp parallel for num_threads(dev.threads()) schedule(static) if (x.shape.systems > 1)
  for (std::int64_t s = 0; s < x.shape.systems; ++s)
    if (those[static_cast<std::size_t>(s)])
      for (std::int64_t i = 0; i < x.shape.rows(s); ++i) x(s, i) += dx[x.shape.at(s, i)];
}

std::int64_t extent(const batch_shape& shape) {
  if (shape.offsets != nullptr) return shape.offsets[shape.systems];
  return shape.n == 0 || shape.systems == 0 ? 0 : shape.at(shape.systems - 1, shape.n - 1) + 1;
}

// Names the first element of a right-hand side that is no number.
template <real T>
void require_finite(const batch_view<const T>& b, const judgement& found) {
  for (std::size_t s = 0; s < found.residuals.size(); ++s) {
    if (std::isfinite(found.residuals[s].rhs_inf)) continue;
    const auto system = static_cast<std::int64_t>(s);
    std::int64_t i = 0;
    while (i + 1 < b.shape.rows(system) && std::isfinite(b(system, i))) ++i;
    throw value_error("tridiagonal solve: b[" + std::to_string(i) + "] of system " + std::to_string(s) +
                      " is " + (std::isnan(b(system, i)) ? "NaN" : "infinite"));
  }
}

template <real T>
void check_and_refine(const device& dev, method how, const tridiagonal_view<const T>& A,
                      const batch_view<const T>& b, const batch_view<T>& x, const tridiagonal_options& options,
                      judgement& found, tridiagonal_report& report) {
  array<T> r(device::cpu(1), extent(x.shape)), dx(device::cpu(1), extent(x.shape));
  const batch_view<T> correction{dx.data(), x.shape};
  std::vector<elimination_facts> again(found.eliminations.size());
  detail::band_residual<T>(dev, A, b, x, r.data(), found.residuals.data());
  require_finite(b, found);
  for (double before = found.distance(); report.refinements < options.max_refinements && before < 1e300;) {
    const std::vector<bool> those = found.to_correct(report.refinements == 0);
    if (std::find(those.begin(), those.end(), true) == those.end()) break;
    if (options.mixed)
      eliminate_in_single<T>(dev, A, {r.data(), x.shape}, correction, again.data());
    else
      eliminate<T>(dev, how, A, {r.data(), x.shape}, correction, again.data());
    add_correction(dev, x, dx.data(), those);
    ++report.refinements;
    detail::band_residual<T>(dev, A, b, x, r.data(), found.residuals.data());
    const double now = found.distance();
    if (!(now <= before / 2)) break;
    before = now;
  }
}

template <real T>
tridiagonal_report solve_cpu(const device& dev, const tridiagonal_view<const T>& A,
                             const batch_view<const T>& b, const batch_view<T>& x,
                             const tridiagonal_options& options) {
  tridiagonal_report report;
  const auto systems = static_cast<std::size_t>(b.shape.systems);
  if (options.check) report.matrix = examine(dev, A);
  method how =
      choose(b.shape, A.periodic, options.check ? report.matrix.dominance : 0, dev.threads(), options.method);
  if (A.periodic && how != method::partition)
    throw value_error(std::string("tridiagonal solve: ") + name(how) + " cannot do periodic systems",
                      "use partition");
  judgement found{std::vector<band_residual_facts>(systems), std::vector<elimination_facts>(systems),
                  options.rtol, options.atol, std::numeric_limits<T>::epsilon() / 2};
  if (options.rtol == 0) found.rtol = sizeof(T) == sizeof(double) ? 1e-8 : 1e-5;
  report.precision = options.mixed ? "mixed" : sizeof(T) == sizeof(double) ? "double" : "single";
  report.method = name(how);
  if (options.mixed) {
    report.method = name(how = method::partition);
    report.engine = "pieces side by side in vectors of single precision";
    eliminate_in_single(dev, A, b, x, found.eliminations.data());
  } else {
    report.engine = eliminate(dev, how, A, b, x, found.eliminations.data());
  }
  if (!options.check) {
    report.status = solve_status::stopped;
    report.reason = "the residual was not asked for";
    return report;
  }
  check_and_refine(dev, how, A, b, x, options, found, report);
  report_systems(found, report);
  report_growth(found, how, report);
  return report;
}

}  // namespace

const char* name(tridiagonal_method m) {
  static constexpr std::array names{"auto", "thomas", "cyclic-reduction", "pcr", "partition"};
  return names[static_cast<std::size_t>(m)];
}

double tridiagonal_report::relative_true() const {
  return true_residual == 0 ? 0
         : rhs_norm > 0     ? true_residual / rhs_norm
                            : std::numeric_limits<double>::infinity();
}

template <real T>
tridiagonal_report solve(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                         const batch_view<T>& x, const tridiagonal_options& options) {
  require_shapes(A.shape, b.shape, x.shape);
  if (options.mixed && sizeof(T) != sizeof(double))
    throw value_error("tridiagonal solve: mixed precision gives a double answer, b and x are single");
  return solve_cpu(dev, spread(A, b.shape.systems), b, x, options);
}

template tridiagonal_report solve(const device&, const tridiagonal_view<const float>&,
                                  const batch_view<const float>&, const batch_view<float>&,
                                  const tridiagonal_options&);
template tridiagonal_report solve(const device&, const tridiagonal_view<const double>&,
                                  const batch_view<const double>&, const batch_view<double>&,
                                  const tridiagonal_options&);

}  // namespace vouch
