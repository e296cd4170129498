// vouch/solve/options.hpp -- everything that can be asked of a solver, whatever its method.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>
#include <vouch/solve/precond/make.hpp>
#include <vouch/solve/proof.hpp>
#include <vouch/solve/stationary/stationary_options.hpp>

namespace VOUCH_PUBLIC vouch {

/// single rounds the system to single precision; mixed takes fewer bits inside, for an answer in double.
enum class working_precision { double_, single, mixed };

// How options are called in text, in the order of their values: find_word() of text/tokens.hpp finds them.
inline constexpr std::array<std::string_view, 3> precision_words{"double", "single", "mixed"};
inline constexpr std::array<std::string_view, 3> sweep_words{"forward", "backward", "symmetric"};
inline constexpr std::array<std::string_view, 2> ordering_words{"natural", "multicolor"};

/// "double", "single", "mixed".
inline const char* name(working_precision precision) {
  return precision_words[static_cast<std::size_t>(precision)].data();
}

/// What errors call the operands.
struct operand_names {
  std::string matrix = "the matrix";
  std::string rhs = "the right-hand side";
  std::string start = "the start";
};

/// Follows a solve. Called by the thread that solves.
class solve_observer {
 public:
  virtual ~solve_observer() = default;
  /// Columns first to first + count - 1 are solved next, together.
  virtual void begin(std::int64_t /*first*/, std::int64_t /*count*/) {}
  /// A recorded iteration; its column counts from the first of those that began. false: stop.
  virtual bool iteration(const iteration_record&) { return true; }
  /// Whether iterate() is to be called. Several right-hand sides are then solved one after another.
  virtual bool wants_iterates() const { return false; }
  /// Behind iteration(), the solution as it is: see stopping_criterion::on_iterate.
  virtual bool iterate(const iteration_record&, view<const double> /*x*/) { return true; }
  /// They are done.
  virtual void end(std::span<const solve_report> /*columns*/) {}
};

struct solve_options {
  std::string method = "auto";  // or a name of the table (methods.hpp)
  stopping_criterion goal{};    // when to stop; its monitor hears what the observer hears
  working_precision precision = working_precision::double_;
  std::optional<preconditioner_choice> preconditioner{};  // nothing: none, with auto what suits the matrix
  /// In its place one of the caller's, for every method that takes one in double precision; it works where the method
  /// does, and must outlive the solver.
  const vouch::preconditioner<double>* own_preconditioner = nullptr;
  std::string backend = "auto";   // the library of sparse factorisations (direct/sparse_backends.hpp)
  std::optional<double> omega{};  // relaxation, in (0, 2); nothing: 1
  bool estimate_omega = false;
  std::optional<sweep_order> sweep{};        // nothing: forward
  std::optional<sweep_ordering> ordering{};  // nothing: natural
  acceleration accelerate{};                 // of sweeps
  bool prefer_iterations = false;            // auto takes an iteration where one applies, for its history
  std::optional<device> run_on{};            // nothing: where the operands are, or on a faster device
  /// GPUs of this host, 1 to 8, that share conjugate gradients with no preconditioner, jacobi, chebyshev or amg with a
  /// structured hierarchy, a tridiagonal batch in host memory, or the proof of a dense solution; the first is where it
  /// runs unless run_on says so. Empty: one device; or several, where nothing says where to run and a model that they pay.
  std::vector<int> gpus{};
  int cpu_threads = 0;                   // for what the CPU does of operands on a GPU; 0: as device::cpu()
  std::optional<proof_request> proof{};  // asks for a proof of the error
  bool proof_follows = false;            // prove() will be called: counts where the device is chosen
  operand_names names{};
  solve_observer* observer = nullptr;  // must outlive the solver
};

}  // namespace vouch
