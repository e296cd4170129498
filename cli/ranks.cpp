#include "ranks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/distributed/communicator.hpp>
#include <vouch/distributed/files.hpp>
#include <vouch/solve/distributed/petsc.hpp>
#include <vouch/solve/distributed/row_bound.hpp>
#include <vouch/solve/distributed/row_solver.hpp>
#include <vouch/text/file.hpp>
#include <vouch/text/tokens.hpp>

#include "command.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "program.hpp"
#include "solve_output.hpp"
#include "solve_request.hpp"
#include "usage.hpp"

namespace vouch::cli {
namespace {

int launched_rank() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const char* text = std::getenv(variable); text != nullptr) return std::atoi(text);
  return 0;
}

void refuse_option(const char* option, bool given, const char* what = "is not there on ranks") {
  if (given) throw usage_error(fmt::format("option {}: {}", option, what), "see vouch solve -h, --engine");
}

void check_own_methods(const solve_options& asked) {
  if (asked.method != "auto" && asked.method != "cg" && asked.method != "jacobi")
    throw usage_error(fmt::format("option --method: ranks solve by cg or jacobi, not by {}", asked.method));
  if (asked.preconditioner && asked.preconditioner->name != "none" && asked.preconditioner->name != "jacobi" &&
      asked.preconditioner->name != "chebyshev")
    throw usage_error(fmt::format("option --precond: ranks take none, jacobi or chebyshev, not {}",
                                  asked.preconditioner->name));
}

void check_petsc_request(const solve_request& request) {
  const solve_options& asked = request.options;
  const std::span<const std::string_view> names = petsc_method_names();
  if (std::find(names.begin(), names.end(), asked.method) == names.end())
    throw usage_error(
        fmt::format("option --method: PETSc is not asked for {} here", asked.method),
        fmt::format("there is {}; --petsc \"-ksp_type NAME\" takes any other of its own", either(names)));
  refuse_option("--checkpoint, --resume", !request.checkpoint_file.empty() || !request.resume_file.empty(),
                "PETSc's iterations are not saved");
}

void check_request(const solve_request& request) {
  const solve_options& asked = request.options;
  if (request.engine == "petsc")
    check_petsc_request(request);
  else
    check_own_methods(asked);
  refuse_option("--batch", request.batch);
  refuse_option("--backend", asked.backend != "auto");
  refuse_option("--precision", asked.precision != working_precision::double_,
                "ranks compute in double precision");
  refuse_option("--omega", asked.omega || asked.estimate_omega);
  refuse_option("--sweep", asked.sweep.has_value());
  refuse_option("--ordering", asked.ordering.has_value());
  refuse_option("--accel", asked.accelerate.anderson > 0 || asked.accelerate.chebyshev);
  refuse_option("--stop", asked.goal.stop_mean_change.has_value(), "ranks stop by recurrence:EPS");
  refuse_option("--plot", !request.plot.empty());
  refuse_option("--bounds", !request.verification.bounds.empty());
  refuse_option("--matrix-radius, --rhs-radius, --decimal", request.verification.has_radii_of_entries() ||
                                                                request.verification.within.matrix > 0 ||
                                                                request.verification.within.rhs > 0);
  refuse_option("--device", request.common.device != "auto" && request.common.device != "cpu",
                "ranks compute on CPUs");
}

// As many threads as cores for each rank of this machine, where nothing else is said.
device cpu_of_rank(const solve_request& request) {
  if (request.common.threads > 0 || std::getenv("OMP_NUM_THREADS") != nullptr) return open_cpu(request.common);
  return device::cpu(std::max(1, device::cpu().threads() / launched_ranks_here()));
}

// What was typed, and by which version.
std::string typed(std::span<const char* const> arguments) {
  std::string all = version;
  for (const char* argument : arguments) all.append("\n").append(argument);
  return all;
}

class solve_in_parts {
 public:
  solve_in_parts(communicator& ranks, solve_request& request)
      : ranks_(ranks), request_(request), log_(make_console(request.common)), cpu_(cpu_of_rank(request)) {
    if (request.engine == "petsc") petsc_ = std::make_unique<petsc>(ranks, request.petsc_words);
  }

  int run() {
    const stopwatch reading;
    A_ = std::make_unique<row_matrix>(read_rows(ranks_, cpu_, request_.matrix, &header_));
    b_ = vector(request_.rhs);
    start_ = vector(request_.initial);
    seconds_.read = reading.seconds();
    log_task();
    log_checkpoints(log_, request_, [] {});
    solve();
    if (outcome_.result.status == solve_status::interrupted) finish_in_peace();
    log_verdict(log_, request_, outcome_);
    warn_after(log_, request_, outcome_);
    prove();
    write();
    print();
    return code();
  }

