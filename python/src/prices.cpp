// Options: arrays of numbers in, arrays of prices and Greeks out.
#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <span>

#include <vouch/price/batch.hpp>
#include <vouch/price/book.hpp>
#include <vouch/price/closed_form_enclosure.hpp>
#include <vouch/price/implied.hpp>
#include <vouch/price/price.hpp>

#include "bindings.hpp"

namespace vouchnum {
namespace {

using numbers = vector_in<double>;

// One element an option, or one for all.
template <class T>
class column {
 public:
  column(const nb::dict& given, const char* name)
      : elements_(nb::cast<vector_in<T>>(given[name])), first_(elements_.data()), step_(size() == 1 ? 0 : 1) {}
  std::int64_t size() const { return static_cast<std::int64_t>(elements_.size()); }
  T operator[](std::int64_t i) const { return first_[step_ * i]; }
  bool is_all(T value) const { return step_ == 0 && first_[0] == value; }
  // size elements of them as another type of that size.
  template <class As = T>
  vouch::view<const As> all(std::int64_t size) const {
    return {reinterpret_cast<const As*>(first_), size, step_};
  }

 private:
  vector_in<T> elements_;
  const T* first_;
  std::int64_t step_;
};

// One option a row.
class columns {
 public:
  explicit columns(const nb::dict& given)
      : type_(given, "type"),
        exercise_(given, "exercise"),
        payoff_(given, "payoff"),
        barrier_(given, "barrier"),
        numbers_{{given, "spot"},     {given, "strike"},        {given, "rate"},
                 {given, "dividend"}, {given, "volatility"},    {given, "expiry"},
                 {given, "cash"},     {given, "barrier_level"}, {given, "rebate"}} {
    for (const std::int64_t size : {type_.size(), exercise_.size(), payoff_.size(), barrier_.size()})
      take(size);
    for (const column<double>& c : numbers_) take(c.size());
  }
  std::int64_t size() const { return size_; }
  vouch::plain_option option(std::int64_t i) const {
    vouch::plain_option o;
    o.type = static_cast<vouch::option_type>(type_[i]);
    o.payoff = static_cast<vouch::payoff_kind>(payoff_[i]);
    o.barrier = static_cast<vouch::barrier_kind>(barrier_[i]);
    double* const fields[] = {&o.spot,   &o.strike, &o.rate,          &o.dividend, &o.volatility,
                              &o.expiry, &o.cash,   &o.barrier_level, &o.rebate};
    for (int k = 0; k < 9; ++k) *fields[k] = numbers_[k][i];
    return o;
  }
  vouch::exercise_style style(std::int64_t i) const { return static_cast<vouch::exercise_style>(exercise_[i]); }
  // Whether all are European calls and puts without more.
  bool are_european() const {
    return exercise_.is_all(static_cast<std::uint8_t>(vouch::exercise_style::european)) &&
           payoff_.is_all(static_cast<std::uint8_t>(vouch::payoff_kind::vanilla)) &&
           barrier_.is_all(static_cast<std::uint8_t>(vouch::barrier_kind::none)) && numbers_[6].size() == 1 &&
           numbers_[6][0] > 0 && std::isfinite(numbers_[6][0]) && numbers_[7].is_all(0) &&
           numbers_[8].is_all(0);
  }
  vouch::european_columns european() const {
    return {type_.all<vouch::option_type>(size_),
            numbers_[0].all(size_),
            numbers_[1].all(size_),
            numbers_[2].all(size_),
            numbers_[3].all(size_),
            numbers_[4].all(size_),
            numbers_[5].all(size_)};
  }
  // The option with what all have in common.
  vouch::contract whole(std::int64_t i, const vouch::contract& common) const {
    vouch::contract one = common;
    one.plain = option(i);
    one.exercise = style(i);
    return one;
  }

 private:
  void take(std::int64_t size) {
    if (size == 1) return;
    if (size_ != 1 && size != size_) throw vouch::shape_error("price: columns of different lengths");
    size_ = size;
  }

