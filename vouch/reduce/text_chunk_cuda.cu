#include <algorithm>
#include <cstring>
#include <limits>

#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/reduce/text_automaton.hpp>
#include <vouch/reduce/text_chunk.hpp>

namespace vouch {
namespace {

constexpr int threads = 128;
// In front of the text, on the host and on the GPU. Behind it the four arrays of chunk_answer, most_elements
// each; doubles as integers in the same order.
struct chunk_header {
  int irregular;
  int points;
  unsigned long long matrices;
};

enum part { least_part, most_part, sum_part, magnitude_part, all_parts };

constexpr std::int64_t header_bytes =
    (sizeof(chunk_header) + all_parts * text_chunk::most_elements * sizeof(std::int64_t) + 255) / 256 * 256;

static_assert(text_chunk::most_chunks * (header_bytes + text_chunk::text_bytes) <= 64000000,
              "the pinned memory that matrix_set.hpp promises");

__host__ __device__ inline long long* part_of(chunk_header* header, int part) {
  return reinterpret_cast<long long*>(header + 1) + part * text_chunk::most_elements;
}

// Doubles to integers in the same order, and back: it is its own inverse.
__host__ __device__ inline long long ordered(long long bits) {
  return bits ^ ((bits >> 63) & std::numeric_limits<long long>::max());
}

// What one thread knows of its values, in shared memory: element e at [e * threads]. Arrays that are not needed
// take no room.
template <bool Decimals>
struct thread_parts {
  using value_type = std::conditional_t<Decimals, double, int>;
  value_type* least;
  value_type* most;
  long long* sums;
  long long* magnitudes;

