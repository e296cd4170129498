#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include <vouch/band/band_rows.hpp>
#include <vouch/band/engine.hpp>
#include <vouch/band/gpu/check_cuda.hpp>
#include <vouch/band/solve.hpp>
#include <vouch/band/verdict.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/string_printf.hpp>

namespace vouch::detail {

void report_systems(const judgement& found, tridiagonal_report& report) {
  double worst = -1;
  bool broken = false;
  for (std::size_t s = 0; s < found.residuals.size(); ++s) {
    const double relative = found.relative(s), rank = std::isnan(relative) ? 1e301 : relative;
    if (rank > worst) {
      worst = rank;
      report.worst_system = static_cast<std::int64_t>(s);
      report.true_residual = found.norm(s);
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
  const std::int64_t first = report.first_missed.empty() ? 0 : report.first_missed[0];
  const std::string which = many ? "system " + std::to_string(first) : std::string("the matrix");
  if (report.systems_missed == 0) {
    report.status = solve_status::converged;
    report.reason = "the recomputed residual meets the tolerance";
  } else if (broken) {
    report.status = solve_status::breakdown;
    // Where rows dominate, if only weakly, no pivot of a regular matrix is 0.
    const bool singular =
        report.method == "partition" || report.method == "auto" || report.matrix.dominance >= 1;
    report.reason =
        which + (singular ? " is singular to working precision" : " needs interchanges of rows or is singular");
    if (found.may_overflow(static_cast<std::size_t>(first))) report.reason += ", or its solution overflows";
  } else {
    report.status = solve_status::stagnated;
    report.reason = which + " keeps a residual above the tolerance";
  }
}

void report_growth(const judgement& found, tridiagonal_method how, tridiagonal_report& report) {
  double largest = 0;
  for (const elimination_facts& f : found.eliminations) largest = std::max(largest, f.largest);
  const double of = how == tridiagonal_method::partition ? 1.0 : report.matrix.largest;
  report.growth = of > 0 && largest > 0 ? std::max(1.0, largest / of) : 0;
  constexpr double worrying = 1e4;
  if (!(report.growth > worrying) || how == tridiagonal_method::partition) return;
  report.warnings.push_back(string_printf(
      "coefficients grew by %.0e without interchanges of rows; partition keeps them small", report.growth));
}

void require_shapes(const batch_shape& A, const batch_shape& b, const batch_shape& x) {
  for (const batch_shape& shape : {A, b}) require_shape("tridiagonal solve", shape);
  require_apart("tridiagonal solve", x);
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

template <real T>
void require_finite(const device& dev, const batch_view<const T>& b, const judgement& found) {
  for (std::size_t s = 0; s < found.residuals.size(); ++s) {
    if (std::isfinite(found.residuals[s].rhs_inf)) continue;
    const auto system = static_cast<std::int64_t>(s);
    const auto element = [&](std::int64_t i) {
      T value;
      copy_bytes(&value, device::cpu(1), b.data + b.shape.at(system, i), dev, sizeof value);
      return value;
    };
    std::int64_t i = 0;
    while (i + 1 < b.shape.rows(system) && std::isfinite(element(i))) ++i;
    throw value_error("tridiagonal solve: b[" + std::to_string(i) + "] of system " + std::to_string(s) +
                      " is " + (std::isnan(element(i)) ? "NaN" : "infinite"));
  }
}

}  // namespace vouch::detail

namespace vouch {
namespace {

using namespace detail;
using method = tridiagonal_method;

// Whether systems fill the lanes of vectors by themselves, and the threads of a machine where that matters.
bool are_many(const batch_shape& b) { return b.systems >= (b.n < 8 * partition_least ? 8 : 64); }

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

// Never by the number of threads, on which no bit may depend.
method choose(const device& dev, const batch_shape& b, bool periodic, double dominance,
              const tridiagonal_options& options) {
  if (options.method != method::automatic) return options.method;
  if (dev.is_cuda() || periodic || options.mixed || dominance < 1) return method::partition;
  return b.n < partition_least || are_many(b) ? method::thomas : method::partition;
}

// x += dx for those systems; without dx x := 0.
template <real T>
void add_correction(const device& dev, const batch_view<T>& x, const T* dx,
                    const std::vector<unsigned char>& those) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return add_correction_cuda(dev, x, dx, those);
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static) if (x.shape.systems > 1)
  for (std::int64_t s = 0; s < x.shape.systems; ++s)
    if (those[static_cast<std::size_t>(s)] != 0)
      for (std::int64_t i = 0; i < x.shape.rows(s); ++i)
        x(s, i) = dx != nullptr ? x(s, i) + dx[x.shape.at(s, i)] : T{0};
}

// Corrects x by solving for its residual, every system until that is small enough or no longer halves.
template <real T>
void refine(const device& dev, band_engine<T>& engine, const tridiagonal_view<const T>& A,
            const batch_view<const T>& b, const batch_view<T>& x, int most, judgement& found,
            int& refinements) {
  array<T> r(dev, x.shape.extent()), dx;
  band_residual<T>(dev, A, b, x, r.data(), found.residuals.data());
  require_finite(dev, b, found);
  if (const std::vector<unsigned char> zero = found.with_solution_zero();
      std::find(zero.begin(), zero.end(), 1) != zero.end()) {
    add_correction<T>(dev, x, nullptr, zero);
    band_residual<T>(dev, A, b, x, r.data(), found.residuals.data());
  }
  std::vector<unsigned char> those = found.to_correct();
  std::vector<elimination_facts> again(found.eliminations.size());
  for (int done = 0; done < most && std::find(those.begin(), those.end(), 1) != those.end(); ++done) {
    if (dx.size() == 0) dx = array<T>(dev, x.shape.extent());
    engine.solve({r.data(), x.shape}, {dx.data(), x.shape}, again.data());
    add_correction(dev, x, dx.data(), those);
    ++refinements;
    const std::vector<band_residual_facts> before = found.residuals;
    band_residual<T>(dev, A, b, x, r.data(), found.residuals.data());
    found.keep_correcting(before, those);
  }
}

template <real T>
const char* precision_name(bool mixed) {
  return mixed ? "mixed" : sizeof(T) == sizeof(double) ? "double" : "single";
}

// Single precision inside did not do: once more in double.
template <real T>
tridiagonal_report solve_again(const device& dev, const tridiagonal_view<const T>& A,
                               const batch_view<const T>& b, const batch_view<T>& x,
                               tridiagonal_options options, judgement& found) {
  options.mixed = false;
  tridiagonal_report report = solve_and_judge(dev, A, b, x, options, found);
  report.warnings.push_back(single_does_not_suffice);
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
  judgement found;
  return solve_and_judge(dev, A, b, x, options, found);
}

template <real T>
tridiagonal_report detail::solve_and_judge(const device& dev, const tridiagonal_view<const T>& given,
                                           const batch_view<const T>& b, const batch_view<T>& x,
                                           const tridiagonal_options& options, judgement& found) {
  const ieee_environment here;
  require_shapes(given.shape, b.shape, x.shape);
  const tridiagonal_view<const T> A = spread(given, b.shape.systems);
  const auto systems = static_cast<std::size_t>(options.check ? b.shape.systems : 0);
  tridiagonal_report report;
  if (options.check) report.matrix = examine(dev, given);
  const double dominance = options.check ? report.matrix.dominance : 0;
  const method how = choose(dev, b.shape, A.periodic, dominance, options);
  if (x.data == b.data && b.shape.extent() > 0 && (options.check || how != method::partition))
    throw value_error("tridiagonal solve: x may be b itself only without check and by partition");
  report.method = name(how);
  report.precision = precision_name<T>(options.mixed);
  band_engine<T> engine(dev, how, options.mixed, A, options.workspace);
  const std::size_t judged = options.check ? systems : 0;  // large batches fill megabytes
  found = {std::vector<band_residual_facts>(judged),
           std::vector<elimination_facts>(judged),
           options.rtol > 0              ? options.rtol
           : sizeof(T) == sizeof(double) ? 1e-8
                                         : 1e-5,
           options.atol,
           std::numeric_limits<T>::epsilon() / 2,
           static_cast<double>(b.shape.n)};
  if (b.shape.systems > 0 && b.shape.n > 0)
    engine.solve(b, x, options.check ? found.eliminations.data() : nullptr);
  report.engine = engine.name();
  if (!options.check) {
    report.status = solve_status::stopped;
    report.reason = "the residual was not asked for";
    return report;
  }
  refine(dev, engine, A, b, x, options.max_refinements, found, report.refinements);
  report_systems(found, report);
  if (options.mixed && report.status != solve_status::converged)
    return solve_again(dev, given, b, x, options, found);
  if (options.method == method::automatic && how == method::thomas &&
      report.status == solve_status::breakdown) {
    // Singular; or so near the ends of the range that rows must be scaled to one size.
    tridiagonal_options others = options;
    others.method = method::partition;
    return solve_and_judge(dev, given, b, x, others, found);
  }
  report_growth(found, how, report);
  return report;
}

#define VOUCH_INSTANTIATE(T)                                                                            \
  template VOUCH_PUBLIC tridiagonal_report solve(const device&, const tridiagonal_view<const T>&,       \
                                                 const batch_view<const T>&, const batch_view<T>&,      \
                                                 const tridiagonal_options&);                           \
  template void detail::require_finite(const device&, const batch_view<const T>&, const judgement&);    \
  template tridiagonal_report detail::solve_and_judge(const device&, const tridiagonal_view<const T>&,  \
                                                      const batch_view<const T>&, const batch_view<T>&, \
                                                      const tridiagonal_options&, judgement&);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
