// Sweeps in place over large sets of independent rows of a sparse matrix on a GPU: one kernel a set, in a graph
// that loops by itself.
//
// Mapping  a warp takes a slice of rows, as many blocks as the set needs.
// Bound    by memory: the rows with their columns, 4 n values.
// Bits     fixed by the matrix.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <vouch/solve/stationary/sparse_rows.cuh>
#include <vouch/solve/stationary/sweep_graph.cuh>

namespace vouch {
namespace {

constexpr unsigned threads = sweep_graph::threads;
constexpr int blocks_at_once = 4;  // a multiprocessor

template <class T>
struct swept_rows {
  sliced_rows<T> A;
  const T* r;
  const T* factor;
};

// Blocks of the sets before come first in the sums. Sums: the squares of the residual alone.
template <class T, bool Sums>
__global__ void __launch_bounds__(threads, blocks_at_once)
    sweep_set_of_rows(swept_rows<T> in, std::int64_t number, unsigned blocks_before, T* d,
                      sweep_graph::grid_reduction end) {
  if (!Sums && end.c->event != solver_event::running) return;
  const sweep_set set = in.A.set(number);
  const std::int64_t unit = std::int64_t{blockIdx.x} * sweep_graph::warps + threadIdx.x / 32;
  sweep_graph::row_facts facts;
  if (unit < in.A.units(set)) {
    const auto here = in.A.fetch(set, unit, in.r, in.factor);
    device_sweeps::row_result<T> found;
    const std::int64_t row = in.A.residual(set, unit, here, in.A.gather(here, d), d, found);
    if (row >= 0) {
      const T move = found.factor * found.s, value = found.d + move;
      if (!Sums) d[row] = value;
      facts.see(static_cast<double>(found.s), static_cast<double>(move), static_cast<double>(value));
    }
  }
  end.add(facts, blocks_before + blockIdx.x, [&](const sweep_graph::row_facts& all) {
    if (Sums)
      end.c->squares = all.squares;
    else
      end.judge(all);
  });
}

template <class T>
__global__ void __launch_bounds__(threads)
    bring_in_order(std::int64_t n, const std::int32_t* place, const T* r, T* own_r, T* d) {
  const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= n) return;
  own_r[i] = r[place[i]];
  d[i] = T{};
}

template <class T>
__global__ void __launch_bounds__(threads)
    put_back(std::int64_t n, const std::int32_t* place, const T* d, T* result) {
  const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i < n) result[place[i]] = d[i];
}

std::int64_t blocks_of(const sweep_set& set) {
  return ceil_div<std::int64_t>(set.slices(), sweep_graph::warps);
}

std::int64_t blocks_of(const std::vector<sweep_set>& sets) {
  std::int64_t all = 0;
  for (const sweep_set& set : sets) all += blocks_of(set);
  return all;
}

template <real T>
class colours_engine final : public sweep_graph::engine<T> {
  using base = sweep_graph::engine<T>;

 public:
  colours_engine(const device& dev, sliced_storage<T> rows, array<T> factor, const sweep_rule& rule,
                 bool by_residual)
      : base(dev, rows.n, rows.bytes, blocks_of(rows.side.sets), rule, by_residual, false),
        rows_(std::move(rows)),
        factor_(std::move(factor)),
        backward_(rule.order == sweep_order::backward),
        own_r_(dev, rows_.n),
        d_(dev, rows_.n) {}

  std::string name() const override { return rows_.text + ", looping graph"; }

 private:
  launch_shape a_thread_a_row() const { return {ceil_div<std::int64_t>(this->n_, threads), threads}; }

  void start(const T* r) override {
    launch(this->dev_, "bring_in_order", a_thread_a_row(), bring_in_order<T>, this->n_,
           static_cast<const std::int32_t*>(rows_.place.data()), r, own_r_.data(), d_.data());
  }
  void record(const T*, cudaGraphConditionalHandle loop) override {
    for (int k = 0; k < sweep_graph::sweeps_a_turn; ++k) pass<false>(loop);
  }
  template <bool Sums>
  void pass(cudaGraphConditionalHandle loop) {
    const swept_rows<T> in{rows_.arguments(), own_r_.data(), factor_.data()};
    const auto count = static_cast<std::int64_t>(rows_.side.sets.size());
    std::int64_t before = 0;
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t number = backward_ ? count - 1 - k : k;
      const std::int64_t blocks = blocks_of(rows_.side.sets[static_cast<std::size_t>(number)]);
      launch(this->dev_, "sweep_set_of_rows", {blocks, threads}, sweep_set_of_rows<T, Sums>, in, number,
             static_cast<unsigned>(before), d_.data(), this->where(loop));
      before += blocks;
    }
  }

  // What sweeps in place meet of the residual is not the residual of where they end: it has to say so itself.
  // Where much is left of it sweeps go on until they meet as much less as is missing.
  bool ends(double target) override {
    pinned_history& box = *this->box_;
    control now = this->now();
    if (now.event != solver_event::reached || !(box.last_squared <= now.progress.trigger)) return true;
    pass<true>(0);
    const double squares = this->now().squares, met = box.last_squared;
    box.last_squared = squares;
    if (squares <= target) return true;
    const double missing = met > 0 ? target * (met / squares) : target;
    now.progress.trigger = 0.81 * std::min(now.progress.trigger, missing);
    now.event = now.iteration >= now.progress.limit ? solver_event::iteration_limit : solver_event::running;
    box.event = static_cast<std::int32_t>(now.event);
    this->put(now);
    return now.event != solver_event::running;
  }
  void finish(std::int64_t, T* d) override {
    launch(this->dev_, "put_back", a_thread_a_row(), put_back<T>, this->n_,
           static_cast<const std::int32_t*>(rows_.place.data()), static_cast<const T*>(d_.data()), d);
  }

  using control = sweep_graph::control;
  sliced_storage<T> rows_;
  array<T> factor_;
  bool backward_;
  array<T> own_r_, d_;
};

}  // namespace

template <real T>
std::unique_ptr<inner_solver<T>> make_colours_graph(const device& dev, sliced_storage<T> rows, array<T> factor,
                                                    const sweep_rule& rule, bool by_residual) {
  return std::make_unique<colours_engine<T>>(dev, std::move(rows), std::move(factor), rule, by_residual);
}

template std::unique_ptr<inner_solver<float>> make_colours_graph(const device&, sliced_storage<float>,
                                                                 array<float>, const sweep_rule&, bool);
template std::unique_ptr<inner_solver<double>> make_colours_graph(const device&, sliced_storage<double>,
                                                                  array<double>, const sweep_rule&, bool);

}  // namespace vouch
