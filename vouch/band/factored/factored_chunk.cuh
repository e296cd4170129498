// vouch/band/factored/factored_chunk.cuh -- rows of prefactored systems in shared memory, solved by a
// block; private.
//
// Slices and segments are those of slices.cuh. Whatever comes into a segment, y from before it and x from
// behind it, enters its answer linearly: every thread sweeps its rows once with nothing coming in and once with
// one, scans over the slice's threads give what does come in from what comes into the slice, and a last
// sweep fills in. Symmetric matrices take z = L^-1 b instead of y = D^-1 z, with the factors `upper` for both
// sweeps: one array less to read.
#pragma once
#include <vouch/band/factored/affine_scan.cuh>
#include <vouch/band/factored/factored_cuda.hpp>
#include <vouch/band/gpu/slices.cuh>
#include <vouch/core/gpu/tma.cuh>

namespace vouch::detail {

constexpr int factored_threads = 192;
constexpr int factored_rows = factored_threads * rows_a_thread;
constexpr int widest_shared_halo = 512;  // rows on either side of those that a block answers for

/// Shared memory where scans have a reach, and where they go over all threads.
template <real T>
constexpr std::size_t factored_bytes(bool symmetric) {
  return sizeof(T) * factored_threads * ((symmetric ? 3 : 4) * rows_a_thread + 6);
}
template <real T>
constexpr std::size_t unlimited_bytes(bool symmetric) {
  return sizeof(T) * (factored_threads * (symmetric ? 3 : 4) * rows_a_thread + 5 * factored_threads / 32);
}

template <real T, bool Symmetric, layout Layout>
class factored_chunk {
 public:
  /// Loads the rows and waits for them. in_bulk: by TMA if it can, which pays where slices begin
  /// with lines of 128 bytes.
  __device__ factored_chunk(unsigned char* shared, const factored_task<T>& task, const slices& of, int thread,
                            bool in_bulk = false)
      : of_(of),
        place_(segment_place::of<Layout>(of, thread, true)),
        step_(of.step<Layout>()),
        thread_(thread) {
    inverse_ = reinterpret_cast<T*>(shared);
    in_bulk = in_bulk && load_in_bulk(task);
    if (!in_bulk) {
      load_factor(task, inverse_, task.factors.inverse);
      load_factor(task, inverse_ + factored_rows, task.factors.upper);
      if constexpr (!Symmetric) load_factor(task, inverse_ + 3 * factored_rows, task.factors.lower);
      load_rows(inverse_ + 2 * factored_rows, task.b.data + task.b.shape.at(of.system, of.begin), task.b.shape);
    }
    if (Symmetric && place_.count > 0 && place_.segment == 0 && of.begin > 0)
      before_ = task.factors.upper[factor_at(task, of.system + place_.slice, of.begin - 1)];
    wait_copies_to_shared();
    __syncthreads();
    if (in_bulk) mbarrier_wait(arrived(), 0);
    const int left = of.rows() - place_.segment * rows_a_thread;
    if (place_.count == 0 || left >= rows_a_thread) return;
    for (int k = left; k < rows_a_thread; ++k) {
      inverse(k) = upper(k) = f(k) = 0;
      if constexpr (!Symmetric) lower(k) = 0;
    }
  }

  /// All sweeps but the last. What comes in from more than `reach` segments away does not count; where all
  /// does, returns the affine map of the slice.
  __device__ affine_map<T> reduce(int reach) {
    T out = 1, out_rhs = 0, behind = 1, from_before = 0, rhs = 0;
    if (place_.count > 0) {
      T factor = Symmetric ? (place_.segment > 0 ? upper(-1) : before_) : T{0};
#pragma unroll
      for (int k = 0; k < rows_a_thread; ++k) {
        const T scale = inverse(k), source = f(k), next = upper(k);
        if constexpr (!Symmetric) factor = lower(k);
        out_rhs = (Symmetric ? source : scale * source) - factor * out_rhs;
        out = -factor * out;
        f(k) = Symmetric ? scale * out_rhs : out_rhs;
        inverse(k) = Symmetric ? scale * out : out;
        factor = next;
      }
#pragma unroll
      for (int k = rows_a_thread - 1; k >= 0; --k) {
        const T factor_up = upper(k);
        rhs = f(k) - factor_up * rhs;
        from_before = inverse(k) - factor_up * from_before;
        behind = -factor_up * behind;
      }
    }
    const affine_map<T> own{out, out_rhs, behind, from_before, rhs};
    if constexpr (Layout == layout::single)
      if (reach >= factored_threads) return scan_block(own);
    return scan(reach, own);
  }

