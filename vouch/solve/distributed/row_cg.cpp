// Conjugate gradients over distributed rows. What one rank is asked (a signal, its monitor, its clock) ends or saves the
// loop on all of them with the next reduction.
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/distributed/row_engines.hpp>
#include <vouch/solve/distributed/sweep.hpp>
#include <vouch/solve/distributed/wish.hpp>
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
    std::int64_t iteration = 0;
    cg_solution_update solution;
    // Before the updates of an iteration.
    const auto state = [&](solver_state& kept) {
      kept.vector("direction of CG", vectors_.cpu(), p_.data(), A_.rows());
      kept.integer("iterations of this run", iteration);
      kept.number("deferred step", solution.deferred_alpha);
    };
    if (!log.resume(state)) begin(r, d);
    for (wish mine = wish::none;; ++iteration) {
      wish wanted = mine;
      const cg_dots sums = multiply(r, wanted);
      cg_step step = cg_advance(sums, rule, iteration);
      if (wanted != wish::none && step.event == solver_event::running) {
        if (log.keeps()) log.save(iteration, state);
        if (wanted == wish::stop) step.event = solver_event::interrupted;
      }
      if (step.event != solver_event::running) {
        solution = cg_flush_update(solution);
        if (solution.now) move(r, d, solution, nullptr);
        log.note(iteration, std::sqrt(sums.rr), d);
        return {step.event, iteration, sums.rr};
      }
      solution = cg_defer_update(solution, step);
      move(r, d, solution, &step);
      log.step(step.alpha, step.beta);
      mine = wish_behind(log, log.note(iteration, std::sqrt(sums.rr)));
    }
  }
  bool saves() const override { return true; }

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

  // q := A p and all products.
  cg_dots multiply(const double* r, wish& wanted) {
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
    add_up(vectors_.sums(), leaves_, totals, wanted);
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
    // Behind the scalars of an iteration, before its direction.
    const auto state = [&](solver_state& kept) {
      kept.vector("direction of CG", cpu, p_.data(), n);
      double numbers[] = {s.alpha, s.beta, s.rz, s.rr};
      kept.numbers("numbers of CG", numbers, 4);
      s.alpha = numbers[0], s.beta = numbers[1], s.rz = numbers[2], s.rr = numbers[3];
      kept.integer("iterations of this run", s.iteration);
    };
    bool begun = log.resume(state);
    wish mine = wish::none;
    for (std::int64_t iteration = s.iteration;; ++iteration) {
      M_.apply(cpu, {r, n}, z_);
      if (!std::exchange(begun, false)) {
        wish wanted = mine;
        const auto [rr, rz] = norms(r, wanted);
        cg_take_direction(s, rr, rz, rule, iteration);
        if (iteration > 0) log.step(s.alpha, s.beta);
        const bool goes_on = log.note(iteration, std::sqrt(s.rr), d);
        if (s.event != solver_event::running) break;
        if (wanted != wish::none && log.keeps()) log.save(iteration, state);
        if (wanted == wish::stop) s.event = solver_event::interrupted;
        mine = wish_behind(log, goes_on);
      }
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
  bool saves() const override { return true; }

 private:
  // r'r and r'z.
  std::pair<double, double> norms(const double* r, wish& wanted) {
    for_all_blocks(vectors_.cpu(), A_, [&](std::int64_t block, std::int64_t first, std::int64_t count) {
      const cg_dots s = cg_chunk::dots(r + first, z_.data() + first, r + first, nullptr, count);
      leaves_[static_cast<std::size_t>(2 * block)] = s.rr;
      leaves_[static_cast<std::size_t>(2 * block + 1)] = s.pq;
    });
    std::array<double, 2> totals{};
    add_up(vectors_.sums(), leaves_, totals, wanted);
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
