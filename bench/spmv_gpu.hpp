// bench/spmv_gpu.hpp -- what the product benchmark measures on a GPU; absent in builds without CUDA.
#pragma once
#include <string>
#include <vector>

#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/spmv_plan.hpp>

namespace vouch::bench {

struct measurement {
  double microseconds = 0;  // median of a product
  double spread = 0;        // (third quartile - first) / median
  std::string what;         // layout or algorithm
  std::int64_t bytes = 0;   // what it must move
  std::vector<double> y;    // A x, for comparison
  double setup_milliseconds = 0;
};

/// Bytes read and written per second by a large device-to-device copy.
double copy_bandwidth_gpu(const device& gpu);

/// The fastest of cuSPARSE's CSR algorithms with preprocessing and 32-bit offsets. `copies` of everything are
/// used in turn, so that the second-level cache does not hold what the next product needs.
measurement time_cusparse(const device& gpu, const csr<double>& A, const std::vector<double>& x, int copies);

measurement time_plan(const device& gpu, const csr<double>& A, const std::vector<double>& x, int copies,
                      layout wanted);

}  // namespace vouch::bench