  /// The unknowns into f: what comes into the slice is known now.
  __device__ void fill(T before, T behind) const {
    const T in = into_.before(before);
    T x = into_.behind(before, behind);
    if (place_.count > 0) {
      T y = f(rows_a_thread - 1), p = inverse(rows_a_thread - 1), u = upper(rows_a_thread - 1);
#pragma unroll
      for (int k = rows_a_thread - 1; k >= 0; --k) {
        const int ahead = k > 0 ? k - 1 : 0;
        const T y_ahead = f(ahead), p_ahead = inverse(ahead), u_ahead = upper(ahead);
        x = y + p * in - u * x;
        f(k) = x;
        y = y_ahead;
        p = p_ahead;
        u = u_ahead;
      }
    }
    __syncthreads();
  }
  /// Writes rows keep_from to keep_to - 1 of what fill() has found.
  __device__ void store(const batch_view<T>& x, std::int64_t keep_from, std::int64_t keep_to) const {
    store_rows<Layout, factored_threads>(x, of_, inverse_ + 2 * factored_rows, thread_, keep_from, keep_to);
  }

 private:
  __device__ T& inverse(int k) const { return inverse_[place_.first + k * step_]; }
  __device__ T& upper(int k) const { return inverse_[factored_rows + place_.first + k * step_]; }
  __device__ T& f(int k) const { return inverse_[2 * factored_rows + place_.first + k * step_]; }
  __device__ T& lower(int k) const { return inverse_[3 * factored_rows + place_.first + k * step_]; }

  __device__ static std::int64_t factor_at(const factored_task<T>& task, std::int64_t system,
                                           std::int64_t row) {
    const batch_shape& shape = task.factors.shape;
    return shape.at(system / task.rhs_a_matrix, row < shape.n ? row : shape.n - 1);
  }

  __device__ void load_rows(T* to, const T* from, const batch_shape& shape) const {
    load_arrays<Layout, factored_threads, factored_rows, 1>(
        of_, to, {{from, shape.row_stride, shape.system_stride}}, thread_);
  }

  __device__ static std::uint64_t* arrived() {
    __shared__ std::uint64_t barrier;
    return &barrier;
  }
  // Starts to load the rows of a long system by TMA where they lie in whole lines; a block does so
  // once. Returns whether it does.
  __device__ bool load_in_bulk(const factored_task<T>& task) const {
    if constexpr (Layout != layout::single) return false;
    const batch_shape &factors = task.factors.shape, &b = task.b.shape;
    const std::int64_t at = factors.at(of_.system / task.rhs_a_matrix, of_.begin);
    const T* const from[4] = {task.factors.inverse + at, task.factors.upper + at,
                              task.b.data + b.at(of_.system, of_.begin),
                              Symmetric ? nullptr : task.factors.lower + at};
    constexpr int count = Symmetric ? 3 : 4;
    bool whole = factors.row_stride == 1 && b.row_stride == 1 && of_.end <= factors.n;
    for (int k = 0; k < count; ++k) whole = whole && begins_a_line(from[k]);
    if (!whole) return false;
    const int rows = of_.rows(), in_lines = rows / line_size<T> * line_size<T>;
    if (thread_ == 0) {
      const auto bytes = static_cast<unsigned>(in_lines) * static_cast<unsigned>(sizeof(T));
      mbarrier_init(arrived(), 1);
      mbarrier_init_fence();
      for (int k = 0; k < count && bytes > 0; ++k)
        bulk_load(inverse_ + k * factored_rows, from[k], bytes, arrived());
      mbarrier_arrive_expect_tx(arrived(), count * bytes);
    }
    for (int i = in_lines + thread_; i < rows; i += factored_threads)
#pragma unroll
      for (int k = 0; k < count; ++k) copy_to_shared(inverse_ + k * factored_rows + i, from[k] + i);
    return true;
  }

