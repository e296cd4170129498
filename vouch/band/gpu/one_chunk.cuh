// vouch/band/gpu/one_chunk.cuh -- a run of one long system's rows in shared memory, solved by a block; private.
//
// Every thread owns Rows rows. Where all rows of the block dominate, threads, warps and the block keep
// their separators (separators.cuh); else the reduced blocks of the threads' rows are joined with
// interchanges, by a tree (chunk.cuh) whose nodes lie where reduced rows leave room. Rows of the identity
// stand behind the last one.
#pragma once
#include <vouch/band/gpu/chunk.cuh>
#include <vouch/band/gpu/pivoting.cuh>
#include <vouch/band/gpu/separators.cuh>
#include <vouch/core/gpu/tma.cuh>

namespace vouch::detail {

/// A thread's rows among the block's: row k is a(k) x_{k-1} + d(k) x_k + c(k) x_{k+1} = f(k).
template <real T, int Width>
struct thread_rows {
  T* first;

  __device__ T& a(int k) const { return first[k]; }
  __device__ T& d(int k) const { return first[k + Width]; }
  __device__ T& c(int k) const { return first[k + 2 * Width]; }
  __device__ T& f(int k) const { return first[k + 3 * Width]; }
  __device__ band_row<T> operator[](int k) const { return {a(k), d(k), c(k), f(k)}; }
};

/// pivoted_joining, quicker.
template <real T, bool Balance>
struct unpivoted_joining : pivoted_joining<T, Balance> {
  using base = pivoted_joining<T, Balance>;
  template <class Slot>
  __device__ static reduced_block<T> joined(const reduced_block<T>& before, const reduced_block<T>& after,
                                            const Slot& to) {
    separator_pair<T> at;
    const reduced_block<T> whole =
        Balance ? join_unpivoted(balanced(before), balanced(after), at) : join_unpivoted(before, after, at);
    for (int k = 0; k < 5; ++k) to[k] = at.first[k];
    for (int k = 0; k < 6; ++k) to[5 + k] = at.last[k];
    return whole;
  }
  template <class Slot>
  __device__ static void join(const Slot& left, const Slot& right) {
    base::put(left, joined(base::get(left), base::get(right), right));
  }
};

/// Where the rows of a block's chunks are announced, one chunk after another. Made by all threads.
class row_arrival {
 public:
  __device__ row_arrival(std::uint64_t* barrier, int thread) : barrier_(barrier) {
    if (thread == 0) {
      mbarrier_init(barrier, 1);
      mbarrier_init_fence();
    }
    __syncthreads();
  }
  /// Of one thread: starts to load the same rows of four arrays, `bytes` of each, Pitch apart. All threads are
  /// done with what stood there.
  template <int Pitch, class T>
  __device__ void load(T* to, const T* const (&from)[4], unsigned bytes) const {
    fence_proxy_async();
    for (int k = 0; k < 4; ++k) bulk_load(to + k * Pitch, from[k], bytes, barrier_);
    mbarrier_arrive_expect_tx(barrier_, 4 * bytes);
  }
  /// Of all threads.
  __device__ void await_rows() {
    mbarrier_wait(barrier_, parity_);
    parity_ ^= 1;
  }

 private:
  std::uint64_t* barrier_;
  unsigned parity_ = 0;
};

/// The items of a block, which takes the next one when it is done with one: multiprocessors differ in speed,
/// and what lies together is read at the same time. Made by all threads.
class block_items {
 public:
  /// taken: by all blocks, 0 at first; published: in shared memory.
  __device__ block_items(unsigned* taken, std::int64_t (&published)[2], int thread)
      : taken_(taken), published_(published), thread_(thread), item_(blockIdx.x) {
    ask();
  }
  __device__ std::int64_t operator*() const { return item_; }
  /// A barrier of the block.
  __device__ void next() {
    if (thread_ == 0) published_[turn_] = std::int64_t{gridDim.x} + asked_;
    __syncthreads();
    item_ = published_[turn_];
    turn_ ^= 1;  // a late thread still reads
    ask();
  }

 private:
  // The answer comes while the item is worked on.
  __device__ void ask() {
    if (thread_ == 0) asked_ = atomicAdd(taken_, 1u);
  }

  unsigned* taken_;
  std::int64_t (&published_)[2];
  int thread_, turn_ = 0;
  unsigned asked_ = 0;
  std::int64_t item_;
};

template <real T, int Threads, int Rows>
class one_chunk {
 public:
  static constexpr int threads = Threads, rows = Threads * Rows;
  static constexpr std::size_t bytes =
      sizeof(T) * Threads * (4 * Rows + spare_size<true>)+sizeof(typename separated_rows<T, Threads>::room);

