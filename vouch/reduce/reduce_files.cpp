#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/progress.hpp>
#include <vouch/reduce/accumulator.hpp>
#include <vouch/reduce/set_scan.hpp>
#include <vouch/reduce/text_chunk.hpp>
#include <vouch/reduce/unit_text.hpp>
#include <vouch/text/file.hpp>

namespace vouch {
namespace {

constexpr std::int64_t most_accumulator_bytes = 48 << 20;

// A window on a text that comes in order.
class stream_text {
 public:
  stream_text(input_file& file, std::int64_t unit_bytes)
      : file_(file), unit_bytes_(static_cast<std::size_t>(unit_bytes)) {
    grow();
  }

  const char* begin() const { return text_.data() + start_; }
  const char* end() const { return text_.data() + size_; }
  const char* border() const { return last_separator(begin(), end()); }
  bool more() const { return more_; }
  std::int64_t bytes() const { return bytes_; }
  bool has_header() const {
    const char* const p =
        std::find_if(begin(), end(), [](char c) { return static_cast<unsigned char>(c) > ' '; });
    return std::find(p, end(), '\n') != end();
  }
  /// Reads on; at least as much as is there already.
  void grow() {
    if (size_ > start_) std::memmove(text_.data(), begin(), size_ - start_);
    size_ -= start_;
    start_ = 0;
    const std::size_t wanted = std::max(size_, unit_bytes_);
    if (text_.size() < size_ + wanted) text_.resize(size_ + wanted);
    const std::size_t got = file_.read(text_.data() + size_, wanted);
    more_ = got == wanted;
    size_ += got;
    bytes_ += static_cast<std::int64_t>(got);
  }
  /// Drops what is before p; returns its lines.
  std::int64_t skip_to(const char* p) {
    const std::int64_t lines = std::count(begin(), p, '\n');
    start_ = static_cast<std::size_t>(p - text_.data());
    return lines;
  }

 private:
  input_file& file_;
  std::size_t unit_bytes_;
  std::vector<char> text_;
  std::size_t start_ = 0;
  std::size_t size_ = 0;
  bool more_ = true;
  std::int64_t bytes_ = 0;
};

// Products of reals, merged in the order of the units whatever the order in which they come.
class ordered_products {
 public:
  void add(std::int64_t unit, std::vector<scaled_product>& products) {
    if (products.empty()) return;
    const std::lock_guard lock(adding_);
    waiting_.emplace(unit, std::move(products));
    for (auto next = waiting_.begin(); next != waiting_.end() && next->first == next_;
         next = waiting_.erase(next), ++next_)
      merge(next->second);
  }
  const std::vector<scaled_product>& total() const { return total_; }

 private:
  void merge(const std::vector<scaled_product>& products) {
    total_.resize(products.size());
    for (std::size_t e = 0; e < products.size(); ++e)
      total_[e].multiply(products[e].value, products[e].exponent);
  }
  std::mutex adding_;
  std::map<std::int64_t, std::vector<scaled_product>> waiting_;
  std::int64_t next_ = 0;
  std::vector<scaled_product> total_;
};

// A thread's part.
struct worker {
  accumulator values;
  unit_scanner scanner;
  unit_fetcher fetcher{};
  std::exception_ptr failure{};

  worker(set_shape shape, const reduce_needs& needs, parser_instructions most)
      : values(shape.rows * shape.cols, needs), scanner(shape, values, most) {}
};

class set_reducer {
 public:
  using chunk_ring = std::vector<std::shared_ptr<text_chunk>>;

  set_reducer(int threads, int gpus, const chunk_ring& ring, const reduce_options& options)
      : threads_(threads),
        gpus_(gpus),
        ring_(ring),
        options_(options),
        needs_(options.operations, options.rigorous) {}

  void add_file(const std::string& path) {
    input_file file(path);
    if (file.random_access())
      add_units(file);
    else
      add_stream(file);
  }

