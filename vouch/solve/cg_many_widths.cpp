#include <algorithm>
#include <limits>

#include <vouch/solve/cg_many_widths.hpp>
#include <vouch/solve/choose_device.hpp>

namespace vouch {
namespace {

constexpr int widths[] = {8, 4, 2, 1};

class time_model {
 public:
  time_model(const device& dev, std::int64_t rows, std::int64_t nonzeros, std::size_t value_bytes)
      : on_gpu_(dev.is_cuda()), alone_(cg_iteration_model(rows, nonzeros, 1).gpu) {
    const auto value = static_cast<double>(value_bytes);
    matrix_ = static_cast<double>(nonzeros) * (value + 4) + 8 * static_cast<double>(rows);
    column_ = 9 * value * static_cast<double>(rows);
  }

  // Of one iteration of a block: seconds on a GPU, bytes on the CPU.
  double of_block(int width) const {
    if (!on_gpu_) return matrix_ + width * column_;
    return width == 1 ? alone_ : 9e-6 + (matrix_ + width * column_) / 3.8e12;
  }

  struct choice {
    double cost = std::numeric_limits<double>::infinity();
    int width = 1;
  };
  choice best(int columns) const {
    if (columns <= 0) return {0, 1};
    choice found;
    for (const int width : widths) {
      const double cost = of_block(width) + best(columns - width).cost;
      if (cost < found.cost) found = {cost, width};
    }
    return found;
  }

 private:
  bool on_gpu_;
  double alone_;
  double matrix_ = 0;
  double column_ = 0;
};

}  // namespace

int many_width(const device& dev, std::int64_t rows, std::int64_t nonzeros, std::size_t value_bytes,
               int columns) {
  return time_model(dev, rows, nonzeros, value_bytes).best(columns).width;
}

}  // namespace vouch
