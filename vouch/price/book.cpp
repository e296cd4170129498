#include <vouch/price/book.hpp>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>

#include <vouch/core/error.hpp>
#include <vouch/price/book_lines.hpp>
#include <vouch/price/price.hpp>
#include <vouch/text/file.hpp>
#include <vouch/text/lines.hpp>

namespace vouch {
namespace {

// What one block of lines became.
struct priced_block {
  std::string text;
  book_report report;
};

// One thread's tools.
class desk {
 public:
  desk(const std::vector<book_column>& columns, const book_options& options, const device& dev)
      : columns_(columns), options_(options), device_(dev) {}

  /// False where it was stopped on the way.
  bool work(const line_block& block, priced_block& out) {
    read(block);
    values_.resize(quick_.size());
    if (!quick_.empty()) price_batch(device_, quick_, options_.greeks, values_, options_.tolerance);
    out.report = {};
    out.text.clear();
    std::size_t next_quick = 0;
    for (entry& e : entries_) {
      if (e.kind == entry::quick) {
        const batch_option& b = quick_[next_quick];
        const valuation& v = values_[next_quick++];
        if (std::isnan(v.price)) {
          if (is_stopped()) return false;
          e.option = b;
          put_slow(e, out);
          continue;
        }
        put(e, v, b.exercise == exercise_style::european ? out.report.european : out.report.american, out);
      } else if (e.kind == entry::slow) {
        if (is_stopped()) return false;
        put_slow(e, out);
      } else {
        put_failure(e.failure, out);
      }
    }
    return true;
  }

 private:
  struct entry {
    enum { quick, slow, failed } kind = failed;
    book_failure failure;  // its line counts for all kinds
    batch_option option;   // of the slow ones
  };

  bool is_stopped() const { return options_.stop && options_.stop(); }

  void read(const line_block& block) {
    quick_.clear();
    entries_.clear();
    std::int64_t line = block.first_line;
    for (const char* p = block.begin; p < block.end; ++line) {
      const char* feed =
          static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(block.end - p)));
      const std::string_view text(p, static_cast<std::size_t>(feed - p));
      p = feed + 1;
      if (is_empty_book_line(text)) continue;
      entry& e = entries_.emplace_back();
      e.failure.line = line;
      batch_option option;
      if (!parse_book_line(columns_, text, option, e.failure)) continue;
      e.kind = fits_batch(option) ? entry::quick : entry::slow;
      e.kind == entry::quick ? quick_.push_back(option) : void(e.option = option);
    }
  }

  void put(const entry& e, const valuation& v, std::int64_t& count, priced_block& out,
           std::string_view remark = {}) {
    if (!(v.price >= 0 && std::isfinite(v.price))) {
      put_failure({e.failure.line, 0, "its value is beyond the range of numbers"}, out);
      return;
    }
    print_book_line(out.text, e.failure.line, v, options_.greeks, remark);
    ++count;
    ++out.report.priced;
    ++out.report.options;
  }

  void put_failure(const book_failure& failure, priced_block& out) {
    print_book_failure(out.text, failure, options_.greeks);
    ++out.report.options;
    ++out.report.failed;
    if (out.report.failures.size() < book_report::most_failures) out.report.failures.push_back(failure);
  }

  static std::int64_t& count_of(pricing_method method, book_report& report) {
    if (method == pricing_method::finite_difference) return report.by_finite_differences;
    return method == pricing_method::boundary ? report.american : report.european;
  }

  void put_slow(const entry& e, priced_block& out) {
    pricing_options how;
    how.finite_difference.tolerance = options_.tolerance;
    how.finite_difference.greeks = options_.greeks;
    how.vega_and_rho = options_.greeks;
    contract c;
    c.plain = e.option.option;
    c.exercise = e.option.exercise;
    try {
      pricing p = price(c, how);
      if (!p.has_vega_and_rho) p.value.vega = p.value.rho = std::nan("");
      const bool inaccurate = !(p.error_estimate <= options_.tolerance);
      char remark[64] = "";
      if (inaccurate) std::snprintf(remark, sizeof remark, "the error is about %.1e", p.error_estimate);
      out.report.inaccurate += inaccurate;
      put(e, p.value, count_of(p.method, out.report), out, remark);
    } catch (const value_error& wrong) {
      put_failure({e.failure.line, 0, wrong.what()}, out);
    }
  }

  const std::vector<book_column>& columns_;
  const book_options& options_;
  device device_;
  std::vector<batch_option> quick_;
  std::vector<valuation> values_;
  std::vector<entry> entries_;
};

// Takes blocks in the order of their numbers from several threads.
class ordered_output {
 public:
  explicit ordered_output(atomic_file& file) : file_(file) {}

  /// Waits for all earlier blocks; false when the work has ended.
  bool take(std::int64_t number, const priced_block& block) {
    std::unique_lock lock(mutex_);
    turn_.wait(lock, [&] { return next_ == number || ended_; });
    if (ended_) return false;
    file_.write(block.text);
    add(block.report);
    ++next_;
    turn_.notify_all();
    return true;
  }
  void end(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!ended_) failure_ = failure;
    ended_ = true;
    turn_.notify_all();
  }
  bool ended() const { return ended_; }
  std::exception_ptr failure() const { return failure_; }
  book_report report() const { return report_; }

 private:
  void add(const book_report& r) {
    report_.options += r.options;
    report_.priced += r.priced;
    report_.european += r.european;
    report_.american += r.american;
    report_.by_finite_differences += r.by_finite_differences;
    report_.failed += r.failed;
    report_.inaccurate += r.inaccurate;
    for (const book_failure& f : r.failures)
      if (report_.failures.size() < book_report::most_failures) report_.failures.push_back(f);
  }

  atomic_file& file_;
  std::mutex mutex_;
  std::condition_variable turn_;
  std::int64_t next_ = 0;
  bool ended_ = false;
  std::exception_ptr failure_;
  book_report report_;
};

}  // namespace

book_report price_book(const std::string& input, const std::string& output, const book_options& options) {
  line_reader reader{input_file(input)};
  std::string header;
  std::int64_t number = 0;
  do {
    ++number;
    if (!reader.next_line(header)) throw parse_error(input, number, 0, "the file is empty");
  } while (is_empty_book_line(header));
  const std::vector<book_column> columns = parse_book_header(input, header, number);
  atomic_file file(output);
  file.write(book_output_header(options.greeks));
  ordered_output out(file);
  const int threads = device::cpu(options.threads).threads();
#pragma omp parallel num_threads(threads)
  {
    try {
      // A thread of its own: its CPU work is not split again, and its stream runs beside the others'.
      desk mine(columns, options, options.dev.is_cuda() ? device::cuda(options.dev.index()) : device::cpu(1));
      line_block block;
      priced_block priced;
      while (reader.next_block(block)) {
        if ((options.stop && options.stop()) || !mine.work(block, priced)) {
          out.end(nullptr);
          break;
        }
        if (!out.take(block.number, priced)) break;
      }
    } catch (...) {
      out.end(std::current_exception());
    }
  }
  if (out.failure()) std::rethrow_exception(out.failure());
  book_report report = out.report();
  report.stopped = out.ended();
  if (!report.stopped) file.commit();
  return report;
}

}  // namespace vouch
