// vouch/solve/driver/state_solve.hpp -- what a checkpoint says of a system in one process; private.
#pragma once
#include <vouch/core/view.hpp>
#include <vouch/solve/driver/operand.hpp>
#include <vouch/solve/loop/checkpoint.hpp>
#include <vouch/solve/options.hpp>

namespace vouch {

/// Files will be of this system. b lives where the matrix does.
///
/// Throws  value_error  the file that `kept` goes on from is of another
void state_system(checkpoint& kept, const operand& A, view<const double> b, const operand_names& names);

}  // namespace vouch