  // Constant coefficients store their first rows alone, the last of which goes on.
  __device__ void load_factor(const factored_task<T>& task, T* to, const T* from) const {
    batch_shape shape = task.factors.shape;
    const std::int64_t m = of_.system / task.rhs_a_matrix;
    const bool one_matrix = (of_.system + of_.count - 1) / task.rhs_a_matrix == m;
    if (of_.end <= shape.n && (one_matrix || task.rhs_a_matrix == 1)) {
      const T* const first = from + shape.at(m, of_.begin);
      if (one_matrix) shape.system_stride = 0;
      return load_rows(to, first, shape);
    }
    const int rows = of_.rows();
    for (int e = thread_; e < rows * of_.count; e += factored_threads)
      to[e / rows * of_.width<Layout>() + e % rows * step_] =
          from[factor_at(task, of_.system + e / rows, of_.begin + e % rows)];
  }

  // Room for the scans, behind the rows.
  __device__ T* spare() const { return inverse_ + (Symmetric ? 3 : 4) * factored_rows; }

  // scan() over all threads of the block; returns the affine map of all.
  __device__ affine_map<T> scan_block(affine_map<T> own) {
    into_ = join_in_block(own, reinterpret_cast<affine_map<T>*>(spare()), thread_, factored_threads / 32);
    return own;
  }

  // Scans over the segments: what comes into each from before, then what comes into it from behind.
  __device__ affine_map<T> scan(int reach, affine_map<T> own) {
    const int segments = of_.leaves(), step = step_, segment = place_.segment;
    T* now = spare();
    T* later = now + 3 * factored_threads;
    const auto put = [&](T p, T q, T r) {
      now[thread_] = p;
      now[factored_threads + thread_] = q;
      now[2 * factored_threads + thread_] = r;
      __syncthreads();
    };
    const auto turn = [&] {
      T* const old = now;
      now = later;
      later = old;
    };
    const bool in_tree = place_.count > 0;
    put(own.out, own.out_rhs, 0);
    for (int d = 1; d < segments && d <= reach; d *= 2) {
      if (in_tree && segment >= d) {
        const int from = thread_ - d * step;
        own.out_rhs = own.out * now[factored_threads + from] + own.out_rhs;
        own.out = own.out * now[from];
      }
      turn();
      put(own.out, own.out_rhs, 0);
    }
    if (in_tree && segment > 0) {
      into_.before_factor = now[thread_ - step];
      into_.before_rhs = now[factored_threads + thread_ - step];
    }
    own.first_rhs = own.first_rhs + own.first_before * into_.before_rhs;
    own.first_before = own.first_before * into_.before_factor;
    turn();
    put(own.first_behind, own.first_rhs, own.first_before);
    for (int d = 1; d < segments && d <= reach; d *= 2) {
      if (in_tree && segment + d < segments) {
        const int from = thread_ + d * step;
        own.first_rhs = own.first_rhs + own.first_behind * now[factored_threads + from];
        own.first_before = own.first_before + own.first_behind * now[2 * factored_threads + from];
        own.first_behind = own.first_behind * now[from];
      }
      turn();
      put(own.first_behind, own.first_rhs, own.first_before);
    }
    if (in_tree && segment + 1 < segments) {
      into_.behind_factor = now[thread_ + step];
      into_.behind_rhs = now[factored_threads + thread_ + step];
      into_.behind_before = now[2 * factored_threads + thread_ + step];
    }
    return own;
  }

  const slices& of_;
  segment_place place_;
  int step_, thread_;
  T* inverse_;    // then upper, b and, unless symmetric, lower
  T before_ = 0;  // symmetric: the factor of the row before the slice
  incoming_map<T> into_;
};

}  // namespace vouch::detail
