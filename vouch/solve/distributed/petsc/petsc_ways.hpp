// vouch/solve/distributed/petsc/petsc_ways.hpp -- names of methods and preconditioners in PETSc's own words; private.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/solve/distributed/petsc.hpp>
#include <vouch/sparse/structure.hpp>

namespace vouch::distributed {

/// One attempt: names of petsc_method_names() and petsc_preconditioner_names().
struct petsc_way {
  std::string method;
  std::string preconditioner;  // "none" where the method factorises
  std::string why{};           // auto took it; "" where it was named
};

/// Whether the method factorises and takes no preconditioner.
bool is_direct(const petsc_way& way);

/// How the method's and the preconditioner's names read in PETSc's reports: "bcgs", "hypre boomeramg".
std::string petsc_name_of_method(const petsc_way& way);
std::string petsc_name_of_preconditioner(const petsc_way& way);

/// Whether as many ranks give the same bits on every run.
bool repeats(const petsc_way& way);

/// What is tried, in that order; own are the user's words.
///
/// Throws  value_error  a name that is not there, a preconditioner of a method that factorises, a matrix that the method
///                      named cannot take
std::vector<petsc_way> plan_ways(const petsc_options& options, const structure_facts& facts, std::int64_t rows,
                                 const std::vector<std::string>& own);

/// What stands between blanks.
std::vector<std::string> split_words(std::string_view text);

/// PETSc's options for it, and behind them the user's, which go before.
std::vector<std::string> words_of(const petsc_way& way, const std::vector<std::string>& own);

}  // namespace vouch::distributed