  reduce_result result() {
    for (auto& other : workers_)
      if (other != workers_.front()) workers_.front()->values.merge(other->values);
    workers_.front()->values.settle();
    reduce_result all;
    for (const auto& one : workers_) all.integers &= !one->scanner.any_real();
    all.integers &= !decimals_;
    all.count = total_;
    all.rows = shape_.rows;
    all.cols = shape_.cols;
    all.bytes = bytes_;
    all.method = chunked_ ? "cuda" : name(best_instructions(options_.instructions));
    all.results = finished_reductions(
        options_, shape_, {workers_.front()->values, products_.total(), counts_, total_, all.integers});
    return all;
  }

 private:
  // The shape of the whole set is that of its first matrix. A given one that does not fit is refused before
  // memory is taken for it.
  void learn_shape(const text_place& first, bool end_of_file) {
    if (!workers_.empty()) return;
    shape_ = first_shape(first.begin, first.end);
    const bool fits =
        !options_.shape || (options_.shape->rows == shape_.rows && options_.shape->cols == shape_.cols);
    if (shape_.rows == 0 || !fits)
      throw_first_fault(first, options_.shape.value_or(set_shape{1, 1}), end_of_file);
    // Large matrices have fewer threads, so that their memory stays bounded.
    const std::int64_t affordable =
        most_accumulator_bytes / (accumulator::element_bytes * shape_.rows * shape_.cols);
    threads_ = static_cast<int>(std::clamp<std::int64_t>(affordable, 1, threads_));
    for (int k = 0; k < threads_; ++k)
      workers_.push_back(std::make_unique<worker>(shape_, needs_, options_.instructions));
  }

  void add_units(const input_file& file) {
    const mapped_file map(file);
    const set_header header = parse_set_header(file.path(), map.begin(), map.end());
    text_place place{file.path(), header.body, map.end(), 1, 0, header.count};
    place.first_line += std::count(map.begin(), header.body, '\n');
    learn_shape(place, true);
    bytes_ += map.end() - map.begin();
    const bool by_chunks = !ring_.empty() && text_chunk::fits(shape_, needs_);
    file_units units{file, map, header.body, options_.unit_bytes};
    // A GPU takes sixteen units at once, to be worth its while.
    if (by_chunks)
      units.unit_bytes =
          std::min(16 * units.unit_bytes, text_chunk::text_bytes - file_units::overlap_bytes - 1);
    unit_run run{units, units.count(), static_cast<std::int64_t>(counts_.size())};
    progress::begin(run.count);
    counts_.resize(counts_.size() + static_cast<std::size_t>(run.count));
    const int team = static_cast<int>(std::min<std::int64_t>(threads_, run.count));
    const int feeders =
        by_chunks ? std::min({team, gpus_ * text_chunk::most_threads, static_cast<int>(ring_.size())}) : 0;
#pragma omp parallel for firstprivate(ieee) num_threads(team) schedule(static, 1)
    for (int t = 0; t < team; ++t) {
      worker& mine = *workers_[static_cast<std::size_t>(t)];
      try {
        if (t < feeders)
          take_chunks(mine, run, t, feeders);
        else  // also beside a GPU, which more feeders would only slow down
          take_units(mine, run);
      } catch (...) {  // of the file system, memory or the GPU
        mine.failure = std::current_exception();
        run.next = run.count;
      }
    }
    for (const auto& one : workers_)
      if (one->failure) std::rethrow_exception(one->failure);
    run.stop.check();
    check_counts(place, run);
  }

  // The units of a file, shared by the threads.
  struct unit_run {
    const file_units& units;
    std::int64_t count;
    std::int64_t first_unit;  // of all files
    std::atomic<std::int64_t> next = 0;
    std::atomic<std::int64_t> failed = count;  // the first bad unit so far
    cancellation_probe stop{};

    /// The next unit to take; count where there is none, or all is to end.
    std::int64_t take() {
      const std::int64_t k = next++;
      progress::add(1);
      return k < count && k < failed && !stop.requested() ? k : count;
    }
  };

