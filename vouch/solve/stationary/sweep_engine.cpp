#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/types.hpp>
#include <vouch/solve/stationary/chebyshev_steps.hpp>
#include <vouch/solve/stationary/stationary_iteration.hpp>
#include <vouch/solve/stationary/sweep_engine.hpp>
#include <vouch/solve/stationary/sweep_progress.hpp>

namespace vouch {
namespace {

// A run starts from a residual of norm 1 to 2 and goes no further down than this: its sweeps form r - A d in
// the working precision, which rounding ends sooner or later.
template <real T>
constexpr double deepest = sizeof(T) == 4 ? 0x1p-18 : 0x1p-40;

constexpr std::int64_t patience = 32;  // sweeps without progress before rounding is suspected

void keep_chebyshev(solver_state& state, chebyshev_steps& c) {
  for (bool* const value : {&c.wanted, &c.failed, &c.running, &c.stalled, &c.trying})
    state.truth("course of Chebyshev", *value);
  for (std::int64_t* const count : {&c.slow, &c.patience, &c.steps, &c.next_trial, &c.degree, &c.estimates})
    state.integer("count of Chebyshev", *count);
  for (double* const value : {&c.along_change, &c.keep, &c.far, &c.low, &c.high, &c.start, &c.last, &c.first,
                              &c.rho, &c.sigma, &c.root, &c.power})
    state.number("number of Chebyshev", *value);
}

}  // namespace

template <real T>
sweep_engine<T>::sweep_engine(const device& dev, std::int64_t n,
                              std::unique_ptr<stationary_iteration<T>> sweeps, bool by_residual,
                              const acceleration& accelerate, const sweep_rule& rule)
    : n_(n),
      sweeps_(std::move(sweeps)),
      by_residual_(by_residual),
      simultaneous_(rule.simultaneous),
      asynchronous_(rule.asynchronous),
      before_(dev, n),
      s_(dev, n),
      learnt_(rule.learnt) {
  if (accelerate.anderson > 0) {
    anderson_.emplace(n, accelerate.anderson);
    plain_.resize(static_cast<std::size_t>(n));
  }
  chebyshev_.prepare<T>(accelerate.chebyshev, rule.lowest_eigenvalue);
  if (accelerate.chebyshev) step_.resize(static_cast<std::size_t>(n));
}

template <real T>
inner_outcome sweep_engine<T>::run(T* r, T* d, const stopping_rule& rule, iteration_log& log) {
  std::fill(d, d + n_, T{});
  sweeps_->start(r);
  if (anderson_) anderson_->clear();
  chebyshev_.begin();
  progress p;
  p.target = by_residual_ ? std::max(rule.target_squared, deepest<T> * deepest<T>) : rule.target_squared;
  p.trigger = p.target;
  p.best = std::numeric_limits<double>::infinity();
  const bool goes_back = simultaneous_ && ends_where_met(rule, by_residual_);
  std::int64_t begin = 0;
  log.resume([&](solver_state& state) { keep(state, begin, p); });
  double met = 0;
  bool leaves = false;  // was asked to stop, and is saved first
  for (std::int64_t k = begin;; ++k) {
    if (leaves || log.save_due()) log.save(k, [&](solver_state& state) { keep(state, k, p); });
    if (leaves) return {solver_event::interrupted, k, met};
    if (k >= rule.limit) {
      const double squares = sweeps_->residual(d, s_.data());
      return {squares <= p.target ? solver_event::reached : solver_event::iteration_limit, k, squares};
    }
    const bool suspicious = by_residual_ && stalled(p, k);
    if (anderson_ || chebyshev_.wanted || suspicious || rule.mean_change >= 0 || goes_back)
      std::copy(d, d + n_, before_.data());
    met = sweeps_->sweep(d);
    leaves = !log.note(k, std::sqrt(met));
    if (leaves && !log.keeps()) return {solver_event::interrupted, k + 1, met};
    if (!(met <= rule.diverged_squared)) return {solver_event::diverged, k + 1, met};
    if (goes_back && met <= p.target) {
      std::copy(before_.data(), before_.data() + n_, d);
      return {solver_event::reached, k, met};
    }
    if (k == 0) p.first = met;
    if (met < p.best) {
      p.best = met;
      p.best_at = k;
    }
    if (chebyshev_.wanted) take_chebyshev_step(met, d);
    if (chebyshev_.stalled && by_residual_) return {solver_event::reached, k + 1, met};
    if (rule.mean_change >= 0)
      if (const double change = mean_change(d); change < rule.mean_change)
        return {solver_event::change_converged, k + 1, met, change};
    if (suspicious && (moves_by_rounding_only(d) || is_stagnating(k, p.best_at, met, p.first)))
      return {solver_event::reached, k + 1, met};
    if (met <= p.trigger && (near_enough(p, met, d) || p.only_rounding))
      return {solver_event::reached, k + 1, last_squared_};
    if (anderson_ && !step_back(p, met, d) && k + 1 < rule.limit) accelerate(p, met, d);
  }
}

// Between two sweeps.
template <real T>
void sweep_engine<T>::keep(solver_state& state, std::int64_t& iteration, progress& p) {
  state.integer("iterations of this run", iteration);
  state.integer("sweep that met the least", p.best_at, iteration);
  state.truth("whether it was accelerated", p.accelerated);
  state.truth("whether rounding is left", p.only_rounding);
  for (double* const value :
       {&p.target, &p.trigger, &p.first, &p.best, &p.accepted, &p.met_at_look, &p.left_at_look})
    state.number("progress of sweeps", *value);
  keep_chebyshev(state, chebyshev_);
  const auto vector = [&](std::vector<T>& v) {
    state.vector("vector of sweeps", device::cpu(1), v.data(), static_cast<std::int64_t>(v.size()));
  };
  vector(step_);
  vector(plain_);
  if (anderson_) anderson_->keep(state);
}

template <real T>
bool sweep_engine<T>::stalled(const progress& p, std::int64_t iteration) const {
  return iteration - p.best_at >= std::max(patience, iteration / 8);
}

template <real T>
bool sweep_engine<T>::moves_by_rounding_only(const T* d) const {
  T largest{}, change{};
  for (std::int64_t i = 0; i < n_; ++i) {
    largest = std::max(largest, std::fabs(d[i]));
    change = std::max(change, std::fabs(d[i] - before_[i]));
  }
  return change <= 64 * std::numeric_limits<T>::epsilon() * largest;
}

template <real T>
double sweep_engine<T>::mean_change(const T* d) const {
  double sum = 0;
  for (std::int64_t i = 0; i < n_; ++i)
    sum += std::fabs(static_cast<double>(d[i]) - static_cast<double>(before_[i]));
  return n_ > 0 ? sum / static_cast<double>(n_) : 0;
}

// True where the sweep has met more at the combined iterate than at the one before it: back to the plain one.
template <real T>
bool sweep_engine<T>::step_back(progress& p, double met, T* d) {
  const bool worse = p.accelerated && !(met <= p.accepted);
  p.accelerated = false;
  if (!worse) return false;
  std::copy(plain_.begin(), plain_.end(), d);
  anderson_->clear();
  if (sweeps_->keeps_residual()) sweeps_->residual(d, s_.data());
  return true;
}

template <real T>
void sweep_engine<T>::accelerate(progress& p, double met, T* d) {
  std::copy(d, d + n_, plain_.begin());
  p.accepted = met;
  p.accelerated = anderson_->mix(before_.data(), d);
  if (p.accelerated && sweeps_->keeps_residual()) sweeps_->residual(d, s_.data());
}

template <real T>
void sweep_engine<T>::take_chebyshev_step(double met, T* d) {
  const T along_change = static_cast<T>(chebyshev_.along_change), keep = static_cast<T>(chebyshev_.keep);
  const bool moved = chebyshev_.running;
  for (std::size_t i = 0; i < step_.size(); ++i) {
    const T before = before_[static_cast<std::int64_t>(i)], change = d[i] - before;
    step_[i] = !moved ? change : keep == T{} ? along_change * change : along_change * change + keep * step_[i];
    if (moved) d[i] = before + step_[i];
  }
  if (moved && sweeps_->keeps_residual()) sweeps_->residual(d, s_.data());
  chebyshev_.take(std::sqrt(met));
  if (learnt_ != nullptr) *learnt_ = chebyshev_;
}

// Forms the residual. Where it is not there yet, the next look waits until sweeps meet as much less as is
// missing. Sweeps that keep a residual may take that one down as far as they like: where it has fallen to a
// quarter and the residual itself not to half, the rest is rounding.
template <real T>
bool sweep_engine<T>::near_enough(progress& p, double met, const T* d) {
  last_squared_ = sweeps_->residual(d, s_.data());
  if (last_squared_ <= p.target) return true;
  if (met <= p.met_at_look / 16) {
    p.only_rounding = by_residual_ && last_squared_ > p.left_at_look / 4;
    p.met_at_look = met;
    p.left_at_look = last_squared_;
  }
  const double missing = met > 0 ? p.target * (met / last_squared_) : p.target;
  p.trigger = 0.81 * std::min(p.trigger, missing);
  return false;
}

template class sweep_engine<float>;
template class sweep_engine<double>;

}  // namespace vouch

