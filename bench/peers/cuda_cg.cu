// Conjugate gradients as a user writes them over cuSPARSE and cuBLAS: the host drives every iteration and reads
// its scalars back. The product uses the faster of the CSR algorithms, preprocessed.
#include "cuda_cg.h"

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusparse.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "cuda_peer.cuh"

namespace {

using vouch::peer::buffer;
using vouch::peer::check;
using vouch::peer::now;

cublasStatus_t dot(cublasHandle_t h, int n, const float* x, const float* y, float* result) {
  return cublasSdot(h, n, x, 1, y, 1, result);
}
cublasStatus_t dot(cublasHandle_t h, int n, const double* x, const double* y, double* result) {
  return cublasDdot(h, n, x, 1, y, 1, result);
}
cublasStatus_t axpy(cublasHandle_t h, int n, float a, const float* x, float* y) {
  return cublasSaxpy(h, n, &a, x, 1, y, 1);
}
cublasStatus_t axpy(cublasHandle_t h, int n, double a, const double* x, double* y) {
  return cublasDaxpy(h, n, &a, x, 1, y, 1);
}
cublasStatus_t scal(cublasHandle_t h, int n, float a, float* x) { return cublasSscal(h, n, &a, x, 1); }
cublasStatus_t scal(cublasHandle_t h, int n, double a, double* x) { return cublasDscal(h, n, &a, x, 1); }

// Handles that live as long as the module: creating them costs far more than a solve.
struct libraries {
  cudaStream_t stream = nullptr;
  cublasHandle_t blas = nullptr;
  cusparseHandle_t sparse = nullptr;
  libraries() {
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cublasCreate(&blas), "cublasCreate");
    check(cublasSetStream(blas, stream), "cublasSetStream");
    check(cusparseCreate(&sparse), "cusparseCreate");
    check(cusparseSetStream(sparse, stream), "cusparseSetStream");
  }
};

template <class T>
class solver {
 public:
  solver(libraries& with, const vouch_peer_system& system)
      : with_(with),
        n_(static_cast<int>(system.rows)),
        row_ptr_(system.rows + 1),
        col_(system.nonzeros),
        val_(system.nonzeros),
        b_(system.rows),
        x_(system.rows),
        r_(system.rows),
        p_(system.rows),
        q_(system.rows) {
    const std::vector<int> offsets(system.row_ptr, system.row_ptr + system.rows + 1);
    row_ptr_.fill_from(offsets.data(), offsets.size());
    col_.fill_from(system.col, system.nonzeros);
    val_.fill_from(system.val, system.nonzeros);
    b_.fill_from(system.b, system.rows);
    check(cusparseCreateCsr(&matrix_, n_, n_, system.nonzeros, row_ptr_.data(), col_.data(), val_.data(),
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type),
          "cusparseCreateCsr");
    check(cusparseCreateDnVec(&p_vector_, n_, p_.data(), type), "cusparseCreateDnVec");
    check(cusparseCreateDnVec(&q_vector_, n_, q_.data(), type), "cusparseCreateDnVec");
    choose_algorithm();
  }
  ~solver() {
    if (q_vector_) cusparseDestroyDnVec(q_vector_);
    if (p_vector_) cusparseDestroyDnVec(p_vector_);
    if (matrix_) cusparseDestroySpMat(matrix_);
    cudaFree(workspace_);
  }
  solver(const solver&) = delete;
  solver& operator=(const solver&) = delete;

  // One solve; returns its seconds.
  double solve(double rtol, long long limit, vouch_peer_answer& answer) {
    const std::size_t bytes = static_cast<std::size_t>(n_) * sizeof(T);
    check(cudaMemsetAsync(x_.data(), 0, bytes, with_.stream), "cudaMemsetAsync");
    check(cudaMemcpyAsync(r_.data(), b_.data(), bytes, cudaMemcpyDeviceToDevice, with_.stream),
          "cudaMemcpyAsync");
    check(cudaMemcpyAsync(p_.data(), b_.data(), bytes, cudaMemcpyDeviceToDevice, with_.stream),
          "cudaMemcpyAsync");
    T rr = 0;
    check(dot(with_.blas, n_, r_.data(), r_.data(), &rr), "dot");
    check(cudaStreamSynchronize(with_.stream), "cudaStreamSynchronize");
    const T target = static_cast<T>(rtol * rtol) * rr;
    const double begin = now();
    long long iteration = 0;
    for (; iteration < limit && (rtol == 0 || rr > target); ++iteration) {
      product();
      T pq = 0, next = 0;
      check(dot(with_.blas, n_, p_.data(), q_.data(), &pq), "dot");
      const T alpha = rr / pq;
      check(axpy(with_.blas, n_, alpha, p_.data(), x_.data()), "axpy");
      check(axpy(with_.blas, n_, -alpha, q_.data(), r_.data()), "axpy");
      check(dot(with_.blas, n_, r_.data(), r_.data(), &next), "dot");
      check(scal(with_.blas, n_, next / rr, p_.data()), "scal");
      check(axpy(with_.blas, n_, T{1}, r_.data(), p_.data()), "axpy");
      rr = next;
    }
    check(cudaStreamSynchronize(with_.stream), "cudaStreamSynchronize");
    const double seconds = now() - begin;
    answer.iterations = iteration;
    answer.recurrence_residual = std::sqrt(static_cast<double>(rr));
    return seconds;
  }

