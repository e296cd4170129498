// cli/info_amg.hpp -- the multigrid hierarchy of a matrix, and how conjugate gradients would do with it.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/precond/amg.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/structure.hpp>

namespace vouch::cli {

struct multigrid_facts {
  amg_hierarchy hierarchy;
  iteration_forecast forecast;  // of conjugate gradients to 1e-8
};

/// Sets multigrid up with the defaults of `--precond amg` and asks forecast_cg().
///
/// Throws  shape_error, value_error  multigrid is not for this matrix: the text names the file and says why
multigrid_facts examine_multigrid(const device& cpu, const std::string& file, csr_view<const double> A,
                                  const structure_facts& facts);

/// Lines for people, each with its end.
std::string multigrid_text(const multigrid_facts& m);

/// The key "amg" of vouch info --json.
nlohmann::ordered_json multigrid_json(const multigrid_facts& m);

}  // namespace vouch::cli
