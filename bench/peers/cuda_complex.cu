#include "cuda_complex.h"

#include <cuComplex.h>
#include <cuda_runtime.h>
#include <cusparse.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <vector>

#include "cuda_peer.cuh"

namespace {

using vouch::peer::buffer;
using vouch::peer::check;
using vouch::peer::now;

template <class T>
class product {
 public:
  product(cusparseHandle_t with, const vouch_peer_system& system)
      : with_(with),
        row_ptr_(system.rows + 1),
        col_(system.nonzeros),
        val_(system.nonzeros),
        x_(system.rows),
        y_(system.rows) {
    const std::vector<int> offsets(system.row_ptr, system.row_ptr + system.rows + 1);
    row_ptr_.fill_from(offsets.data(), offsets.size());
    col_.fill_from(system.col, system.nonzeros);
    val_.fill_from(system.val, system.nonzeros);
    x_.fill_from(system.b, system.rows);
    check(
        cusparseCreateCsr(&matrix_, system.rows, system.rows, system.nonzeros, row_ptr_.data(), col_.data(),
                          val_.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type),
        "cusparseCreateCsr");
    check(cusparseCreateDnVec(&of_x_, system.rows, x_.data(), type), "cusparseCreateDnVec");
    check(cusparseCreateDnVec(&of_y_, system.rows, y_.data(), type), "cusparseCreateDnVec");
  }
  ~product() {
    if (of_y_) cusparseDestroyDnVec(of_y_);
    if (of_x_) cusparseDestroyDnVec(of_x_);
    if (matrix_) cusparseDestroySpMat(matrix_);
  }
  product(const product&) = delete;
  product& operator=(const product&) = delete;

  double seconds(cusparseSpMVAlg_t algorithm) {
    std::size_t bytes = 0;
    check(cusparseSpMV_bufferSize(with_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, of_x_, &zero_, of_y_,
                                  type, algorithm, &bytes),
          "cusparseSpMV_bufferSize");
    buffer<char> room(bytes);
    check(cusparseSpMV_preprocess(with_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, of_x_, &zero_, of_y_,
                                  type, algorithm, room.data()),
          "cusparseSpMV_preprocess");
    constexpr int products = 50;
    double best = std::numeric_limits<double>::max();
    for (int pass = 0; pass < 5; ++pass) {  // the first one warms up
      check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
      const double begin = now();
      for (int k = 0; k < products; ++k)
        check(cusparseSpMV(with_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, of_x_, &zero_, of_y_, type,
                           algorithm, room.data()),
              "cusparseSpMV");
      check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
      if (pass > 0) best = std::min(best, (now() - begin) / products);
    }
    return best;
  }

 private:
  static constexpr cudaDataType type = sizeof(T) == 16 ? CUDA_C_64F : CUDA_C_32F;

  const T one_{1, 0}, zero_{0, 0};
  cusparseHandle_t with_;
  buffer<int> row_ptr_, col_;
  buffer<T> val_, x_, y_;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t of_x_ = nullptr, of_y_ = nullptr;
};

template <class T>
double least_seconds(cusparseHandle_t with, const vouch_peer_system& system) {
  product<T> of(with, system);
  double least = std::numeric_limits<double>::max();
  for (const auto algorithm : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2})
    least = std::min(least, of.seconds(algorithm));
  return least;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int vouch_peer_cuda_complex(
    int device, const vouch_peer_system* system, vouch_peer_complex_answer* answer) {
  *answer = {};
  try {
    if (system->rows > std::numeric_limits<int>::max() || system->nonzeros > std::numeric_limits<int>::max())
      throw std::runtime_error("the system is beyond 32-bit indices");
    check(cudaSetDevice(device), "cudaSetDevice");
    static cusparseHandle_t with = nullptr;  // costs far more than a product
    if (with == nullptr) check(cusparseCreate(&with), "cusparseCreate");
    answer->seconds = system->is_double ? least_seconds<cuDoubleComplex>(with, *system)
                                        : least_seconds<cuFloatComplex>(with, *system);
    return 0;
  } catch (const std::exception& e) {
    std::snprintf(answer->message, sizeof answer->message, "%s", e.what());
    return 1;
  }
}
