#include "verify_common.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <vouch/io/matrix_market.hpp>
#include <vouch/solve/direct/sparse_lu.hpp>
#include <vouch/sparse/structure.hpp>
#include <vouch/verify/dense/dense_inverse.hpp>
#include <vouch/verify/error_bound.hpp>
#include <vouch/verify/prove.hpp>

namespace vouch::bench {
namespace {

constexpr int runs = 3;  // the best counts

struct sparse_figures {
  double solve = 1e300, certificate = 1e300, bound = 1e300;  // seconds
  std::int64_t factor_entries = 0;
  bool converged = false;
  error_bound found;
  double true_error = 0;
  std::optional<double> sharpness;  // median of bound over true error
  std::optional<double> dense;      // seconds of the certificate by a dense inverse
};

// Rows up to which the approach of the literature, R A for the matrix as a dense one, is taken, too.
constexpr std::int64_t most_dense_rows = 1100;

// The solution is (1, ..., 1) where the row sums are exact; without them the right-hand side is.
sparse_figures measure(const device& cpu, const csr<double>& A, const array<double>* row_sums) {
  sparse_figures f;
  const auto ones = array<double>::from(cpu, std::vector<double>(static_cast<std::size_t>(A.rows), 1.0));
  const array<double>& b = row_sums != nullptr ? *row_sums : ones;
  const structure_facts facts = structure<double>(cpu, A);
  for (int run = 0; run < runs; ++run) {
    auto x = array<double>::zeros(cpu, A.rows);
    lu_factors<double> factors;
    solve_report report;
    f.solve = std::min(f.solve, seconds_of_call(cpu, [&] {
                         factors = factorise<double>(cpu, A);
                         report = sparse_lu<double>(cpu, A, factors, b, x);
                       }));
    f.factor_entries = factors.entries();
    f.converged = report.status == solve_status::converged;
    std::string reason;
    std::unique_ptr<certificate> proof;
    f.certificate = std::min(
        f.certificate, seconds_of_call(cpu, [&] { proof = prove_nonsingular(cpu, A, facts, {}, reason); }));
    if (proof == nullptr) return f;
    f.found = bound_error(cpu, A, *proof, b, x);
    f.bound = std::min(f.bound, f.found.seconds);
    const known_solution known = row_sums != nullptr ? all_ones(A.rows) : refined(cpu, A, *proof, b, x);
    f.true_error = largest_error(x.to_vector(), known);
    f.sharpness = median_overestimation(x.to_vector(), f.found.radius.to_vector(), known);
  }
  if (std::string reason; A.rows <= most_dense_rows)
    f.dense = seconds_of_call(cpu, [&] { dense_inverse::prove(cpu, A, {}, reason); });
  return f;
}

void add_rows(const std::string& name, const csr<double>& A, const sparse_figures& f, suite_results& all,
              text_table& table) {
  proof_rows rows(all, name, "cpu");
  rows.figure("solve_time", f.solve, "s");
  rows.figure("factor_entries", static_cast<double>(f.factor_entries));
  if (f.found.verified) {
    rows.figure("certificate_time", f.certificate, "s");
    rows.figure("bound_time", f.bound, "s");
    rows.figure("verification_over_solve", (f.certificate + f.bound) / f.solve);
    rows.figure("digits_proved", f.found.digits());
    rows.figure("proved_error", f.found.max_relative);
    rows.figure("true_error", f.true_error);
    rows.figure("dense_certificate_time", f.dense, "s");
  }
  const bool sparse_h = f.found.method == "h-matrix";
  if (f.sharpness) rows.at_most("median_bound_over_error", *f.sharpness, 100, sparse_h, f.found.verified);
  table.add({name, std::to_string(A.rows), std::to_string(f.factor_entries), seconds_text(f.solve),
             f.found.verified ? seconds_text(f.certificate) : "", f.found.verified ? seconds_text(f.bound) : "",
             f.found.verified ? f.found.method : "not verified",
             f.found.verified ? small_text(f.found.max_relative) : "",
             f.found.verified ? small_text(f.true_error) : "", small_text(f.sharpness),
             f.dense ? seconds_text(*f.dense) : ""});
}

// Upwind differences on a square grid of n by n points, diffusion 1, the flow so many times as strong along the
// first axis and half that along the second: whole numbers. step: what a step of time adds to the diagonal.
csr<double> convection_diffusion(const device& cpu, std::int64_t n, double flow, double step) {
  std::vector<std::int64_t> row_ptr{0};
  std::vector<std::int32_t> col;
  std::vector<double> val;
  const double along = 2 * flow, across = flow;
  for (std::int64_t i = 0; i < n * n; ++i) {
    const std::int64_t x = i % n, y = i / n;
    const auto add = [&](bool there, std::int64_t j, double value) {
      if (!there) return;
      col.push_back(static_cast<std::int32_t>(j));
      val.push_back(value);
    };
    add(y > 0, i - n, -1 - across);
    add(x > 0, i - 1, -1 - along);
    add(true, i, 4 + along + across + step);
    add(x + 1 < n, i + 1, -1);
    add(y + 1 < n, i + n, -1);
    row_ptr.push_back(static_cast<std::int64_t>(val.size()));
  }
  return {n * n, n * n, array<std::int64_t>::from(cpu, row_ptr), array<std::int32_t>::from(cpu, col),
          array<double>::from(cpu, val)};
}

array<double> sums_of_rows(const device& cpu, const csr<double>& A) {
  array<double> sums = array<double>::zeros(cpu, A.rows);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) sums[i] += A.val[k];
  return sums;
}

// Unsymmetric H-matrices of growing size.
void add_flows(const device& cpu, const suite_options& options, suite_results& all, text_table& table) {
  for (const std::int64_t n : {32, 100, 250})
    for (const auto& [flow, step] : {std::pair{1.0, 0.0}, {20.0, 0.0}, {1.0, 2.0}}) {
      if (options.stop() || (options.quick && n > 100)) continue;
      const std::string name =
          fmt::format("{} 2d {}, flow {}", step > 0 ? "implicit step" : "convection-diffusion", n, flow);
      options.say(fmt::format("{} on cpu", name));
      const csr<double> A = convection_diffusion(cpu, n, flow, step);
      const array<double> sums = sums_of_rows(cpu, A);
      add_rows(name, A, measure(cpu, A, &sums), all, table);
    }
}

}  // namespace

