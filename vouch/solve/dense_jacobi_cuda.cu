// Plans and runs the kernel of dense_jacobi.cuh.
#include <cuda_runtime.h>

#include <string>

#include <vouch/core/error.hpp>
#include <vouch/solve/dense_engine_cuda.cuh>
#include <vouch/solve/dense_jacobi.cuh>
#include <vouch/solve/rounded_rows.hpp>

namespace vouch {
namespace {

using namespace jacobi_kernel;

// How the kernel uses a multiprocessor.
struct plan {
  std::int64_t blocks = 0;
  int rows = 8;  // taken at a time
  int stages = 0;
  bool resident = false;
  bool columns_shared = true;
  std::size_t bytes = 0;
};

template <class S, class T>
auto kernel_of(int rows) {
  return rows == 8 ? jacobi_sweeps<S, T, 8> : jacobi_sweeps<S, T, 4>;
}

template <class S, class T, int Rows>
plan plan_with(const device& dev, std::int64_t n, int depth) {
  plan p;
  p.rows = Rows;
  p.blocks = std::min<std::int64_t>(dev.processors(), n);
  const std::int64_t room = dense_engine::shared_room(dev, jacobi_sweeps<S, T, Rows>, "jacobi_sweeps");
  const std::int64_t tiles = ceil_div<std::int64_t>(most_rows(n, p.blocks), Rows) * pieces_of<S>(n);
  const std::int64_t a_stage = Rows * piece_bytes + 2 * static_cast<std::int64_t>(sizeof(std::uint64_t));
  for (const bool shared : {true, false}) {
    p.columns_shared = shared;
    const auto fixed =
        static_cast<std::int64_t>(shared_bytes<S, T, Rows>(n, p.blocks, depth, 0, shared) + stage_ring::align);
    p.stages = static_cast<int>(std::clamp<std::int64_t>((room - fixed) / a_stage, 0, tiles));
    p.resident = p.stages == tiles;
    if (p.resident || p.stages * a_stage >= dense_engine::least_ring) break;
  }
  p.bytes = shared_bytes<S, T, Rows>(n, p.blocks, depth, p.stages, p.columns_shared);
  return p;
}

template <class S, class T>
plan make_plan(const device& dev, std::int64_t n, int depth) {
  plan p = plan_with<S, T, 8>(dev, n, depth);
  if (!p.resident) p = plan_with<S, T, 4>(dev, n, depth);  // smaller stages, of which more are on their way
  if (!p.resident && p.stages < 2)
    throw value_error(
        "the sweeps of a matrix of " + std::to_string(n) + " rows do not fit the GPU's shared memory",
        "mix fewer iterates, or take --device cpu");
  return p;
}

// A matrix for the kernel, by rows of `padded` entries, ld apart, of which n count; the first n of its
// diagonal.
template <class S, class T>
struct stored_matrix {
  const S* data;
  std::int64_t n, padded, ld;
  const T* diagonal;
  const T* scale = nullptr;  // of rounded entries
};

template <class S, class T>
class jacobi_engine final : public cg_engine<T> {
 public:
  jacobi_engine(const device& dev, const stored_matrix<S, T>& A, double omega, bool by_residual, int depth)
      : dev_(dev),
        plan_(make_plan<S, T>(dev, A.padded, depth)),
        runner_(dev, A.n, A.padded, by_residual, words(A.padded, plan_.blocks)),
        factor_(dev, A.padded),
        columns_(dev, plan_.columns_shared ? 0 : plan_.blocks * pieces_of<S>(A.padded) * piece_columns<S>) {
    dense_engine::make_relaxation<T>(dev, A.diagonal, A.padded, omega, factor_.data(), nullptr);
    in_.A = {A.data, A.padded, A.ld};
    in_.factor = factor_.data();
    if constexpr (is_rounded<S, T>) {
      in_.scale = A.scale;
      in_.diagonal = A.diagonal;
    }
    in_.columns = columns_.data();
    in_.exchange = runner_.words();
    in_.sums = in_.exchange + 2 * A.padded * flagged_words<T>;
    in_.sweeps_told = reinterpret_cast<unsigned*>(in_.exchange + words(A.padded, plan_.blocks) - 1);
    in_.box = runner_.box();
    in_.look = dense_engine::iterations_between_looks(A.padded * A.ld * static_cast<std::int64_t>(sizeof(S)));
    in_.depth = depth;
    in_.stages = plan_.stages;
    in_.resident = plan_.resident;
    in_.kept = dense_engine::stages_in_cache(dev, plan_.blocks, plan_.rows * piece_bytes);
  }

