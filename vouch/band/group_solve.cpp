
#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <vouch/band/verdict.hpp>
#include <vouch/core/block_lanes.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/memory.hpp>

namespace vouch {
namespace {

using detail::block_lane;
using detail::judgement;
using method = tridiagonal_method;

constexpr std::int64_t block_rows = std::int64_t{1} << 18;  // 2 MB of doubles a copy
constexpr std::int64_t least_across = 16;                   // systems side by side: a line of memory

// ---- how some systems of a batch lie, on the host and in a device's memory, where they are packed

// Elements of some systems: `outer` runs of `inner` elements.
struct packing {
  std::int64_t first = 0;  // of all, on the host
  std::int64_t outer = 1, inner = 0;
  std::int64_t outer_stride = 0, inner_stride = 1;  // on the host
  batch_shape shape;                                // on the device

  std::int64_t size() const { return outer * inner; }
};

// Of systems first to first + count - 1 of a batch. offsets: those of these systems, from 0, where they have some.
packing packed(const batch_shape& of, std::int64_t first, std::int64_t count,
               const std::vector<std::int64_t>& offsets) {
  packing p;
  if (of.offsets != nullptr) {
    p.first = of.offsets[first];
    p.inner = offsets.back();
    p.shape = ragged(offsets);
    return p;
  }
  const bool across = of.system_stride < of.row_stride;
  const std::int64_t rows = of.row_stride == 0 ? std::min<std::int64_t>(of.n, 1) : of.n;
  const std::int64_t systems = of.system_stride == 0 ? std::min<std::int64_t>(count, 1) : count;
  p.first = first * of.system_stride;
  p.outer = across ? rows : systems;
  p.inner = across ? systems : rows;
  p.outer_stride = across ? of.row_stride : of.system_stride;
  p.inner_stride = across ? of.system_stride : of.row_stride;
  p.shape = {of.n, count,
             of.row_stride == 0 ? 0
             : across           ? systems
                                : 1,
             of.system_stride == 0 ? 0
             : across              ? 1
                                   : rows,
             nullptr};
  if (p.outer_stride == p.inner && p.inner_stride == 1) {  // one run
    p.inner *= p.outer;
    p.outer = 1;
  }
  return p;
}

// Calls run(element of the pack, element on the host, elements) for what lies in [from, to) of the pack.
template <class Run>
void for_runs(const packing& p, std::int64_t from, std::int64_t to, const Run& run) {
  while (from < to) {
    const std::int64_t within = from % p.inner, length = std::min(p.inner - within, to - from);
    run(from, p.first + from / p.inner * p.outer_stride + within * p.inner_stride, length);
    from += length;
  }
}

// Copies of packs by way of a lane's staging memory, piece by piece.
template <class T, class Piece>
void for_pieces(const packing& p, const Piece& piece) {
  for (std::int64_t from = 0; from < p.size(); from += block_rows)
    piece(from, std::min(from + block_rows, p.size()));
}

template <real T>
std::size_t bytes_of(std::int64_t from, std::int64_t to) {
  return static_cast<std::size_t>(to - from) * sizeof(T);
}

template <real T>
array<T> sent(block_lane& lane, const packing& p, const T* host) {
  array<T> there(lane.dev(), p.size());
  T* const staged = lane.staging<T>(0, std::min(block_rows, p.size()));
  for_pieces<T>(p, [&](std::int64_t from, std::int64_t to) {
    for_runs(p, from, to, [&](std::int64_t at, std::int64_t element, std::int64_t length) {
      if (p.inner_stride == 1)
        std::memcpy(staged + (at - from), host + element, bytes_of<T>(0, length));
      else
        for (std::int64_t k = 0; k < length; ++k) staged[at - from + k] = host[element + k * p.inner_stride];
    });
    copy_bytes(there.data() + from, lane.dev(), staged, device::cpu(1), bytes_of<T>(from, to));
  });
  return there;
}

template <real T>
void fetch(block_lane& lane, const packing& p, const array<T>& there, T* host) {
  T* const staged = lane.staging<T>(0, std::min(block_rows, p.size()));
  for_pieces<T>(p, [&](std::int64_t from, std::int64_t to) {
    copy_bytes(staged, device::cpu(1), there.data() + from, lane.dev(), bytes_of<T>(from, to));
    for_runs(p, from, to, [&](std::int64_t at, std::int64_t element, std::int64_t length) {
      if (p.inner_stride == 1)
        std::memcpy(host + element, staged + (at - from), bytes_of<T>(0, length));
      else
        for (std::int64_t k = 0; k < length; ++k) host[element + k * p.inner_stride] = staged[at - from + k];
    });
  });
}

// ---- the blocks

// The first system of every block, and behind them the number of systems: whole systems, by the shape alone.
std::vector<std::int64_t> first_systems(const batch_shape& b, const batch_shape& x) {
  std::vector<std::int64_t> first{0};
  if (b.offsets != nullptr) {
    for (std::int64_t s = 1; s < b.systems; ++s)
      if (b.offsets[s + 1] - b.offsets[first.back()] > block_rows) first.push_back(s);
  } else {
    std::int64_t each = std::max<std::int64_t>(block_rows / std::max<std::int64_t>(b.n, 1), 1);
    if (b.system_stride < b.row_stride || x.system_stride < x.row_stride) each = std::max(each, least_across);
    for (std::int64_t s = each; s < b.systems; s += each) first.push_back(s);
  }
  first.push_back(b.systems);
  return first;
}

template <real T>
class batch_in_blocks {
 public:
  batch_in_blocks(const tridiagonal_view<const T>& A, const batch_view<const T>& b, const batch_view<T>& x,
                  const tridiagonal_options& options, judgement& found)
      : A_(A),
        b_(b),
        x_(x),
        options_(options),
        found_(found),
        first_(first_systems(b.shape, x.shape)),
        reports_(first_.size() - 1) {
    options_.workspace = nullptr;
    const auto judged = static_cast<std::size_t>(options.check ? b.shape.systems : 0);
    found_ = {};
    found_.residuals.resize(judged);
    found_.eliminations.resize(judged);
  }