void add_sparse_proofs(const suite_options& options, const std::vector<bench_device>& devices,
                       suite_results& all) {
  const auto on_cpu = [](const bench_device& d) { return !d.dev.is_cuda(); };
  if (std::none_of(devices.begin(), devices.end(), on_cpu)) return;
  const device cpu = device::cpu(options.threads);
  text_table table("General sparse systems by sparse LU", {{"system", true},
                                                           {"rows"},
                                                           {"entries of the factors"},
                                                           {"solve"},
                                                           {"certificate"},
                                                           {"bound"},
                                                           {"proved by", true},
                                                           {"relative error"},
                                                           {"true error"},
                                                           {"bound / error"},
                                                           {"as dense"}});
  table.note(
      "solve: order, factors and refined solution; the right-hand side is all ones, or the row sums of grids.");
  table.note("as dense: the certificate of the literature, R A enclosed for a dense approximate inverse R.");
  add_flows(cpu, options, all, table);
  for (const char* name :
       {"cryg2500", "orsirr_1", "pyamg_recirc_flow", "sherman3", "sherman5", "utm300", "west0479"}) {
    const std::string path = options.data + "/" + name + ".mtx";
    if (options.stop() || options.data.empty() || !std::filesystem::exists(path)) continue;
    options.say(fmt::format("{} on cpu", name));
    const csr<double> A = read_csr(cpu, path);
    add_rows(name, A, measure(cpu, A, nullptr), all, table);
  }
  all.sections.push_back({"General sparse systems", {}, {table}, {}});
}

}  // namespace vouch::bench
