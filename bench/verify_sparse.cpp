#include "verify_sparse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <vouch/io/matrix_market.hpp>
#include <vouch/solve/sparse_lu.hpp>
#include <vouch/sparse/structure.hpp>
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
};

template <class Work>
double seconds_of(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

sparse_figures measure(const device& cpu, const csr<double>& A) {
  sparse_figures f;
  const auto ones = array<double>::from(cpu, std::vector<double>(static_cast<std::size_t>(A.rows), 1.0));
  const structure_facts facts = structure<double>(cpu, A);
  for (int run = 0; run < runs; ++run) {
    auto x = array<double>::zeros(cpu, A.rows);
    lu_factors<double> factors;
    solve_report report;
    f.solve = std::min(f.solve, seconds_of([&] {
                         factors = factorise<double>(cpu, A);
                         report = sparse_lu<double>(cpu, A, factors, ones, x);
                       }));
    f.factor_entries = factors.entries();
    f.converged = report.status == solve_status::converged;
    std::string reason;
    std::unique_ptr<certificate> proof;
    f.certificate =
        std::min(f.certificate, seconds_of([&] { proof = prove_nonsingular(cpu, A, facts, {}, reason); }));
    if (proof == nullptr) return f;
    f.found = bound_error(cpu, A, *proof, ones, x);
    f.bound = std::min(f.bound, f.found.seconds);
  }
  return f;
}

void add_rows(const std::string& name, const sparse_figures& f, suite_results& all) {
  const auto add = [&](const char* metric, double value, const char* unit) {
    all.rows.push_back({name, "cpu", "double", metric, value, unit, {}, {}, {}, {}, {}});
  };
  add("solve_time", f.solve, "s");
  add("factor_entries", static_cast<double>(f.factor_entries), "1");
  if (!f.found.verified) return;
  add("certificate_time", f.certificate, "s");
  add("bound_time", f.bound, "s");
  add("verification_over_solve", (f.certificate + f.bound) / f.solve, "1");
  add("digits_proved", static_cast<double>(f.found.digits()), "1");
}

}  // namespace

void add_sparse_proofs(const suite_options& options, suite_results& all) {
  if (options.data.empty()) return;
  const device cpu = device::cpu(options.threads);
  text_table table("General sparse systems by sparse LU", {{"system", true},
                                                           {"rows"},
                                                           {"entries of the factors"},
                                                           {"solve"},
                                                           {"certificate"},
                                                           {"bound"},
                                                           {"proved by", true},
                                                           {"largest relative error"}});
  table.note("solve: order, factors and refined solution; the right-hand side is all ones.");
  for (const char* name :
       {"cryg2500", "orsirr_1", "pyamg_recirc_flow", "sherman3", "sherman5", "utm300", "west0479"}) {
    const std::string path = options.data + "/" + name + ".mtx";
    if (options.stop() || !std::filesystem::exists(path)) continue;
    options.say(fmt::format("{} on cpu", name));
    const csr<double> A = read_csr(cpu, path);
    const sparse_figures f = measure(cpu, A);
    add_rows(name, f, all);
    table.add({name, std::to_string(A.rows), std::to_string(f.factor_entries), seconds_text(f.solve),
               f.found.verified ? seconds_text(f.certificate) : "",
               f.found.verified ? seconds_text(f.bound) : "",
               f.found.verified ? f.found.method : "not verified",
               f.found.verified ? small_text(f.found.max_relative) : ""});
  }
  all.sections.push_back({"General sparse systems", {}, {table}, {}});
}

}  // namespace vouch::bench