  void note(unit_run& run, std::int64_t k, std::int64_t matrices) {
    counts_[static_cast<std::size_t>(run.first_unit + k)] = std::max<std::int64_t>(matrices, 0);
    for (std::int64_t f = run.failed; matrices < 0 && k < f && !run.failed.compare_exchange_weak(f, k);) {
    }
  }

  void scan_unit(worker& mine, unit_run& run, std::int64_t k, const unit_text& text) {
    note(run, k, scan(mine, text.begin, text.end, run.first_unit + k, text.end_of_file));
  }

  void take_units(worker& mine, unit_run& run) {
    for (std::int64_t k = run.take(); k < run.count; k = run.take())
      mine.fetcher.with_unit(run.units, k, [&](const unit_text& text) { scan_unit(mine, run, k, text); });
  }

  // A chunk on its way through the GPU.
  struct in_flight_chunk {
    text_chunk* chunk = nullptr;
    std::int64_t unit = -1;  // none
    unit_text text{};
  };

  // This thread's chunks in turn: while one is filled, the others are in flight.
  void take_chunks(worker& mine, unit_run& run, int thread, int team) {
    std::vector<in_flight_chunk> in_flight;
    for (auto c = static_cast<std::size_t>(thread); c < ring_.size(); c += static_cast<std::size_t>(team))
      in_flight.push_back({ring_[c].get()});
    std::size_t turn = 0;
    for (std::int64_t k = run.take(); k < run.count; k = run.take()) {
      in_flight_chunk& now = in_flight[turn++ % in_flight.size()];
      collect(mine, run, now);
      submit(mine, run, now, k);
    }
    for (in_flight_chunk& last : in_flight) collect(mine, run, last);
  }

  void submit(worker& mine, unit_run& run, in_flight_chunk& now, std::int64_t k) {
    const std::optional<unit_text> copied = copy_unit(run.units, k, now.chunk->text());
    const bool wants_sums = needs_.sum || needs_.magnitudes;
    if (!copied || (decimals_ && wants_sums))
      return scan_unit(mine, run, k, copied ? *copied : mapped_unit(run.units, k));
    if (copied->begin == copied->end) return note(run, k, 0);
    now.unit = k;
    now.text = *copied;
    now.chunk->start({shape_, needs_, decimals_, copied->begin - now.chunk->text(),
                      copied->end - now.chunk->text(), copied->end_of_file});
  }

  void collect(worker& mine, unit_run& run, in_flight_chunk& now) {
    if (now.unit < 0) return;
    const std::int64_t k = std::exchange(now.unit, -1);
    const chunk_answer answer = now.chunk->wait();
    if (!answer.regular) {
      scan_unit(mine, run, k, now.text);
      if (mine.scanner.any_real()) decimals_ = true;
      return;
    }
    if (answer.points) decimals_ = true;
    chunked_ = true;
    note(run, k, answer.matrices);
    for (std::int64_t e = 0; answer.matrices > 0 && e < shape_.rows * shape_.cols; ++e)
      if (answer.decimals)
        mine.values.add_extremes(e, answer.least_real[e], answer.most_real[e]);
      else
        mine.values.add_summary(e, {answer.least[e], answer.most[e], answer.sums[e], answer.magnitudes[e]});
  }

  std::int64_t scan(worker& by, const char* from, const char* to, std::int64_t unit, bool end_of_file) {
    const std::int64_t matrices = by.scanner.scan(from, to, unit, end_of_file);
    products_.add(unit, by.values.unit_products());
    return matrices;
  }

