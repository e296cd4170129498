#include "patience.hpp"

#include <algorithm>

#include <vouch/sparse/fill.hpp>
#include <vouch/sparse/minimum_degree.hpp>

namespace vouch::cli {
namespace {

// Iterations whose work is some twenty times that of the prediction: before them nobody asks for it.
constexpr std::int64_t iterations_before = 4000;
// Nor before a few hundredths of a second have gone.
constexpr double work_before = 0x1p26;
// What conjugate gradients may do, as a multiple of the elimination's work. They may be about to end.
constexpr double times_the_elimination = 4;
// An operation of the elimination takes as long as so many of an iteration, which come in vectors; so do an
// entry of the factors, which has to be found, and one of the matrix, for the order.
constexpr double price_of_operation = 8, price_of_entry = 50, price_of_order = 600;
// Larger factors are not worth the memory.
constexpr std::int64_t most_entries = std::int64_t{1} << 28, most_nonzeros = std::int64_t{1} << 24;

}  // namespace

double patience::work(std::int64_t iterations) const {
  return static_cast<double>(iterations) * static_cast<double>(2 * A_.nonzeros + 14 * A_.rows);
}

double patience::elimination() {
  if (elimination_ > 0) return elimination_;
  const device cpu = device::cpu(1);
  const elimination_cost cost = predict_elimination<double>(A_, minimum_degree<double>(cpu, A_), most_entries);
  return elimination_ = price_of_operation * cost.flops + price_of_entry * cost.entries +
                        price_of_order * static_cast<double>(A_.nonzeros);
}

bool patience::elimination_pays(std::int64_t iterations) {
  if (A_.nonzeros > most_nonzeros) return false;
  const double done = std::max(work(iterations), work_before);
  return times_the_elimination * elimination() <= done;
}

bool patience::goes_on(const iteration_record& record) {
  if (record.iteration < iterations_before || work(record.iteration) < work_before) return true;
  out_ = out_ || elimination_pays(record.iteration);
  return !out_;
}

}  // namespace vouch::cli
