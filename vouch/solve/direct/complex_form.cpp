#include <vouch/solve/direct/complex_form.hpp>

#include <utility>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/sparse/spmv_layouts.hpp>

namespace vouch {

template <real T>
std::optional<number_matrix<T>> find_complex_form(const device& dev, csr_view<const T> A) {
  const ieee_environment here;
  if (A.rows == 0 || A.rows != A.cols || !detail::holds_complex_numbers(dev, A)) return {};
  if (dev.is_cuda()) {
    const device cpu = device::cpu();
    const std::optional<number_matrix<T>> form = find_complex_form<T>(cpu, copy(cpu, dev, A));
    if (!form) return {};
    return number_matrix<T>{form->rows, true, form->row_ptr.to(dev), form->col.to(dev), form->val.to(dev)};
  }
  std::optional<detail::block_storage<T>> blocks = detail::count_blocks(dev, A, detail::block_kind::complex);
  detail::fill_blocks(dev, A, *blocks);
  number_matrix<T> form{A.rows / 2, true, std::move(blocks->ptr), std::move(blocks->col),
                        std::move(blocks->val)};
  for (std::int64_t k = 0; k < form.nonzeros(); ++k)
    if (form.val[2 * k + 1] != 0) return form;
  return {};
}

template std::optional<number_matrix<float>> find_complex_form(const device&, csr_view<const float>);
template std::optional<number_matrix<double>> find_complex_form(const device&, csr_view<const double>);

}  // namespace vouch