  column<std::uint8_t> type_, exercise_, payoff_, barrier_;
  column<double> numbers_[9];
  std::int64_t size_ = 1;
};

// What all options of a call have in common.
vouch::contract common_of(const nb::dict& given) {
  vouch::contract c;
  const auto steps = [&](const char* name, std::vector<vouch::curve_step>& to) {
    if (!given.contains(name)) return;
    for (const auto& [until, value] : nb::cast<std::vector<std::pair<double, double>>>(given[name]))
      to.push_back({until, value});
  };
  steps("rates", c.rates);
  steps("volatilities", c.volatilities);
  if (given.contains("dividends"))
    for (const auto& [time, amount] : nb::cast<std::vector<std::pair<double, double>>>(given["dividends"]))
      c.dividends.push_back({time, amount});
  if (given.contains("dates")) c.exercise_dates = nb::cast<std::vector<double>>(given["dates"]);
  if (given.contains("escrowed") && nb::cast<bool>(given["escrowed"]))
    c.model = vouch::dividend_model::escrowed;
  return c;
}

// What is wrong with single rows: raised for the first of them, or listed.
class row_failures {
 public:
  explicit row_failures(bool listed) : listed_(listed) {}
  void add(std::int64_t row, const vouch::value_error& e) {
#pragma omp critical(vouchnum_row_failures)
    found_.push_back({row, e.what(), e.hint()});
  }
  // Pairs of row and message in the order of the rows.
  nb::list list() {
    std::sort(found_.begin(), found_.end(), [](const failure& a, const failure& b) { return a.row < b.row; });
    if (!listed_ && !found_.empty())
      throw vouch::value_error("option " + std::to_string(found_[0].row) + ": " + found_[0].text,
                               found_[0].hint);
    nb::list all;
    for (const failure& f : found_) all.append(nb::make_tuple(f.row, f.text));
    return all;
  }

 private:
  struct failure {
    std::int64_t row;
    std::string text, hint;
  };
  bool listed_;
  std::vector<failure> found_;
};

constexpr std::int64_t block_rows = 256;

// work(first, last) for blocks of options by threads. Value errors are for work to handle; anything else ends all.
template <class Work>
void for_blocks(std::int64_t n, int threads, const Work& work) {
  std::exception_ptr thrown;
  const vouch::cancellation_probe probe;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (n > block_rows)
  for (std::int64_t first = 0; first < n; first += block_rows) {
    if (probe.requested()) continue;
    try {
      const vouch::cancellation_scope listens(probe);
      work(first, std::min(n, first + block_rows));
    } catch (...) {
#pragma omp critical(vouchnum_price)
      if (!thrown) thrown = std::current_exception();
    }
  }
  probe.check();
  if (thrown) std::rethrow_exception(thrown);
}

constexpr double none = std::numeric_limits<double>::quiet_NaN();

// What price() says of every option, as columns.
class priced {
 public:
  priced(const vouch::device& cpu, std::int64_t n, bool greeks, bool more)
      : greeks_(greeks), more_(more), method_(cpu, n), met_(cpu, n) {
    for (vouch::array<double>* column : {&price_, &delta_, &gamma_, &theta_, &vega_, &rho_, &error_})
      *column = vouch::array<double>(cpu, n);
    for (vouch::array<double>& column : further_) column = vouch::array<double>(cpu, more ? n : 0);
  }

  void set(std::int64_t i, const vouch::valuation& v, double error, vouch::pricing_method method, bool met,
           bool has_vega_and_rho) {
    price_[i] = v.price;
    delta_[i] = v.delta;
    gamma_[i] = v.gamma;
    theta_[i] = v.theta;
    vega_[i] = has_vega_and_rho ? v.vega : none;
    rho_[i] = has_vega_and_rho ? v.rho : none;
    error_[i] = error;
    method_[i] = static_cast<std::uint8_t>(method);
    met_[i] = met;
  }
  void set_more(std::int64_t i, const vouch::more_greeks& m) {
    if (!more_) return;
    further_[0][i] = m.dividend_rho;
    further_[1][i] = m.vanna;
    further_[2][i] = m.volga;
    further_[3][i] = m.charm;
  }
  void fail(std::int64_t i) {
    set(i, {none, none, none, none, none, none}, none, vouch::pricing_method::limit, false, false);
    set_more(i, {none, none, none, none});
  }
  // For prices by formula of all options.
  vouch::valuation_columns by_formula() {
    std::fill_n(method_.data(), method_.size(), static_cast<std::uint8_t>(vouch::pricing_method::closed_form));
    std::fill_n(met_.data(), met_.size(), std::uint8_t{1});
    const auto whole = [](vouch::array<double>& column) {
      return std::span<double>(column.data(), static_cast<std::size_t>(column.size()));
    };
    return {whole(price_), whole(delta_), whole(gamma_), whole(theta_),
            whole(vega_),  whole(rho_),   whole(error_)};
  }
  double price(std::int64_t i) const { return price_[i]; }
  bool greeks() const { return greeks_; }
  bool more() const { return more_; }

