#include <algorithm>
#include <limits>
#include <vector>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/core/require.hpp>
#include <vouch/sparse/spmv.hpp>
#include <vouch/sparse/spmv_convert.hpp>
#include <vouch/sparse/spmv_cpu.hpp>
#include <vouch/sparse/spmv_plan.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

template <class T>
std::int64_t vector_bytes(std::int64_t rows, std::int64_t cols) {
  return (rows + cols) * static_cast<std::int64_t>(sizeof(T));
}

template <class T>
std::int64_t csr_bytes(csr_view<const T> A) {
  return A.nonzeros * static_cast<std::int64_t>(sizeof(T) + sizeof(std::int32_t)) + (A.rows + 1) * 8;
}

std::string percent(std::int64_t part, std::int64_t whole) {
  return std::to_string(whole > 0 ? 100 * part / whole : 100) + " %";
}

std::string by(int rows, int cols) { return std::to_string(rows) + " by " + std::to_string(cols); }

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
// What the second- and third-level caches of today's processors hold for one process. Up to there a product
// takes the time of its instructions, beyond that of its bytes.
constexpr std::int64_t cache_bytes = std::int64_t{32} << 20;

// Time in cache of an entry of csr and of a block, in tenths of a cycle: measured on one Zen 5 core with the
// structural matrices of the Harwell-Boeing collection.
constexpr std::int64_t csr_time = 12;
std::int64_t block_time(detail::block_kind kind) {
  return kind == detail::block_kind::tiles ? 27 : kind == detail::block_kind::twos ? 23 : 46;
}

// Rows that the diagonal crosses.
std::int64_t diagonal_length(std::int64_t rows, std::int64_t cols, std::int64_t offset) {
  return std::max<std::int64_t>(0, std::min(rows, cols - offset) - std::max<std::int64_t>(0, -offset));
}

std::int64_t total_length(std::int64_t rows, std::int64_t cols, const std::vector<std::int64_t>& offsets) {
  std::int64_t total = 0;
  for (const std::int64_t offset : offsets) total += diagonal_length(rows, cols, offset);
  return total;
}

bool mirror_images(const std::vector<std::int64_t>& offsets) {
  return std::equal(offsets.begin(), offsets.end(), offsets.rbegin(),
                    [](std::int64_t a, std::int64_t b) { return a == -b; });
}

// Places for all diagonals, or for those with offset >= 0, lower ones then sharing the place of their image.
template <class T>
std::int64_t place_diagonals(detail::dia_layout<T>& shape, const std::vector<std::int64_t>& offsets,
                             bool half) {
  shape.count = static_cast<int>(offsets.size());
  std::int64_t used = 0;
  for (int k = shape.count - 1; k >= 0; --k) {
    const std::int64_t offset = shape.offset[k] = offsets[static_cast<std::size_t>(k)];
    if (half && offset < 0) {
      shape.start[k] = shape.start[shape.count - 1 - k] + offset;
    } else {
      shape.start[k] = used;
      used += shape.rows;
    }
  }
  return used;
}

}  // namespace

const char* name(layout kept_as) {
  switch (kept_as) {
    case layout::automatic:
      return "automatic";
    case layout::csr:
      return "csr";
    case layout::dia:
      return "dia";
    case layout::sell:
      return "sell";
    case layout::bsr:
      return "bsr";
    case layout::tile:
      return "tile";
    case layout::complex:
      return "complex";
  }
  return "unknown";
}

template <real T>
void spmv_plan<T>::keep_csr(const std::string& why) {
  kept_as_ = layout::csr;
  format_ = "csr (" + why + ")";
  if constexpr (built_with_cuda)
    if (device_.is_cuda()) {
      tile_ = array<std::int64_t>::zeros(device_, csr_.tiles() + 1);
      row_end_ = array<std::uint32_t>(device_, rows_);
      csr_.tile = tile_.data();
      csr_.row_end = row_end_.data();
      detail::mark_tiles_cuda(device_, csr_, tile_.data(), row_end_.data());
    }
  bytes_ = csr_bytes(csr_.A) + vector_bytes<T>(rows_, cols_);
}

