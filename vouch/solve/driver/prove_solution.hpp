// vouch/solve/driver/prove_solution.hpp -- the proof that a matrix admits, used for all right-hand sides;
// private.
#pragma once
#include <cstdint>

#include <vouch/core/device_group.hpp>
#include <vouch/core/view.hpp>
#include <vouch/solve/driver/operand.hpp>
#include <vouch/solve/proof.hpp>

namespace vouch {

/// Bounds the errors of all columns of x on the first device and improves them where the bounds are wider than asked.
///
/// Memory  b and x lie on the CPU, column by column.
solution_proof prove_solution(const proof_request& request, const operand& A, const device_group& devices,
                              std::int64_t columns, view<const double> b, view<double> x);

}  // namespace vouch
