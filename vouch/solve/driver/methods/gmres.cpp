#include <algorithm>

#include <vouch/solve/driver/general_systems.hpp>
#include <vouch/solve/driver/krylov_method.hpp>
#include <vouch/solve/driver/method_table.hpp>
#include <vouch/solve/krylov/gmres.hpp>

namespace vouch {
namespace {

constexpr auto solve = [](const device& dev, const auto& A, auto b, auto x, const stopping_criterion& goal,
                          const auto* M) { return gmres(dev, A, b, x, {goal}, M); };

constexpr auto solve_flexibly = [](const device& dev, const auto& A, auto b, auto x,
                                   const stopping_criterion& goal,
                                   const auto* M) { return fgmres(dev, A, b, x, {goal}, M); };

// Two passes over half of the basis, on average.
std::optional<prediction> predict(const system_facts& facts, const solve_options& options) {
  const double basis = std::min<double>(gmres_options{}.restart, guess_products_with_ilu0(facts.matrix)) / 2;
  return predict_with_ilu0(facts, options, {1, 8 * basis + 10});
}

}  // namespace

constinit const method generalised_minimal_residual = krylov_line<decltype(solve)>("gmres", "GMRES", predict);

constinit const method flexible_minimal_residual = krylov_line<decltype(solve_flexibly)>("fgmres", "FGMRES");

}  // namespace vouch
