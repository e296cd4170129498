#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <cli/report/statistics.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/dense/blas2.hpp>
#include <vouch/dense/blas3.hpp>
#include <vouch/interval/functions.hpp>

#include "interval_peers.hpp"
#include "interval_results.hpp"
#include "scalar_loops.hpp"
#include "suite.hpp"
#include "timing.hpp"

namespace vouch::bench {

double operations(blas_routine routine, std::int64_t n) {
  const auto order = static_cast<double>(n);
  if (routine == blas_routine::gemv) return 2 * order * order;
  return routine == blas_routine::gemm ? 2 * order * order * order : 2 * order;
}

namespace {

constexpr const char* routine_names[] = {"axpy", "dot", "gemv", "gemm"};

// What the operands are: points or intervals of this relative radius; beyond 1 they hold 0 inside.
struct operand_kind {
  const char* name;
  double radius_a;
  double radius_b;
  bool scaled = false;  // rows of A and columns of B spread over 60 binary orders
};
constexpr double narrow = 0x1p-20;
constexpr operand_kind narrow_intervals{"interval x interval", narrow, narrow};
constexpr operand_kind straddling_intervals{"both holding 0", 3, 3};

template <scalar E>
E sample(std::uint64_t seed, std::int64_t i, double radius) {
  using T = bound_of<E>;
  const auto x = static_cast<T>(random_unit(seed, static_cast<std::uint64_t>(i)) - 0.5);
  if constexpr (is_interval<E>) {
    const T r = static_cast<T>(radius) * std::abs(x);
    return E::unchecked(x - r, x + r);
  } else {
    return x;
  }
}

// The first elements drawn, the others copies of them: so that gigabytes are there at once.
template <scalar E>
array<E> filled(const device& dev, std::int64_t count, double radius, std::uint64_t seed) {
  constexpr std::int64_t drawn = (std::int64_t{1} << 20) - 3;  // a period that is no multiple of columns
  std::vector<E> first(static_cast<std::size_t>(std::min(count, drawn)));
  for (std::size_t i = 0; i < first.size(); ++i)
    first[i] = sample<E>(seed, static_cast<std::int64_t>(i), radius);
  auto some = array<E>::from(dev, first);
  if (some.size() == count) return some;
  array<E> all(dev, count);
  copy<E, E>(dev, some, view<E>(all.data(), some.size()));
  for (std::int64_t done = some.size(); done < count;) {
    const std::int64_t more = std::min(done, count - done);
    copy<E, E>(dev, view<const E>(all.data(), more), view<E>(all.data() + done, more));
    done += more;
  }
  return all;
}

template <scalar E>
bool same_bits(const std::vector<E>& a, const std::vector<E>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(E)) == 0;
}

template <real T>
const char* precision_name() {
  return sizeof(T) == 8 ? "double" : "single";
}

// Vectors and matrices of intervals of T on one device, and the calls on them.
template <real T>
struct operands {
  using set = interval<T>;

  operands(const device& d, blas_routine r, std::int64_t order) : dev(d), routine(r), n(order) {
    const std::int64_t square = n * n;
    const bool matrices = r == blas_routine::gemm;
    if (matrices || r == blas_routine::gemv) a = filled<set>(d, square, narrow, 1);
    x = filled<set>(d, matrices ? square : n, narrow, 2);
    y = filled<set>(d, matrices ? square : n, narrow, 3);
  }

  void call() {
    const set alpha = set::unchecked(T(0.5), T(0.5) + T(narrow)), one = T{1};
    const matrix_view<const set> A{a.data(), n, n, n};
    if (routine == blas_routine::axpy) axpy<set, set>(dev, alpha, x, y);
    if (routine == blas_routine::dot) y_dot = dot<set, set>(dev, x, y);
    if (routine == blas_routine::gemv) gemv<set, set, set>(dev, transpose::no, one, A, x, one, y);
    if (routine == blas_routine::gemm)
      gemm<set, set, set>(dev, transpose::no, transpose::no, one, A, {x.data(), n, n, n}, one,
                          {y.data(), n, n, n});
  }

  double bytes() const {
    const double elements = static_cast<double>(a.size() + x.size()) +
                            (routine == blas_routine::dot ? 1 : 2) * static_cast<double>(y.size());
    return elements * sizeof(set);
  }

