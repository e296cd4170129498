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
number_type type_of(const number_matrix<T>& A) {
  if (A.complex) return sizeof(T) == 8 ? complex_double_type : complex_float_type;
  return sizeof(T) == 8 ? double_type : float_type;
}

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

matrix_type type_for(kind which, bool complex) {
  switch (which) {
    case kind::cholesky:
      return complex ? hermitian_definite : definite;
    case kind::ldlh:
      return complex ? hermitian : symmetric;
    case kind::ldlt:
      return symmetric;
    default:
      return general;
  }
}

// An object of cuDSS, by the function that destroys it.
using owned = std::unique_ptr<void, int (*)(void*)>;

// What create(&object) makes.
template <class Create>
owned make_owned(const char* routine, const char* destroyer, const Create& create) {
  owned made(nullptr, find<destroy_matrix_function>(destroyer));
  void* object = nullptr;
  const int status = create(&object);
  made.reset(object);
  check(status, routine);
  return made;
}

// The state of one matrix, which is destroyed through its handle.
class owned_data {
 public:
  explicit owned_data(handle_of_gpu& of) : of_(of), destroy_(find<destroy_data_function>("cudssDataDestroy")) {
    auto* const create = find<create_data_function>("cudssDataCreate");
    const std::lock_guard lock(of_.in_use);
    check(create(of_.opened, &data_), "cudssDataCreate");
  }
  ~owned_data() {
    const std::lock_guard lock(of_.in_use);
    destroy_(of_.opened, data_);
  }
  owned_data(const owned_data&) = delete;
  owned_data& operator=(const owned_data&) = delete;
  data_object get() const { return data_; }

 private:
  handle_of_gpu& of_;
  destroy_data_function* destroy_;
  data_object data_ = nullptr;
};

}  // namespace

// What cuDSS made for one matrix, with the handle while it works.
template <real T>
class factors<T>::objects {
 public:
  objects(handle_of_gpu& of, const device& dev, const number_matrix<T>& A, kind which)
      : of_(of),
        dev_(dev),
        type_(type_of(A)),
        rows_(A.rows),
        config_(make_owned("cudssConfigCreate", "cudssConfigDestroy",
                           find<create_config_function>("cudssConfigCreate"))),
        data_(of),
        matrix_(make_owned("cudssMatrixCreateCsr", "cudssMatrixDestroy", [&](matrix_object* made) {
          return find<create_csr_function>("cudssMatrixCreateCsr")(
              made, A.rows, A.rows, A.nonzeros(), A.row_ptr.data(), nullptr, A.col.data(), A.val.data(),
              int64_type, int32_type, type_, type_for(which, A.complex), which == kind::lu ? full : upper,
              from_zero);
        })) {
    const std::lock_guard lock(of_.in_use);
    cudss::check(find<set_data_function>("cudssDataSet")(of_.opened, data_.get(), fact::interrupt, &interrupt_,
                                                         sizeof interrupt_),
                 "cudssDataSet");
  }
  objects(const objects&) = delete;
  objects& operator=(const objects&) = delete;

  template <class Value>
  void set(setting::which which, const Value& value) {
    cudss::check(find<set_config_function>("cudssConfigSet")(config_.get(), which, &value, sizeof value),
                 "cudssConfigSet");
  }
  // Whether it is known.
  template <class Value>
  bool get(fact::which which, Value& value) {
    const std::lock_guard lock(of_.in_use);
    std::size_t written = 0;
    return find<get_data_function>("cudssDataGet")(of_.opened, data_.get(), which, &value, sizeof value,
                                                   &written) == success;
  }
  interrupt_flag& interrupt() { return interrupt_; }
  // The status.
  int run(int phase, std::int64_t columns, const T* b, T* x) {
    const owned rhs = dense(columns, b), solution = dense(columns, x);
    auto* const execute = find<execute_function>("cudssExecute");
    const std::lock_guard lock(of_.in_use);
    if (dev_.is_cuda())
      cudss::check(find<set_stream_function>("cudssSetStream")(of_.opened, dev_.stream()), "cudssSetStream");
    const int status =
        execute(of_.opened, phase, config_.get(), data_.get(), matrix_.get(), solution.get(), rhs.get());
    dev_.synchronize();
    return status;
  }

 private:
  owned dense(std::int64_t columns, const T* values) const {
    return make_owned("cudssMatrixCreateDn", "cudssMatrixDestroy", [&](matrix_object* made) {
      return find<create_dense_function>("cudssMatrixCreateDn")(made, rows_, columns, rows_, values, type_,
                                                                by_columns);
    });
  }

  handle_of_gpu& of_;
  const device& dev_;
  number_type type_;
  std::int64_t rows_;
  interrupt_flag interrupt_{0};
  owned config_;
  owned_data data_;
  owned matrix_;
};

template <real T>
factors<T>::factors(const device& dev, kind which, number_matrix<T> A, const working& how)
    : dev_(dev),
      kind_(which),
      how_(how),
      A_(std::move(A)),
      interchanges_(which == kind::ldlt || which == kind::ldlh),
      unused_(array<T>::zeros(dev, A_.length())),  // which selects the GPU
      handle_(the_handle(dev, type_of(A_))) {
  try {
    make();
  } catch (const value_error&) {  // without interchanges, where it does not take them
    if (!interchanges_) throw;
    interchanges_ = false;
    make();
  }
}

template <real T>
factors<T>::~factors() = default;

template <real T>
void factors<T>::make() {
  analyse();
  factorise(factorisation);
}

template <real T>
void factors<T>::run(int phase, const char* what, std::int64_t columns, const T* b, T* x) {
  zero_bytes(dev_, unused_.data(), sizeof(T));  // selects the GPU
  std::optional<interruption> listening;
  if (phase != solution) listening.emplace(all_->interrupt());
  const int status = all_->run(phase, columns, b, x);
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
void factors<T>::analyse() {
  std::array<std::int64_t, memory_of::count> bytes{};
  const auto order = [&] {
    all_.reset();
    all_ = std::make_unique<objects>(handle_, dev_, A_, kind_);
    all_->set(setting::host_threads, how_.threads);
    if (hybrid_) all_->set(setting::hybrid_memory, std::int32_t{1});
    if (repeats()) all_->set(setting::deterministic, std::int32_t{1});
    // Else zeros on the diagonal are made pivots of.
    if (interchanges_ && !hybrid_) {
      all_->set(setting::pivoting, std::int32_t{bunch_kaufman});
      if (repeats()) all_->set(setting::superpanels, std::int32_t{0});  // which it asks for
    }
    run(analysis, "the analysis", 1, unused_.data(), unused_.data());
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
void factors<T>::factorise(int phase) {
  found_ = {};
  failed_ = 0;
  run(phase, "the factorisation", 1, unused_.data(), unused_.data());
  read_facts();
}

template <real T>
void factors<T>::refactorise() {
  factorise(refactorisation);
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
  const bool real_pivots = kind_ == kind::ldlh || (kind_ == kind::ldlt && !A_.complex);
  if (real_pivots && perturbed == 0 && all_->get(fact::inertia, signs) && signs[0] + signs[1] == A_.rows)
    found_.signs = inertia{signs[0], signs[1], 0};
}

template <real T>
void factors<T>::solve(std::int64_t columns, const T* b, T* x) {
  const std::int64_t at_once = repeats() ? 1 : columns;
  for (std::int64_t j = 0; j < columns; j += at_once)
    run(solution, "a solution", at_once, b + j * A_.length(), x + j * A_.length());
}

template class factors<float>;
template class factors<double>;

}  // namespace vouch::cudss
