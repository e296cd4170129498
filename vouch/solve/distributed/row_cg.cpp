// Conjugate gradients over distributed rows. What one rank is asked (a signal, its monitor) ends the loop on all of
// them with the next reduction.
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/distributed/row_engines.hpp>
#include <vouch/solve/distributed/sweep.hpp>
#include <vouch/solve/krylov/cg_chunk.hpp>
#include <vouch/solve/krylov/cg_recurrence.hpp>

namespace vouch::distributed {
namespace {

class fused_engine final : public inner_solver<double> {
 public:
  fused_engine(const row_matrix& A, const row_vectors& vectors, const double* minv)
      : A_(A),
        vectors_(vectors),
        minv_(minv),
        p_(array<double>::zeros(vectors.cpu(), A.length())),
        q_(vectors.cpu(), A.rows()),
        leaves_(static_cast<std::size_t>(A.blocks()) * cg_dots::count) {}

  std::string name() const override { return engine_name(A_, vectors_.cpu()); }

  inner_outcome run(double* r, double* d, const stopping_rule& rule, iteration_log& log) override {
    begin(r, d);
    cg_solution_update solution;
    bool asked_to_stop = false;
    for (std::int64_t iteration = 0;; ++iteration) {
      bool stop = asked_to_stop;
      const cg_dots sums = multiply(r, stop);
      cg_step step = cg_advance(sums, rule, iteration);
      if (stop && step.event == solver_event::running) step.event = solver_event::interrupted;
      if (step.event != solver_event::running) {
        solution = cg_flush_update(solution);
        if (solution.now) move(r, d, solution, nullptr);
        log.note(iteration, std::sqrt(sums.rr), d);
        return {step.event, iteration, sums.rr};
      }
      solution = cg_defer_update(solution, step);
      move(r, d, solution, &step);
      log.step(step.alpha, step.beta);
      if (!log.note(iteration, std::sqrt(sums.rr))) asked_to_stop = true;
    }
  }

 private:
  const double* minv_at(std::int64_t i) const { return minv_ != nullptr ? minv_ + i : nullptr; }

  void begin(const double* r, double* d) {
    for_all_blocks(vectors_.cpu(), A_, [&](std::int64_t, std::int64_t first, std::int64_t count) {
      for (std::int64_t i = first; i < first + count; ++i) {
        d[i] = 0;
        p_[i] = minv_ != nullptr ? minv_[i] * r[i] : r[i];
      }
    });
  }

  // q := A p and all products; stop becomes whether any rank wants to.
  cg_dots multiply(const double* r, bool& stop) {
    const csr_view<const double> local = A_.local();
    for_blocks_with_halo(
        vectors_.cpu(), A_, p_.data(), [&](std::int64_t block, std::int64_t first, std::int64_t count) {
          multiply_rows(local, p_.data(), q_.data(), first, count);
          const cg_dots s =
              cg_chunk::dots(p_.data() + first, q_.data() + first, r + first, minv_at(first), count);
          double* const leaf = leaves_.data() + block * cg_dots::count;
          leaf[0] = s.pq;
          leaf[1] = s.qmq;
          leaf[2] = s.rmq;
          leaf[3] = s.rmr;
          leaf[4] = s.rr;
        });
    std::array<double, cg_dots::count> totals{};
    double wish[1] = {stop ? 1.0 : 0.0};
    vectors_.sums().add_up(leaves_, totals, wish);
    stop = wish[0] > 0;
    return {totals[0], totals[1], totals[2], totals[3], totals[4]};
  }

  void move(double* r, double* d, const cg_solution_update& solution, const cg_step* step) {
    for_all_blocks(vectors_.cpu(), A_, [&](std::int64_t, std::int64_t i, std::int64_t n) {
      if (solution.now)
        cg_chunk::update_solution(solution.along_p, solution.along_mr, p_.data() + i, r + i, minv_at(i), d + i,
                                  n);
      if (step != nullptr)
        cg_chunk::update(step->alpha, step->beta, q_.data() + i, minv_at(i), p_.data() + i, r + i, n);
    });
  }

  const row_matrix& A_;
  const row_vectors& vectors_;
  const double* minv_;
  array<double> p_, q_;
  std::vector<double> leaves_;
};

class general_engine final : public inner_solver<double> {
 public:
  general_engine(const row_matrix& A, const row_vectors& vectors, const preconditioner<double>& M)
      : A_(A),
        vectors_(vectors),
        M_(M),
        p_(array<double>::zeros(vectors.cpu(), A.length())),
        q_(vectors.cpu(), A.rows()),
        z_(vectors.cpu(), A.rows()),
        leaves_(static_cast<std::size_t>(A.blocks()) * 2) {}