// Bytes that it then reads; `unlimited`, and nothing done, where that would be more than most_bytes.
template <real T>
std::int64_t spmv_plan<T>::keep_dia(csr_view<const T> A, bool complex, bool symmetric,
                                    std::int64_t most_bytes) {
  const cancellation_probe stop;  // each pass takes tens of milliseconds of a million rows
  const std::vector<std::int64_t> offsets = detail::occupied_diagonals(device_, A, complex);
  stop.check();
  if (offsets.size() > detail::dia_layout<T>::max_diagonals) return unlimited;
  detail::dia_layout<T> shape;
  shape.complex = complex;
  shape.rows = rows_ / shape.parts();
  shape.cols = cols_ / shape.parts();
  const std::int64_t places = total_length(shape.rows, shape.cols, offsets);
  const auto size = shape.parts() * static_cast<std::int64_t>(sizeof(T));
  const bool may_halve = shape.rows == shape.cols && mirror_images(offsets);
  const auto worth = [&](std::int64_t stored) { return stored <= most_bytes / size; };
  if (!worth(may_halve ? (places + shape.rows) / 2 : places)) return unlimited;

  array<T> values;
  detail::mirrored half = detail::mirrored::no;
  const auto fill = [&](bool upper) {
    values = array<T>::zeros(device_, shape.parts() * place_diagonals<T>(shape, offsets, upper));
    detail::fill_diagonals(device_, A, shape, upper ? 0 : -rows_, values.data());
  };
  if (may_halve) {
    fill(true);
    stop.check();
    half = !symmetric ? detail::mirrors_upper_half(device_, A, shape, static_cast<const T*>(values.data()))
           : complex  ? detail::mirrored::conjugated
                      : detail::mirrored::yes;
  }
  if (half == detail::mirrored::no) {
    values = {};
    if (!worth(places)) return unlimited;
    fill(false);
  }
  device_.synchronize();
  values_ = std::move(values);
  shape.conjugated = half == detail::mirrored::conjugated;
  shape.val = values_.data();
  dia_ = shape;
  kept_as_ = complex ? layout::complex : layout::dia;
  std::int64_t stored = places;
  if (half != detail::mirrored::no) {
    const std::vector<std::int64_t> upper(std::lower_bound(offsets.begin(), offsets.end(), 0), offsets.end());
    stored = total_length(shape.rows, shape.cols, upper);
  }
  bytes_ = stored * size + vector_bytes<T>(rows_, cols_);
  format_ = std::string(name(kept_as_)) + " (" + std::to_string(shape.count) + " diagonals" +
            (complex ? " of complex numbers" : ", " + percent(A.nonzeros, places) + " full") +
            (half == detail::mirrored::no ? ")"
             : shape.conjugated           ? "; Hermitian, upper half stored)"
                                          : "; symmetric, upper half stored)");
  return stored * size;
}

template <real T>
bool spmv_plan<T>::keep_sliced(csr_view<const T> A, int b, bool forced) {
  if constexpr (built_with_cuda) {
    if (!device_.is_cuda()) return false;
    auto storage = detail::plan_slices_cuda(device_, A, b);
    if (!storage) return false;
    const bool small =
        10 * storage->bytes() <= 9 * csr_bytes(A) && 2 * storage->held_bytes() <= 3 * storage->bytes();
    if (!small && !forced) return false;
    detail::fill_slices_cuda(device_, A, *storage);
    sliced_ = std::move(*storage);
    kept_as_ = b == 1 ? layout::sell : layout::bsr;
    bytes_ = sliced_.bytes() + vector_bytes<T>(rows_, cols_);
    const std::string full = percent(A.nonzeros, sliced_.blocks * b * b) + " full, ";
    format_ = (b == 1 ? "sell (" : "bsr (" + by(b, b) + " blocks, " + full) +
              (sliced_.shape.short_index ? "16" : "32") + "-bit columns)";
    return true;
  }
  return false;
}

