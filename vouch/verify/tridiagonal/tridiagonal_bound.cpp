#include <vouch/verify/tridiagonal_bound.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <vouch/band/band_rows.hpp>
#include <vouch/band/solve.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/require.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/verify/bound_text.hpp>
#include <vouch/verify/tridiagonal/bordered_factors.hpp>
#include <vouch/verify/tridiagonal/factors.hpp>
#include <vouch/verify/tridiagonal/row_certificate.hpp>
#include <vouch/verify/tridiagonal/row_passes.hpp>
#include <vouch/verify/tridiagonal/short_systems.hpp>

namespace vouch {
namespace {

using namespace detail;

bool same_places(const batch_shape& a, const batch_shape& b) {
  return a.n == b.n && a.systems == b.systems && a.row_stride == b.row_stride &&
         a.system_stride == b.system_stride && a.offsets == b.offsets;
}

void check_operands(const tridiagonal_view<const double>& A, const batch_view<const double>& b,
                    const batch_view<double>& x, const batch_view<double>& radius) {
  constexpr const char* who = "bound_error";
  require_shape(who, A.shape);
  require_apart(who, x.shape);
  if (!same_places(b.shape, x.shape) || !same_places(x.shape, radius.shape))
    throw shape_error("bound_error: b, x and radius are not stored alike");
  if (A.shape.n != x.shape.n || (A.shape.systems != x.shape.systems && A.shape.systems != 1) ||
      A.shape.offsets != x.shape.offsets)
    throw shape_error("bound_error: the matrices do not have the systems and rows of b");
  const std::int64_t extent = x.shape.extent();
  for (const double* diagonal : {A.dl, A.d, A.du}) require_data(who, "a diagonal", diagonal, A.shape.extent());
  require_data(who, "b", b.data, extent);
  require_data(who, "x", x.data, extent);
  require_data(who, "radius", radius.data, extent);
}

// Bounds of a batch while v, x and what is proved of each system change.
class bounded_batch {
 public:
  bounded_batch(const device& dev, const tridiagonal_view<const double>& A, const batch_view<const double>& b,
                const batch_view<double>& x, const batch_view<double>& radius, const uncertainty& within)
      : dev_(dev),
        host_(x.shape),
        given_(A),
        A_(A),
        vectors_(x.shape),
        b_(b.data),
        x_(x.data),
        radius_(radius.data),
        within_(within),
        ratio_(dev, x.shape.systems),
        shared_(A.shape.systems == 1 && x.shape.systems > 1) {
    weights_host_ = shared_ ? contiguous(host_.n) : host_;
    if (shared_) weights_host_.systems = host_.systems, weights_host_.system_stride = 0;
    if (shared_) A_.shape.system_stride = 0;
    A_.shape.systems = host_.systems;
    weights_ = weights_host_;
    one_pass_ = dev.is_cuda() && short_systems::serves(host_) && !periodic_and_tiny();
    if (!dev.is_cuda() || host_.offsets == nullptr) return;
    offsets_ = array<std::int64_t>::from(dev, {host_.offsets, static_cast<std::size_t>(host_.systems) + 1});
    A_.shape.offsets = vectors_.offsets = weights_.offsets = offsets_.data();
  }

  // Finds v and what it proves; the ratios are those of the present x. A pass that ends early may miss that A
  // is not its own comparison matrix: the second sees it, and all starts again from the right one, whatever was
  // proved meanwhile, so that the bits do not depend on which pass saw it.
  void prove() {
    if (one_pass_ && short_systems::passes_prove_dominance_faster(host_)) {
      one_pass_ = false;
      take_ratios(true);
      if (totals_.proves) return;
      one_pass_ = true;
    }
    if (one_pass_) {
      take_ratios();
      // One matrix for all is factored once, below; systems that have their own have been.
      one_pass_ = totals_.proves || can_factor();
      if (one_pass_) return;
    }
    take_ratios(true);
    if (totals_.proves) return;
    if (!periodic_and_tiny()) {
      const bool own = !totals_.other && same_places(given_.shape, host_) && !shared_;
      solve_for_v(own);
      take_ratios();
      if (own && totals_.other) {
        solve_for_v(false);
        take_ratios();
      }
    } else {
      take_ratios();
    }
    if (totals_.proves) return;
    factor();
    take_ratios();
  }

