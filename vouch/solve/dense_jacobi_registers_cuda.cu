// Plans and runs the kernel of dense_jacobi_registers.cuh.
#include <cuda_runtime.h>

#include <string>

#include <vouch/solve/dense_engine_cuda.cuh>
#include <vouch/solve/dense_jacobi_registers.cuh>

namespace vouch {
namespace {

using namespace jacobi_registers;

// Layouts of small and of large matrices: their entries take 96 of a thread's 128 registers at most.
using small = row_layout<3, 8>;
using large = row_layout<6, 16>;

template <class T, class Layout>
std::int64_t blocks_of(std::int64_t n) {
  return ceil_div<std::int64_t>(n, mates * Layout::rows) * mates;
}

// Every block has a row, and all run at once.
template <class T, class Layout>
bool fits(const device& dev, std::int64_t n) {
  const std::int64_t blocks = blocks_of<T, Layout>(n);
  return n >= blocks && n <= Layout::most &&
         blocks <= mates * dense_engine::clusters_at_once(dev, jacobi_in_registers<T, Layout>, mates,
                                                          all_threads<T, Layout>, "jacobi_in_registers");
}

template <class T, class Layout>
class register_engine final : public cg_engine<T> {
 public:
  register_engine(const device& dev, const detail::aligned_rows<T>& A, const sweep_rule& rule, bool by_residual)
      : dev_(dev),
        blocks_(blocks_of<T, Layout>(A.padded)),
        runner_(dev, A.n, A.padded, by_residual, 2 * A.padded * flagged_words<T> + 2),
        factor_(dev, A.padded),
        weight_(dev, A.padded) {
    dense_engine::make_relaxation<T>(dev, A, rule.omega, factor_.data(), weight_.data());
    in_.a = A.data;
    in_.n = A.padded;
    in_.ld = A.ld;
    in_.factor = factor_.data();
    in_.weight = weight_.data();
    in_.exchange = runner_.words();
    in_.wish = in_.exchange + 2 * A.padded * flagged_words<T>;
    in_.box = runner_.box();
    in_.look = dense_engine::iterations_between_looks(A.padded * A.ld * static_cast<std::int64_t>(sizeof(T)));
  }

  std::string name() const override {
    return std::to_string(blocks_) + " blocks of " + std::to_string(all_threads<T, Layout>) +
           " threads, dense by rows, in registers";
  }

  cg_outcome run(T* r, T* d, const cg_rule& rule, cg_log& log) override {
    return runner_.run(in_, r, d, rule, log, [&] {
      launch(dev_, "jacobi_in_registers", {blocks_, all_threads<T, Layout>, 0, mates, true},
             jacobi_in_registers<T, Layout>, in_);
    });
  }

 private:
  device dev_;
  std::int64_t blocks_;
  dense_engine::jacobi_runner<T> runner_;
  array<T> factor_, weight_;
  task<T> in_;
};

}  // namespace

template <real T>
std::unique_ptr<cg_engine<T>> dense_jacobi_in_registers(const device& dev, const detail::aligned_rows<T>& A,
                                                        const sweep_rule& rule, bool by_residual) {
  if (fits<T, small>(dev, A.padded))
    return std::make_unique<register_engine<T, small>>(dev, A, rule, by_residual);
  if constexpr (sizeof(T) == 4)
    if (fits<T, large>(dev, A.padded))
      return std::make_unique<register_engine<T, large>>(dev, A, rule, by_residual);
  return nullptr;
}

template std::unique_ptr<cg_engine<float>> dense_jacobi_in_registers(const device&,
                                                                     const detail::aligned_rows<float>&,
                                                                     const sweep_rule&, bool);
template std::unique_ptr<cg_engine<double>> dense_jacobi_in_registers(const device&,
                                                                      const detail::aligned_rows<double>&,
                                                                      const sweep_rule&, bool);

}  // namespace vouch