  device dev;
  blas_routine routine;
  std::int64_t n;
  array<set> a, x, y;
  set y_dot{};
};

class interval_run {
 public:
  interval_run(const suite_options& options, const std::vector<bench_device>& devices,
               const machine_facts& machine)
      : options_(options), devices_(devices) {
    results_.machine = machine;
  }

  interval_results run() {
    for (const bench_device& d : devices_) {
      each_precision(d);
      modes(d);
      if (d.label == "cpu1") {
        questions();
      } else {
        tightness(d);
        repetitions(d);
      }
    }
    return std::move(results_);
  }

 private:
  static constexpr std::int64_t power(int exponent) { return std::int64_t{1} << exponent; }

  std::vector<std::int64_t> sizes(blas_routine routine, const device& dev) const {
    if (routine == blas_routine::gemm || routine == blas_routine::gemv) {
      std::vector<std::int64_t> n{128, 1024};
      if (routine == blas_routine::gemv && !options_.quick) n.push_back(4096);
      if (routine == blas_routine::gemv && dev.is_cuda() && !options_.quick) n.push_back(16384);
      return n;
    }
    if (options_.quick) return {power(17), power(21)};
    std::vector<std::int64_t> n{power(17), power(18), power(19), power(20), power(21), power(24)};
    if (dev.is_cuda()) n.push_back(power(28));
    return n;
  }

  void each_precision(const bench_device& d) {
    for (const blas_routine routine :
         {blas_routine::axpy, blas_routine::dot, blas_routine::gemv, blas_routine::gemm})
      for (const std::int64_t n : sizes(routine, d.dev)) {
        if (options_.stop()) return;
        options_.say(fmt::format("{}: {}, n = {}", d.label, routine_names[static_cast<int>(routine)], n));
        attempt([&] { time_call<double>(d, routine, n); });
        attempt([&] { time_call<float>(d, routine, n); });
      }
  }

  // What a device has no code or no room for is a note, not the end.
  template <class Body>
  void attempt(const Body& body) {
    try {
      body();
    } catch (const value_error& e) {
      note(e.what());
    } catch (const out_of_memory& e) {
      note(e.what());
    }
  }
  void note(const std::string& text) {
    auto& notes = results_.notes;
    if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(text);
  }

  double budget(const device& dev) const { return options_.quick || dev.is_cuda() ? 0.03 : 0.1; }

  template <real T>
  void time_call(const bench_device& d, blas_routine routine, std::int64_t n) {
    interval_cell cell{routine_names[static_cast<int>(routine)],
                       "interval",
                       n,
                       d.label,
                       precision_name<T>(),
                       0,
                       0,
                       operations(routine, n),
                       {},
                       {},
                       {},
                       {}};
    if (routine == blas_routine::gemm) {
      cell.routine = "gemm tight";
      cell.operands = narrow_intervals.name;
    }
    {
      operands<T> with(d.dev, routine, n);
      cell.bytes = with.bytes();
      cell.seconds = best_seconds(
          budget(d.dev), [&] { with.call(); }, [&] { d.dev.synchronize(); });
    }
    constexpr std::int64_t largest_to_carry = std::int64_t{1} << 24;
    if (d.dev.is_cuda() && n <= largest_to_carry) cell.with_transfer = carried<T>(d.dev, routine, n);
    cell.plain = plain_seconds<T>(d, routine, n);
    compare_with_boost<T>(d, routine, n, cell);
    results_.cells.push_back(cell);
  }

  // Operands from host memory, result back into it.
  template <real T>
  double carried(const device& dev, blas_routine routine, std::int64_t n) {
    const device host = device::cpu();
    const operands<T> here(host, routine, n);
    operands<T> there(dev, routine, n);
    return best_seconds(
        budget(dev),
        [&] {
          there.a = here.a.to(dev);
          there.x = here.x.to(dev);
          there.y = here.y.to(dev);
          there.call();
          if (routine != blas_routine::dot) there.y.to(host);
        },
        [] {});
  }

  template <real T>
  std::optional<double> plain_seconds(const bench_device& d, blas_routine routine, std::int64_t n) {
    if (!d.dev.is_cuda()) return openblas_seconds<T>(routine, n, d.dev.threads());
    std::string why;
    const auto seconds = cublas_seconds<T>(d.dev, routine, n, why);
    if (!seconds) note("cuBLAS: " + why);
    return seconds;
  }

