#include <vouch/core/config.hpp>
#include <vouch/solve/cg_assembly.hpp>

namespace vouch {
namespace {

// The matrix as an operator, for preconditioners that the fused loops do not know.
template <real T>
class plan_operator final : public linear_operator<T> {
 public:
  explicit plan_operator(const spmv_plan<T>& plan) : plan_(plan) {}
  std::int64_t rows() const override { return plan_.rows(); }
  void apply(const device&, view<const T> x, view<T> y) const override { plan_.multiply(T{1}, x, T{0}, y); }

 private:
  const spmv_plan<T>& plan_;
};

}  // namespace

template <real T>
cg_assembly<T> assemble_cg(const device& dev, csr_view<const T> A, const preconditioner<T>* M, layout wanted) {
  cg_assembly<T> parts;
  const T* minv = M != nullptr ? M->diagonal() : nullptr;
  const bool fused = M == nullptr || minv != nullptr;
  if constexpr (built_with_cuda)
    if (dev.is_cuda() && fused && wanted == layout::automatic) parts.engine = cg_resident_cuda(dev, A, minv);
  if (parts.engine) return parts;
  parts.plan = std::make_unique<spmv_plan<T>>(spmv_plan<T>::make(dev, A, true, wanted));
  if (fused) {
    if constexpr (built_with_cuda)
      if (dev.is_cuda()) parts.engine = cg_graph_cuda(dev, *parts.plan, minv);
    if (!dev.is_cuda()) parts.engine = cg_cpu(dev, *parts.plan, minv);
    return parts;
  }
  parts.as_operator = std::make_unique<plan_operator<T>>(*parts.plan);
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) parts.engine = cg_graph_cuda_general(dev, *parts.as_operator, M);
  if (!dev.is_cuda()) parts.engine = cg_cpu_general(dev, *parts.as_operator, M);
  return parts;
}

template cg_assembly<float> assemble_cg(const device&, csr_view<const float>, const preconditioner<float>*,
                                        layout);
template cg_assembly<double> assemble_cg(const device&, csr_view<const double>, const preconditioner<double>*,
                                         layout);

}  // namespace vouch
