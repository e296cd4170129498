#include <vouch/solve/driver/krylov_method.hpp>
#include <vouch/solve/driver/method_table.hpp>
#include <vouch/solve/krylov/least_squares.hpp>

namespace vouch {
namespace {

// Of what is not square; a guess at the iterations.
std::optional<prediction> predict(const system_facts& facts, const solve_options&) {
  if (facts.matrix.square) return {};
  constexpr double iterations = 500;
  const auto entries = static_cast<double>(facts.matrix.nonzeros),
             lengths = static_cast<double>(facts.matrix.rows + facts.matrix.cols);
  const double iteration = 4 * entries + 16 * lengths;
  return prediction{iterations * iteration, iteration, "not square", {}};
}

// The transpose is needed: the matrix has to be stored.
template <real T, auto solve>
class ready final : public method_in<T> {
 public:
  explicit ready(const method_setting& setting) : method_in<T>(setting), placed_(place_sparse<T>(setting)) {}
  bool rounds() const override { return placed_.rounded || method_in<T>::rounds(); }

 private:
  std::vector<solve_report> run(std::int64_t, view<const T> b, view<T> x,
                                const stopping_criterion& goal) override {
    const bool square = placed_.A.rows == placed_.A.cols;
    solve_report report = naming_the_matrix(this->setting(), [&] {
      return solve(this->where(), placed_.A, b, x, {goal, square});
    });
    if (placed_.A.cols > placed_.A.rows && has_solution(report.status))
      report.warnings.push_back("of many solutions x is not the shortest one: --method sparse-qr finds that");
    return {std::move(report)};
  }

  placed_csr<T> placed_;
};

constexpr method line(const char* name, const char* title, decltype(method::predict) predict,
                      decltype(method::make) make) {
  return {.name = name,
          .title = title,
          .takes = {matrix_form::sparse},
          .direct = false,
          .options = {method_option::fixed_iterations, method_option::stop_recurrence},
          .precisions = krylov_precisions,
          .on_cuda = {false, true},
          .refuse = nullptr,
          .advise = nullptr,
          .predict = predict,
          .choose = choose_for_products,
          .make = make,
          .make_batch = nullptr,
          .any_shape = true};
}

}  // namespace

constinit const method least_squares_by_lsqr =
    line("lsqr", "LSQR", nullptr, make_ready<ready<float, lsqr<float>>, ready<double, lsqr<double>>>);
constinit const method least_squares_by_lsmr =
    line("lsmr", "LSMR", predict, make_ready<ready<float, lsmr<float>>, ready<double, lsmr<double>>>);

}  // namespace vouch
