#include <vouch/price/book.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <utility>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/price/book/book_lines.hpp>
#include <vouch/price/implied.hpp>
#include <vouch/price/price.hpp>
#include <vouch/price/slips.hpp>
#include <vouch/text/file.hpp>
#include <vouch/text/lines.hpp>
#include <vouch/text/ordered_writer.hpp>

namespace vouch {
namespace {

// What one block of lines became.
struct priced_block {
  std::string text;
  book_report report;
};

// Puts one in the report's list, as long as there is room.
void list(book_failure entry, std::vector<book_failure>& into) {
  if (into.size() < book_report::most_failures) into.push_back(std::move(entry));
}

// What one thread prices blocks of lines with.
class book_pricer {
 public:
  book_pricer(const book_header& header, const book_options& options, const device& dev)
      : header_(header), options_(options), device_(dev) {}

  /// False where it was stopped on the way.
  bool work(const line_block& block, priced_block& out) {
    out.report = {};
    out.text.clear();
    read(block, out.report);
    values_.resize(batched_.size());
    if (!batched_.empty()) price_batch(device_, batched_, has_vega_and_rho(), values_, options_.tolerance);
    std::size_t next_batched = 0;
    for (entry& e : entries_) {
      if (e.kind == entry::batched) {
        const batch_option& b = batched_[next_batched];
        const valuation& v = values_[next_batched++];
        if (!std::isnan(v.price)) {
          put(e, {v, more_of(b), e.implied_volatility},
              b.exercise == exercise_style::european ? out.report.european : out.report.american, out);
          continue;
        }
        e.individual =
            std::make_unique<individual_line>(individual_line{plain_contract(b), none, options_.tolerance});
      }
      if (!e.individual) {
        put_failure(e, e.failure, out);
        continue;
      }
      if (is_stopped()) return false;
      put_individual(e, out);
    }
    return true;
  }

 private:
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  static constexpr more_greeks unknown{none, none, none, none};

  struct individual_line {
    contract option;
    double price;  // whose volatility is wanted; NaN: its own is there
    double tolerance;
  };
  struct entry {
    enum { batched, other } kind = other;
    book_failure failure;  // its line counts for all
    std::string_view input;
    double implied_volatility = none;
    std::unique_ptr<individual_line> individual;
  };

  static contract plain_contract(const batch_option& b) {
    contract c;
    c.plain = b.option;
    c.exercise = b.exercise;
    return c;
  }

  bool has_vega_and_rho() const { return options_.greeks || options_.more_greeks; }
  bool is_stopped() const { return options_.stop && options_.stop(); }

  void read(const line_block& block, book_report& report) {
    batched_.clear();
    entries_.clear();
    std::int64_t number = block.first_line;
    for (const char* p = block.begin; p < block.end; ++number) {
      const char* feed =
          static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(block.end - p)));
      const std::string_view text(p, static_cast<std::size_t>(feed - p));
      p = feed + 1;
      if (is_empty_book_line(text)) continue;
      entry& e = entries_.emplace_back();
      e.failure.line = number;
      e.input = text;
      if (parse_book_line(header_, text, line_, e.failure)) take_line(e, report);
    }
  }

  // The batch takes what is plain, to the tolerance of all.
  void take_line(entry& e, book_report& report) {
    plain_option& o = line_.option.option;
    const bool european = line_.option.exercise == exercise_style::european;
    const bool wanted = !std::isnan(line_.price),
               formula = european && line_.is_plain && fits_batch(line_.option);
    if (wanted && formula && o.payoff == payoff_kind::vanilla && o.barrier == barrier_kind::none) {
      try {
        o.volatility = e.implied_volatility = implied_volatility(o, line_.price);
      } catch (const value_error& wrong) {
        e.failure.message = wrong.what();
        return;
      }
      line_.price = none;
    }
    if (!line_.is_plain || may_be_a_slip(o))
      for (std::string& slip : slips_of(line_.whole())) {
        ++report.warned;
        list({e.failure.line, 0, std::move(slip)}, report.warnings);
      }
    if (std::isnan(line_.price) && line_.is_plain && (line_.tolerance == 0 || european) &&
        fits_batch(line_.option)) {
      e.kind = entry::batched;
      batched_.push_back(line_.option);
    } else {
      const double tolerance = line_.tolerance > 0 ? line_.tolerance : options_.tolerance;
      e.individual = std::make_unique<individual_line>(individual_line{line_.whole(), line_.price, tolerance});
    }
  }

  more_greeks more_of(const batch_option& b) const {
    if (!options_.more_greeks || !has_more_greeks(b.option, b.exercise)) return unknown;
    return european_more_greeks(b.option);
  }