  // Finds the first fault of the file, if any.
  void check_counts(text_place place, const unit_run& run) {
    const text_place whole = place;
    for (std::int64_t k = 0; k < run.count; ++k) {
      const std::int64_t count = counts_[static_cast<std::size_t>(run.first_unit + k)];
      if (k == run.failed || place.matrices + count > place.announced) {
        place.begin = run.units.border(k);
        place.end = run.units.border(k + 1);
        place.first_line = whole.first_line + std::count(whole.begin, place.begin, '\n');
        throw_first_fault(place, shape_, place.end == whole.end);
      }
      place.matrices += count;
    }
    if (place.matrices < place.announced) throw_too_few(place);
    total_ += place.matrices;
  }

  // One thread is enough: it parses faster than a pipe or gzip delivers.
  void add_stream(input_file& file) {
    stream_text text(file, options_.unit_bytes);
    while (text.more() && !text.has_header()) text.grow();
    const set_header header = parse_set_header(file.path(), text.begin(), text.end());
    text_place place{file.path(), nullptr, nullptr, 1, 0, header.count};
    place.first_line += text.skip_to(header.body);
    for (bool last = false; !last;) {
      while (text.more() && text.border() == text.begin()) text.grow();
      last = !text.more();
      place.begin = text.begin();
      place.end = last ? text.end() : text.border();
      learn_shape(place, last);
      const auto unit = static_cast<std::int64_t>(counts_.size());
      const std::int64_t matrices = scan(*workers_.front(), place.begin, place.end, unit, last);
      if (matrices < 0 || place.matrices + matrices > place.announced) throw_first_fault(place, shape_, last);
      counts_.push_back(matrices);
      place.matrices += matrices;
      if (last && place.matrices < place.announced) throw_too_few(place);
      place.first_line += text.skip_to(place.end);
    }
    bytes_ += text.bytes();
    total_ += place.matrices;
  }

  int threads_;
  int gpus_;
  const chunk_ring& ring_;  // of the GPUs in turns
  reduce_options options_;
  reduce_needs needs_;
  std::atomic<bool> decimals_ = false;  // a GPU's chunk had some
  std::atomic<bool> chunked_ = false;   // a GPU reduced some
  set_shape shape_;
  std::vector<std::unique_ptr<worker>> workers_;
  ordered_products products_;
  std::vector<std::int64_t> counts_;  // of matrices, by unit
  std::int64_t total_ = 0;
  std::int64_t bytes_ = 0;
};

void check_options(const reduce_options& options, std::span<const std::string> files) {
  if (files.empty()) throw value_error("reduce: no files");
  if (options.operations.empty()) throw value_error("reduce: no operations");
  if (options.unit_bytes <= 0) throw value_error("reduce: units of no bytes");
  if (!options.shape) return;
  const auto [rows, cols] = *options.shape;
  constexpr std::int64_t most = std::int64_t{1} << 31;
  if (rows <= 0 || cols <= 0 || rows > most / cols)
    throw shape_error("reduce: no set has matrices of " + std::to_string(rows) + " by " + std::to_string(cols));
}

}  // namespace

matrix_set_reducer::matrix_set_reducer(const device_group& devices, int host_threads)
    : threads_(host_threads > 0 ? host_threads
                                : (devices.is_cuda() ? device::cpu() : devices.front()).threads()),
      gpus_(static_cast<int>(devices.size())) {
  if constexpr (built_with_cuda)
    if (devices.is_cuda()) {
      const int each = std::clamp(2 * threads_ / gpus_, 1, text_chunk::most_chunks);
      for (int k = 0; k < each * gpus_; ++k) ring_.push_back(make_text_chunk(devices[k % gpus_]));
    }
}

reduce_result matrix_set_reducer::operator()(std::span<const std::string> files,
                                             const reduce_options& options) {
  const ieee_environment here;
  check_options(options, files);
  set_reducer reducer(threads_, gpus_, ring_, options);
  for (const std::string& file : files) reducer.add_file(file);
  return reducer.result();
}

reduce_result reduce_matrix_sets(const device_group& devices, std::span<const std::string> files,
                                 const reduce_options& options) {
  const ieee_environment here;
  return matrix_set_reducer(devices)(files, options);
}

}  // namespace vouch