// The cheapest kind of block that the layout wanted allows, if it beats csr by a tenth or is asked for.
template <real T>
bool spmv_plan<T>::keep_blocks(csr_view<const T> A, layout wanted) {
  using kind = detail::block_kind;
  if (device_.is_cuda()) return false;
  const bool any = wanted == layout::automatic, in_cache = csr_bytes(A) <= cache_bytes;
  std::int64_t best = any ? (in_cache ? csr_time * A.nonzeros : csr_bytes(A)) / 10 * 9 : unlimited;
  bool found = false;
  const cancellation_probe stop;
  for (const kind k : {kind::threes, kind::twos, kind::tiles}) {
    if (!any && (k == kind::tiles) != (wanted == layout::tile)) continue;
    auto counted = detail::count_blocks(device_, A, k);
    stop.check();
    if (!counted) continue;
    const std::int64_t cost = in_cache ? block_time(k) * counted->blocks() : counted->bytes();
    if (cost > best) continue;
    best = cost;
    storage_ = std::move(*counted);
    found = true;
  }
  if (!found) return false;
  detail::fill_blocks(device_, A, storage_);
  const int b = storage_.kind == kind::threes ? 3 : 2;
  const bool tiles = storage_.kind == kind::tiles;
  tiles_ = {storage_.ptr.data(), storage_.col.data(), storage_.val.data()};
  blocks_of_entries_ = {b, storage_.ptr.data(), storage_.col.data(), storage_.val.data()};
  kept_as_ = tiles ? layout::tile : layout::bsr;
  bytes_ = storage_.bytes() + vector_bytes<T>(rows_, cols_);
  const std::string shape =
      tiles ? by(detail::tile_layout<T>::height, detail::tile_layout<T>::width) : by(b, b);
  format_ = std::string(name(kept_as_)) + " (" + shape + (tiles ? " tiles, " : " blocks, ") +
            percent(A.nonzeros, storage_.blocks() * storage_.block_size()) + " full)";
  return true;
}

// What complex would take; `unlimited` where A holds other blocks, or csr does as well. Where diagonals are the less they
// are kept at once.
template <real T>
std::int64_t spmv_plan<T>::plan_complex(csr_view<const T> A, bool symmetric, bool forced) {
  if (!detail::holds_complex_numbers(device_, A)) return unlimited;
  const std::int64_t most = forced ? unlimited : 9 * (csr_bytes(A) / 10);
  std::int64_t bytes = unlimited;
  if (!device_.is_cuda()) {
    storage_ = std::move(*detail::count_blocks(device_, A, detail::block_kind::complex));
    bytes = storage_.bytes();
  } else if constexpr (built_with_cuda) {
    auto storage = detail::plan_slices_cuda(device_, A, 2, true);
    if (storage && (forced || 2 * storage->held_bytes() <= 3 * storage->bytes())) {
      sliced_ = std::move(*storage);
      bytes = sliced_.bytes();
    }
    bytes = std::min(bytes, keep_dia(A, true, symmetric, std::min(most, bytes)));
  }
  if (bytes <= most && bytes < unlimited) return bytes;
  storage_ = {};
  sliced_ = {};
  return unlimited;
}

template <real T>
void spmv_plan<T>::keep_complex(csr_view<const T> A) {
  if (dia_.complex) {
    sliced_ = {};
    return;
  }
  if (!device_.is_cuda()) {
    detail::fill_blocks(device_, A, storage_);
    complex_ = {storage_.ptr.data(), storage_.col.data(), storage_.val.data()};
    bytes_ = storage_.bytes();
  } else if constexpr (built_with_cuda) {
    detail::fill_slices_cuda(device_, A, sliced_);
    bytes_ = sliced_.bytes();
  }
  kept_as_ = layout::complex;
  bytes_ += vector_bytes<T>(rows_, cols_);
  format_ = "complex (pairs of rows and columns as complex numbers, " +
            std::string(sliced_.shape.short_index ? "16" : "32") + "-bit columns)";
}

// Blocks of 3 by 3 or 2 by 2, whichever takes fewer bytes.
template <real T>
bool spmv_plan<T>::keep_sliced_blocks(csr_view<const T> A, bool forced) {
  if constexpr (built_with_cuda) {
    if (!device_.is_cuda()) return false;
    const auto threes = detail::plan_slices_cuda(device_, A, 3), twos = detail::plan_slices_cuda(device_, A, 2);
    const bool two_first = twos && (!threes || twos->bytes() < threes->bytes());
    return keep_sliced(A, two_first ? 2 : 3, forced) || keep_sliced(A, two_first ? 3 : 2, forced);
  }
  return false;
}

// Tries the layouts in the order of the rule of make().
template <real T>
bool spmv_plan<T>::keep(csr_view<const T> A, bool symmetric, layout wanted) {
  const bool any = wanted == layout::automatic;
  const std::int64_t of_complex =
      any || wanted == layout::complex ? plan_complex(A, symmetric, !any) : unlimited;
  const std::int64_t most = any ? std::min(csr_bytes(A), of_complex) : unlimited;
  if ((any || wanted == layout::dia) && keep_dia(A, false, symmetric, most) < unlimited) {
    storage_ = {};
    sliced_ = {};
    return true;
  }
  if (of_complex < unlimited) {
    keep_complex(A);
    return true;
  }
  if ((any || wanted == layout::bsr || wanted == layout::tile) && keep_blocks(A, wanted)) return true;
  if ((any || wanted == layout::bsr) && keep_sliced_blocks(A, !any)) return true;
  if ((any || wanted == layout::sell) && keep_sliced(A, 1, !any)) return true;
  if (!any && wanted != layout::csr) return false;
  keep_csr(any ? "nothing smaller holds its pattern" : "as asked");
  return true;
}