  template <real T>
  void compare_with_boost(const bench_device& d, blas_routine routine, std::int64_t n, interval_cell& cell) {
    constexpr double most_operations = 3e8, most_standard = 1e7;
    if (d.dev.is_cuda() || cell.operations > most_operations * d.dev.threads()) return;
    cell.boost_fastest = boost_seconds<T>(boost_policy::fastest, routine, n, d.dev.threads());
    if (cell.operations <= most_standard)
      cell.boost_standard = boost_seconds<T>(boost_policy::standard, routine, n, d.dev.threads());
  }

  // Products of matrices by operands and mode.
  void modes(const bench_device& d) {
    std::vector<std::int64_t> orders{1024};
    if (d.label == "cpu1" || options_.quick) orders = {512};
    if (d.dev.is_cuda() && !options_.quick) orders = {1024, 4096, 8192, 16384};
    for (const std::int64_t n : orders) {
      product<double, double>(d, "point x point", n, gemm_mode::tight, narrow_intervals);
      product<double, interval<double>>(d, "point x interval", n, gemm_mode::tight, narrow_intervals);
      product<interval<double>, interval<double>>(d, n, gemm_mode::tight, narrow_intervals);
      product<interval<double>, interval<double>>(d, n, gemm_mode::fast, narrow_intervals);
      if (n <= 8192) product<interval<double>, interval<double>>(d, n, gemm_mode::tight, straddling_intervals);
      if (n > 4096) continue;
      product<double, double>(d, "point x point", n, gemm_mode::exact, narrow_intervals);
      product<interval<float>, interval<float>>(d, n, gemm_mode::tight, narrow_intervals);
      product<interval<float>, interval<float>>(d, n, gemm_mode::fast, narrow_intervals);
    }
  }

  static const char* mode_name(gemm_mode mode) {
    return mode == gemm_mode::tight ? "tight" : mode == gemm_mode::fast ? "fast" : "exact";
  }

  template <scalar A, scalar B>
  void product(const bench_device& d, std::int64_t n, gemm_mode mode, const operand_kind& kind) {
    product<A, B>(d, kind.name, n, mode, kind);
  }

  template <scalar A, scalar B>
  void product(const bench_device& d, const char* operands, std::int64_t n, gemm_mode mode,
               const operand_kind& kind) {
    using T = bound_of<A>;
    using set = interval<T>;
    if (options_.stop()) return;
    options_.say(fmt::format("{}: gemm {}, {}, n = {}", d.label, mode_name(mode), operands, n));
    attempt([&] {
      const auto a = filled<A>(d.dev, n * n, kind.radius_a, 1);
      const auto b = filled<B>(d.dev, n * n, kind.radius_b, 2);
      array<set> c(d.dev, n * n);
      interval_cell cell{
          std::string("gemm ") + mode_name(mode),
          operands,
          n,
          d.label,
          precision_name<T>(),
          0,
          static_cast<double>(n) * static_cast<double>(n) * (sizeof(A) + sizeof(B) + sizeof(set)),
          operations(blas_routine::gemm, n),
          {},
          {},
          {},
          {}};
      cell.seconds = best_seconds(
          budget(d.dev),
          [&] {
            gemm<A, B, set>(d.dev, transpose::no, transpose::no, T{1}, {a.data(), n, n, n}, {b.data(), n, n, n},
                            T{0}, {c.data(), n, n, n}, mode);
          },
          [&] { d.dev.synchronize(); });
      cell.plain = plain_seconds<T>(d, blas_routine::gemm, n);
      results_.cells.push_back(cell);
    });
  }

  void tightness(const bench_device& d) {
    const std::int64_t n = options_.quick ? 96 : 500;
    const operand_kind kinds[] = {narrow_intervals,
                                  {"wide intervals", 0.1, 0.1},
                                  {"badly scaled rows", narrow, narrow, true},
                                  straddling_intervals};
    for (const gemm_mode mode : {gemm_mode::fast, gemm_mode::exact}) {
      for (const operand_kind& kind : kinds)
        attempt([&] { compare_widths<interval<double>, interval<double>>(d, kind, n, mode); });
      attempt([&] { compare_widths<double, double>(d, {"point x point", 0, 0}, n, mode); });
    }
  }

