#include <cmath>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/solve/direct/direct.hpp>
#include <vouch/solve/driver/method_table.hpp>
#include <vouch/solve/driver/ready_method.hpp>
#include <vouch/solve/loop/spd_check.hpp>

namespace vouch {
namespace {

enum class factors { lu, cholesky };

template <real T, factors kind>
class ready final : public method_in<T> {
 public:
  explicit ready(const method_setting& setting) : method_in<T>(setting) {
    check_device_memory<T>(setting, matrix_form::dense, true);
    placed_ = place_dense<T>(setting);
  }
  bool rounds() const override { return placed_.rounded || method_in<T>::rounds(); }

 private:
  std::vector<solve_report> run(std::int64_t, view<const T> b, view<T> x,
                                const stopping_criterion& goal) override {
    return naming_the_matrix(this->setting(), [&]() -> std::vector<solve_report> {
      if constexpr (kind == factors::lu) return {lu<T>(this->where(), transpose::no, placed_.A, b, x, goal)};
      return {cholesky<T>(this->where(), placed_.A, b, x, goal)};
    });
  }

  placed_matrix<T> placed_;
};

// Operations that come in blocks.
double work_of_factors(const system_facts& facts) {
  constexpr double price_of_operation = 1.0 / 16;
  return price_of_operation * 2 / 3 * std::pow(static_cast<double>(facts.matrix.rows), 3);
}

// Factors are made on the first GPU, and several share the proof.
bool has_work_for_gpus(const solve_options& options) {
  return options.gpus.empty() || options.proof || options.proof_follows;
}

std::optional<prediction> predict_lu(const system_facts& facts, const solve_options& options) {
  if (facts.form != matrix_form::dense || !facts.dense_factors || !has_work_for_gpus(options)) return {};
  return prediction{work_of_factors(facts), 0, "dense", {}};
}

std::optional<prediction> predict_cholesky(const system_facts& facts, const solve_options& options) {
  if (facts.form != matrix_form::dense || !facts.dense_factors || !has_work_for_gpus(options)) return {};
  return prediction{work_of_factors(facts) / 2, 0, "dense, symmetric with a positive diagonal", {}};
}

device_choice choose(const system_facts& facts, const solve_options& options, int threads) {
  constexpr std::int64_t most_of_a_proof = 9 * sizeof(double);
  const bool proved = options.proof || options.proof_follows;
  const bool single = options.precision == working_precision::single;
  return choose_device(
      {.rows = facts.matrix.rows,
       .single = single,
       .verified = proved,
       .bytes_an_entry = dense_bytes_on_gpu(single ? 4 : 8, true, false) + (proved ? most_of_a_proof : 0)},
      threads);
}

template <factors kind>
std::unique_ptr<ready_method> make(const method_setting& setting) {
  if (!has_work_for_gpus(setting.options))
    throw value_error(std::string(setting.taken.method->title) +
                          " on several GPUs: they share the proof of the error alone, and none is asked for",
                      "--verify asks for it; --device cuda:K takes one");
  return make_ready<ready<float, kind>, ready<double, kind>>(setting);
}

template <factors kind>
constexpr method line(const char* name, std::string (*refuse)(const structure_facts&),
                      std::optional<prediction> (*predict)(const system_facts&, const solve_options&)) {
  return {.name = name,
          .title = name,
          .takes = {matrix_form::dense},
          .direct = true,
          .options = {method_option::several_gpus},
          .precisions = {working_precision::double_, working_precision::single},
          .on_cuda = {false, true},
          .refuse = refuse,
          .advise =
              [](const method& self) {
                return std::string("--method ") + direct_method_for_any(self).name + " takes any matrix";
              },
          .predict = predict,
          .choose = choose,
          .make = make<kind>};
}

}  // namespace

constinit const method dense_lu = line<factors::lu>("lu", nullptr, predict_lu);
constinit const method dense_cholesky = line<factors::cholesky>("cholesky", not_spd_reason, predict_cholesky);

}  // namespace vouch