  void take_ratios(bool until_refuted = false) {
    if constexpr (built_with_cuda)
      if (one_pass_) return prove_in_one_pass();
    totals_ = certify(dev_, host_, ratios(until_refuted), ratio_);
  }

  // Radii from the ratios, and the largest.
  void take_radii() {
    if (!one_pass_) radii_ = certify(dev_, host_, radii());
  }

  // x + lo := x + lo + an approximation of its error, from the residual of the last ratios.
  void improve() {
    const std::int64_t extent = host_.extent();
    if (middle_.size() == 0) {
      middle_ = array<double>::zeros(dev_, extent);
      take_ratios();
    }
    if (lo_.size() == 0) lo_ = array<double>::zeros(dev_, extent);
    array<double> step(dev_, extent);
    tridiagonal_options options;
    options.check = false;
    solve<double>(dev_, given_, {middle_.data(), host_}, {step.data(), host_}, options);
    for_rows_of_systems(dev_, host_, vectors_, batch_improve_body{vectors_, step.data(), x_, lo_.data()});
    take_ratios();
    take_radii();
  }

  // What improve() changes, to be taken back.
  std::pair<array<double>, array<double>> saved() const {
    const std::int64_t extent = host_.extent();
    std::pair<array<double>, array<double>> copy{array<double>(dev_, extent),
                                                 array<double>::zeros(dev_, extent)};
    copy_bytes(copy.first.data(), dev_, x_, dev_, static_cast<std::size_t>(extent) * sizeof(double));
    if (lo_.size() > 0)
      copy_bytes(copy.second.data(), dev_, lo_.data(), dev_, static_cast<std::size_t>(extent) * sizeof(double));
    return copy;
  }
  void restore(std::pair<array<double>, array<double>> before) {
    copy_bytes(x_, dev_, before.first.data(), dev_, static_cast<std::size_t>(host_.extent()) * sizeof(double));
    lo_ = std::move(before.second);
    take_ratios();
    take_radii();
  }

  // Systems of which nothing is proved so far.
  std::vector<std::int64_t> unproved() const {
    std::vector<std::int64_t> those;
    if (std::isfinite(totals_.ratio)) return those;
    const std::vector<double> ratio = ratio_.to_vector();
    for (std::size_t s = 0; s < ratio.size(); ++s)
      if (!std::isfinite(ratio[s])) those.push_back(static_cast<std::int64_t>(s));
    return those;
  }
  // About the largest ||A||_inf ||A^-1||_inf: v / min_i (<A> v)_i is at least <A>^-1 e.
  double condition_estimate() const {
    return totals_.least_u > 0 ? totals_.v / totals_.least_u * totals_.weight : HUGE_VAL;
  }

  bool factored() const { return margin_.size() > 0 || one_pass_factored_; }
  double max_absolute() const { return radii_.absolute; }
  double max_relative() const { return radii_.relative; }

 private:
  static const double* pointer(const array<double>& a) { return a.size() > 0 ? a.data() : nullptr; }
  static double* pointer(array<double>& a) { return a.size() > 0 ? a.data() : nullptr; }

  tridiagonal_ratio_body ratios(bool until_refuted) {
    tridiagonal_ratio_body body;
    body.A = A_;
    body.vectors = vectors_;
    body.weights = weights_;
    body.b = b_;
    body.x = x_;
    body.x_lo = pointer(lo_);
    body.v = pointer(v_);
    body.margin = pointer(margin_);
    body.margin_step = shared_ ? 0 : 1;
    body.within = within_;
    body.middle = pointer(middle_);
    body.until_refuted = until_refuted;
    return body;
  }

