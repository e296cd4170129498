#include <cuda_runtime.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/check.cuh>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/core/scan_and_sort.hpp>
#include <vouch/core/scratch.cuh>
#include <vouch/io/matrix_market_parts.hpp>
#include <vouch/text/file.hpp>
#include <vouch/text/mapped_file.hpp>

namespace vouch {
namespace {

constexpr std::int64_t piece_bytes = std::int64_t{1} << 21;  // a copy costs some 8 us besides its bytes
constexpr int slots_a_thread = 2;                            // one is filled while the other travels
constexpr int most_threads = 8;                              // docs/decisions/text_to_gpu.md

struct slot {
  char* text = nullptr;
  cudaStream_t stream = nullptr;
};

// Pinned memory of one GPU's uploads. It stays to the end of the process: CUDA may be gone before statics are.
struct ring {
  std::mutex in_use;
  std::array<slot, most_threads * slots_a_thread> slots;

  ring() {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, slots.size() * piece_bytes, cudaHostAllocDefault), "allocating pinned memory");
    for (std::size_t k = 0; k < slots.size(); ++k) {
      slots[k].text = static_cast<char*>(memory) + static_cast<std::int64_t>(k) * piece_bytes;
      check(cudaStreamCreateWithFlags(&slots[k].stream, cudaStreamNonBlocking), "making a stream");
    }
  }
};

ring& ring_of(int gpu) {
  static std::mutex making;
  static std::array<ring*, 64> rings{};
  const std::lock_guard hold(making);
  ring*& mine = rings.at(static_cast<std::size_t>(gpu));
  if (mine == nullptr) mine = new ring;
  return *mine;
}

struct upload_job {
  const device& gpu;
  const input_file& file;
  std::int64_t offset;
  std::int64_t bytes;
  char* to;
  std::atomic<std::int64_t> next = 0;  // piece

  void send(slot& by, std::int64_t from) const {
    check(cudaStreamSynchronize(by.stream), "waiting for the GPU");
    const std::int64_t size = std::min(piece_bytes, bytes - from);
    const auto got = file.read_at(offset + from, by.text, static_cast<std::size_t>(size));
    if (static_cast<std::int64_t>(got) < size) throw file_error("'" + file.path() + "' has become shorter");
    check(
        cudaMemcpyAsync(to + from, by.text, static_cast<std::size_t>(size), cudaMemcpyHostToDevice, by.stream),
        "copying text to the GPU");
  }
  void work(slot* mine) {
    check(cudaSetDevice(gpu.index()), "selecting the GPU");
    int turn = 0;
    for (std::int64_t from = next++ * piece_bytes; from < bytes; from = next++ * piece_bytes)
      send(mine[turn++ % slots_a_thread], from);
  }
};

