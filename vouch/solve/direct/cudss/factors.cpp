#include <vouch/solve/direct/cudss/factors.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/solve/direct/cudss/interface.hpp>
#include <vouch/solve/direct/cudss/library.hpp>

namespace vouch::cudss {

struct handle_of_gpu {
  handle opened = nullptr;
  std::mutex in_use;
};

namespace {

template <real T>
constexpr int type_of = sizeof(T) == 8 ? double_type : float_type;

void check(int status, const char* routine) {
  if (status != success)
    throw device_error(std::string(routine) + ": cuDSS answers with status " + std::to_string(status), status);
}

// One for each GPU and type of numbers, of which cuDSS wants one a handle. For ever: at the end of the process CUDA may be
// gone before it. dev's GPU is the selected one.
handle_of_gpu& the_handle(const device& dev, int type) {
  static std::mutex guard;
  static auto& all = *new std::map<std::pair<int, int>, handle_of_gpu>;
  const std::lock_guard lock(guard);
  handle_of_gpu& of = all[{dev.index(), type}];
  if (of.opened != nullptr) return of;
  check(find<create_function>("cudssCreate")(&of.opened), "cudssCreate");
  // Without its layer of threads it works on one.
  if (const std::string layer = threading_file(); !layer.empty())
    find<set_threading_function>("cudssSetThreadingLayer")(of.opened, layer.c_str());
  return of;
}

using interrupt_flag = std::atomic<std::int32_t>;
static_assert(sizeof(interrupt_flag) == 4 && interrupt_flag::is_always_lock_free, "cuDSS reads a number");

// Raises the flag that cuDSS looks at once the caller asks for the end.
class interruption {
 public:
  explicit interruption(interrupt_flag& flag) : flag_(flag), watcher_([this] { watch(); }) {}
  ~interruption() {
    {
      const std::lock_guard lock(guard_);
      done_ = true;
    }
    finished_.notify_one();
    watcher_.join();
    flag_.store(0);
  }
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;

 private:
  void watch() {
    constexpr std::chrono::milliseconds between_looks{20};
    std::unique_lock lock(guard_);
    while (!finished_.wait_for(lock, between_looks, [this] { return done_; }))
      if (probe_.requested()) flag_.store(1, std::memory_order_release);
  }

  interrupt_flag& flag_;
  const cancellation_probe probe_;  // of the thread that makes it
  std::mutex guard_;
  std::condition_variable finished_;
  bool done_ = false;
  std::thread watcher_;
};

matrix_type type_for(kind which) {
  switch (which) {
    case kind::cholesky:
      return definite;
    case kind::ldlt:
      return symmetric;
    default:
      return general;
  }
}

}  // namespace

// What cuDSS made for one matrix, with the handle while it works.
template <real T>
class factors<T>::objects {
 public:
  objects(handle_of_gpu& of, const device& dev) : of_(of), dev_(dev) {
    const std::lock_guard lock(of_.in_use);
    cudss::check(find<create_config_function>("cudssConfigCreate")(&config_), "cudssConfigCreate");
    cudss::check(find<create_data_function>("cudssDataCreate")(of_.opened, &data_), "cudssDataCreate");
    cudss::check(find<set_data_function>("cudssDataSet")(of_.opened, data_, fact::interrupt, &interrupt_,
                                                         sizeof interrupt_),
                 "cudssDataSet");
  }
  ~objects() {
    const std::lock_guard lock(of_.in_use);
    drop(matrix_);
    if (data_ != nullptr) find<destroy_data_function>("cudssDataDestroy")(of_.opened, data_);
    if (config_ != nullptr) find<destroy_config_function>("cudssConfigDestroy")(config_);
  }
  objects(const objects&) = delete;
  objects& operator=(const objects&) = delete;

  template <class Value>
  void set(setting::which which, const Value& value) {
    cudss::check(find<set_config_function>("cudssConfigSet")(config_, which, &value, sizeof value),
                 "cudssConfigSet");
  }
  // Whether it is known.
  template <class Value>
  bool get(fact::which which, Value& value) {
    const std::lock_guard lock(of_.in_use);
    std::size_t written = 0;
    return find<get_data_function>("cudssDataGet")(of_.opened, data_, which, &value, sizeof value, &written) ==
           success;
  }
  void wrap(csr_view<const T> A, kind which) {
    drop(matrix_);
    cudss::check(find<create_csr_function>("cudssMatrixCreateCsr")(
                     &matrix_, A.rows, A.cols, A.nonzeros, A.row_ptr, nullptr, A.col, A.val, int64_type,
                     int32_type, type_of<T>, type_for(which), which == kind::lu ? full : upper, from_zero),
                 "cudssMatrixCreateCsr");
  }
  interrupt_flag& interrupt() { return interrupt_; }
  // Of n unknowns; the status.
  int run(int phase, std::int64_t n, const T* b, T* x) {
    const std::lock_guard lock(of_.in_use);
    if (dev_.is_cuda())
      cudss::check(find<set_stream_function>("cudssSetStream")(of_.opened, dev_.stream()), "cudssSetStream");
    matrix_object rhs = nullptr, solution = nullptr;
    const auto column = [n](matrix_object* made, const T* values) {
      return find<create_dense_function>("cudssMatrixCreateDn")(made, n, 1, n, values, type_of<T>, by_columns);
    };
    int status = column(&rhs, b);
    if (status == success) status = column(&solution, x);
    if (status == success)
      status =
          find<execute_function>("cudssExecute")(of_.opened, phase, config_, data_, matrix_, solution, rhs);
    dev_.synchronize();
    drop(rhs);
    drop(solution);
    return status;
  }