  std::int64_t count() const { return std::ssize(reports_); }

  void solve(block_lane& lane, std::int64_t block) {
    const auto k = static_cast<std::size_t>(block);
    const std::int64_t first = first_[k], systems = first_[k + 1] - first;
    std::vector<std::int64_t> offsets;
    for (std::int64_t s = first; b_.shape.offsets != nullptr && s <= first + systems; ++s)
      offsets.push_back(b_.shape.offsets[s] - b_.shape.offsets[first]);
    const bool shared = A_.shape.systems == 1 && A_.shape.offsets == nullptr;
    const packing of_A = shared ? packed(A_.shape, 0, 1, offsets) : packed(A_.shape, first, systems, offsets);
    const packing of_b = packed(b_.shape, first, systems, offsets);
    const packing of_x = packed(x_.shape, first, systems, offsets);
    const array<T> dl = sent(lane, of_A, A_.dl), d = sent(lane, of_A, A_.d), du = sent(lane, of_A, A_.du);
    const array<T> b = sent(lane, of_b, b_.data);
    array<T> x(lane.dev(), of_x.size());
    judgement found;
    reports_[k] =
        detail::solve_and_judge<T>(lane.dev(), {dl.data(), d.data(), du.data(), of_A.shape, A_.periodic},
                                   {b.data(), of_b.shape}, {x.data(), of_x.shape}, options_, found);
    fetch(lane, of_x, x, x_.data);
    keep(found, first, k);
  }

  tridiagonal_report report() {
    tridiagonal_report all = reports_.front();
    all.warnings.clear();
    for (std::size_t k = 1; k < reports_.size(); ++k) join(reports_[k], first_[k], all);
    const bool fell_back = options_.mixed && all.precision != "mixed";
    if (options_.check) {
      found_.rows = static_cast<double>(b_.shape.n);
      all.backward_error = 0;
      all.systems_missed = 0;
      all.first_missed.clear();
      detail::report_systems(found_, all);
      detail::report_growth(found_, method_of(all), all);
    }
    if (fell_back) all.warnings.push_back(detail::single_does_not_suffice);
    return all;
  }