  void put(const entry& e, const book_values& values, std::int64_t& count, priced_block& out,
           std::string_view remark = {}) {
    const double price = values.value.price;
    if (!(price >= 0 && std::isfinite(price))) {
      put_failure(e, {e.failure.line, 0, "its value is beyond the range of numbers"}, out);
      return;
    }
    print_book_line(out.text, header_, options_, e.failure.line, e.input, values, remark);
    ++count;
    ++out.report.priced;
    ++out.report.options;
  }

  void put_failure(const entry& e, const book_failure& failure, priced_block& out) {
    print_book_failure(out.text, header_, options_, e.input, failure);
    ++out.report.options;
    ++out.report.failed;
    list(failure, out.report.failures);
  }

  static std::int64_t& count_of(pricing_method method, book_report& report) {
    if (method == pricing_method::finite_difference) return report.by_finite_differences;
    return method == pricing_method::boundary ? report.american : report.european;
  }

  // As the batch prices it, to a tolerance of its own; false where it does not.
  bool put_as_in_batch(const entry& e, priced_block& out) {
    const contract& c = e.individual->option;
    const batch_option one{c.plain, c.exercise};
    if (e.kind == entry::batched || !c.is_plain() || !fits_batch(one)) return false;
    valuation v;
    price_batch(device::cpu(1), {&one, 1}, has_vega_and_rho(), {&v, 1}, e.individual->tolerance);
    if (std::isnan(v.price)) return false;
    const bool european = c.exercise == exercise_style::european;
    put(e, {v, more_of(one), e.implied_volatility}, european ? out.report.european : out.report.american, out);
    return true;
  }

  void put_individual(entry& e, priced_block& out) {
    individual_line& line = *e.individual;
    pricing_options how;
    how.finite_difference.tolerance = line.tolerance;
    how.finite_difference.greeks = how.vega_and_rho = has_vega_and_rho();
    try {
      if (!std::isnan(line.price))
        line.option.plain.volatility = e.implied_volatility =
            implied_volatility(line.option, line.price, line.tolerance);
      if (put_as_in_batch(e, out)) return;
      pricing p = price(line.option, how);
      if (!p.has_vega_and_rho) p.value.vega = p.value.rho = none;
      const bool inaccurate = !(p.error_estimate <= line.tolerance);
      char remark[64] = "";
      if (inaccurate) std::snprintf(remark, sizeof remark, "the error is about %.1e", p.error_estimate);
      out.report.inaccurate += inaccurate;
      put(e, {p.value, p.more.value_or(unknown), e.implied_volatility}, count_of(p.method, out.report), out,
          remark);
    } catch (const value_error& wrong) {
      put_failure(e, {e.failure.line, 0, wrong.what()}, out);
    }
  }

  const book_header& header_;
  const book_options& options_;
  device device_;
  book_line line_;
  std::vector<batch_option> batched_;
  std::vector<valuation> values_;
  std::vector<entry> entries_;
};

void add(const book_report& r, book_report& total) {
  total.options += r.options;
  total.priced += r.priced;
  total.european += r.european;
  total.american += r.american;
  total.by_finite_differences += r.by_finite_differences;
  total.failed += r.failed;
  total.inaccurate += r.inaccurate;
  total.warned += r.warned;
  for (const book_failure& f : r.failures) list(f, total.failures);
  for (const book_failure& w : r.warnings) list(w, total.warnings);
}

}  // namespace

book_report price_book(const std::string& input, const std::string& output, const book_options& options) {
  const ieee_environment here;
  line_reader reader{input_file(input)};
  std::string names;
  std::int64_t number = 0;
  do {
    ++number;
    if (!reader.next_line(names)) throw parse_error(input, number, 0, "the file is empty");
  } while (is_empty_book_line(names));
  const book_header header = parse_book_header(input, names, number, options);
  atomic_file file(output);
  file.write(book_output_header(header, options));
  ordered_turns turns;
  book_report report;
  const int threads = device::cpu(options.threads).threads();
  const cancellation_probe stop;
  std::atomic<std::int64_t> started = 0;
#pragma omp parallel firstprivate(ieee) num_threads(threads)
  {
    const cancellation_scope listens(stop);
    try {
      // A thread of its own: its CPU work is not split again, and its stream runs beside the others'.
      const device& mine = options.dev[started++ % options.dev.size()];
      book_pricer pricer(header, options, mine.is_cuda() ? device::cuda(mine.index()) : device::cpu(1));
      line_block block;
      priced_block priced;
      while (reader.next_block(block)) {
        stop.check();
        if ((options.stop && options.stop()) || !pricer.work(block, priced)) {
          turns.end();
          break;
        }
        const bool goes_on = turns.take(block.number, [&] {
          file.write(priced.text);
          add(priced.report, report);
        });
        if (!goes_on) break;
      }
    } catch (...) {
      turns.end(std::current_exception());
    }
  }
  turns.rethrow_failure();
  report.stopped = turns.ended();
  report.passed = header.passed;
  if (!report.stopped) file.commit();
  return report;
}

}  // namespace vouch