 private:
  array<double> vector(const std::string& from) const {
    if (from == "zeros") return array<double>::zeros(cpu_, A_->rows());
    if (from != "ones" && from != "row-sums") return read_vector_of_rows(*A_, cpu_, from);
    array<double> v = array<double>::zeros(cpu_, A_->rows());
    const csr_view<const double> local = A_->local();
    for (std::int64_t i = 0; i < v.size(); ++i) {
      if (from == "ones")
        v[i] = 1;
      else
        for (std::int64_t k = local.row_ptr[i]; k < local.row_ptr[i + 1]; ++k) v[i] += local.val[k];
    }
    return v;
  }

  // Conjugate gradients have looked at every entry.
  bool is_symmetric() const {
    const bool own_cg = request_.engine != "petsc" && outcome_.result.method == "cg";
    return is_symmetric_ || own_cg || header_.stored_as == symmetry::symmetric;
  }

  row_solve_options options() const {
    row_solve_options all;
    static_cast<stopping_criterion&>(all) = request_.options.goal;
    all.on_iteration = [](const iteration_record&) { return goes_on(); };
    all.names = request_.options.names;
    all.method = request_.options.method == "jacobi" ? row_method::jacobi : row_method::cg;
    if (request_.options.preconditioner) all.preconditioner = *request_.options.preconditioner;
    if (request_.options.method == "auto" && !request_.options.preconditioner)
      all.preconditioner.name = "jacobi";
    return all;
  }

  void log_task() const {
    log_.line(fmt::format("matrix     {}: {} x {}, {} nonzeros", request_.matrix, A_->all_rows(),
                          A_->all_rows(), A_->all_nonzeros()));
    log_.line(fmt::format("ranks      {}, {} thread{} each, by {}", ranks_.size(), cpu_.threads(),
                          cpu_.threads() == 1 ? "" : "s", ranks_.name()));
  }

  petsc_options options_for_petsc() const {
    petsc_options all;
    static_cast<stopping_criterion&>(all) = request_.options.goal;
    all.on_iteration = [](const iteration_record&) { return goes_on(); };
    all.method = request_.options.method;
    all.preconditioner = request_.precondition;
    return all;
  }

  void solve_by_petsc() {
    petsc_report report = petsc_->solve(cpu_, *A_, b_, outcome_.x, options_for_petsc());
    is_symmetric_ = report.symmetric;
    outcome_.result.how = find_method(report.asked);
    outcome_.result.method_reason = report.method_reason;
    static_cast<solve_report&>(outcome_.result) = std::move(report);
  }

  void solve_by_own() {
    static_cast<solve_report&>(outcome_.result) = solve_rows(cpu_, *A_, b_, outcome_.x, options());
    outcome_.result.how = find_method(outcome_.result.method);
    if (request_.options.method == "auto") outcome_.result.method_reason = "what ranks have";
  }

  void solve() {
    std::optional<checkpoint_scope> saves;
    if (request_.kept) saves.emplace(*request_.kept);
    for (std::int64_t run = 0; run < request_.common.repeat; ++run) {
      outcome_.x = start_.to(cpu_);
      if (petsc_)
        solve_by_petsc();
      else
        solve_by_own();
      outcome_.repeats.push_back(outcome_.result.solve_seconds);
      seconds_.setup += outcome_.result.setup_seconds;
      seconds_.solve += outcome_.result.solve_seconds;
      if (!has_solution(outcome_.result.status)) break;
    }
    outcome_.result.where = cpu_;
  }

  void prove() {
    if (!request_.verification.asked() || !has_solution(outcome_.result.status)) return;
    outcome_.result.proof = bound_rows(cpu_, *A_, b_, outcome_.x, request_.verification.relative());
    log_verification(log_, *outcome_.result.proof);
  }

  void write() {
    const stopwatch writing;
    if (!request_.common.output.empty() && has_solution(outcome_.result.status))
      write_vector_of_rows(*A_, request_.common.output, outcome_.x);
    agree(ranks_, [&] {
      if (ranks_.rank() > 0 || request_.history.empty()) return;
      atomic_files files;
      write_history(files.open(request_.history), outcome_.result);
      files.commit();
    });
    seconds_.write = writing.seconds();
  }

  void print() {
    if (ranks_.rank() > 0) return;
    log_costs(log_, seconds_);
    seconds_.total = clock_.seconds();
    if (request_.common.json) {
      print_json(solve_json(
          request_,
          matrix_json(request_.matrix, A_->all_rows(), A_->all_rows(), A_->all_nonzeros(), is_symmetric()),
          nullptr, outcome_.result, outcome_.repeats, seconds_));
      return;
    }
    linear_system size;
    fmt::print("{}{}", summary(request_, size, outcome_, seconds_.total),
               outcome_.result.proof ? sentence(*outcome_.result.proof) : "");
  }