  /// Starts to load the rows.
  __device__ one_chunk(const band_task<T>& task, const slices& of, row_arrival& arrival, int thread)
      : of_(of),
        arrival_(arrival),
        numbers_(reinterpret_cast<T*>(dynamic_shared())),
        rows_{numbers_ + thread * Rows},
        thread_(thread) {
    const auto dl = rows_from(task.A.dl, task.A.shape, of), d = rows_from(task.A.d, task.A.shape, of),
               du = rows_from(task.A.du, task.A.shape, of), b = rows_from(task.b.data, task.b.shape, of);
    const int in_lines = of.rows() / line_size<T> * line_size<T>;
    in_bulk_ = d.row_stride == 1 && b.row_stride == 1 && begins_a_line(dl.first) && begins_a_line(d.first) &&
               begins_a_line(du.first) && begins_a_line(b.first) && in_lines > 0;
    if (in_bulk_) {
      const T* const from[4] = {dl.first, d.first, du.first, b.first};
      if (thread == 0) {
        arrival.load<rows>(numbers_, from, static_cast<unsigned>(in_lines) * static_cast<unsigned>(sizeof(T)));
        for (int i = in_lines; i < of.rows(); ++i)
#pragma unroll
          for (int k = 0; k < 4; ++k) copy_to_shared(numbers_ + k * rows + i, from[k] + i);
      }
    } else if (d.row_stride == b.row_stride) {
      load_arrays<layout::single, Threads, rows, 4>(of, numbers_, {dl, d, du, b}, thread);
    } else {
      load_arrays<layout::single, Threads, rows, 3>(of, numbers_, {dl, d, du}, thread);
      load_arrays<layout::single, Threads, rows, 1>(of, numbers_ + 3 * rows, {b}, thread);
    }
  }
  /// Waits for the rows; what threads have written to shared memory is there, too.
  __device__ void await_rows(const band_task<T>& task) {
    wait_copies_to_shared();
    __syncthreads();
    if (in_bulk_) arrival_.await_rows();
    if (of_.begin == 0 && thread_ == 0) rows_.a(0) = 0;
    const int left = of_.rows() - thread_ * Rows;
    if (left > Rows) return;
    if (left > 0 && of_.end == task.b.shape.rows(of_.system)) rows_.c(left - 1) = 0;
    for (int k = left > 0 ? left : 0; k < Rows; ++k) {
      rows_.a(k) = rows_.c(k) = rows_.f(k) = 0;
      rows_.d(k) = 1;
    }
  }

  /// The rows to separators, if that is sound: where it looks, all of the block dominate. Else returns false;
  /// rows that it was to keep are lost then. run: first unknown and last row as separated_rows::join() has
  /// them. Keep: fill_separated() is to follow.
  template <bool Keep, bool CheckDominance>
  __device__ bool separate(row_run<T>& run) {
    bool sound = true;
    const row_run<T> own = reduce_run<Keep, CheckDominance, Rows>(rows_, sound);
    run = separated_.join(own, separated_room(), thread_, sound);
    return sound;
  }
  /// separated_rows::coupling() of this thread.
  __device__ T coupling(bool of_end) const { return separated_.coupling(thread_, of_end); }
  /// The unknowns from the one before the block and its last one; false where some are no numbers.
  __device__ bool fill_separated(T before, T last) const {
    T own_before, own_last;
    separated_.solve(before, last, thread_, own_before, own_last);
    const bool numbers = fill_run<Rows>(rows_, own_before, own_last) == 0;
    __syncthreads();
    return numbers;
  }

  /// The reduced block of the block, right in thread 0. separated(): which way it took.
  __device__ reduced_block<T> reduce() {
    row_run<T> run;
    is_separated_ = __syncthreads_and(dominant_row(rows_[0])) != 0 && separate<false, true>(run);
    if (!is_separated_) return join_with_interchanges<false>();
    const auto last_row = [](T value) { return __shfl_sync(~0u, value, Threads / 32 - 1); };
    return {{run.first_before, last_row(run.before)},
            {T{1}, T{0}},
            {run.first_last, last_row(run.diagonal)},
            {T{0}, last_row(run.after)},
            {run.first_rhs, last_row(run.rhs)}};
  }
  __device__ bool separated() const { return is_separated_; }
  /// Reduces the same rows the same way, so that fill() can follow.
  __device__ void reduce_again(bool separated) {
    is_separated_ = separated;
    row_run<T> run;
    if (separated)
      separate<true, false>(run);
    else
      join_with_interchanges<true>();
  }
  /// The unknowns from the boundary unknowns of the block; complete after the call, for every thread.
  /// Returns false where some of this thread are no numbers.
  __device__ bool fill(const boundary_unknowns<T>& whole) const {
    if (is_separated_) return fill_separated(whole.left, whole.last);
    const boundary_unknowns<T> known = descend<unpivoted_joining<T, false>>(
        [this](int leaf) { return slot_of(leaf); }, Threads, thread_, whole);
    __syncthreads();  // filling in overwrites slots
    const bool numbers = fill_with_interchanges<Rows>(rows_, far_, known) == 0;
    __syncthreads();
    return numbers;
  }
  __device__ void store(const batch_view<T>& x, std::int64_t keep_from, std::int64_t keep_to) const {
    store_rows<layout::single, Threads>(x, of_, numbers_ + rows, thread_, keep_from, keep_to);
  }

 private:
  using slot = chunk_slot<T, rows, true>;

  template <bool Keep>
  __device__ reduced_block<T> join_with_interchanges() {
    const reduced_block<T> own = reduce_with_interchanges<Keep, Rows>(rows_, far_);
    unpivoted_joining<T, false>::put(slot_of(thread_), own);
    join_slots<unpivoted_joining<T, false>>([this](int, int leaf) { return slot_of(leaf); }, 1, Threads,
                                            thread_, Threads);
    return unpivoted_joining<T, false>::get(slot_of(0));
  }

  __device__ slot slot_of(int leaf) const {
    return {numbers_ + leaf * Rows, numbers_ + 4 * rows + leaf * spare_size<true>, Rows - 1};
  }
  __device__ typename separated_rows<T, Threads>::room& separated_room() const {
    return *reinterpret_cast<typename separated_rows<T, Threads>::room*>(numbers_ + 4 * rows +
                                                                         Threads * spare_size<true>);
  }

  const slices& of_;
  row_arrival& arrival_;
  T* numbers_;
  thread_rows<T, rows> rows_;
  separated_rows<T, Threads> separated_;
  int thread_;
  unsigned far_ = 0;
  bool is_separated_ = false, in_bulk_ = false;
};

}  // namespace vouch::detail
