#include <vouch/solve/plan.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/direct/cudss/library.hpp>
#include <vouch/solve/driver/about_matrix.hpp>
#include <vouch/solve/loop/spd_check.hpp>

namespace vouch {
namespace {

// An operation of the elimination takes as long as so many of an iteration, which come in vectors; so do an
// entry of the factors, which has to be found, and one of the matrix, for the order. Own ones fitted to sparse-lu on 20
// matrices; those of libraries, which try two orders and then work in dense blocks, to CHOLMOD and UMFPACK on grids; those
// of cuDSS, which orders on the CPU while iterations would run on the GPU, to an H200.
struct prices {
  double operation, entry, order;
};
constexpr prices own_prices{2, 160, 400}, of_libraries{0.13, 10, 2000}, of_gpu_libraries{0.12, 120, 100000};

const prices& prices_of(eliminator by) {
  return by == eliminator::own ? own_prices : by == eliminator::library ? of_libraries : of_gpu_libraries;
}

std::int64_t ordered_nonzeros(const system_facts& facts) {
  return facts.complex_nonzeros > 0 ? facts.complex_nonzeros : facts.matrix.nonzeros;
}

bool is_cuda_asked(const solve_options& options) { return options.run_on && options.run_on->is_cuda(); }

// What is given by its action or by its diagonals has no other form.
bool takes_form(const method& m, matrix_form form) {
  if (form == matrix_form::tridiagonal) return m.make_batch != nullptr;
  return form != matrix_form::matrix_free || m.takes.has(form);
}

std::vector<attempt> ask_by_name(const method& m, const system_facts& facts, const solve_options& options) {
  if (facts.form == matrix_form::tridiagonal && !takes_form(m, facts.form))
    throw value_error(options.names.matrix + ": " + m.name + " does not solve tridiagonal batches");
  if (!takes_form(m, facts.form))
    throw value_error(
        options.names.matrix + ": " + m.title + " need its entries, and it is given by its action",
        "conjugate gradients do not");
  if (m.refuse != nullptr)
    if (const std::string refusal = m.refuse(facts.matrix); !refusal.empty())
      throw value_error(about_matrix(options, refusal), m.advise(m));
  return {{&m, options.precision, options.accelerate, options.preconditioner.value_or(preconditioner_choice{}),
           "", "", 0, 0}};
}

// On a GPU libraries alone factorise sparse matrices.
bool has_its_library(const method& m, const system_facts& facts) {
  return !m.makes || !facts.factorised_on_gpu || facts.libraries.has(*m.makes);
}

// The methods that apply, in any order.
std::vector<attempt> candidates(const system_facts& facts, const solve_options& options) {
  std::vector<attempt> all;
  for (const method* m : methods()) {
    if (m->predict == nullptr || !takes_form(*m, facts.form) || !takes_options(*m, options) ||
        !m->on_cuda.has(is_cuda_asked(options)) || !has_its_library(*m, facts))
      continue;
    if (!facts.matrix.square && !m->any_shape) continue;
    if (m->refuse != nullptr && !m->refuse(facts.matrix).empty()) continue;
    const std::optional<prediction> p = m->predict(facts, options);
    if (!p) continue;
    const bool precise = m->takes_precision(options.precision, facts.factorised_on_gpu);
    if (!precise && !m->direct) continue;
    all.push_back({m, precise ? options.precision : working_precision::double_, p->accelerate,
                   options.preconditioner.value_or(p->preconditioner), p->why,
                   precise ? "" : "mixed: factorisations are made in double", p->work, p->iteration_work});
    if (options.preconditioner || !p->second_preconditioner) continue;
    all.push_back(all.back());
    all.back().preconditioner = *p->second_preconditioner;
    if (p->second_work > 0) {
      all.back().work = p->second_work;
      all.back().iteration_work = p->second_iteration_work;
    }
  }
  return all;
}

void sort(std::vector<attempt>& all, const system_facts& facts, const solve_options& options) {
  const auto rank = [&](const attempt& a) {
    if (!a.precision_why.empty()) return 2;
    const bool factorises_as_given = a.method->direct && a.method->takes.has(facts.form);
    return facts.form == matrix_form::dense && !factorises_as_given ? 1 : 0;
  };
  std::stable_sort(all.begin(), all.end(), [&](const attempt& a, const attempt& b) {
    if (options.prefer_iterations && a.method->direct != b.method->direct) return b.method->direct;
    return rank(a) != rank(b) ? rank(a) < rank(b) : a.work < b.work;
  });
  if (options.prefer_iterations && !all.front().method->direct)
    std::erase_if(all, [](const attempt& a) { return a.method->direct; });
}

}  // namespace

eliminator who_eliminates(const system_facts& facts) {
  const structure_facts& A = facts.matrix;
  const sparse_factors wanted = !A.square                            ? sparse_factors::qr
                                : not_spd_reason(A).empty()          ? sparse_factors::cholesky
                                : A.symmetric || A.complex_symmetric ? sparse_factors::ldlt
                                                                     : sparse_factors::lu;
  const bool there = facts.libraries.has(wanted) && (A.square || A.rows > A.cols);
  if (!there) return eliminator::own;
  return facts.factorised_on_gpu && A.square ? eliminator::gpu_library : eliminator::library;
}

double elimination_work(const elimination_cost& cost, std::int64_t nonzeros, eliminator by) {
  const ieee_environment here;
  const prices& p = prices_of(by);
  return p.operation * cost.flops + p.entry * cost.entries + p.order * static_cast<double>(nonzeros);
}

double elimination_work(const system_facts& facts) {
  const ieee_environment here;
  if (!facts.elimination) return HUGE_VAL;
  return elimination_work(*facts.elimination, ordered_nonzeros(facts), who_eliminates(facts));
}

double order_work(const system_facts& facts, eliminator by) {
  const ieee_environment here;
  return elimination_work({}, ordered_nonzeros(facts), by);
}

bool is_elimination_worth_predicting(const system_facts& facts, const solve_options& options) {
  const ieee_environment here;
  constexpr std::int64_t most_nonzeros = std::int64_t{1} << 17;
  constexpr double least_share = 6;  // of the work that a plan without it predicts
  const double least_order =
      order_work(facts, facts.factorised_on_gpu ? eliminator::gpu_library : eliminator::own);
  if (facts.matrix.nonzeros > most_nonzeros || options.method != "auto" || options.prefer_iterations)
    return false;
  if (!facts.matrix.square) return facts.libraries.has(sparse_factors::qr);
  if (facts.form != matrix_form::sparse) return false;
  const std::vector<attempt> all = candidates(facts, options);
  double least = HUGE_VAL;
  bool unknown = false;
  for (const attempt& a : all) {
    if (std::isfinite(a.work) && a.precision_why.empty()) least = std::min(least, a.work);
    unknown = unknown || (!std::isfinite(a.work) && a.precision_why.empty());
  }
  return unknown && std::isfinite(least) && least > least_share * least_order;
}

std::vector<attempt> make_plan(const system_facts& facts, const solve_options& options) {
  const ieee_environment here;
  const structure_facts& A = facts.matrix;
  const method* const asked = find_method(options.method);
  if (!A.square && asked != nullptr && !asked->any_shape)
    throw shape_error(
        about_matrix(options, "the matrix is " + std::to_string(A.rows) + " by " + std::to_string(A.cols) +
                                  ", not square, as " + options.method + " needs it"),
        "--method auto takes what suits");
  if (!A.square && options.precision != working_precision::double_)
    throw value_error(options.names.matrix + ": systems that are not square are solved in double precision");
  if (!A.square && !options.goal.by_residual())
    throw value_error(
        options.names.matrix +
        ": systems that are not square are solved until the true residual or its gradient is small");
  if (const std::optional<refused_option> refused = find_refused_option(options, is_cuda_asked(options)))
    throw value_error("option " + refused->option + ": method " + options.method + " takes " + refused->what,
                      refused->hint);
  if (asked != nullptr) return ask_by_name(*asked, facts, options);
  std::vector<attempt> all = candidates(facts, options);
  if (all.empty() && !A.square && options.backend != "auto")
    throw value_error(options.names.matrix + ": the back end " + options.backend +
                          " does not factorise matrices that are not square",
                      "--backend auto takes what does");
  if (all.empty()) {
    // The method that takes these options says what it cannot do with this matrix.
    for (const method* m : methods())
      if (m->predict != nullptr && m->refuse != nullptr && takes_options(*m, options))
        ask_by_name(*m, facts, options);
    throw value_error(options.names.matrix + ": no method takes this system with these options");
  }
  sort(all, facts, options);
  if (!all.front().precision_why.empty())
    all.front().precision_why = "mixed: this matrix is fit for factorisations alone, which are made in double";
  return all;
}

std::string missing_elimination(const system_facts& facts, const solve_options& options) {
  const bool misses = options.method == "auto" && !options.prefer_iterations &&
                      facts.form == matrix_form::sparse && facts.matrix.square && facts.factorised_on_gpu &&
                      !facts.libraries.has(sparse_factors::lu);
  if (!misses) return "";
  return "on a GPU nothing but cuDSS could factorise the matrix: " + cudss::missing() +
         "; without --device cuda what the CPU has comes after the iterations";
}

}  // namespace vouch