  __device__ thread_parts(const parse_task& task, unsigned char* room) {
    const int count = task.elements * threads;
    sums = reinterpret_cast<long long*>(room);
    magnitudes = sums + (task.sums ? count : 0);
    least = reinterpret_cast<value_type*>(magnitudes + (task.magnitudes ? count : 0));
    most = least + (task.least ? count : 0);
  }
  __device__ static value_type none_yet(int sign) {
    if constexpr (Decimals) return sign * std::numeric_limits<double>::infinity();
    return sign > 0 ? std::numeric_limits<int>::max() : -std::numeric_limits<int>::max();
  }
  __device__ void clear(const parse_task& task) const {
    for (int k = static_cast<int>(threadIdx.x); k < task.elements * threads; k += threads) {
      if (task.least) least[k] = none_yet(1);
      if (task.most) most[k] = none_yet(-1);
      if (task.sums) sums[k] = 0;
      if (task.magnitudes) magnitudes[k] = 0;
    }
  }
  __device__ void take(const parse_task& task, int element, value_type value) const {
    const int k = element * threads + static_cast<int>(threadIdx.x);
    if (task.least && value < least[k]) least[k] = value;
    if (task.most && value > most[k]) most[k] = value;
    if constexpr (!Decimals) {
      if (task.sums) sums[k] += value;
      if (task.magnitudes) magnitudes[k] += value < 0 ? -value : value;
    }
  }
};

template <class T, class Join>
__device__ T warp_joined(const T* values, Join join) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  T all = values[lane];
  for (int k = lane + 32; k < threads; k += 32) all = join(all, values[k]);
  for (int d = 16; d > 0; d /= 2) all = join(all, __shfl_down_sync(~0u, all, d));
  return all;
}

__device__ inline long long as_ordered(int value) { return value; }
__device__ inline long long as_ordered(double value) { return ordered(__double_as_longlong(value)); }

// Each thread takes the matrices whose separators' lines start in its strip of the text, and reads on until the
// next one's. A warp joins its block's parts of an element; blocks meet by integer atomics, whose order does
// not matter. Bound by the copy of the text to the GPU.
template <bool Decimals>
__global__ void __launch_bounds__(threads) parse_and_reduce(parse_task task, chunk_header* header) {
  extern __shared__ __align__(16) unsigned char room[];
  const thread_parts<Decimals> parts(task, room);
  parts.clear(task);
  __syncthreads();
  const strip_result mine = read_strip<Decimals>(task, parts, std::int64_t{blockIdx.x} * threads + threadIdx.x);
  if (mine.irregular) header->irregular = 1;
  if (mine.points) header->points = 1;
  __syncthreads();

  const unsigned of_warp = __reduce_add_sync(~0u, mine.matrices);
  if (threadIdx.x % 32 == 0 && of_warp > 0) atomicAdd(&header->matrices, of_warp);
  const auto smaller = [](auto a, auto b) { return b < a ? b : a; };
  const auto larger = [](auto a, auto b) { return b > a ? b : a; };
  const auto plus = [](long long a, long long b) { return a + b; };
  for (int e = static_cast<int>(threadIdx.x) / 32; e < task.elements; e += threads / 32) {
    const bool first = threadIdx.x % 32 == 0;
    if (task.least) {
      const auto all = warp_joined(parts.least + e * threads, smaller);
      if (first) atomicMin(part_of(header, least_part) + e, as_ordered(all));
    }
    if (task.most) {
      const auto all = warp_joined(parts.most + e * threads, larger);
      if (first) atomicMax(part_of(header, most_part) + e, as_ordered(all));
    }
    const auto add = [&](const long long* of_threads, int part) {
      const long long all = warp_joined(of_threads + e * threads, plus);
      if (first) atomicAdd(reinterpret_cast<unsigned long long*>(part_of(header, part) + e), all);
    };
    if (task.sums) add(parts.sums, sum_part);
    if (task.magnitudes) add(parts.magnitudes, magnitude_part);
  }
}

std::size_t room_bytes(const chunk_task& task) {
  const std::size_t extremes = task.needs.min + task.needs.max;
  const std::size_t each = extremes * (task.decimals ? sizeof(double) : sizeof(int)) +
                           (task.needs.sum + task.needs.magnitudes) * sizeof(long long);
  return each * static_cast<std::size_t>(task.shape.rows * task.shape.cols) * threads;
}

class cuda_chunk final : public text_chunk {
 public:
  explicit cuda_chunk(const device& gpu) : gpu_(gpu), device_(gpu_, header_bytes + text_bytes + 8) {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, header_bytes + text_bytes, cudaHostAllocDefault), "allocating pinned memory");
    pinned_ = {static_cast<char*>(memory), [](char* p) { cudaFreeHost(p); }};
  }
  ~cuda_chunk() override {
    if (busy_) cudaStreamSynchronize(stream());
  }

  char* text() override { return pinned_.get() + header_bytes; }

  void start(const chunk_task& task) override {
    task_ = task;
    clear_header();
    check(cudaSetDevice(gpu_.index()), "selecting the GPU");
    check(cudaMemcpyAsync(device_.data(), pinned_.get(),
                          static_cast<std::size_t>(header_bytes + (task.end + 7) / 8 * 8),
                          cudaMemcpyHostToDevice, stream()),
          "copying text to the GPU");
    busy_ = true;
    auto* const header_there = reinterpret_cast<chunk_header*>(device_.data());
    const auto elements = static_cast<int>(task.shape.rows * task.shape.cols);
    const parse_task parse{reinterpret_cast<const char*>(device_.data()) + header_bytes,
                           task.begin,
                           task.end,
                           task.end_of_file,
                           static_cast<int>(task.shape.cols),
                           elements,
                           task.needs.min,
                           task.needs.max,
                           task.needs.sum && !task.decimals,
                           task.needs.magnitudes && !task.decimals};
    const launch_shape shape{ceil_div<std::int64_t>(task.end - task.begin, threads * strip_bytes), threads,
                             room_bytes(task)};
    launch(gpu_, "parse_and_reduce", shape, task.decimals ? parse_and_reduce<true> : parse_and_reduce<false>,
           parse, header_there);
    check(cudaMemcpyAsync(pinned_.get(), device_.data(), header_bytes, cudaMemcpyDeviceToHost, stream()),
          "copying results from the GPU");
  }

  chunk_answer wait() override {
    check(cudaStreamSynchronize(stream()), "waiting for the GPU");
    busy_ = false;
    chunk_header* const h = header();
    chunk_answer answer;
    answer.regular = h->irregular == 0;
    answer.points = h->points != 0;
    answer.decimals = task_.decimals;
    answer.matrices = static_cast<std::int64_t>(h->matrices);
    for (int p = least_part; p < all_parts; ++p)
      for (std::int64_t e = 0; e < most_elements; ++e) integers_[p][e] = part_of(h, p)[e];
    answer.least = integers_[least_part];
    answer.most = integers_[most_part];
    answer.sums = integers_[sum_part];
    answer.magnitudes = integers_[magnitude_part];
    if (task_.decimals)
      for (int p = least_part; p <= most_part; ++p)
        for (std::int64_t e = 0; e < most_elements; ++e) {
          const long long bits = ordered(part_of(h, p)[e]);
          std::memcpy(&reals_[p][e], &bits, sizeof bits);
        }
    answer.least_real = reals_[least_part];
    answer.most_real = reals_[most_part];
    return answer;
  }

 private:
  cudaStream_t stream() const { return static_cast<cudaStream_t>(gpu_.stream()); }
  chunk_header* header() const { return reinterpret_cast<chunk_header*>(pinned_.get()); }
  void clear_header() const {
    *header() = {};
    const auto fill = [&](int part, long long value) {
      std::fill_n(part_of(header(), part), most_elements, value);
    };
    fill(least_part, std::numeric_limits<long long>::max());
    fill(most_part, std::numeric_limits<long long>::min());
    fill(sum_part, 0);
    fill(magnitude_part, 0);
  }

  device gpu_;
  array<std::byte> device_;
  std::shared_ptr<char> pinned_;
  bool busy_ = false;
  chunk_task task_{{}, reduce_needs({})};
  std::int64_t integers_[all_parts][most_elements] = {};
  double reals_[2][most_elements] = {};
};

}  // namespace

std::shared_ptr<text_chunk> make_text_chunk(const device& gpu) {
  return std::make_shared<cuda_chunk>(device::cuda(gpu.index()));
}

}  // namespace vouch
