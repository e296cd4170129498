// vouch/solve/precond/make.hpp -- preconditioners by name.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// What make_preconditioner understands, with the parameters in brackets: "none", "jacobi", "block-jacobi[:size]",
/// "ssor[:omega]", "ic0[:shift]", "ilu0[:shift]", "ilut[:drop,fill]", "chebyshev[:degree]",
/// "amg[:degree,strength,filter,type]".
const std::vector<std::string>& precondition_names();

struct near_nullspace;      // amg.hpp
enum class amg_type : int;  // amg.hpp

/// A preconditioner by name, with the parameters that differ from its defaults: {"ssor", {{"omega", 1.2}}}.
struct preconditioner_choice {
  std::string name = "none";
  std::map<std::string, double> parameters{};
  std::shared_ptr<const near_nullspace> near{};  // for amg
  amg_type type{};                               // of amg; automatic
};

/// Reads "ssor", "ilut:drop=1e-3,fill=20", or "ssor:1.2" and "ilut:1e-3,20" with values in the order of
/// precondition_names().
///
/// Throws  value_error  an unknown name; a parameter that is no number, given twice or one too many
preconditioner_choice parse_preconditioner(std::string_view spec);

/// Tries a choice on the matrix (1), which shows what would be refused of any matrix.
///
/// Throws  value_error  an unknown name, a parameter out of range
void check_parameters(const preconditioner_choice& choice);

/// Whether it makes a symmetric M of every symmetric matrix, as conjugate gradients need it.
///
/// Throws  value_error  an unknown name
bool is_symmetric(const preconditioner_choice& choice);

/// The preconditioner that was chosen, for A; "none" gives nullptr.
///
/// Memory, Throws  As below.
template <real T>
std::unique_ptr<preconditioner<T>> make_preconditioner(const device& dev, csr_view<const T> A,
                                                       const preconditioner_choice& choice);

/// The preconditioner that `spec` names, for A; "none" gives nullptr.
///
/// Memory  A lives on dev. chebyshev refers to A, which must outlive it; the others do not.
/// Throws  shape_error  A is not square
///         value_error  an unknown name, a parameter that is no number or out of range; what the preconditioner
///                      itself refuses
template <real T>
std::unique_ptr<preconditioner<T>> make_preconditioner(const device& dev, csr_view<const T> A,
                                                       std::string_view spec);

}  // namespace vouch
