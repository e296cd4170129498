#include <cusparse.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <span>

#include <spmv_gpu.hpp>
#include <vouch/core/check.cuh>
#include <vouch/core/error.hpp>

namespace vouch::bench {
namespace {

cudaStream_t stream_of(const device& gpu) { return static_cast<cudaStream_t>(gpu.stream()); }

void check_cusparse(cusparseStatus_t status, const char* what) {
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw device_error(std::string(what) + ": " + cusparseGetErrorString(status), status);
}

// Runs of about 20 ms between two events, each of a whole number of rounds over the copies; quartiles over 15
// runs.
void time_products(const device& gpu, int copies, const std::function<void(int)>& product,
                   measurement& result) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "creating an event");
  check(cudaEventCreate(&end), "creating an event");
  const auto run = [&](int rounds) {
    check(cudaEventRecord(begin, stream_of(gpu)), "recording an event");
    for (int k = 0; k < rounds; ++k)
      for (int copy = 0; copy < copies; ++copy) product(copy);
    check(cudaEventRecord(end, stream_of(gpu)), "recording an event");
    check(cudaEventSynchronize(end), "waiting for an event");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "reading an event");
    return 1e3 * milliseconds / (rounds * copies);
  };
  run(2);
  const int rounds = std::max(2, static_cast<int>(20e3 / (run(3) * copies)));
  std::vector<double> times;
  for (int k = 0; k < 15; ++k) times.push_back(run(rounds));
  std::sort(times.begin(), times.end());
  result.microseconds = times[7];
  result.spread = (times[11] - times[3]) / times[7];
  check(cudaEventDestroy(begin), "destroying an event");
  check(cudaEventDestroy(end), "destroying an event");
}

// One copy of a system for cuSPARSE with one algorithm.
class cusparse_product {
 public:
  cusparse_product(const device& gpu, cusparseHandle_t handle, const csr<double>& A,
                   const std::vector<double>& x, cusparseSpMVAlg_t algorithm)
      : handle_(handle),
        algorithm_(algorithm),
        col_(A.col.to(gpu)),
        val_(A.val.to(gpu)),
        x_(array<double>::from(gpu, x)),
        y_(gpu, A.rows) {
    std::vector<std::int32_t> row_ptr(A.row_ptr.begin(), A.row_ptr.end());
    row_ptr_ = array<std::int32_t>::from(gpu, row_ptr);
    check_cusparse(
        cusparseCreateCsr(&matrix_, A.rows, A.cols, A.nonzeros(), row_ptr_.data(), col_.data(), val_.data(),
                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
        "cusparseCreateCsr");
    check_cusparse(cusparseCreateDnVec(&x_vector_, A.cols, x_.data(), CUDA_R_64F), "cusparseCreateDnVec");
    check_cusparse(cusparseCreateDnVec(&y_vector_, A.rows, y_.data(), CUDA_R_64F), "cusparseCreateDnVec");
    std::size_t bytes = 0;
    check_cusparse(cusparseSpMV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_vector_,
                                           &zero_, y_vector_, CUDA_R_64F, algorithm_, &bytes),
                   "cusparseSpMV_bufferSize");
    room_ = array<std::byte>(gpu, static_cast<std::int64_t>(std::max<std::size_t>(bytes, 16)));
    check_cusparse(cusparseSpMV_preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_vector_,
                                           &zero_, y_vector_, CUDA_R_64F, algorithm_, room_.data()),
                   "cusparseSpMV_preprocess");
  }
  ~cusparse_product() {
    cusparseDestroySpMat(matrix_);
    cusparseDestroyDnVec(x_vector_);
    cusparseDestroyDnVec(y_vector_);
  }
  cusparse_product(const cusparse_product&) = delete;
  cusparse_product& operator=(const cusparse_product&) = delete;

  void enqueue() {
    check_cusparse(cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_vector_, &zero_,
                                y_vector_, CUDA_R_64F, algorithm_, room_.data()),
                   "cusparseSpMV");
  }
  std::vector<double> y() const { return y_.to_vector(); }

 private:
  const double one_ = 1, zero_ = 0;
  cusparseHandle_t handle_;
  cusparseSpMVAlg_t algorithm_;
  array<std::int32_t> row_ptr_;
  array<std::int32_t> col_;
  array<double> val_, x_, y_;
  array<std::byte> room_;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t x_vector_ = nullptr, y_vector_ = nullptr;
};

}  // namespace

double copy_bandwidth_gpu(const device& gpu) {
  constexpr std::int64_t size = std::int64_t{1} << 30;
  auto from = array<std::byte>::zeros(gpu, size);
  array<std::byte> to(gpu, size);
  measurement copy;
  time_products(
      gpu, 1,
      [&](int) {
        check(cudaMemcpyAsync(to.data(), from.data(), size, cudaMemcpyDeviceToDevice, stream_of(gpu)),
              "copying");
      },
      copy);
  return 2.0 * static_cast<double>(size) / (copy.microseconds * 1e-6);
}

measurement time_cusparse(const device& gpu, const csr<double>& A, const std::vector<double>& x, int copies) {
  cusparseHandle_t handle = nullptr;
  check_cusparse(cusparseCreate(&handle), "cusparseCreate");
  check_cusparse(cusparseSetStream(handle, stream_of(gpu)), "cusparseSetStream");
  measurement best;
  best.microseconds = std::numeric_limits<double>::infinity();
  const std::pair<cusparseSpMVAlg_t, const char*> algorithms[] = {{CUSPARSE_SPMV_ALG_DEFAULT, "default"},
                                                                  {CUSPARSE_SPMV_CSR_ALG1, "CSR_ALG1"},
                                                                  {CUSPARSE_SPMV_CSR_ALG2, "CSR_ALG2"}};
  for (const auto& [algorithm, name] : algorithms) {
    std::vector<std::unique_ptr<cusparse_product>> products;
    for (int k = 0; k < copies; ++k)
      products.push_back(std::make_unique<cusparse_product>(gpu, handle, A, x, algorithm));
    measurement m;
    time_products(
        gpu, copies, [&](int copy) { products[static_cast<std::size_t>(copy)]->enqueue(); }, m);
    if (!(m.microseconds < best.microseconds)) continue;
    m.what = std::string("cuSPARSE ") + name;
    m.y = products[0]->y();
    best = std::move(m);
  }
  check_cusparse(cusparseDestroy(handle), "cusparseDestroy");
  return best;
}

measurement time_plan(const device& gpu, const csr<double>& A, const std::vector<double>& x, int copies,
                      layout wanted) {
  struct system {
    csr<double> A;
    spmv_plan<double> plan;
    array<double> x, y;
  };
  measurement m;
  std::vector<system> systems;
  for (int k = 0; k < copies; ++k) {
    csr<double> on_gpu = A.to(gpu);
    gpu.synchronize();
    const auto begin = std::chrono::steady_clock::now();
    spmv_plan<double> plan = spmv_plan<double>::make(gpu, on_gpu, false, wanted);
    m.setup_milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    systems.push_back(
        {std::move(on_gpu), std::move(plan), array<double>::from(gpu, x), array<double>::zeros(gpu, A.rows)});
  }
  time_products(
      gpu, copies,
      [&](int copy) {
        system& s = systems[static_cast<std::size_t>(copy)];
        s.plan.multiply(1.0, s.x, 0.0, s.y);
      },
      m);
  m.what = systems[0].plan.format();
  m.bytes = systems[0].plan.bytes();
  m.y = systems[0].y.to_vector();
  return m;
}

}  // namespace vouch::bench
