// vouch/solve/methods.hpp -- the table of methods: what each takes, needs, costs, and how it is made.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/choose_device.hpp>
#include <vouch/solve/options.hpp>
#include <vouch/sparse/fill.hpp>
#include <vouch/sparse/structure.hpp>

namespace VOUCH_PUBLIC vouch {

/// Some members of an enumeration.
template <class E>
class set_of {
 public:
  constexpr set_of() = default;
  constexpr set_of(std::initializer_list<E> members) {
    for (const E member : members) bits_ |= 1U << static_cast<unsigned>(member);
  }
  constexpr set_of with(set_of others) const {
    others.bits_ |= bits_;
    return others;
  }
  constexpr bool has(E member) const { return (bits_ >> static_cast<unsigned>(member) & 1U) != 0; }

 private:
  unsigned bits_ = 0;
};

/// In which form a method takes the matrix; what has another form is brought into it, but for what is given by its
/// action or by three diagonals.
enum class matrix_form { sparse, dense, tridiagonal, matrix_free };

/// What not every method takes.
enum class method_option {
  omega,
  estimated_omega,
  sweep,
  ordering,
  acceleration,
  preconditioner,
  backend,
  several_gpus,
  fixed_iterations,
  stop_recurrence,
  stop_mean_change
};

/// What sparse matrices are factorised into.
enum class sparse_factors { cholesky, ldlt, lu, qr };

/// What `auto` knows of a system.
struct system_facts {
  matrix_form form = matrix_form::sparse;  // as it was given: tridiagonal by its diagonals alone
  structure_facts matrix;
  std::optional<elimination_cost> elimination{};  // of a sparse matrix; nothing: not predicted
  bool dense_factors = true;                      // there is a library that factorises dense matrices
  set_of<sparse_factors> libraries{};             // likewise sparse ones, into these
  bool factorised_on_gpu = false;                 // sparse ones: by such libraries, or not at all
  // Of the complex matrix that libraries make sparse factors of, before elimination is predicted about; 0: of the matrix
  // as it is.
  std::int64_t complex_nonzeros = 0;
  bool aligned_numbers = false;  // complex, not Hermitian, and multigrid of moduli suits it
};

/// What a method promises for a system.
struct prediction {
  double work = 0;            // operations of loops over vectors; what takes longer counts several times
  double iteration_work = 0;  // likewise; 0: it has none, or its number is proved
  std::string why;            // it applies
  acceleration accelerate{};  // that it is best given
  preconditioner_choice preconditioner{};  // likewise, where none is asked for
  // For another attempt, with its work; 0: that of the first.
  std::optional<preconditioner_choice> second_preconditioner{};
  double second_work = 0, second_iteration_work = 0;
};

class ready_method;
class ready_batch;
struct method_setting;

/// One line of the table. A method with nothing in `refuse` takes any square matrix, and what is not square where
/// any_shape says so.
struct method {
  const char* name;
  const char* title;  // in sentences
  set_of<matrix_form> takes;
  /// Factorises: ends by the residual alone, says nothing on its way, and estimates about the error of x, where
  /// iterations estimate what that is at most.
  bool direct;
  set_of<method_option> options;
  set_of<working_precision> precisions;
  set_of<bool> on_cuda;  // false: runs on the CPU; true: on a GPU
  /// Why it cannot solve a system with these facts, "" where it can; nullptr: never.
  std::string (*refuse)(const structure_facts& facts);
  /// The second half of that message: what to do.
  std::string (*advise)(const method& self);
  /// For auto; nothing where it is not to be taken. nullptr: by name only.
  std::optional<prediction> (*predict)(const system_facts& facts, const solve_options& options);
  /// Where it is fastest.
  device_choice (*choose)(const system_facts& facts, const solve_options& options, int threads);
  std::unique_ptr<ready_method> (*make)(const method_setting& setting);
  /// For batches of tridiagonal systems; nullptr: takes none.
  std::unique_ptr<ready_batch> (*make_batch)(const method_setting& setting) = nullptr;
  bool any_shape = false;  // least squares, too
  /// What factorises sparse matrices: where it runs is a matter of the libraries that are there.
  std::optional<sparse_factors> makes{};
  set_of<working_precision> more_on_cuda{};  // precisions that it takes on a GPU alone

  bool takes_precision(working_precision p, bool cuda) const {
    return precisions.has(p) || (cuda && more_on_cuda.has(p));
  }
};

/// All of them, in the order of help texts.
std::span<const method* const> methods();
/// nullptr where there is none of this name.
const method* find_method(std::string_view name);
/// The direct method that takes any square matrix in one of the forms which this one takes.
const method& direct_method_for_any(const method& like);

/// An option that the method asked for (or auto) does not take.
struct refused_option {
  std::string option;  // "omega"
  std::string what;    // "none", "no auto"
  std::string hint;    // who does
};

/// The first one; nothing where all are taken. cuda says whether a GPU is asked for.
///
/// Throws  value_error  there is no such method
std::optional<refused_option> find_refused_option(const solve_options& options, bool cuda);

/// Whether the method takes all that is asked for but for the precision.
bool takes_options(const method& m, const solve_options& options);

}  // namespace vouch
