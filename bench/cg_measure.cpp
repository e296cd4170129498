#include "cg_measure.hpp"

#include <algorithm>
#include <cstring>

#include <vouch/core/stopwatch.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/precond/make.hpp>
#include <vouch/sparse/spmv_plan.hpp>

#include "cg_cases.hpp"

namespace vouch::bench {
namespace {
constexpr double longest_solve = 30;  // seconds
constexpr int iteration_runs = 3;
constexpr int peer_runs = 2;

template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

// FNV-1a.
template <class T>
std::uint64_t hash(const std::vector<T>& v) {
  std::uint64_t h = 0xcbf29ce484222325;
  const auto* bytes = reinterpret_cast<const unsigned char*>(v.data());
  for (std::size_t k = 0; k < v.size() * sizeof(T); ++k) h = (h ^ bytes[k]) * 0x100000001b3;
  return h;
}

// Ends a solve that was interrupted or lasts too long.
monitor watch(const suite_options& options) {
  return [&options, clock = stopwatch()](const iteration_record& at) {
    return at.iteration % 64 != 0 || (!options.stop() && clock.seconds() < longest_solve);
  };
}

template <real T>
void start_from_zero(system_on<T>& system, cg_options& rule, const suite_options& options) {
  zero_bytes(system.where.dev, system.x.data(), static_cast<std::size_t>(system.x.size()) * sizeof(T));
  rule.matrix_checked = true;
  rule.on_iteration = watch(options);
}

template <real T>
solve_report solve_from_zero(system_on<T>& system, cg_options rule, const preconditioner<T>* M,
                             const suite_options& options) {
  start_from_zero(system, rule, options);
  return cg<T>(system.where.dev, system.A, system.b, system.x, rule, M);
}

solve_report solve_mixed_from_zero(system_on<double>& system, cg_options rule, const suite_options& options) {
  start_from_zero(system, rule, options);
  return cg_mixed(system.where.dev, system.A, system.b, system.x, rule);
}

double memory_speed(const std::string& device, const machine_facts& machine) {
  if (device == "gpu") return machine.gpu ? machine.gpu->copy : 0;
  const double one = machine.cpu.one.best();
  return device == "cpu1" ? one : std::max(one, machine.cpu.all.best());
}

std::int64_t cache_bytes(const std::string& device, const machine_facts& machine) {
  if (device == "gpu") return machine.gpu ? machine.gpu->cache_bytes : 0;
  return machine.cpu.cache_bytes;
}

// So many iterations fill the time asked for, found by a first short run.
template <real T>
std::int64_t iterations_for(system_on<T>& system, const iteration_request& request,
                            const suite_options& options) {
  const std::int64_t least = std::min<std::int64_t>(20, request.most_iterations);
  cg_options rule;
  rule.fixed_iterations = least;
  rule.matrix_layout = request.kept_as;
  solve_from_zero<T>(system, rule, nullptr, options);  // touches everything once
  const double each =
      solve_from_zero<T>(system, rule, nullptr, options).solve_seconds / static_cast<double>(least);
  const double fitting = request.seconds / std::max(each, 1e-9);
  return std::clamp(static_cast<std::int64_t>(fitting), least, request.most_iterations);
}

template <real T>
void add_peer(iteration_cell& cell, const system_on<T>& system, csr_view<const T> host_matrix) {
  const std::vector<T> b = system.b.to_vector();
  const peer_task task{0, cell.iterations, peer_runs};
  std::optional<peer_answer<T>> answer;
  if (cell.device == "gpu") {
    cell.peer = "cusparse+cublas";
    std::string why;
    answer = cuda_library_cg<T>(system.where.dev, host_matrix, b, task, why);
    if (!answer) cell.peer = "no cusparse+cublas: " + why;
  } else {
    cell.peer = "eigen";
    answer = eigen_cg<T>(host_matrix, b, system.where.dev.threads(), task);
    if (!answer) cell.peer = "no eigen";
  }
  if (answer && answer->iterations > 0)
    cell.peer_seconds = answer->seconds / static_cast<double>(answer->iterations);
}

}  // namespace

template <real T>
system_on<T>::system_on(const bench_device& on, csr_view<const double> matrix) : where(on) {
  const device host = device::cpu();
  csr<T> rounded = convert_values<T, double>(host, matrix);
  b = array<T>::from(on.dev, row_sums<T>(rounded));
  x = array<T>::zeros(on.dev, matrix.rows);
  A = on.dev.is_cuda() ? rounded.to(on.dev) : std::move(rounded);
}

template <real T>
solve_cell measure_solve(system_on<T>& system, const solve_request& request, const suite_options& options) {
  constexpr double enough = 0.5;
  constexpr std::int64_t most = 5;
  const device& dev = system.where.dev;
  const auto M = make_preconditioner<T>(dev, system.A, request.preconditioner);
  solve_cell cell;
  cell.device = system.where.label;
  cell.precision = request.mixed ? "mixed" : precision_name<T>;
  cell.preconditioner = request.preconditioner;
  const auto solve = [&](const cg_options& rule) {
    if constexpr (sizeof(T) == sizeof(double))
      if (request.mixed) return solve_mixed_from_zero(system, rule, options);
    return solve_from_zero(system, rule, M.get(), options);
  };
  cg_options short_rule;
  short_rule.max_iterations = 5;
  solve(short_rule);  // loads kernels, touches memory
  std::vector<double> samples;
  std::vector<T> first;
  const stopwatch clock;
  do {
    const stopwatch lap;
    cell.report = solve(request.rule);
    dev.synchronize();
    samples.push_back(lap.seconds());
    std::vector<T> x = system.x.to_vector();
    if (first.empty())
      first = std::move(x);
    else
      cell.same_bits = cell.same_bits && same_bytes(first, x);
    const auto runs = static_cast<std::int64_t>(samples.size());
    if (options.repeat > 0 ? runs >= options.repeat : runs >= most || clock.seconds() > enough) break;
  } while (cell.report.status != solve_status::interrupted);
  cell.seconds = summarize(samples);
  cell.bits = hash(first);
  return cell;
}

template <real T>
iteration_cell measure_iterations(system_on<T>& system, csr_view<const T> host_matrix,
                                  const iteration_request& request, const machine_facts& machine,
                                  const suite_options& options) {
  iteration_cell cell;
  cell.device = system.where.label;
  cell.precision = precision_name<T>;
  cell.layout = name(request.kept_as);
  cell.rows = system.A.rows;
  cell.nonzeros = system.A.nonzeros();
  cell.iterations = iterations_for(system, request, options);
  cg_options rule;
  rule.fixed_iterations = cell.iterations;
  rule.matrix_layout = request.kept_as;
  std::vector<double> samples;
  std::vector<T> first;
  for (int run = 0; run < iteration_runs && !options.stop(); ++run) {
    const solve_report report = solve_from_zero<T>(system, rule, nullptr, options);
    samples.push_back(report.solve_seconds / static_cast<double>(std::max<std::int64_t>(report.iterations, 1)));
    cell.engine = report.engine;
    std::vector<T> x = system.x.to_vector();
    if (first.empty())
      first = std::move(x);
    else
      cell.same_bits = cell.same_bits && same_bytes(first, x);
  }
  if (samples.empty()) return cell;
  cell.seconds = summarize(samples).least;

  constexpr std::int64_t vectors = 9, in_product = 2;  // x and y of the product are among the nine
  const auto plan = spmv_plan<T>::make(system.where.dev, system.A, true, request.kept_as);
  const std::int64_t bytes =
      plan.bytes() + (vectors - in_product) * cell.rows * static_cast<std::int64_t>(sizeof(T));
  cell.bytes = static_cast<double>(bytes);
  const double speed = memory_speed(cell.device, machine);
  if (speed > 0 && bytes > cache_bytes(cell.device, machine)) cell.floor = cell.bytes / speed;
  if (request.with_peer) add_peer(cell, system, host_matrix);
  return cell;
}

#define VOUCH_INSTANTIATE(T)                                                                             \
  template struct system_on<T>;                                                                          \
  template solve_cell measure_solve(system_on<T>&, const solve_request&, const suite_options&);          \
  template iteration_cell measure_iterations(system_on<T>&, csr_view<const T>, const iteration_request&, \
                                             const machine_facts&, const suite_options&);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch::bench
