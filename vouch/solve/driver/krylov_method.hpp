// vouch/solve/driver/krylov_method.hpp -- what the lines of Krylov methods in the table have in common; private.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <vouch/solve/driver/ready_method.hpp>
#include <vouch/solve/krylov/tried_preconditioner.hpp>
#include <vouch/solve/loop/choose_device.hpp>
#include <vouch/solve/methods.hpp>

namespace vouch {

/// Solve is called with a device, the matrix in CSR or as an operator, b, x, the goal and a preconditioner or nullptr.
template <real T, class Solve>
class ready_krylov final : public method_in<T> {
 public:
  explicit ready_krylov(const method_setting& setting)
      : method_in<T>(setting), placed_(place_sparse<T>(setting)), M_(setting, placed_.A) {
    if (M_.get() != nullptr) tried_ = std::make_unique<tried_preconditioner<T>>(*M_.get());
  }
  bool rounds() const override { return placed_.rounded || method_in<T>::rounds(); }

 private:
  std::vector<solve_report> run(std::int64_t, view<const T> b, view<T> x,
                                const stopping_criterion& goal) override {
    return {Solve{}(this->where(), placed_.A, b, x, goal, tried_.get())};
  }

  placed_csr<T> placed_;
  chosen_preconditioner<T> M_;
  std::unique_ptr<const preconditioner<T>> tried_;
};

template <class Solve>
class ready_krylov_matrix_free final : public method_in<double> {
 public:
  explicit ready_krylov_matrix_free(const method_setting& setting) : method_in<double>(setting) {}

 private:
  std::vector<solve_report> run(std::int64_t, view<const double> b, view<double> x,
                                const stopping_criterion& goal) override {
    return {Solve{}(where(), setting().A.action(), b, x, goal, setting().options.own_preconditioner)};
  }
};

template <class Solve>
std::unique_ptr<ready_method> make_krylov(const method_setting& setting) {
  if (setting.A.form() == matrix_form::matrix_free)
    return std::make_unique<ready_krylov_matrix_free<Solve>>(setting);
  return make_ready<ready_krylov<float, Solve>, ready_krylov<double, Solve>>(setting);
}

inline device_choice choose_for_products(const system_facts& facts, const solve_options&, int threads) {
  return choose_device(facts.matrix.rows, facts.matrix.nonzeros, threads);
}

inline constexpr set_of<matrix_form> krylov_takes{matrix_form::sparse, matrix_form::matrix_free};
inline constexpr set_of<method_option> krylov_options{
    method_option::preconditioner, method_option::fixed_iterations, method_option::stop_recurrence};
inline constexpr set_of<working_precision> krylov_precisions{working_precision::double_,
                                                             working_precision::single};

/// The line of a method that takes any square matrix; predict as in the table.
template <class Solve>
constexpr method krylov_line(const char* name, const char* title, decltype(method::predict) predict = nullptr) {
  return {.name = name,
          .title = title,
          .takes = krylov_takes,
          .direct = false,
          .options = krylov_options,
          .precisions = krylov_precisions,
          .on_cuda = {false, true},
          .refuse = nullptr,
          .advise = nullptr,
          .predict = predict,
          .choose = choose_for_products,
          .make = make_krylov<Solve>};
}

}  // namespace vouch
