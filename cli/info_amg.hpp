// cli/info_amg.hpp -- the multigrid hierarchy of a matrix, and how conjugate gradients would do with it.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/solve/precond/amg.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/structure.hpp>

namespace vouch::cli {

struct multigrid_facts {
  amg_hierarchy hierarchy;
  std::optional<std::int64_t> iterations;  // of conjugate gradients to 1e-8, predicted
  std::optional<double> reduction;         // of the residual by one of them, measured
  std::string reason;                      // what the prediction rests on, or why there is none
};

/// Sets multigrid up with the defaults of `--precond amg` and does a few iterations on a right-hand side of hashed numbers.
///
/// Throws  shape_error, value_error  multigrid is not for this matrix: the text names the file and says why
multigrid_facts examine_multigrid(const device& cpu, const std::string& file, csr_view<const double> A,
                                  const structure_facts& facts);

/// Lines for people, each with its end.
std::string multigrid_text(const multigrid_facts& m);

/// The key "amg" of vouch info --json.
nlohmann::ordered_json multigrid_json(const multigrid_facts& m);

}  // namespace vouch::cli
