#include <vouch/solve/driver/krylov_method.hpp>
#include <vouch/solve/driver/method_table.hpp>
#include <vouch/solve/krylov/bicgstab.hpp>

namespace vouch {
namespace {

constexpr auto solve = [](const device& dev, const auto& A, auto b, auto x, const stopping_criterion& goal,
                          const auto* M) { return bicgstab(dev, A, b, x, {goal}, M); };

}  // namespace

constinit const method stabilised_biconjugate_gradients = krylov_line<decltype(solve)>("bicgstab", "BiCGStab");

}  // namespace vouch
