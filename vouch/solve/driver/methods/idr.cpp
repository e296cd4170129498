#include <vouch/solve/driver/krylov_method.hpp>
#include <vouch/solve/driver/method_table.hpp>
#include <vouch/solve/krylov/idr.hpp>

namespace vouch {
namespace {

constexpr auto solve = [](const device& dev, const auto& A, auto b, auto x, const stopping_criterion& goal,
                          const auto* M) { return idr(dev, A, b, x, {goal}, M); };

}  // namespace

constinit const method induced_dimension_reduction{.name = "idr",
                                                   .title = "IDR(s)",
                                                   .takes = krylov_takes,
                                                   .direct = false,
                                                   .options = krylov_options,
                                                   .precisions = krylov_precisions,
                                                   .on_cuda = {false, true},
                                                   .refuse = nullptr,
                                                   .advise = nullptr,
                                                   .predict = nullptr,
                                                   .choose = choose_for_products,
                                                   .make = make_krylov<decltype(solve)>};

}  // namespace vouch