  nb::dict parts() {
    nb::dict d;
    constexpr const char* names[] = {"price", "delta", "gamma", "theta", "vega", "rho", "error"};
    vouch::array<double>* const columns[] = {&price_, &delta_, &gamma_, &theta_, &vega_, &rho_, &error_};
    for (int k = 0; k < 7; ++k) d[names[k]] = to_numpy(std::move(*columns[k]));
    d["method"] = to_numpy(std::move(method_));
    d["met"] = to_numpy(std::move(met_));
    constexpr const char* further[] = {"dividend_rho", "vanna", "volga", "charm"};
    for (int k = 0; more_ && k < 4; ++k) d[further[k]] = to_numpy(std::move(further_[k]));
    return d;
  }

 private:
  bool greeks_, more_;
  vouch::array<double> price_, delta_, gamma_, theta_, vega_, rho_, error_;
  vouch::array<double> further_[4];
  vouch::array<std::uint8_t> method_, met_;
};

// Whether nothing of it needs a look before price_batch takes it.
bool is_ordinary(const vouch::plain_option& o) {
  const auto is_positive = [](double x) { return x > 0 && std::isfinite(x); };
  return o.payoff == vouch::payoff_kind::vanilla && o.barrier == vouch::barrier_kind::none &&
         is_positive(o.spot) && is_positive(o.strike) && is_positive(o.volatility) && is_positive(o.expiry) &&
         std::isfinite(o.rate) && std::isfinite(o.dividend) && o.rebate == 0 && o.barrier_level == 0 &&
         is_positive(o.cash);
}

vouch::pricing_method method_of(const vouch::batch_option& b) {
  return b.exercise == vouch::exercise_style::american &&
                 vouch::early_exercise_of(b.option) == vouch::early_exercise::one_boundary
             ? vouch::pricing_method::boundary
             : vouch::pricing_method::closed_form;
}

void price_alone(vouch::contract one, std::int64_t i, double tolerance, priced& to, row_failures& failures) {
  vouch::pricing_options options;
  options.vega_and_rho = to.greeks();
  options.finite_difference.tolerance = tolerance;
  try {
    const vouch::pricing p = vouch::price(std::move(one), options);
    to.set(i, p.value, p.error_estimate, p.method, p.tolerance_met, p.has_vega_and_rho);
    to.set_more(i, p.more.value_or(vouch::more_greeks{none, none, none, none}));
  } catch (const vouch::value_error& e) {
    failures.add(i, e);
    to.fail(i);
  }
}

nb::dict price(const nb::dict& given, const nb::dict& shared, double tolerance, bool greeks, bool more,
               bool list_failures, int threads) {
  const columns c(given);
  const vouch::contract common = common_of(shared);
  const vouch::device cpu = cpu_of(threads);
  const bool is_plain = common.is_plain();
  priced all(cpu, c.size(), greeks, more);
  row_failures failures(list_failures);
  without_lock([&] {
    if (is_plain && !more && c.are_european()) {
      vouch::price_european(cpu, c.european(), all.by_formula());
      for_blocks(c.size(), cpu.threads(), [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i)
          if (!std::isfinite(all.price(i))) price_alone(c.whole(i, common), i, tolerance, all, failures);
      });
      return true;
    }
    for_blocks(c.size(), cpu.threads(), [&](std::int64_t first, std::int64_t last) {
      vouch::batch_option batch[block_rows];
      std::int64_t rows[block_rows];
      std::size_t count = 0;
      for (std::int64_t i = first; i < last; ++i) {
        vouch::batch_option& b = batch[count];
        b = {c.option(i), c.style(i)};
        const bool european = b.exercise == vouch::exercise_style::european;
        if (is_plain && is_ordinary(b.option) && (european || vouch::fits_batch(b)))
          rows[count++] = i;
        else
          price_alone(c.whole(i, common), i, tolerance, all, failures);
      }
      vouch::valuation values[block_rows];
      vouch::price_batch(vouch::device::cpu(1), {batch, count}, greeks, {values, count}, tolerance);
      for (std::size_t k = 0; k < count; ++k) {
        const vouch::batch_option& b = batch[k];
        if (!std::isfinite(values[k].price)) {
          price_alone(c.whole(rows[k], common), rows[k], tolerance, all, failures);
          continue;
        }
        const vouch::pricing_method method = method_of(b);
        all.set(rows[k], values[k], vouch::batch_error(b, tolerance), method, true,
                greeks || method == vouch::pricing_method::closed_form);
        if (!more) continue;
        all.set_more(rows[k], vouch::has_more_greeks(b.option, b.exercise)
                                  ? vouch::european_more_greeks(b.option)
                                  : vouch::more_greeks{none, none, none, none});
      }
    });
    return true;
  });
  nb::dict d = all.parts();
  d["failures"] = failures.list();
  return d;
}

// Proved bounds of price, delta, gamma, theta, vega and rho, lower and upper one for each option; the whole line where the
// library proves none.
nb::dict enclose(const nb::dict& given, const nb::dict& shared, int threads) {
  const columns c(given);
  const bool is_plain = common_of(shared).is_plain();
  const vouch::device cpu = cpu_of(threads);
  constexpr const char* names[] = {"price", "delta", "gamma", "theta", "vega", "rho"};
  constexpr double infinite = std::numeric_limits<double>::infinity();
  vouch::array<double> bounds[6];
  for (vouch::array<double>& pairs : bounds) pairs = vouch::array<double>(cpu, 2 * c.size());
  without_lock([&] {
    for_blocks(c.size(), cpu.threads(), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        const auto set = [&](int k, double lo, double hi) {
          bounds[k][2 * i] = lo;
          bounds[k][2 * i + 1] = hi;
        };
        for (int k = 0; k < 6; ++k) set(k, -infinite, infinite);
        const vouch::plain_option o = c.option(i);
        if (!is_plain || c.style(i) != vouch::exercise_style::european || !is_ordinary(o)) continue;
        const vouch::enclosed_valuation v = vouch::enclose_european_price(o);
        const vouch::interval<double>* const parts[] = {&v.price, &v.delta, &v.gamma,
                                                        &v.theta, &v.vega,  &v.rho};
        for (int k = 0; k < 6; ++k) set(k, parts[k]->lo(), parts[k]->hi());
      }
    });
    return true;
  });
  nb::dict d;
  for (int k = 0; k < 6; ++k) d[names[k]] = to_numpy(std::move(bounds[k]));
  return d;
}