  // Ratios and radii.
  void prove_in_one_pass() {
    const short_systems task{A_,      vectors_,     b_, x_, {pointer(lo_), pointer(middle_), within_},
                             radius_, ratio_.data()};
    const proof_totals found = prove_short_systems_cuda(dev_, task, can_factor());
    totals_ = found.ratios;
    radii_ = found.radii;
    one_pass_factored_ = found.factored;
  }

  bool can_factor() const { return !shared_ && !A_.periodic; }

  tridiagonal_radius_body radii() {
    return {vectors_, weights_, ratio_.data(), x_, pointer(lo_), pointer(v_), radius_};
  }

  // Both neighbours of a row are one unknown, or the row itself: the comparison matrix is another.
  bool periodic_and_tiny() const {
    if (!A_.periodic) return false;
    for (std::int64_t s = 0; s < host_.systems; ++s)
      if (host_.rows(s) < 3) return true;
    return false;
  }

  // The systems that v is for.
  batch_shape systems_of_v() const {
    batch_shape shape = weights_host_;
    if (shared_) shape.systems = 1;
    return shape;
  }

  // v := about <A>^-1 diag, which is D^-1 D e for a diagonal matrix. own: A is its own comparison matrix.
  void solve_for_v(bool own) {
    const batch_shape shape = systems_of_v();
    const std::int64_t extent = shape.extent();
    tridiagonal_view<const double> M = given_;
    array<double> dl, d, du;
    if (!own) {
      dl = array<double>::zeros(dev_, extent);
      d = array<double>::zeros(dev_, extent);
      du = array<double>::zeros(dev_, extent);
      batch_shape placed = weights_;
      placed.systems = shape.systems;
      for_rows_of_systems(dev_, shape, placed,
                          tridiagonal_comparison_body{A_, placed, dl.data(), d.data(), du.data()});
      M = {dl.data(), d.data(), du.data(), shape, given_.periodic};
    }
    v_ = array<double>(dev_, extent);
    tridiagonal_options options;
    options.check = false;
    solve<double>(dev_, M, {M.d, shape}, {v_.data(), shape}, options);
  }

  // Factors of what is not proved, in chunks where systems are long; whole systems where chunks do not fit
  // together.
  void factor() {
    if (periodic_and_tiny()) return;
    const batch_shape shape = systems_of_v();
    const std::int64_t chunk = !dev_.is_cuda() ? 4096 : host_.n <= 4096 ? 64 : 256;
    if (v_.size() == 0) v_ = array<double>::zeros(dev_, shape.extent());
    margin_ = array<double>::zeros(dev_, shape.systems);
    std::vector<std::int64_t> systems = shared_ ? std::vector<std::int64_t>{0} : unproved();
    factor(shape, systems, host_.n > 2 * chunk ? chunk : host_.n);
    if (host_.n <= 2 * chunk) return;
    const std::vector<double> margin = margin_.to_vector();
    std::erase_if(systems, [&](std::int64_t s) { return margin[static_cast<std::size_t>(s)] > 0; });
    factor(shape, systems, host_.n);
  }

  void factor(const batch_shape& shape, const std::vector<std::int64_t>& systems, std::int64_t rows) {
    const std::int64_t count = std::ssize(systems), chunks = std::max<std::int64_t>(1, ceil_div(host_.n, rows));
    if (count == 0 || rows == 0) return;
    const auto those = array<std::int64_t>::from(dev_, systems);
    array<double> pivot(dev_, shape.extent()), base(dev_, count * chunks), slope(dev_, count * chunks);
    const tridiagonal_factors of{A_,           weights_,       within_,      A_.periodic, those.data(),
                                 rows,         chunks,         pivot.data(), v_.data(),   base.data(),
                                 slope.data(), margin_.data(), nullptr,      nullptr,     128};
    for_systems(dev_, count * chunks, tridiagonal_eliminate_body{of});
    if (chunks > 1) for_systems(dev_, count, tridiagonal_carry_down_body{of});
    for_systems(dev_, count * chunks, tridiagonal_turn_body{of});
    if (chunks > 1) for_systems(dev_, count, tridiagonal_carry_up_body{of});
    if (chunks > 1) for_systems(dev_, count * chunks, tridiagonal_substitute_body{of});
    for_systems(dev_, count * chunks, tridiagonal_delta_body{of});
    for_systems(dev_, count, tridiagonal_margin_body{of});
    if (!A_.periodic) return;
    array<double> y(dev_, shape.extent());
    for_systems(dev_, count, tridiagonal_border_body{of, y.data()});
  }