namespace vouch::detail {
namespace {

constexpr std::int64_t piece = 4096;  // elements whose squares are summed by one thread

// Adds up what each piece gives, in order.
template <class Piece>
double add_pieces(int threads, std::int64_t n, Piece body) {
  const std::int64_t pieces = ceil_div(n, piece);
  std::vector<double> sums(static_cast<std::size_t>(pieces));
#pragma omp parallel for firstprivate(ieee) num_threads(threads) schedule(static) if (n >= 65536)
  for (std::int64_t k = 0; k < pieces; ++k)
    sums[static_cast<std::size_t>(k)] = body(k * piece, std::min(n, (k + 1) * piece));
  double all = 0;
  for (const double sum : sums) all += sum;
  return all;
}

template <real T>
double squares(const T* s, std::int64_t first, std::int64_t last) {
  double sum[8] = {};
  std::int64_t i = first;
  for (; i + 8 <= last; i += 8)
    for (int l = 0; l < 8; ++l) sum[l] += double{s[i + l]} * double{s[i + l]};
  for (; i < last; ++i) sum[0] += double{s[i]} * double{s[i]};
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

}  // namespace

template <real T>
double relax(int threads, std::int64_t n, const T* factor, const T* s, T* d) {
  return add_pieces(threads, n, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) d[i] += factor[i] * s[i];
    return squares(s, first, last);
  });
}

template <real T>
double sum_of_squares(int threads, std::int64_t n, const T* s) {
  return add_pieces(threads, n, [=](std::int64_t first, std::int64_t last) { return squares(s, first, last); });
}

template VOUCH_PUBLIC double relax(int, std::int64_t, const float*, const float*, float*);
template VOUCH_PUBLIC double relax(int, std::int64_t, const double*, const double*, double*);
template VOUCH_PUBLIC double sum_of_squares(int, std::int64_t, const float*);
template VOUCH_PUBLIC double sum_of_squares(int, std::int64_t, const double*);

}  // namespace vouch::detail

namespace vouch {

std::string chebyshev_text(const chebyshev_steps& steps) {
  if (!steps.wanted) return "";
  if (steps.failed) return "; chebyshev given up, the residual did not follow it";
  if (steps.estimates == 0 && !steps.running) return "; chebyshev not needed";
  char text[96];
  std::snprintf(text, sizeof text, "; chebyshev over [%.6g, %.6g]", steps.low, steps.high);
  return text;
}

}  // namespace vouch
