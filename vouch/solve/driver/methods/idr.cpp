#include <vouch/solve/driver/krylov_method.hpp>
#include <vouch/solve/driver/method_table.hpp>
#include <vouch/solve/krylov/idr.hpp>

namespace vouch {
namespace {

constexpr auto solve = [](const device& dev, const auto& A, auto b, auto x, const stopping_criterion& goal,
                          const auto* M) { return idr(dev, A, b, x, {goal}, M); };

}  // namespace

constinit const method induced_dimension_reduction = krylov_line<decltype(solve)>("idr", "IDR(s)");

}  // namespace vouch