  device dev_;
  batch_shape host_;                          // of the vectors, offsets in host memory
  tridiagonal_view<const double> given_, A_;  // with offsets in host memory and on dev
  batch_shape vectors_;
  batch_shape weights_host_, weights_;  // of v: one for all systems where they share a matrix
  array<std::int64_t> offsets_;
  const double* b_;
  double* x_;
  double* radius_;
  uncertainty within_;
  array<double> ratio_;  // of each system
  bool shared_;
  array<double> v_;       // empty: ones
  array<double> margin_;  // empty: no system is factored
  array<double> lo_;      // empty: zero
  array<double> middle_;  // of the residual; empty: not wanted
  ratio_totals totals_;
  radius_totals radii_;
  bool one_pass_;                   // ratios and radii are found in one pass over each system
  bool one_pass_factored_ = false;  // some system, then
};

// Refines while the bounds shrink to half at least; what made them wider is taken back.
int refine(bounded_batch& batch, const bound_options& options) {
  for (int k = 0; k < options.most_refinements; ++k) {
    const double radius = batch.max_absolute(), relative = batch.max_relative();
    if (!(options.relative > 0) || relative <= options.relative || !std::isfinite(radius)) return k;
    auto before = batch.saved();
    batch.improve();
    if (!(batch.max_absolute() <= radius) && !(batch.max_relative() < relative)) {
      batch.restore(std::move(before));
      return k;
    }
    if (!(batch.max_absolute() <= radius / 2) && !(batch.max_relative() <= relative / 2)) return k + 1;
  }
  return options.most_refinements;
}

void report(const bounded_batch& batch, const bound_options& options, tridiagonal_bound& result) {
  const std::vector<std::int64_t> left = batch.unproved();
  result.systems_unproved = static_cast<std::int64_t>(left.size());
  result.first_unproved.assign(left.begin(), left.begin() + std::min<std::ptrdiff_t>(100, std::ssize(left)));
  result.max_absolute = batch.max_absolute();
  result.max_relative = batch.max_relative();
  result.verified = left.empty() && std::isfinite(result.max_absolute);
  result.reached = result.verified && (options.relative == 0 || result.max_relative <= options.relative);
  result.method = batch.factored() ? "bidiagonal factors" : "h-matrix";
  if (!left.empty())
    result.reason =
        (left.size() == 1
             ? "nothing is proved of system "
             : "nothing is proved of " + std::to_string(left.size()) + " systems, the first is system ") +
        std::to_string(left.front()) + ": it is singular, too ill-conditioned, or its x is no number";
  else if (!result.verified)
    result.reason = "a bound overflows";
  else if (result.reached)
    result.reason =
        "every component lies within " + rounded_above(result.max_absolute) + " of the exact solution";
  else
    result.reason = relative_shortfall(result.max_relative);
}

}  // namespace

int tridiagonal_bound::digits() const {
  const ieee_environment here;
  error_bound as_one;
  as_one.verified = verified;
  as_one.max_relative = max_relative;
  return as_one.digits();
}

tridiagonal_bound bound_error(const device& dev, const tridiagonal_view<const double>& A,
                              const batch_view<const double>& b, const batch_view<double>& x,
                              const batch_view<double>& radius, const bound_options& options) {
  const ieee_environment here;
  const stopwatch clock;
  require_radii("bound_error", options.within);
  check_operands(A, b, x, radius);
  tridiagonal_bound result;
  bounded_batch batch(dev, A, b, x, radius, options.within);
  batch.prove();
  batch.take_radii();
  result.refinements = refine(batch, options);
  report(batch, options, result);
  dev.synchronize();
  result.seconds = clock.seconds();
  result.condition_estimate = batch.condition_estimate();
  return result;
}

}  // namespace vouch
