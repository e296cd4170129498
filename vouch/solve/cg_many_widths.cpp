#include <limits>

#include <vouch/solve/cg_many_widths.hpp>
#include <vouch/solve/choose_device.hpp>

namespace vouch {
namespace {

constexpr int widths[] = {8, 4, 2, 1};

double seconds_on_cpu(const many_case& given, int width) {
  const auto rows = static_cast<double>(given.rows), entries = static_cast<double>(given.nonzeros);
  if (width > 1) return 0.4e-9 * entries + (2e-9 + 0.65e-9 * width) * rows;
  if (given.alone == layout::csr) return 0.5e-9 * entries + 0.6e-9 * rows;
  if (given.alone == layout::dia) return 0.1e-9 * entries + 0.4e-9 * rows;
  return 0.13e-9 * entries + 0.6e-9 * rows;
}

double seconds_on_gpu(const many_case& given, int width) {
  const std::int64_t vector = given.rows * given.value_bytes;
  if (width == 1)
    return given.alone_bytes == 0 ? cg_iteration_model(given.rows, given.nonzeros, 1).gpu
                                  : 8e-6 + static_cast<double>(given.alone_bytes + 7 * vector) / 4e12;
  const std::int64_t bytes = given.nonzeros * (given.value_bytes + 4) + given.rows * 8 + 9 * width * vector;
  const bool long_rows = given.nonzeros > 16 * given.rows;
  const double speed = width == 2 ? 1.9e12 : width == 4 ? 1.5e12 : long_rows ? 1.7e12 : 2.7e12;
  return 9e-6 + static_cast<double>(bytes) / speed;
}

struct choice {
  double seconds = std::numeric_limits<double>::infinity();
  int width = 1;
};

choice best(const many_case& given, int columns) {
  if (columns <= 0) return {0, 1};
  choice found;
  for (const int width : widths) {
    const double first = given.on_gpu ? seconds_on_gpu(given, width) : seconds_on_cpu(given, width);
    const double all = first + best(given, columns - width).seconds;
    if (all < found.seconds) found = {all, width};
  }
  return found;
}

}  // namespace

int many_width(const many_case& given, int columns) { return best(given, columns).width; }

}  // namespace vouch