template <real T>
void spmv_plan<T>::set_blocks() {
  if (!device_.is_cuda()) return;
  const detail::kernel_shape shape = kept_as_ == layout::csr                   ? csr_.shape()
                                     : kept_as_ == layout::dia || dia_.complex ? dia_.shape()
                                                                               : sliced_.shape.shape();
  const std::int64_t wanted = ceil_div(rows_, std::int64_t{shape.rows_a_block});
  const std::int64_t resident = std::int64_t{device_.processors()} * shape.resident_blocks;
  blocks_ = static_cast<unsigned>(std::clamp<std::int64_t>(wanted, 1, std::min<std::int64_t>(resident, 4096)));
}

template <real T>
spmv_plan<T> spmv_plan<T>::make(const device& dev, csr_view<const T> A, bool symmetric, layout wanted) {
  const ieee_environment here;
  if (dev.is_cuda() &&
      (reinterpret_cast<std::uintptr_t>(A.col) | reinterpret_cast<std::uintptr_t>(A.val)) % 16 != 0)
    throw value_error("the columns and values of a matrix on a GPU must begin on 16-byte boundaries");
  const valid_csr valid("matrix times vector", dev, A);
  spmv_plan plan(dev);
  plan.rows_ = A.rows;
  plan.cols_ = A.cols;
  plan.csr_ = {A, detail::csr_lanes(A.rows, A.nonzeros)};
  if (!plan.keep(A, symmetric, wanted))
    throw value_error(std::string("the layout ") + name(wanted) + " cannot hold this matrix on this device");
  plan.set_blocks();
  return plan;
}

template <real T>
void spmv_plan<T>::rows_into(const T* x, T* sums, std::int64_t row_begin, std::int64_t row_end) const {
  if (kept_as_ == layout::dia)
    detail::rows_of(dia_, x, sums, row_begin, row_end);
  else if (kept_as_ == layout::bsr)
    detail::rows_of(blocks_of_entries_, x, sums, row_begin, row_end);
  else if (kept_as_ == layout::tile)
    detail::rows_of(tiles_, x, sums, row_begin, row_end);
  else if (kept_as_ == layout::complex)
    detail::rows_of(complex_, x, sums, row_begin, row_end);
  else
    detail::rows_of(csr_.A, x, sums, row_begin, row_end);
}

template <real T>
void spmv_plan<T>::multiply_rows(const T* x, T* y, std::int64_t row_begin, std::int64_t row_end) const {
  const ieee_environment here;
  rows_into(x, y + row_begin, row_begin, row_end);
}

template <real T>
void spmv_plan<T>::multiply(T alpha, view<const T> x, T beta, view<T> y) const {
  const ieee_environment here;
  detail::require_contiguous("matrix times vector", "x", x, cols_);
  detail::require_contiguous("matrix times vector", "y", y, rows_);
  if constexpr (built_with_cuda)
    if (device_.is_cuda()) return detail::multiply_cuda(device_, *this, alpha, x.data(), beta, y.data());
  constexpr std::int64_t chunk = 1024;
  const std::int64_t chunks = ceil_div(rows_, chunk);
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(device_, bytes() / 16)) schedule(static)
  for (std::int64_t c = 0; c < chunks; ++c) {
    const std::int64_t begin = c * chunk, end = std::min(rows_, begin + chunk);
    T sums[chunk];
    rows_into(x.data(), sums, begin, end);
    for (std::int64_t i = begin; i < end; ++i)
      y[i] = beta == T{} ? alpha * sums[i - begin] : alpha * sums[i - begin] + beta * y[i];
  }
}

template class spmv_plan<float>;
template class spmv_plan<double>;

template <real T>
void spmv(const device& dev, T alpha, csr_view<const T> A, view<const T> x, T beta, view<T> y) {
  const ieee_environment here;
  spmv_plan<T>::make(dev, A, false, layout::csr).multiply(alpha, x, beta, y);
}

template VOUCH_PUBLIC void spmv(const device&, float, csr_view<const float>, view<const float>, float,
                                view<float>);
template VOUCH_PUBLIC void spmv(const device&, double, csr_view<const double>, view<const double>, double,
                                view<double>);

}  // namespace vouch