  // The same on all ranks, whichever of them heard the signal.
  int code() const {
    const solve_result& result = outcome_.result;
    const std::vector<int> signals = gather(ranks_, interrupt_signal());
    if (const int signal = *std::max_element(signals.begin(), signals.end()); signal > 0) return 128 + signal;
    if (!vouch::goal_reached(result.status)) return exit_code::goal_missed;
    return result.proof && !result.proof->reached ? exit_code::goal_missed : exit_code::goal_reached;
  }

  stopwatch clock_;
  communicator& ranks_;
  solve_request& request_;
  console log_;
  device cpu_;
  matrix_market_header header_;
  std::unique_ptr<petsc> petsc_;
  std::unique_ptr<row_matrix> A_;
  array<double> b_, start_;
  bool is_symmetric_ = false;
  solve_outcome outcome_;
  spent_seconds seconds_;
};

int solve_together(communicator& ranks, std::span<const char* const> arguments) {
  rank_team team(ranks);
  solve_request request;
  bool asked = false;
  agree(ranks, [&] {
    asked = parse_solve_request(arguments, request);
    if (asked) check_request(request);
  });
  const std::string mine = typed(arguments);
  require_same(ranks, mine.data(), static_cast<std::int64_t>(mine.size()),
               "options, or another version of Vouch,", "all ranks take the same command line");
  if (!asked) return exit_code::goal_reached;
  take_checkpoint(request, &team);
  request.settle_tolerance();
  return solve_in_parts(ranks, request).run();
}

// Where a rank's standard error led before it was silenced; -1: it was not.
int own_stderr = -1;

// What only this rank knows.
void speak_up() {
  if (own_stderr < 0) return;
  dup2(own_stderr, STDERR_FILENO);
  to_stderr(fmt::format("vouch: rank {} has failed by itself\n", launched_rank()));
}

// PETSc is never without MPI.
bool asks_for_petsc(std::span<const char* const> arguments) {
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    constexpr std::string_view option = "--engine";
    const std::string_view argument = arguments[k];
    if (!argument.starts_with(option)) continue;
    if (argument.size() > option.size() && argument[option.size()] == '=' &&
        same_word(argument.substr(option.size() + 1), "petsc"))
      return true;
    if (argument == option && k + 1 < arguments.size() && same_word(arguments[k + 1], "petsc")) return true;
  }
  return false;
}

}  // namespace

bool asks_for_engine(std::span<const char* const> arguments) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const char* argument) { return std::string_view(argument).starts_with("--engine"); });
}

void take_rank(std::span<const char* const> arguments) {
  const int ranks = launched_ranks().value_or(1);
  if (ranks < 2) return;
  if (launched_rank() > 0) {
    own_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0) {
      dup2(nowhere, STDOUT_FILENO);
      dup2(nowhere, STDERR_FILENO);
      close(nowhere);
    }
  }
  constexpr std::string_view harmless[] = {"-h", "--help", "help", "--version", "-V", "--generate"};
  const std::string_view first = arguments.empty() ? "-h" : arguments.front();
  if (std::find(std::begin(harmless), std::end(harmless), first) != std::end(harmless)) return;
  if (first == "solve" && asks_for_engine(arguments)) return;
  throw usage_error(
      fmt::format("a launcher started {} processes, and each of them would do the whole job", ranks),
      "mpirun -n N vouch solve A.mtx --engine ranks (or petsc) shares it");
}

int solve_on_ranks(std::span<const char* const> arguments) {
  const std::unique_ptr<communicator> ranks =
      launched_ranks().value_or(1) > 1 || asks_for_petsc(arguments) ? start_mpi() : make_single_rank();
  bool told_by_all = false;
  // Said while all are there: a launcher ends the others as soon as one has left with an error.
  const int code = telling_failures([&] {
    try {
      const int reached = solve_together(*ranks, arguments);
      told_by_all = true;
      return reached;
    } catch (const out_of_memory&) {  // of one rank: the others do not know of it
      speak_up();
      throw;
    } catch (const error&) {
      told_by_all = true;
      throw;
    } catch (const std::exception&) {
      speak_up();
      throw;
    }
  });
  std::fflush(stdout);
  if (!told_by_all) abort_mpi(code);
  return code;
}

void leave_rank(int code) {
  if (code == 0 || launched_ranks().value_or(1) < 2 || launched_rank() == 0) return;
  constexpr timespec while_the_first_speaks{0, 200'000'000};
  nanosleep(&while_the_first_speaks, nullptr);
}

}  // namespace vouch::cli
