// Gauss-Seidel and SOR over a dense matrix, in blocks of 128 unknowns: what the sequential algorithm computes,
// summed in another order that does not depend on the threads.
//
// By rows, the residual of a block's rows comes first, some rows a turn. The columns of the block before, which
// may still be under way, come last; who finishes the last turn takes them off where turns could not wait for
// them, and sweeps the block row after row.
//
// By columns, the residual of all rows is kept. Once a block is swept its columns are taken off, a group of
// rows a turn; the first turn is that of the next block, which is swept at once.
//
// Threads take the turns in order, each as soon as it is free, and wait for nothing but what a turn needs: that
// was taken long before, so a block is swept while the others are at work.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/solve/stationary/dense_sweeps.hpp>

namespace vouch::detail {
namespace {

constexpr std::int64_t block = 128;      // unknowns
constexpr std::int64_t most_rows = 512;  // a turn, by columns
constexpr int patience = 200;            // looks after the block before: 4 us

// More than one thread pays from so many rows on.
int useful_threads(const device& dev, std::int64_t n) { return n < 640 ? 1 : dev.threads(); }

// One block's rows one after the other: a[k*block + i] couples column k with row i. t is the residual at its
// start, and each element's value when its turn comes at the end; change what its unknowns change by.
template <real T>
VOUCH_SIMD_INLINE void sweep_rows_of_block(bool forward, const T* a, std::int64_t size, const T* factor, T* t,
                                           T* change) {
  for (std::int64_t step = 0; step < size; ++step) {
    const std::int64_t k = forward ? step : size - 1 - step;
    change[k] = factor[k] * t[k];
    const std::int64_t begin = forward ? k + 1 : 0, end = forward ? size : k;
    const T* column = a + k * block;
    const T by = change[k];
#pragma omp simd
    for (std::int64_t i = begin; i < end; ++i) t[i] -= column[i] * by;
  }
}

#define VOUCH_BLOCK_KERNEL(T)                                                                             \
  VOUCH_SIMD_CLONES void block_kernel(bool forward, const T* a, std::int64_t size, const T* factor, T* t, \
                                      T* change) {                                                        \
    sweep_rows_of_block<T>(forward, a, size, factor, t, change);                                          \
  }
VOUCH_BLOCK_KERNEL(float)
VOUCH_BLOCK_KERNEL(double)
#undef VOUCH_BLOCK_KERNEL

/// Whether ready() becomes true within so many looks of 10 to 50 ns.
template <class Ready>
bool spin(int looks, const Ready& ready) {
  for (int look = 0; look < looks; ++look) {
    if (ready()) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  return ready();
}

/// Returns once ready() is true. After some ten microseconds other threads get this one's core.
template <class Ready>
void spin_until(const Ready& ready) {
  if (spin(512, ready)) return;
  while (!ready()) std::this_thread::yield();
}

struct range {
  std::int64_t begin, end;
};

template <real T>
class dense_successive final : public stationary_iteration<T> {
 public:
  dense_successive(const device& dev, const square_matrix<T>& A, const sweep_rule& rule)
      : A_(A),
        order_(rule.order),
        threads_(useful_threads(dev, A.n)),
        blocks_(ceil_div(A.n, block)),
        rows_a_turn_(threads_ > 16 ? 4 : 8),
        group_(std::clamp(ceil_div(A.n / (2 * threads_), block) * block, block, most_rows)),
        groups_(ceil_div(A.n, group_)),
        factor_(relaxation_factors<T>(A, rule.omega)),
        diagonal_(static_cast<std::size_t>(blocks_ * block * block)),
        s_(dev, A.n),
        met_(dev, A.n),
        change_(dev, A.n),
        done_(static_cast<std::size_t>(std::max(blocks_, groups_))) {
    for (std::int64_t j = 0; j < A.n; ++j)
      for (std::int64_t first = j / block * block, i = first; i < std::min(A.n, first + block); ++i)
        diagonal_[static_cast<std::size_t>(j * block + i - first)] = *A.at(i, j);
  }

  void start(const T* r) override {
    r_ = r;
    std::copy(r, r + A_.n, s_.data());
  }
  double sweep(T* d) override {
    if (order_ != sweep_order::symmetric) return one_way(d, order_ == sweep_order::forward);
    const double met = one_way(d, true);
    one_way(d, false);
    return met;
  }
  double residual(const T* d, T* s) override {
    const double squares = dense_residual(threads_, A_, d, r_, s);
    if (keeps_residual()) std::copy(s, s + A_.n, s_.data());
    return squares;
  }
  bool keeps_residual() const override { return !A_.by_rows; }
  std::string name() const override {
    return threads_and_storage(threads_, A_) + ", blocks of " + std::to_string(block);
  }

 private:
  double one_way(T* d, bool forward) {
    if (A_.n == 0) return 0;
    turn_ = 0;
    swept_ = 0;
    for (auto& done : done_) done = 0;
    if (!A_.by_rows) sweep_block(d, forward, 0);
#pragma omp parallel firstprivate(ieee) num_threads(threads_) if (threads_ > 1)
    A_.by_rows ? turns_by_rows(d, forward) : turns_by_columns(d, forward);
    return sum_of_squares(threads_, A_.n, met_.data());
  }

  // The k-th block to be swept.
  range unknowns(bool forward, std::int64_t k) const {
    const std::int64_t begin = (forward ? k : blocks_ - 1 - k) * block;
    return {begin, std::min(A_.n, begin + block)};
  }
  bool have_swept(std::int64_t blocks) const { return swept_.load(std::memory_order_acquire) >= blocks; }
  void wait_for_blocks(std::int64_t count) const {
    spin_until([&] { return have_swept(count); });
  }

  void turns_by_rows(T* d, bool forward) {
    const std::int64_t turns = block / rows_a_turn_;  // a block, at most 32
    for (std::int64_t turn; (turn = turn_.fetch_add(1, std::memory_order_relaxed)) < blocks_ * turns;) {
      const std::int64_t k = turn / turns, part = turn % turns;
      const range own = unknowns(forward, k), before = k > 0 ? unknowns(forward, k - 1) : range{0, 0};
      const range rows = rows_of_turn(own, part);
      wait_for_blocks(k - 1);
      std::copy(r_ + rows.begin, r_ + rows.end, met_.data() + rows.begin);
      subtract({0, before.begin}, d, met_, rows);
      subtract({before.end, A_.n}, d, met_, rows);
      const bool complete = spin(patience, [&] { return have_swept(k); });
      if (complete) subtract(before, d, met_, rows);
      // The lower byte counts turns, each bit above is for one that is complete.
      const std::uint64_t mine = 1 + (complete ? std::uint64_t{256} << part : 0);
      const std::uint64_t done =
          mine + done_[static_cast<std::size_t>(k)].fetch_add(mine, std::memory_order_acq_rel);
      if (done % 256 < static_cast<std::uint64_t>(turns)) continue;
      wait_for_blocks(k);
      for (std::int64_t other = 0; other < turns; ++other)
        if ((done >> (8 + other) & 1) == 0) subtract(before, d, met_, rows_of_turn(own, other));
      sweep_block(d, forward, k);
    }
  }
  range rows_of_turn(range own, std::int64_t part) const {
    return {std::min(own.end, own.begin + part * rows_a_turn_),
            std::min(own.end, own.begin + (part + 1) * rows_a_turn_)};
  }

  void turns_by_columns(T* d, bool forward) {
    for (std::int64_t turn; (turn = turn_.fetch_add(1, std::memory_order_relaxed)) < blocks_ * groups_;) {
      const std::int64_t k = turn / groups_;
      const range swept = unknowns(forward, k), next = unknowns(forward, std::min(blocks_ - 1, k + 1));
      const std::int64_t group = (next.begin / group_ + turn % groups_) % groups_;
      const range rows = {group * group_, std::min(A_.n, (group + 1) * group_)};
      const bool leads = turn % groups_ == 0 && k + 1 < blocks_;
      const range first = leads ? next : range{rows.begin, rows.begin};
      std::atomic<std::uint64_t>& done = done_[static_cast<std::size_t>(group)];
      wait_for_blocks(k + 1);
      spin_until([&] { return done.load(std::memory_order_acquire) == static_cast<std::uint64_t>(k); });
      subtract(swept, change_.data(), s_, first);
      if (leads) sweep_block(d, forward, k + 1);
      subtract(swept, change_.data(), s_, {rows.begin, first.begin});
      subtract(swept, change_.data(), s_, {first.end, rows.end});
      done.store(static_cast<std::uint64_t>(k + 1), std::memory_order_release);
    }
  }

  void subtract(range columns, const T* d, array<T>& s, range rows) const {
    subtract_columns(A_, columns.begin, columns.end, d, s.data(), rows.begin, rows.end);
  }

  // The k-th block, whose residual is there.
  void sweep_block(T* d, bool forward, std::int64_t k) {
    const auto [begin, end] = unknowns(forward, k);
    if (!A_.by_rows) std::copy(s_.data() + begin, s_.data() + end, met_.data() + begin);
    block_kernel(forward, diagonal_.data() + begin * block, end - begin, factor_.data() + begin,
                 met_.data() + begin, change_.data() + begin);
    for (std::int64_t i = begin; i < end; ++i) d[i] += change_[i];
    swept_.store(k + 1, std::memory_order_release);
  }

  square_matrix<T> A_;
  sweep_order order_;
  int threads_;
  std::int64_t blocks_, rows_a_turn_;  // by rows
  std::int64_t group_, groups_;        // by columns, rows of a group
  std::vector<T> factor_;
  std::vector<T> diagonal_;  // block after block, each by columns of `block` elements
  array<T> s_;               // by columns: r - A d
  array<T> met_, change_;
  const T* r_ = nullptr;
  std::vector<std::atomic<std::uint64_t>> done_;     // turns of a block's rows, blocks taken off a group
  alignas(64) std::atomic<std::int64_t> turn_ = 0;   // the next to be taken
  alignas(64) std::atomic<std::int64_t> swept_ = 0;  // blocks
};

}  // namespace

template <real T>
std::unique_ptr<stationary_iteration<T>> make_dense_successive(const device& dev, const square_matrix<T>& A,
                                                               const sweep_rule& rule) {
  return std::make_unique<dense_successive<T>>(dev, A, rule);
}

template std::unique_ptr<stationary_iteration<float>> make_dense_successive(const device&,
                                                                            const square_matrix<float>&,
                                                                            const sweep_rule&);
template std::unique_ptr<stationary_iteration<double>> make_dense_successive(const device&,
                                                                             const square_matrix<double>&,
                                                                             const sweep_rule&);

}  // namespace vouch::detail
