#include <string>

#include <vouch/solve/driver/krylov_method.hpp>
#include <vouch/solve/driver/method_table.hpp>
#include <vouch/solve/krylov/fcg.hpp>
#include <vouch/solve/loop/spd_check.hpp>

namespace vouch {
namespace {

// The matrix was looked at when the plan was made.
constexpr auto solve = [](const device& dev, const auto& A, auto b, auto x, const stopping_criterion& goal,
                          const auto* M) {
  return fcg(dev, A, b, x, {goal, true}, M);
};

std::unique_ptr<ready_method> make(const method_setting& setting) {
  require_symmetric_preconditioner(setting);
  return make_krylov<decltype(solve)>(setting);
}

}  // namespace

constinit const method flexible_conjugate_gradients{
    .name = "fcg",
    .title = "flexible conjugate gradients",
    .takes = krylov_takes,
    .direct = false,
    .options = krylov_options,
    .precisions = krylov_precisions,
    .on_cuda = {false, true},
    .refuse = not_spd_reason,
    .advise = [](const method& self) { return conjugate_gradients.advise(self); },
    .predict = nullptr,
    .choose = choose_for_products,
    .make = make};

}  // namespace vouch
