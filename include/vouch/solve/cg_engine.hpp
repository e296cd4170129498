// vouch/solve/cg_engine.hpp -- what every implementation of the CG loop offers to the verified solve; a detail of public headers.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/cancellation.hpp>
#include <vouch/solve/cg_recurrence.hpp>
#include <vouch/solve/cg_resident_plan.hpp>
#include <vouch/solve/operator.hpp>
#include <vouch/solve/report.hpp>
#include <vouch/solve/ritz_values.hpp>
#include <vouch/sparse/spmv_plan.hpp>

namespace vouch {

/// Collects the history and asks the user's monitor; numbers iterations on across restarts.
class cg_log {
 public:
  cg_log(monitor user, std::vector<iteration_record>& history, std::int64_t column = 0)
      : user_(std::move(user)), history_(history), column_(column) {}
  /// Takes iteration (from 0 in this run) if the history rule does; false asks to stop, as the monitor, which
  /// hears of it first, or a cancellation wants it.
  bool note(std::int64_t iteration, double residual);
  /// A step was taken. Engines on the CPU tell.
  void step(double alpha, double beta) { spectrum_.add(alpha, beta); }
  const ritz_values& spectrum() const { return spectrum_; }
  /// The next run's iteration 0 is this one's number `iterations`.
  void advance(std::int64_t iterations) {
    done_ += iterations;
    spectrum_.begin();
  }
  /// Residuals come times this and are kept without it.
  void set_scale(double scale) { scale_ = scale; }
  double scale() const { return scale_; }
  std::int64_t done() const { return done_; }

 private:
  monitor user_;
  cancellation_probe stop_;
  std::vector<iteration_record>& history_;
  std::int64_t column_;
  std::int64_t done_ = 0;
  std::int64_t last_ = -1;
  double scale_ = 1;
  ritz_values spectrum_;
};

struct cg_outcome {
  cg_event event = cg_event::go_on;
  std::int64_t iterations = 0;
  double residual_squared = 0;  // of the recurrence
  double mean_change = 0;  // of an element of the solution in the last iteration, where the rule asks for it
};

/// One way to run the loop on one device. Engines differ in speed only.
template <real T>
class cg_engine {
 public:
  virtual ~cg_engine() = default;
  /// Solves A d = r from d = 0; r becomes the recurrence's residual. r and d are contiguous, on the device.
  virtual cg_outcome run(T* r, T* d, const cg_rule& rule, cg_log& log) = 0;
  /// For the report: "cpu, 2 threads, csr".
  virtual std::string name() const = 0;
};

/// One column's part in a run: as the arguments of cg_engine::run.
template <real T>
struct cg_task {
  T* r = nullptr;
  T* d = nullptr;
  cg_rule rule;
  cg_log* log = nullptr;
  cg_outcome outcome{};
  std::string engine{};  // the name of what ran it
};

/// The loop for several columns with one matrix, each with scalars of its own.
template <real T>
class cg_block_engine {
 public:
  static constexpr std::int64_t most = 8;
  virtual ~cg_block_engine() = default;
  /// As cg_engine::run for each of up to `most` columns; fills outcome and engine. What r holds afterwards is
  /// of no use.
  virtual void run(std::span<cg_task<T>> columns) = 0;
};

/// The loop fused with the matrix, M absent or diagonal (minv has n elements or is nullptr).
template <real T>
std::unique_ptr<cg_engine<T>> cg_cpu(const device& dev, const spmv_plan<T>& A, const T* minv);

/// The loop for any operator and preconditioner, on the CPU.
template <real T>
std::unique_ptr<cg_engine<T>> cg_cpu_general(const device& dev, const linear_operator<T>& A,
                                             const preconditioner<T>* M);

/// The whole system on chip, one kernel for the whole loop; nullptr where the system does not fit. The shape
/// comes from a stored rule unless wanted gives it.
template <real T>
std::unique_ptr<cg_engine<T>> cg_resident_cuda(const device& dev, csr_view<const T> A, const T* minv,
                                               const resident_shape* wanted = nullptr);

/// Fused kernels in a CUDA graph that loops by itself, M absent or diagonal.
template <real T>
std::unique_ptr<cg_engine<T>> cg_graph_cuda(const device& dev, const spmv_plan<T>& A, const T* minv);

/// Both of these fused with the matrix for `width` (2, 4 or 8) columns at once, which share its traffic; runs
/// take up to so many. M is absent or diagonal.
template <real T>
std::unique_ptr<cg_block_engine<T>> cg_many_cpu(const device& dev, csr_view<const T> A, const T* minv,
                                                int width);
template <real T>
std::unique_ptr<cg_block_engine<T>> cg_many_cuda(const device& dev, csr_view<const T> A, const T* minv,
                                                 int width);

/// The graph for any operator and preconditioner.
template <real T>
std::unique_ptr<cg_engine<T>> cg_graph_cuda_general(const device& dev, const linear_operator<T>& A,
                                                    const preconditioner<T>* M);

}  // namespace vouch