  template <scalar E>
  static std::vector<E> entries(std::int64_t n, double radius, bool scaled, bool by_row, std::uint64_t seed) {
    std::vector<E> all(static_cast<std::size_t>(n * n));
    for (std::int64_t k = 0; k < n * n; ++k) {
      const std::int64_t line = by_row ? k % n : k / n;
      E e = sample<E>(seed, k, radius);
      if (scaled) e = e * std::ldexp(bound_of<E>{1}, static_cast<int>(line * 37 % 61) - 30);
      all[static_cast<std::size_t>(k)] = e;
    }
    return all;
  }

  template <scalar A, scalar B>
  void compare_widths(const bench_device& d, const operand_kind& kind, std::int64_t n, gemm_mode mode) {
    using set = interval<bound_of<A>>;
    if (options_.stop()) return;
    const auto a = array<A>::from(d.dev, entries<A>(n, kind.radius_a, kind.scaled, true, 1));
    const auto b = array<B>::from(d.dev, entries<B>(n, kind.radius_b, kind.scaled, false, 2));
    const auto by = [&](gemm_mode m) {
      array<set> c(d.dev, n * n);
      gemm<A, B, set>(d.dev, transpose::no, transpose::no, 1, {a.data(), n, n, n}, {b.data(), n, n, n}, 0,
                      {c.data(), n, n, n}, m);
      return c.to_vector();
    };
    const auto tight = by(gemm_mode::tight), other = by(mode);
    std::vector<double> ratios;
    for (std::size_t i = 0; i < tight.size(); ++i)
      if (wid(tight[i]) > 0) ratios.push_back(double{wid(other[i])} / double{wid(tight[i])});
    if (ratios.empty()) return;
    std::sort(ratios.begin(), ratios.end());
    results_.tightness.push_back(
        {mode_name(mode), kind.name, d.label, ratios[ratios.size() / 2], ratios.back()});
  }

  void repetitions(const bench_device& d) {
    for (const blas_routine routine :
         {blas_routine::axpy, blas_routine::dot, blas_routine::gemv, blas_routine::gemm})
      attempt([&] {
        const bool vectors = routine == blas_routine::axpy || routine == blas_routine::dot;
        const auto once = [&] {
          operands<double> with(d.dev, routine, vectors ? 1000003 : 517);
          with.call();
          auto all = with.y.to_vector();
          all.push_back(with.y_dot);
          return all;
        };
        results_.repetitions.push_back(
            {routine_names[static_cast<int>(routine)], d.label, same_bits(once(), once())});
      });
  }

  void questions() {
    options_.say("cpu1: calls of what headers define");
    scalar_operands o;
    constexpr int count = 2000;
    for (std::int64_t k = 0; k < count; ++k) {
      o.x.push_back(interval<double>(1) + abs(sample<interval<double>>(1, k, narrow)));
      o.y.push_back(sample<interval<double>>(2, k, narrow));
      plain_option option;
      option.spot = 80 + 0.02 * static_cast<double>(k);
      option.strike = 100;
      option.rate = 0.05;
      option.volatility = 0.2;
      option.expiry = 1;
      o.options.push_back(option);
    }
    o.result.resize(o.x.size());
    o.prices.resize(o.options.size());
    const scalar_loops asking = asking_loops(), unasking = unasking_loops();
    for (std::size_t k = 0; k < asking.size() && !options_.stop(); ++k) {
      const double budget = options_.quick ? 2e-3 : 0.02;
      const auto one = [&](const scalar_loop& loop) {
        return best_seconds(
                   budget, [&] { loop.run(o); }, [] {}) /
               count;
      };
      std::vector<double> with, without, ratio;
      for (int pair = 0; pair < 25; ++pair) {
        with.push_back(one(asking[k]));
        without.push_back(one(unasking[k]));
        ratio.push_back(with.back() / without.back());
      }
      results_.questions.push_back({asking[k].name, median(with), median(without), median(ratio)});
    }
  }

  static double median(const std::vector<double>& v) { return report::summarize(v).median; }

  const suite_options& options_;
  const std::vector<bench_device>& devices_;
  interval_results results_;
};

}  // namespace

interval_results measure_intervals(const suite_options& options, const std::vector<bench_device>& devices,
                                   const machine_facts& machine) {
  return interval_run(options, devices, machine).run();
}

}  // namespace vouch::bench
