// Stencils from matrices on a GPU: a thread a row. Bound by memory: the matrix is read twice.
#include <vouch/core/parallel_for.cuh>
#include <vouch/solve/precond/amg/stencil_entries.hpp>

namespace vouch::multigrid {
namespace {

struct filling_facts {
  unsigned long long above_less_below;  // modulo 2^64, so exact
  int misfits;
};

constexpr unsigned block = 256;

template <class T>
__global__ void __launch_bounds__(block) fill_stencil(__grid_constant__ const stencil_filling<T> filling,
                                                      box grid, std::size_t steps, filling_facts* facts) {
  long long above_less_below = 0;
  bool good = true;
  for (std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x; i < filling.A.rows;
       i += std::int64_t{gridDim.x} * block) {
    for (std::size_t k = 0; k < steps; ++k) filling.values.of(k)[i] = 0;
    const std::int64_t nx = grid.size[0], line = i / nx, x = i - line * nx;
    const line_place here = place_of_line(grid, line);
    const auto in_box = [&](std::size_t w) {
      const std::int64_t to = x + filling.ways[w].to[0];
      return to >= 0 && to < nx && has_line(grid, here.beside(filling.ways[w].to));
    };
    std::int64_t change = 0;
    good = filling.put_upper(i, in_box, change) && good;
    above_less_below += change;
  }
  if (!good) facts->misfits = 1;
  for (int d = 16; d > 0; d /= 2) above_less_below += __shfl_xor_sync(~0u, above_less_below, d);
  if (threadIdx.x % 32 == 0 && above_less_below != 0)
    atomicAdd(&facts->above_less_below, static_cast<unsigned long long>(above_less_below));
}

template <class T>
__global__ void __launch_bounds__(block)
    compare_with_stencil(__grid_constant__ const stencil_filling<T> filling, filling_facts* facts) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x; i < filling.A.rows;
       i += std::int64_t{gridDim.x} * block)
    if (!filling.mirrors_upper(i)) facts->misfits = 1;
}

}  // namespace

template <class T>
void clear_margins_cuda(const device& dev, step_values<T>& values) {
  constexpr std::int64_t margin = step_values<T>::margin;
  const step_view<T> view = values.view();
  const std::int64_t points = values.grid.points();
  detail::parallel_for(dev, "clear_margins", static_cast<std::int64_t>(values.steps.size()) * 2 * margin,
                       [=] __device__(std::int64_t t) {
                         const std::int64_t place = t % (2 * margin);
                         T* const row = view.of(static_cast<std::size_t>(t / (2 * margin)));
                         row[place < margin ? place - margin : points + place - margin] = T{};
                       });
}

template <real T>
bool fill_stencil_cuda(const device& dev, csr_view<const T> A, double factor, stencil_matrix& S) {
  const stencil_filling<T> filling{A, factor, couplings_of(S.grid, S.steps), S.view()};
  auto facts = array<filling_facts>::zeros(dev, 1);
  const std::int64_t blocks =
      std::min<std::int64_t>(ceil_div<std::int64_t>(A.rows, block), 16 * dev.processors());
  launch(dev, "fill_stencil", {blocks, block}, fill_stencil<T>, filling, S.grid, S.steps.size(), facts.data());
  launch(dev, "compare_with_stencil", {blocks, block}, compare_with_stencil<T>, filling, facts.data());
  const filling_facts all = facts.to_vector().front();
  return all.above_less_below == 0 && all.misfits == 0;
}

template void clear_margins_cuda(const device&, step_values<float>&);
template void clear_margins_cuda(const device&, step_values<double>&);
template bool fill_stencil_cuda(const device&, csr_view<const float>, double, stencil_matrix&);
template bool fill_stencil_cuda(const device&, csr_view<const double>, double, stencil_matrix&);

}  // namespace vouch::multigrid