// Copies bytes of a file with random access, from offset on, to `to` on gpu; they are there on return.
//
// Memory  34 MB of pinned memory, taken at the first call and kept for the next; one call at a time uses it.
// Cost    Bound by the bus: up to eight threads copy from the page cache.
// Throws  file_error    what input_file throws, also where the file has become shorter
//         device_error  no pinned memory, a failing copy
void upload(const device& gpu, const input_file& file, std::int64_t offset, std::int64_t bytes, char* to) {
  gpu.synchronize();  // what its stream does to this memory comes first
  check(cudaSetDevice(gpu.index()), "selecting the GPU");
  ring& by = ring_of(gpu.index());
  const std::lock_guard hold(by.in_use);
  upload_job job{gpu, file, offset, bytes, to};
  const std::int64_t pieces = (bytes + piece_bytes - 1) / piece_bytes;
  const auto threads =
      static_cast<int>(std::min<std::int64_t>({pieces, most_threads, device::cpu().threads()}));
  std::array<std::exception_ptr, most_threads> failures;
#pragma omp parallel for firstprivate(ieee) num_threads(threads) schedule(static, 1)
  for (int t = 0; t < threads; ++t) {
    try {
      job.work(by.slots.data() + t * slots_a_thread);
    } catch (...) {
      failures[static_cast<std::size_t>(t)] = std::current_exception();
      job.next = pieces;
    }
  }
  // Also where something failed: no copy may run on.
  for (const slot& one : by.slots)
    if (const cudaError_t code = cudaStreamSynchronize(one.stream); code != cudaSuccess && !failures[0])
      failures[0] = std::make_exception_ptr(device_error("copying text to the GPU", static_cast<int>(code)));
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

constexpr unsigned block = 256;
constexpr std::int64_t strip_bytes = 64;  // of text, a thread
constexpr std::int64_t tile_bytes = block * strip_bytes;

// The place of an entry as one integer, ordered by rows, then columns.
struct key_layout {
  int row_bits;
  int col_bits;

  key_layout(std::int64_t rows, std::int64_t cols)
      : row_bits(std::bit_width(static_cast<std::uint64_t>(rows))),
        col_bits(std::bit_width(static_cast<std::uint64_t>(cols))) {}
  __host__ __device__ std::uint64_t key(std::uint64_t row, std::uint64_t col) const {
    return row << col_bits | col;
  }
  /// Behind all others: the mirror image that an entry on the diagonal does not have.
  __host__ __device__ std::uint64_t nowhere() const { return std::uint64_t{1} << (row_bits + col_bits); }
  __device__ std::int32_t col(std::uint64_t key) const {
    return static_cast<std::int32_t>(key & ((std::uint64_t{1} << col_bits) - 1));
  }
};

// A value that a CPU must round.
struct rare_value {
  std::int64_t at;  // in the text
  std::int64_t entry;
};

struct parse_report {
  int refused;   // some line is not plain
  int unsorted;  // some entry does not come behind the one before
  unsigned long long rare;
  unsigned long long diagonal;
};

// The text on the GPU, zeros from size up to a whole tile, and where its entries go: entry k to place k, its
// mirror image to place count + k.
struct parse_job {
  const char* text;
  std::int64_t size;
  std::int64_t count;
  entry_limits limits;
  key_layout layout;
  bool mirrored;
  double mirrored_sign;
  std::uint64_t* key;
  double* val;
  parse_report* report;
  rare_value* rare;
  unsigned long long rare_room;
};

__device__ void put(const parse_job& job, std::int64_t k, std::uint64_t row, std::uint64_t col, double val) {
  job.key[k] = job.layout.key(row, col);
  job.val[k] = val;
  if (!job.mirrored) return;
  job.key[job.count + k] = row == col ? job.layout.nowhere() : job.layout.key(col, row);
  job.val[job.count + k] = job.mirrored_sign * val;
  if (row == col) atomicAdd(&job.report->diagonal, 1ULL);
}

// A bit for each line feed of the calling thread's strip.
__device__ std::uint64_t line_feeds(const char* text) {
  const auto* const words = reinterpret_cast<const uint4*>(text + std::int64_t{blockIdx.x} * tile_bytes +
                                                           std::int64_t{threadIdx.x} * strip_bytes);
  std::uint64_t feeds = 0;
  for (int w = 0; w < strip_bytes / 16; ++w) {
    const uint4 four = words[w];
    const unsigned word[] = {four.x, four.y, four.z, four.w};
    for (int k = 0; k < 4; ++k) {
      // The multiplication gathers one bit of each byte.
      const unsigned bits = __vcmpeq4(word[k], 0x0a0a0a0au) & 0x01010101u;
      feeds |= std::uint64_t{(bits * 0x01020408u) >> 24 & 15u} << (16 * w + 4 * k);
    }
  }
  return feeds;
}

// A thread looks at a strip of the text. Bound by reading it.
__global__ void __launch_bounds__(block) count_lines(const char* text, std::int64_t* of_tile) {
  const int mine = __popcll(line_feeds(text));
  const int of_warp = __reduce_add_sync(~0u, mine);
  __shared__ int sums[block / 32];
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = of_warp;
  __syncthreads();
  if (threadIdx.x > 0) return;
  int all = 0;
  for (const int sum : sums) all += sum;
  of_tile[blockIdx.x] = all;
}

template <matrix_field Field>
__device__ void parse_line(const parse_job& job, const char* line, std::int64_t k) {
  plain_entry e;
  if (scan_plain_entry<Field>(line, job.text + job.size, job.limits, e) == nullptr) {
    job.report->refused = 1;
    return;
  }
  put(job, k, e.row - 1, e.col - 1, e.val);
  if (e.rare == nullptr) return;
  const unsigned long long place = atomicAdd(&job.report->rare, 1ULL);
  if (place < job.rare_room) job.rare[place] = {e.rare - job.text, k};
}

// The sum of count over the threads of the block before this one.
__device__ int sum_before(int count) {
  constexpr unsigned warp_size = 32, all = ~0u;
  __shared__ int warp_sums[block / warp_size];
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  int sum = count;
  for (unsigned distance = 1; distance < warp_size; distance *= 2) {
    const int other = __shfl_up_sync(all, sum, distance);
    if (lane >= distance) sum += other;
  }
  if (lane == warp_size - 1) warp_sums[warp] = sum;
  __syncthreads();
  int before = sum - count;
  for (unsigned w = 0; w < warp; ++w) before += warp_sums[w];
  return before;
}

// A thread parses the lines that start behind the line feeds of its strip. lines_before counts the feeds before
// a tile. Bound by the chain of bytes of a line; the text comes from the caches after the first touch.
template <matrix_field Field>
__global__ void __launch_bounds__(block) parse_lines(parse_job job, const std::int64_t* lines_before) {
  std::uint64_t feeds = line_feeds(job.text);
  const int before = sum_before(__popcll(feeds));
  const std::int64_t strip = std::int64_t{blockIdx.x} * tile_bytes + std::int64_t{threadIdx.x} * strip_bytes;
  std::int64_t k = lines_before[blockIdx.x] + before;
  if (strip == 0) parse_line<Field>(job, job.text, 0);
  for (; feeds != 0; feeds &= feeds - 1) {
    const std::int64_t line = strip + __ffsll(static_cast<long long>(feeds));
    if (line < job.size) parse_line<Field>(job, job.text + line, ++k);
  }
}

__global__ void __launch_bounds__(block) put_rare(parse_job job, const double* values, std::int64_t count) {
  const std::int64_t r = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (r >= count) return;
  const std::int64_t k = job.rare[r].entry;
  job.val[k] = values[r];
  if (job.mirrored) job.val[job.count + k] = job.mirrored_sign * values[r];
}

__global__ void __launch_bounds__(block)
    check_order(const std::uint64_t* key, std::int64_t count, parse_report* report) {
  const std::int64_t k = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (k > 0 && k < count && key[k] <= key[k - 1]) report->unsorted = 1;
}

// first[k]: 1 where entry k is the first of its place.
__global__ void __launch_bounds__(block)
    mark_first(const std::uint64_t* key, std::int64_t count, std::int64_t* first) {
  const std::int64_t k = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (k < count) first[k] = k == 0 || key[k] != key[k - 1];
}

// The first entry of each place adds those that follow, in their order. place[k] counts the places up to entry
// k.
__global__ void __launch_bounds__(block)
    add_duplicates(const std::uint64_t* key, const double* val, std::int64_t count, const std::int64_t* place,
                   key_layout layout, std::int32_t* col, double* out) {
  const std::int64_t k = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (k >= count || (k > 0 && key[k] == key[k - 1])) return;
  double sum = val[k];
  for (std::int64_t next = k + 1; next < count && key[next] == key[k]; ++next) sum += val[next];
  col[place[k] - 1] = layout.col(key[k]);
  out[place[k] - 1] = sum;
}

// A thread finds the start of a row by bisection.
__global__ void __launch_bounds__(block)
    find_rows(const std::uint64_t* key, std::int64_t count, const std::int64_t* place, key_layout layout,
              std::int64_t rows, std::int64_t* row_ptr) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (i > rows) return;
  const std::uint64_t from = layout.key(static_cast<std::uint64_t>(i), 0);
  std::int64_t low = 0, high = count;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (key[middle] < from)
      low = middle + 1;
    else
      high = middle;
  }
  row_ptr[i] = low == 0 ? 0 : place[low - 1];
}

