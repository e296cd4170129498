#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/distributed/row_engines.hpp>
#include <vouch/solve/distributed/sweep.hpp>
#include <vouch/solve/distributed/wish.hpp>

namespace vouch::distributed {
namespace {

// d += D^-1 r, r -= A D^-1 r: the residual comes with the sweep.
class jacobi_engine final : public inner_solver<double> {
 public:
  jacobi_engine(const row_matrix& A, const row_vectors& vectors, const double* inverse)
      : A_(A),
        vectors_(vectors),
        inverse_(inverse),
        step_(array<double>::zeros(vectors.cpu(), A.length())),
        product_(vectors.cpu(), A.rows()),
        leaves_(static_cast<std::size_t>(A.blocks())) {}

  std::string name() const override { return engine_name(A_, vectors_.cpu()); }

  inner_outcome run(double* r, double* d, const stopping_rule& rule, iteration_log& log) override {
    for_all_blocks(vectors_.cpu(), A_, [&](std::int64_t, std::int64_t first, std::int64_t count) {
      std::fill_n(d + first, count, 0.0);
    });
    std::int64_t iteration = 0;
    // Before a sweep.
    const auto state = [&](solver_state& kept) { kept.integer("iterations of this run", iteration); };
    if (log.resume(state)) {
      sweep(r, d);
      ++iteration;
    }
    for (wish mine = wish::none;; ++iteration) {
      wish wanted = mine;
      const double rr = square(r, wanted);
      const bool goes_on = log.note(iteration, std::sqrt(rr), d);
      const solver_event event = judge(rr, rule, iteration);
      if (event != solver_event::running) return {event, iteration, rr};
      if (wanted != wish::none && log.keeps()) log.save(iteration, state);
      if (wanted == wish::stop) return {solver_event::interrupted, iteration, rr};
      mine = wish_behind(log, goes_on);
      sweep(r, d);
    }
  }
  bool saves() const override { return true; }

 private:
  static solver_event judge(double rr, const stopping_rule& rule, std::int64_t iteration) {
    if (!(rr <= rule.diverged_squared)) return solver_event::diverged;
    if (rr <= rule.target_squared) return solver_event::reached;
    if (iteration >= rule.limit) return solver_event::iteration_limit;
    return solver_event::running;
  }

  double square(const double* r, wish& wanted) {
    for_all_blocks(vectors_.cpu(), A_, [&](std::int64_t block, std::int64_t first, std::int64_t count) {
      double lane[8] = {};
      for (std::int64_t i = first; i < first + count; ++i) lane[(i - first) % 8] += r[i] * r[i];
      double sum = 0;
      for (const double part : lane) sum += part;
      leaves_[static_cast<std::size_t>(block)] = sum;
    });
    std::array<double, 1> total{};
    add_up(vectors_.sums(), leaves_, total, wanted);
    return total[0];
  }

  void sweep(double* r, double* d) {
    for_all_blocks(vectors_.cpu(), A_, [&](std::int64_t, std::int64_t first, std::int64_t count) {
      for (std::int64_t i = first; i < first + count; ++i) {
        step_[i] = inverse_[i] * r[i];
        d[i] += step_[i];
      }
    });
    const csr_view<const double> local = A_.local();
    for_blocks_with_halo(vectors_.cpu(), A_, step_.data(),
                         [&](std::int64_t, std::int64_t first, std::int64_t count) {
                           multiply_rows(local, step_.data(), product_.data(), first, count);
                           for (std::int64_t i = first; i < first + count; ++i) r[i] -= product_[i];
                         });
  }

  const row_matrix& A_;
  const row_vectors& vectors_;
  const double* inverse_;
  array<double> step_, product_;
  std::vector<double> leaves_;
};

}  // namespace

std::unique_ptr<inner_solver<double>> row_jacobi(const row_matrix& A, const row_vectors& vectors,
                                                 const double* inverse) {
  return std::make_unique<jacobi_engine>(A, vectors, inverse);
}

}  // namespace vouch::distributed
