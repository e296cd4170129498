#include "batch_source.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include <vouch/io/sparse_systems.hpp>
#include <vouch/io/tridiagonal_systems.hpp>
#include <vouch/solve/pattern_batch.hpp>
#include <vouch/solve/solver.hpp>
#include <vouch/sparse/structure.hpp>

#include "usage.hpp"

namespace vouch::cli {
namespace {

class tridiagonal_batch final : public batch_source {
 public:
  tridiagonal_batch(const solve_request& request, const device& cpu)
      : request_(request),
        batch_(read_tridiagonal_systems(request.matrix)),
        solver_(cpu, batch_.matrices(), request.options) {}

  std::string title() const override { return fmt::format("{} tridiagonal systems", batch_.systems); }
  batch_shape shape() const override { return batch_.shape(); }
  bool table() const override { return batch_.table; }
  std::int64_t nonzeros() const override { return batch_.nonzeros(); }
  bool symmetric() const override { return solver_.facts().symmetric; }
  bool keeps_others() const override { return false; }
  solve_result solve(view<double> x, bool proves) override {
    solve_result result = solver_.solve_batch(batch_.rhs(), {x.data(), shape()});
    if (proves && request_.verification.asked())
      solver_.prove_batch(batch_.rhs(), {x.data(), shape()},
                          {request_.verification.relative(), request_.verification.within, nullptr}, result);
    return result;
  }
  double setup_seconds() const override { return solver_.setup_seconds(); }

 private:
  const solve_request& request_;
  tridiagonal_systems batch_;
  solver solver_;
};

class one_pattern final : public batch_source {
 public:
  one_pattern(const solve_request& request, const device& cpu, sparse_systems systems)
      : request_(request), cpu_(cpu), file_(std::move(systems)) {
    batch_.systems = file_.systems;
    batch_.rows = file_.rows;
    batch_.nonzeros = static_cast<std::int64_t>(file_.col.size());
    batch_.row_ptr = file_.row_ptr.data();
    batch_.col = file_.col.data();
    batch_.values = file_.values.data();
    batch_.one_matrix = file_.one_matrix;
    batch_.b = file_.b.data();
    batch_.one_rhs = file_.one_rhs;
    symmetric_ = structure<double>(cpu, batch_.matrix(0)).symmetric;
  }

  std::string title() const override {
    return fmt::format("{} sparse systems of {} rows and one pattern", file_.systems, file_.rows);
  }
  batch_shape shape() const override { return contiguous(file_.rows, file_.systems); }
  bool table() const override { return !file_.one_matrix || !file_.one_rhs; }
  std::int64_t nonzeros() const override { return batch_.systems * batch_.nonzeros; }
  bool symmetric() const override { return symmetric_; }
  bool keeps_others() const override { return true; }
  solve_result solve(view<double> x, bool proves) override {
    solve_options options = request_.options;
    if (proves && request_.verification.asked())
      options.proof = proof_request{request_.verification.relative(), request_.verification.within, nullptr};
    return vouch::solve(cpu_, batch_, x, options);
  }
  double setup_seconds() const override { return 0; }  // the result has them

 private:
  const solve_request& request_;
  device cpu_;
  sparse_systems file_;
  pattern_batch batch_;
  bool symmetric_ = false;
};

}  // namespace

std::unique_ptr<batch_source> open_batch(const solve_request& request, const device& cpu) {
  if (std::optional<sparse_systems> systems = read_sparse_systems(request.matrix)) {
    if (!request.options.gpus.empty())
      throw usage_error(fmt::format("option --device: one device, not {}", request.common.device),
                        "several GPUs share batches of tridiagonal systems, not of sparse ones");
    return std::make_unique<one_pattern>(request, cpu, std::move(*systems));
  }
  const std::string& method = request.options.method;
  if (method != "auto" && !solves_tridiagonal(method))
    throw usage_error(fmt::format("option --batch: {} does not solve tridiagonal batches", method));
  return std::make_unique<tridiagonal_batch>(request, cpu);
}

}  // namespace vouch::cli
