#include <vouch/solve/driver/patience.hpp>

#include <algorithm>

namespace vouch {
namespace {

// Iterations whose work is some twenty times that of the prediction: before them nobody asks for it.
constexpr std::int64_t iterations_before = 4000;
// Nor before a few hundredths of a second have gone.
constexpr double work_before = 0x1p26;
// What iterations may do, as a multiple of the elimination's work. They may be about to end.
constexpr double times_the_elimination = 4;

}  // namespace

bool patience::elimination_pays(std::int64_t iterations) {
  return times_the_elimination * A_.elimination_work() <= std::max(work(iterations), work_before);
}

bool patience::goes_on(const iteration_record& record) {
  if (record.iteration < iterations_before || work(record.iteration) < work_before) return true;
  out_ = out_ || elimination_pays(record.iteration);
  return !out_;
}

}  // namespace vouch