nb::tuple implied(const nb::dict& given, const nb::dict& shared, numbers prices, double tolerance,
                  int threads) {
  const columns c(given);
  const vouch::contract common = common_of(shared);
  const auto n = static_cast<std::int64_t>(prices.size());
  if (c.size() != 1 && c.size() != n) throw vouch::shape_error("implied_volatility: as many prices as options");
  const vouch::device cpu = cpu_of(threads);
  vouch::array<double> found(cpu, n);
  row_failures failures(true);
  without_lock([&] {
    for_blocks(n, cpu.threads(), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) try {
          const bool formula = common.is_plain() && c.style(i) == vouch::exercise_style::european;
          found[i] = formula ? vouch::implied_volatility(c.option(i), prices.data()[i])
                             : vouch::implied_volatility(c.whole(i, common), prices.data()[i], tolerance);
        } catch (const vouch::value_error& e) {
          failures.add(i, e);
          found[i] = none;
        }
    });
    return true;
  });
  return nb::make_tuple(to_numpy(std::move(found)), failures.list());
}

nb::dict price_book(const std::string& input, const std::string& output, double tolerance, bool greeks,
                    bool more, bool strict, int threads) {
  const vouch::book_report r = without_lock([&] {
    const vouch::cancellation_probe probe;
    vouch::book_options options;
    options.dev = cpu_of(1);
    options.threads = threads;
    options.greeks = greeks;
    options.more_greeks = more;
    options.strict = strict;
    options.tolerance = tolerance;
    options.stop = [&probe] { return probe.requested(); };
    vouch::book_report report = vouch::price_book(input, output, options);
    probe.check();
    return report;
  });
  const auto listed = [](const std::vector<vouch::book_failure>& all) {
    nb::list lines;
    for (const vouch::book_failure& f : all) lines.append(nb::make_tuple(f.line, f.column, f.message));
    return lines;
  };
  nb::dict d;
  d["options"] = r.options;
  d["priced"] = r.priced;
  d["european"] = r.european;
  d["american"] = r.american;
  d["by_finite_differences"] = r.by_finite_differences;
  d["failed"] = r.failed;
  d["inaccurate"] = r.inaccurate;
  d["warned"] = r.warned;
  d["failures"] = listed(r.failures);
  d["warnings"] = listed(r.warnings);
  d["passed"] = r.passed;
  return d;
}

}  // namespace

void bind_prices(nb::module_& m) {
  m.def("price", price);
  m.def("enclose_prices", enclose);
  m.def("implied", implied);
  m.def("price_book", price_book);
}

}  // namespace vouchnum