  std::string name() const override { return engine_name(A_, vectors_.cpu()); }

  inner_outcome run(double* r, double* d, const stopping_rule& rule, iteration_log& log) override {
    const device& cpu = vectors_.cpu();
    const std::int64_t n = A_.rows();
    for_all_blocks(cpu, A_, [&](std::int64_t, std::int64_t first, std::int64_t count) {
      std::fill_n(d + first, count, 0.0);
    });
    cg_scalars s;
    bool asked_to_stop = false;
    for (std::int64_t iteration = 0;; ++iteration) {
      M_.apply(cpu, {r, n}, z_);
      bool stop = asked_to_stop;
      const auto [rr, rz] = norms(r, stop);
      cg_take_direction(s, rr, rz, rule, iteration);
      if (iteration > 0) log.step(s.alpha, s.beta);
      if (!log.note(iteration, std::sqrt(s.rr), d)) asked_to_stop = true;
      if (stop && s.event == solver_event::running) s.event = solver_event::interrupted;
      if (s.event != solver_event::running) break;
      cg_take_step(s, turn_and_multiply(s.beta));
      if (s.event != solver_event::running) break;
      for_all_blocks(cpu, A_, [&](std::int64_t, std::int64_t first, std::int64_t count) {
        for (std::int64_t i = first; i < first + count; ++i) {
          d[i] += s.alpha * p_[i];
          r[i] -= s.alpha * q_[i];
        }
      });
    }
    return {s.event, s.iteration, s.rr};
  }

 private:
  // r'r and r'z; stop as above.
  std::pair<double, double> norms(const double* r, bool& stop) {
    for_all_blocks(vectors_.cpu(), A_, [&](std::int64_t block, std::int64_t first, std::int64_t count) {
      const cg_dots s = cg_chunk::dots(r + first, z_.data() + first, r + first, nullptr, count);
      leaves_[static_cast<std::size_t>(2 * block)] = s.rr;
      leaves_[static_cast<std::size_t>(2 * block + 1)] = s.pq;
    });
    std::array<double, 2> totals{};
    double wish[1] = {stop ? 1.0 : 0.0};
    vectors_.sums().add_up(leaves_, totals, wish);
    stop = wish[0] > 0;
    return {totals[0], totals[1]};
  }

  // p := z + beta p, q := A p; p'q.
  double turn_and_multiply(double beta) {
    for_all_blocks(vectors_.cpu(), A_, [&](std::int64_t, std::int64_t first, std::int64_t count) {
      for (std::int64_t i = first; i < first + count; ++i) p_[i] = beta != 0 ? z_[i] + beta * p_[i] : z_[i];
    });
    const csr_view<const double> local = A_.local();
    for_blocks_with_halo(
        vectors_.cpu(), A_, p_.data(), [&](std::int64_t block, std::int64_t first, std::int64_t count) {
          multiply_rows(local, p_.data(), q_.data(), first, count);
          leaves_[static_cast<std::size_t>(block)] =
              cg_chunk::dots(p_.data() + first, q_.data() + first, q_.data() + first, nullptr, count).pq;
        });
    std::array<double, 1> total{};
    vectors_.sums().add_up(std::span(leaves_).first(static_cast<std::size_t>(A_.blocks())), total);
    return total[0];
  }

  const row_matrix& A_;
  const row_vectors& vectors_;
  const preconditioner<double>& M_;
  array<double> p_, q_, z_;
  std::vector<double> leaves_;
};

}  // namespace

std::string engine_name(const row_matrix& A, const device& cpu) {
  const auto counted = [](int count, const char* what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  };
  return counted(A.ranks().size(), "rank") + ", " + counted(cpu.threads(), "thread") + " each, csr";
}

std::unique_ptr<inner_solver<double>> row_cg(const row_matrix& A, const row_vectors& vectors,
                                             const double* minv) {
  return std::make_unique<fused_engine>(A, vectors, minv);
}

std::unique_ptr<inner_solver<double>> row_cg_general(const row_matrix& A, const row_vectors& vectors,
                                                     const preconditioner<double>& M) {
  return std::make_unique<general_engine>(A, vectors, M);
}

}  // namespace vouch::distributed
