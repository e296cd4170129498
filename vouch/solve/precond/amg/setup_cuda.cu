// The set-up of algebraic multigrid on a GPU: a thread a row; sparse products have kernels of their own.
#include <cstdint>
#include <utility>

#include <vouch/core/parallel_for.cuh>
#include <vouch/core/scan_and_sort.hpp>
#include <vouch/solve/precond/amg/build.hpp>
#include <vouch/solve/precond/amg/near_nullspace.hpp>

namespace vouch::multigrid {
namespace {

class executor_cuda {
 public:
  explicit executor_cuda(const device& dev) : dev_(dev) {}
  const device& where() const { return dev_; }

  template <class Body>
  void for_each(const char* name, std::int64_t n, const Body& body) const {
    detail::parallel_for(dev_, name, n, body);
  }
  void scan(array<std::int64_t>& v) const { inclusive_scan(dev_, v.data(), v.size()); }
  std::int64_t last(const array<std::int64_t>& v) const {
    std::int64_t value = 0;
    copy_bytes(&value, device::cpu(1), v.data() + v.size() - 1, dev_, sizeof value);
    return value;
  }
  void set(std::int32_t* flag, std::int32_t value) const {
    copy_bytes(flag, dev_, &value, device::cpu(1), sizeof value);
  }
  std::int32_t get(const std::int32_t* flag) const {
    std::int32_t value = 0;
    copy_bytes(&value, device::cpu(1), flag, dev_, sizeof value);
    return value;
  }
  __host__ __device__ static void raise(std::int32_t* flag) { *flag = 1; }
  __host__ __device__ static void increment(std::int32_t* count) {
#ifdef __CUDA_ARCH__
    atomicAdd(count, 1);
#else
    ++*count;
#endif
  }

 private:
  device dev_;
};

}  // namespace

std::vector<level> make_levels_cuda(const device& dev, csr<double> A, array<double> candidate,
                                    const setup_request& request) {
  return make_levels_on(executor_cuda(dev), std::move(A), std::move(candidate), request);
}

template <real T>
std::int64_t unknowns_of_a_node_cuda(const device& dev, csr_view<const T> A) {
  return find_unknowns(executor_cuda(dev), A);
}

template <real T>
void scale_to_unit_diagonal_cuda(const device& dev, csr_view<const T> A, const T* scale, double* out) {
  detail::parallel_for(dev, "scale_to_unit_diagonal", A.rows, [=] __device__(std::int64_t i) {
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) out[k] = unit_diagonal_entry(A, scale, i, k);
  });
}

template <real T>
void finish_scale_cuda(const device& dev, std::int64_t n, T power, T* scale, double* candidate) {
  detail::parallel_for(dev, "finish_scale", n,
                       [=] __device__(std::int64_t i) { candidate[i] = candidate_and_scale(power, scale[i]); });
}

template <real T>
void scaled_constant_cuda(const device& dev, std::int64_t n, const T* scale, float* out) {
  detail::parallel_for(dev, "scaled_constant", n,
                       [=] __device__(std::int64_t i) { out[i] = static_cast<float>(scale[0] / scale[i]); });
}

template void scaled_constant_cuda(const device&, std::int64_t, const float*, float*);
template void scaled_constant_cuda(const device&, std::int64_t, const double*, float*);
template std::int64_t unknowns_of_a_node_cuda(const device&, csr_view<const float>);
template std::int64_t unknowns_of_a_node_cuda(const device&, csr_view<const double>);
template void finish_scale_cuda(const device&, std::int64_t, float, float*, double*);
template void finish_scale_cuda(const device&, std::int64_t, double, double*, double*);
template void scale_to_unit_diagonal_cuda(const device&, csr_view<const float>, const float*, double*);
template void scale_to_unit_diagonal_cuda(const device&, csr_view<const double>, const double*, double*);

}  // namespace vouch::multigrid