launch_shape over(std::int64_t count) { return {ceil_div<std::int64_t>(count, block), block}; }

cudaStream_t stream_of(const device& gpu) { return static_cast<cudaStream_t>(gpu.stream()); }

template <class T>
T fetched(const device& gpu, const T* from) {
  T value{};
  copy_bytes(&value, device::cpu(1), from, gpu, sizeof value);
  return value;
}

bool ends_in_feed(const input_file& file) {
  char last = 0;
  file.read_at(file.most_bytes() - 1, &last, 1);
  return last == '\n';
}

// The text of the entries on the GPU, ended by a line feed, and how many lines stand before each tile.
struct text_on_gpu {
  std::int64_t size;
  std::int64_t tiles;
  scratch<char> text;
  scratch<std::int64_t> lines_before;

  text_on_gpu(const device& gpu, const input_file& file, std::int64_t body)
      : size(file.most_bytes() - body + !ends_in_feed(file)),
        tiles(ceil_div(size, tile_bytes)),
        text(gpu, tiles * tile_bytes),
        lines_before(gpu, tiles + 1) {
    const std::int64_t there = file.most_bytes() - body;
    check(cudaMemsetAsync(text.data() + there, 0, static_cast<std::size_t>(tiles * tile_bytes - there),
                          stream_of(gpu)),
          "clearing the end of the text");
    if (there < size) check(cudaMemsetAsync(text.data() + there, '\n', 1, stream_of(gpu)), "ending the text");
    upload(gpu, file, body, there, text.data());
    launch(gpu, "count_lines", {tiles, block}, count_lines, static_cast<const char*>(text.data()),
           lines_before.data());
    check(cudaMemsetAsync(lines_before.data() + tiles, 0, sizeof(std::int64_t), stream_of(gpu)),
          "counting lines");
    exclusive_scan(gpu, lines_before.data(), lines_before.data(), tiles + 1);
  }
};