 private:
  static void drop(matrix_object& object) {
    if (object != nullptr) find<destroy_matrix_function>("cudssMatrixDestroy")(object);
    object = nullptr;
  }

  handle_of_gpu& of_;
  const device& dev_;
  interrupt_flag interrupt_{0};
  config_object config_ = nullptr;
  data_object data_ = nullptr;
  matrix_object matrix_ = nullptr;
};

template <real T>
factors<T>::factors(const device& dev, kind which, csr_view<const T> A, int threads)
    : dev_(dev),
      kind_(which),
      A_(copy(dev, dev, A)),
      interchanges_(which == kind::ldlt),
      unused_(array<T>::zeros(dev, A.rows)),  // which selects the GPU
      handle_(the_handle(dev, type_of<T>)) {
  const auto make = [&] {
    analyse(threads);
    factorise(A);
  };
  try {
    make();
  } catch (
      const value_error&) {  // not with interchanges, which cuDSS does not take together with whatever else it does
    if (!interchanges_) throw;
    interchanges_ = factorised_ = false;
    make();
  }
}

template <real T>
factors<T>::~factors() = default;

template <real T>
void factors<T>::run(int phase, const char* what, const T* b, T* x) {
  zero_bytes(dev_, unused_.data(), sizeof(T));  // selects the GPU
  std::optional<interruption> listening;
  if (phase != solution) listening.emplace(all_->interrupt());
  const int status = all_->run(phase, A_.rows, b, x);
  if (phase != solution) check_cancellation();  // whatever it makes of the request
  if (status == success) return;
  switch (status) {
    case alloc_failed:
      throw out_of_memory(name() + " on GPU " + std::to_string(dev_.index()), static_cast<std::int64_t>(bytes_),
                          dev_.memory_free());
    case not_supported:
      throw value_error(name() + " does not take this matrix", "take another --backend or --method");
    default:
      throw device_error(name() + " fails in " + what + ", status " + std::to_string(status), status);
  }
}

// In host memory too where it has to be, which is not deterministic.
template <real T>
void factors<T>::analyse(int threads) {
  std::array<std::int64_t, memory_of::count> bytes{};
  const auto order = [&] {
    all_ = std::make_unique<objects>(handle_, dev_);
    all_->set(setting::host_threads, threads);
    all_->set(hybrid_ ? setting::hybrid_memory : setting::deterministic, std::int32_t{1});
    // Else zeros on the diagonal are made pivots of.
    if (interchanges_ && !hybrid_) all_->set(setting::pivoting, std::int32_t{bunch_kaufman});
    all_->wrap(A_.all(), kind_);
    run(analysis, "the analysis", unused_.data(), unused_.data());
    if (!all_->get(fact::memory, bytes)) bytes = {};
  };
  const auto require = [&](const std::string& where, std::int64_t asked, std::int64_t free) {
    if (asked > free) throw out_of_memory("the factors of " + name() + where, asked, free);
  };
  order();
  bytes_ = static_cast<double>(bytes[memory_of::device_peak]);
  if (bytes[memory_of::device_peak] <= dev_.memory_free()) return;
  hybrid_ = true;
  order();
  const std::int64_t free = dev_.memory_free();
  std::int64_t least = 0;
  all_->get(fact::hybrid_least, least);
  require(" on GPU " + std::to_string(dev_.index()), least, free);
  require("", bytes[memory_of::hybrid_host_most], device::cpu(1).memory_free());
  all_->set(setting::hybrid_device_limit, std::max(least, free / 10 * 9));
}

template <real T>
void factors<T>::factorise(csr_view<const T> A) {
  copy_bytes(A_.val.data(), dev_, A.val, dev_, static_cast<std::size_t>(A.nonzeros) * sizeof(T));
  found_ = {};
  failed_ = 0;
  run(std::exchange(factorised_, true) ? refactorisation : factorisation, "the factorisation", unused_.data(),
      unused_.data());
  read_facts();
}

template <real T>
void factors<T>::read_facts() {
  std::int32_t info = 0, perturbed = 0;
  std::array<std::int32_t, 2> signs{};
  std::int64_t entries = 0, flops = 0;
  if (all_->get(fact::info, info)) failed_ = info;
  if (all_->get(fact::entries, entries)) found_.entries = static_cast<double>(entries);
  if (all_->get(fact::flops, flops)) found_.flops = static_cast<double>(flops);
  if (all_->get(fact::perturbed, perturbed)) found_.perturbed = perturbed;
  if (kind_ == kind::ldlt && perturbed == 0 && all_->get(fact::inertia, signs) &&
      signs[0] + signs[1] == A_.rows)
    found_.signs = inertia{signs[0], signs[1], 0};
}

template <real T>
void factors<T>::solve(const T* b, T* x) {
  run(solution, "a solution", b, x);
}

template class factors<float>;
template class factors<double>;

}  // namespace vouch::cudss
