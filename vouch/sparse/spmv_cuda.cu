#include <vouch/sparse/spmv_kernels.cuh>

namespace vouch::detail {
namespace {

template <class T>
struct store_sums {
  T alpha;
  T beta;
  T* y;

  struct state {};
  struct operands {
    T y;
  };
  __device__ operands fetch(std::int64_t i) const { return {beta == T{} ? T{} : y[i]}; }
  __device__ void row(state&, std::int64_t i, T sum, const operands& o) const {
    y[i] = beta == T{} ? alpha * sum : alpha * sum + beta * o.y;
  }
  __device__ void finish(state&) const {}
};

}  // namespace

template <real T>
void multiply_cuda(const device& dev, const spmv_plan<T>& plan, T alpha, const T* x, T beta, T* y) {
  launch_spmv(dev, plan, x, store_sums<T>{alpha, beta, y});
}

template void multiply_cuda(const device&, const spmv_plan<float>&, float, const float*, float, float*);
template void multiply_cuda(const device&, const spmv_plan<double>&, double, const double*, double, double*);

}  // namespace vouch::detail
