#include <vouch/solve/driver/krylov_method.hpp>
#include <vouch/solve/driver/method_table.hpp>
#include <vouch/solve/krylov/least_squares.hpp>

namespace vouch {
namespace {

// The transpose is needed: the matrix has to be stored.
template <real T, auto solve>
class ready final : public method_in<T> {
 public:
  explicit ready(const method_setting& setting) : method_in<T>(setting), placed_(place_sparse<T>(setting)) {}
  bool rounds() const override { return placed_.rounded || method_in<T>::rounds(); }

 private:
  std::vector<solve_report> run(std::int64_t, view<const T> b, view<T> x,
                                const stopping_criterion& goal) override {
    return {solve(this->where(), placed_.A, b, x, {goal, true})};
  }

  placed_csr<T> placed_;
};

constexpr method line(const char* name, const char* title, decltype(method::make) make) {
  return {.name = name,
          .title = title,
          .takes = {matrix_form::sparse},
          .direct = false,
          .options = {method_option::fixed_iterations, method_option::stop_recurrence},
          .precisions = krylov_precisions,
          .on_cuda = {false, true},
          .refuse = nullptr,
          .advise = nullptr,
          .predict = nullptr,
          .choose = choose_for_products,
          .make = make};
}

}  // namespace

constinit const method least_squares_by_lsqr =
    line("lsqr", "LSQR", make_ready<ready<float, lsqr<float>>, ready<double, lsqr<double>>>);
constinit const method least_squares_by_lsmr =
    line("lsmr", "LSMR", make_ready<ready<float, lsmr<float>>, ready<double, lsmr<double>>>);

}  // namespace vouch