void launch_parser(const device& gpu, const parse_job& job, matrix_field field, const text_on_gpu& text) {
  const auto parser = field == matrix_field::real      ? parse_lines<matrix_field::real>
                      : field == matrix_field::integer ? parse_lines<matrix_field::integer>
                                                       : parse_lines<matrix_field::pattern>;
  launch(gpu, "parse_lines", {text.tiles, block}, parser, job,
         static_cast<const std::int64_t*>(text.lines_before.data()));
}

// Rounds on the CPU what the GPU left to it; false where that is no double.
bool round_rare(const device& gpu, const parse_job& job, const input_file& file, std::int64_t body,
                std::int64_t count) {
  if (count == 0) return true;
  std::vector<rare_value> rare(static_cast<std::size_t>(count));
  copy_bytes(rare.data(), device::cpu(1), job.rare, gpu, rare.size() * sizeof(rare_value));
  std::vector<double> values(rare.size());
  const mapped_file map(file);
  bool all = true;
#pragma omp parallel for firstprivate(ieee) num_threads(device::cpu().threads()) schedule(static) reduction(&& : all)
  for (std::size_t r = 0; r < rare.size(); ++r) {
    const auto number = parse_real(map.begin() + body + rare[r].at, map.end());
    all = all && number.error == number_error::none;
    values[r] = number.value;
  }
  if (!all) return false;
  const scratch<double> there(gpu, count);
  copy_bytes(there.data(), gpu, values.data(), device::cpu(1), values.size() * sizeof(double));
  launch(gpu, "put_rare", over(count), put_rare, job, static_cast<const double*>(there.data()), count);
  return true;
}

// Entries as they come to a CSR matrix.
class assembler {
 public:
  assembler(const device& gpu, const matrix_market_header& header, key_layout layout,
            scratch<std::uint64_t> key, scratch<double> val, std::int64_t count)
      : gpu_(gpu),
        header_(header),
        layout_(layout),
        key_(std::move(key)),
        val_(std::move(val)),
        count_(count) {}