  std::string name() const override {
    return std::to_string(plan_.blocks) + " blocks of " + std::to_string(all_threads) +
           " threads, dense by rows" + (plan_.resident ? ", in shared memory" : ", one kernel");
  }

  cg_outcome run(T* r, T* d, const cg_rule& rule, cg_log& log) override {
    return runner_.run(in_, r, d, rule, log, [&] {
      launch(dev_, "jacobi_sweeps", {plan_.blocks, all_threads, plan_.bytes, 1, true},
             kernel_of<S, T>(plan_.rows), in_);
    });
  }

 private:
  static std::int64_t words(std::int64_t padded, std::int64_t blocks) {
    return 2 * (padded * flagged_words<T> + blocks * most_sums * flagged_words<double>)+1;
  }

  device dev_;
  plan plan_;
  dense_engine::jacobi_runner<T> runner_;
  array<T> factor_, columns_;
  task<S, T> in_;
};

int checked_depth(const acceleration& accelerate) {
  if (accelerate.anderson > most_depth)
    throw value_error("on a GPU anderson keeps 1 to " + std::to_string(most_depth) + " earlier iterates, not " +
                      std::to_string(accelerate.anderson));
  return accelerate.anderson;
}

// With the matrix that it sweeps over.
template <class S>
class rounded_engine final : public cg_engine<float> {
 public:
  rounded_engine(const device& dev, const detail::aligned_rows<double>& A, double omega, int depth)
      : rows_(round_rows<S>(dev, A)),
        engine_(dev,
                {rows_.values.data(), rows_.n, rows_.padded, rows_.padded, rows_.diagonal.data(),
                 rows_.scale.data()},
                omega, true, depth) {}
  std::string name() const override { return engine_.name(); }
  cg_outcome run(float* r, float* d, const cg_rule& rule, cg_log& log) override {
    return engine_.run(r, d, rule, log);
  }

 private:
  rounded_rows<S> rows_;
  jacobi_engine<S, float> engine_;
};

}  // namespace

template <real T>
std::unique_ptr<cg_engine<T>> dense_jacobi_cuda(const device& dev, const detail::aligned_rows<T>& A,
                                                const sweep_rule& rule, bool by_residual,
                                                const acceleration& accelerate) {
  const int depth = checked_depth(accelerate);
  if (accelerate.anderson == 0)
    if (auto engine = dense_jacobi_in_registers<T>(dev, A, rule, by_residual)) return engine;
  const array<T> diagonal = diagonal_of(dev, A);
  return std::make_unique<jacobi_engine<T, T>>(
      dev, stored_matrix<T, T>{A.data, A.n, A.padded, A.ld, diagonal.data()}, rule.omega, by_residual, depth);
}

std::unique_ptr<cg_engine<float>> dense_jacobi_rounded_cuda(const device& dev,
                                                            const detail::aligned_rows<double>& A,
                                                            entry_precision precision, const sweep_rule& rule,
                                                            const acceleration& accelerate) {
  const int depth = checked_depth(accelerate);
  if (precision == entry_precision::float8)
    return std::make_unique<rounded_engine<__nv_fp8_e4m3>>(dev, A, rule.omega, depth);
  return std::make_unique<rounded_engine<__nv_bfloat16>>(dev, A, rule.omega, depth);
}

template std::unique_ptr<cg_engine<float>> dense_jacobi_cuda(const device&, const detail::aligned_rows<float>&,
                                                             const sweep_rule&, bool, const acceleration&);
template std::unique_ptr<cg_engine<double>> dense_jacobi_cuda(const device&,
                                                              const detail::aligned_rows<double>&,
                                                              const sweep_rule&, bool, const acceleration&);

}  // namespace vouch