 private:
  void keep(const judgement& found, std::int64_t first, std::size_t block) {
    std::ranges::copy(found.residuals, found_.residuals.begin() + (options_.check ? first : 0));
    std::ranges::copy(found.eliminations, found_.eliminations.begin() + (options_.check ? first : 0));
    if (block != 0) return;  // they all have the same of these
    found_.rtol = found.rtol;
    found_.atol = found.atol;
    found_.unit = found.unit;
  }

  // What block `of`, whose first system is that, adds to the report of those before.
  void join(const tridiagonal_report& of, std::int64_t first, tridiagonal_report& all) const {
    if (options_.mixed && of.precision != "mixed") all.precision = of.precision;
    if (of.method != all.method)
      all.method = name(method::partition);  // what solves any regular system took over
    all.refinements = std::max(all.refinements, of.refinements);
    tridiagonal_facts& facts = all.matrix;
    facts.symmetric = facts.symmetric && of.matrix.symmetric;
    facts.positive_diagonal = facts.positive_diagonal && of.matrix.positive_diagonal;
    if (of.matrix.dominance < facts.dominance) {
      facts.dominance = of.matrix.dominance;
      facts.weakest_system = first + of.matrix.weakest_system;
      facts.weakest_row = of.matrix.weakest_row;
    }
    facts.column_dominance = std::min(facts.column_dominance, of.matrix.column_dominance);
    facts.largest = std::max(facts.largest, of.matrix.largest);
  }

  static method method_of(const tridiagonal_report& report) {
    method m = method::automatic;
    while (m != method::partition && report.method != name(m)) m = static_cast<method>(static_cast<int>(m) + 1);
    return m;
  }

  tridiagonal_view<const T> A_;
  batch_view<const T> b_;
  batch_view<T> x_;
  tridiagonal_options options_;
  judgement& found_;
  std::vector<std::int64_t> first_;  // system of each block, and how many there are
  std::vector<tridiagonal_report> reports_;
};

// A block names what is wrong by its own systems; this by those of the batch.
template <real T>
void name_what_is_wrong(const tridiagonal_view<const T>& A, const batch_view<const T>& b) {
  const device cpu = device::cpu(1);
  examine<T>(cpu, A);
  tridiagonal_view<const T> all = A;
  if (A.shape.systems == 1 && A.shape.offsets == nullptr) {
    all.shape.systems = b.shape.systems;
    all.shape.system_stride = 0;
  }
  judgement found;
  found.residuals.resize(static_cast<std::size_t>(b.shape.systems));
  detail::band_residual<T>(cpu, all, b, b, nullptr, found.residuals.data());
  detail::require_finite<T>(cpu, b, found);
}

}  // namespace

template <real T>
tridiagonal_report detail::solve_and_judge(const device_group& devices, const tridiagonal_view<const T>& A,
                                           const batch_view<const T>& b, const batch_view<T>& x,
                                           const tridiagonal_options& options, judgement& found) {
  const ieee_environment here;
  require_shapes(A.shape, b.shape, x.shape);
  batch_in_blocks<T> blocks(A, b, x, options, found);
  try {
    for_each_block(devices, blocks.count(),
                   [&](block_lane& lane, std::int64_t block) { blocks.solve(lane, block); });
  } catch (const value_error&) {
    if (options.check) name_what_is_wrong<T>(A, b);
    throw;
  }
  return blocks.report();
}

template <real T>
tridiagonal_report solve(const device_group& devices, const tridiagonal_view<const T>& A,
                         const batch_view<const T>& b, const batch_view<T>& x,
                         const tridiagonal_options& options) {
  judgement found;
  return detail::solve_and_judge(devices, A, b, x, options, found);
}

#define VOUCH_INSTANTIATE(T)                                                                                 \
  template VOUCH_PUBLIC tridiagonal_report solve(const device_group&, const tridiagonal_view<const T>&,      \
                                                 const batch_view<const T>&, const batch_view<T>&,           \
                                                 const tridiagonal_options&);                                \
  template tridiagonal_report detail::solve_and_judge(const device_group&, const tridiagonal_view<const T>&, \
                                                      const batch_view<const T>&, const batch_view<T>&,      \
                                                      const tridiagonal_options&, judgement&);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