  /// Stable, so that duplicates stay in their order. What is nowhere goes to the end.
  void sort() {
    scratch<std::uint64_t> sorted_key(gpu_, key_.size());
    scratch<double> sorted_val(gpu_, val_.size());
    const int bits = layout_.row_bits + layout_.col_bits + (key_.size() > count_ ? 1 : 0);
    sort_pairs<std::uint64_t, double>(gpu_, key_.data(), sorted_key.data(), val_.data(), sorted_val.data(),
                                      key_.size(), bits);
    key_ = std::move(sorted_key);
    val_ = std::move(sorted_val);
  }

  csr<double> matrix() {
    const scratch<std::int64_t> place(gpu_, count_);
    launch(gpu_, "mark_first", over(count_), mark_first, keys(), count_, place.data());
    inclusive_scan(gpu_, place.data(), count_);
    const std::int64_t nonzeros = fetched(gpu_, place.data() + count_ - 1);
    csr<double> A{header_.rows, header_.cols, array<std::int64_t>(gpu_, header_.rows + 1),
                  array<std::int32_t>(gpu_, nonzeros), array<double>(gpu_, nonzeros)};
    launch(gpu_, "add_duplicates", over(count_), add_duplicates, keys(),
           static_cast<const double*>(val_.data()), count_, static_cast<const std::int64_t*>(place.data()),
           layout_, A.col.data(), A.val.data());
    launch(gpu_, "find_rows", over(header_.rows + 1), find_rows, keys(), count_,
           static_cast<const std::int64_t*>(place.data()), layout_, header_.rows, A.row_ptr.data());
    gpu_.synchronize();
    return A;
  }

 private:
  const std::uint64_t* keys() const { return key_.data(); }

  const device& gpu_;
  const matrix_market_header& header_;
  key_layout layout_;
  scratch<std::uint64_t> key_;
  scratch<double> val_;
  std::int64_t count_;  // entries that stand somewhere
};

}  // namespace

std::optional<csr<double>> read_coordinates_cuda(const device& gpu, const input_file& file, std::int64_t body,
                                                 const matrix_market_header& header) {
  if (header.entries == 0 || file.most_bytes() <= body) return std::nullopt;
  const text_on_gpu text(gpu, file, body);
  if (fetched(gpu, text.lines_before.data() + text.tiles) != header.entries) return std::nullopt;

  const bool mirrored = header.stored_as != symmetry::general;
  const std::int64_t places = header.entries * (mirrored ? 2 : 1);
  constexpr std::int64_t common_rare = 16;  // one value in so many is still rare
  scratch<std::uint64_t> key(gpu, places);
  scratch<double> val(gpu, places);
  const scratch<rare_value> rare(gpu, header.entries / common_rare + 1024);
  const scratch<parse_report> report(gpu, 1);
  check(cudaMemsetAsync(report.data(), 0, sizeof(parse_report), stream_of(gpu)), "clearing a report");
  const key_layout layout(header.rows, header.cols);
  const parse_job job{text.text.data(),
                      text.size,
                      header.entries,
                      limits_of(header),
                      layout,
                      mirrored,
                      header.stored_as == symmetry::skew_symmetric ? -1.0 : 1.0,
                      key.data(),
                      val.data(),
                      report.data(),
                      rare.data(),
                      static_cast<unsigned long long>(rare.size())};
  launch_parser(gpu, job, header.field, text);
  launch(gpu, "check_order", over(places), check_order, static_cast<const std::uint64_t*>(key.data()), places,
         report.data());
  const parse_report seen = fetched(gpu, report.data());
  if (seen.refused != 0 || seen.rare > job.rare_room) return std::nullopt;
  if (!round_rare(gpu, job, file, body, static_cast<std::int64_t>(seen.rare))) return std::nullopt;
  assembler entries(gpu, header, layout, std::move(key), std::move(val),
                    places - static_cast<std::int64_t>(seen.diagonal));
  if (mirrored || seen.unsorted != 0) entries.sort();
  return entries.matrix();
}

}  // namespace vouch