  void read_x(void* x) {
    check(cudaMemcpy(x, x_.data(), static_cast<std::size_t>(n_) * sizeof(T), cudaMemcpyDeviceToHost),
          "cudaMemcpy");
  }
  int algorithm() const { return static_cast<int>(algorithm_); }
  double product_seconds() const { return product_seconds_; }

 private:
  static constexpr cudaDataType type = sizeof(T) == 8 ? CUDA_R_64F : CUDA_R_32F;

  void product() {
    check(cusparseSpMV(with_.sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, p_vector_, &zero_,
                       q_vector_, type, algorithm_, workspace_),
          "cusparseSpMV");
  }

  void prepare(cusparseSpMVAlg_t algorithm) {
    algorithm_ = algorithm;
    cudaFree(workspace_);
    workspace_ = nullptr;
    std::size_t bytes = 0;
    check(cusparseSpMV_bufferSize(with_.sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, p_vector_,
                                  &zero_, q_vector_, type, algorithm, &bytes),
          "cusparseSpMV_bufferSize");
    if (bytes > 0) check(cudaMalloc(&workspace_, bytes), "cudaMalloc");
    check(cusparseSpMV_preprocess(with_.sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, p_vector_,
                                  &zero_, q_vector_, type, algorithm, workspace_),
          "cusparseSpMV_preprocess");
  }

  double time_products() {
    constexpr int products = 20;
    double best = std::numeric_limits<double>::max();
    for (int pass = 0; pass < 4; ++pass) {  // the first one warms up
      check(cudaStreamSynchronize(with_.stream), "cudaStreamSynchronize");
      const double begin = now();
      for (int k = 0; k < products; ++k) product();
      check(cudaStreamSynchronize(with_.stream), "cudaStreamSynchronize");
      if (pass > 0) best = std::min(best, (now() - begin) / products);
    }
    return best;
  }

  void choose_algorithm() {
    check(cudaMemcpy(p_.data(), b_.data(), static_cast<std::size_t>(n_) * sizeof(T), cudaMemcpyDeviceToDevice),
          "cudaMemcpy");
    prepare(CUSPARSE_SPMV_CSR_ALG1);
    product_seconds_ = time_products();
    prepare(CUSPARSE_SPMV_CSR_ALG2);
    const double second = time_products();
    if (product_seconds_ <= second)
      prepare(CUSPARSE_SPMV_CSR_ALG1);
    else
      product_seconds_ = second;
  }

  libraries& with_;
  int n_;
  buffer<int> row_ptr_, col_;
  buffer<T> val_, b_, x_, r_, p_, q_;
  const T one_ = 1, zero_ = 0;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t p_vector_ = nullptr, q_vector_ = nullptr;
  void* workspace_ = nullptr;
  cusparseSpMVAlg_t algorithm_ = CUSPARSE_SPMV_CSR_ALG1;
  double product_seconds_ = 0;
};

template <class T>
void run(libraries& with, const vouch_peer_system& system, double rtol, long long limit, int repeats, void* x,
         vouch_peer_answer& answer) {
  solver<T> cg(with, system);
  answer.algorithm = cg.algorithm();
  answer.spmv_seconds = cg.product_seconds();
  cg.solve(rtol, std::min(limit, 10LL), answer);  // warms up
  answer.seconds = std::numeric_limits<double>::max();
  for (int k = 0; k < repeats; ++k) answer.seconds = std::min(answer.seconds, cg.solve(rtol, limit, answer));
  cg.read_x(x);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int vouch_peer_cuda_cg(int device,
                                                                         const vouch_peer_system* system,
                                                                         double rtol, long long limit,
                                                                         int repeats, void* x,
                                                                         vouch_peer_answer* answer) {
  *answer = {};
  try {
    if (system->rows > std::numeric_limits<int>::max() || system->nonzeros > std::numeric_limits<int>::max())
      throw std::runtime_error("the system is beyond 32-bit indices");
    check(cudaSetDevice(device), "cudaSetDevice");
    static libraries with;
    if (system->is_double)
      run<double>(with, *system, rtol, limit, repeats, x, *answer);
    else
      run<float>(with, *system, rtol, limit, repeats, x, *answer);
    return 0;
  } catch (const std::exception& e) {
    std::snprintf(answer->message, sizeof answer->message, "%s", e.what());
    return 1;
  }
}
