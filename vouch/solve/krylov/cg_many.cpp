#include <algorithm>
#include <limits>
#include <string>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/solve/krylov/cg_engines.hpp>
#include <vouch/solve/krylov/cg_many.hpp>
#include <vouch/solve/krylov/cg_system.hpp>
#include <vouch/solve/loop/choose_device.hpp>
#include <vouch/solve/loop/spd_check.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

constexpr int widths[] = {8, 4, 2, 1};

double seconds_on_cpu(const block_cg_shape& given, int width) {
  const auto rows = static_cast<double>(given.rows), entries = static_cast<double>(given.nonzeros);
  if (width > 1) return 0.4e-9 * entries + (2e-9 + 0.65e-9 * width) * rows;
  if (given.alone == layout::csr) return 0.5e-9 * entries + 0.6e-9 * rows;
  if (given.alone == layout::dia) return 0.1e-9 * entries + 0.4e-9 * rows;
  return 0.13e-9 * entries + 0.6e-9 * rows;
}

double seconds_on_gpu(const block_cg_shape& given, int width) {
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

choice best(const block_cg_shape& given, int columns) {
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

int block_cg_width(const block_cg_shape& given, int columns) { return best(given, columns).width; }

namespace {

// Deals the columns of a run to blocks. What the first block needs is made at once, the rest when it is needed.
template <real T>
class blocked_engine final : public block_inner_solver<T> {
 public:
  blocked_engine(const device& dev, csr_view<const T> A, const preconditioner<T>* M, layout wanted,
                 std::int64_t columns)
      : dev_(dev), A_(A), M_(M), wanted_(wanted) {
    const bool fused = M == nullptr || M->diagonal() != nullptr;
    blocks_ = fused && columns > 1 && (wanted == layout::automatic || wanted == layout::csr);
    case_ = {dev.is_cuda(), wanted, A.rows, A.nonzeros, sizeof(T)};
    if (!dev.is_cuda() && blocks_) case_.alone = alone().plan->kept_as();
    const int width = width_for(columns);
    if (width == 1)
      alone();
    else
      block(width);
  }

  void run(std::span<inner_task<T>> columns) override {
    while (!columns.empty()) {
      const int width = width_for(static_cast<std::int64_t>(columns.size()));
      const std::size_t count = std::min(columns.size(), static_cast<std::size_t>(width));
      if (width == 1)
        run_alone(columns.front());
      else
        block(width).run(columns.first(count));
      columns = columns.subspan(count);
    }
  }

 private:
  static constexpr std::int64_t most = block_inner_solver<T>::most;

  int width_for(std::int64_t columns) const {
    return blocks_ ? block_cg_width(case_, static_cast<int>(std::min(columns, most))) : 1;
  }

  void run_alone(inner_task<T>& column) {
    inner_solver<T>& engine = *alone().engine;
    column.outcome = engine.run(column.r, column.d, column.rule, *column.log);
    column.engine = engine.name();
  }

  const cg_assembly<T>& alone() {
    if (!alone_.engine) alone_ = assemble_cg(dev_, A_, M_, wanted_);
    return alone_;
  }

  block_inner_solver<T>& block(int width) {
    if (width == width_) return *block_;
    block_.reset();
    const T* minv = M_ != nullptr ? M_->diagonal() : nullptr;
    if constexpr (built_with_cuda)
      if (dev_.is_cuda()) block_ = cg_many_cuda(dev_, A_, minv, width);
    if (!dev_.is_cuda()) block_ = cg_many_cpu(dev_, A_, minv, width);
    width_ = width;
    return *block_;
  }

  device dev_;
  csr_view<const T> A_;
  const preconditioner<T>* M_;
  layout wanted_;
  bool blocks_ = false;  // else always one after another
  block_cg_shape case_;
  cg_assembly<T> alone_;
  std::unique_ptr<block_inner_solver<T>> block_;
  int width_ = 0;
};

void check_columns(const char* what, std::int64_t size, std::int64_t stride, std::int64_t rows,
                   std::int64_t columns) {
  if (size != rows * columns)
    throw shape_error(std::string(what) + " has " + std::to_string(size) + " elements, not " +
                      std::to_string(columns) + " columns of " + std::to_string(rows));
  if (size > 1 && stride != 1) throw shape_error(std::string(what) + " is not contiguous");
}

}  // namespace

template <real T>
std::vector<solve_report> cg_many(const device& dev, csr_view<const T> A, std::int64_t columns, view<const T> B,
                                  view<T> X, const cg_options& options, const preconditioner<T>* M) {
  const ieee_environment here;
  const valid_csr valid("cg_many", dev, A);
  const std::int64_t n = A.rows;
  check_krylov_shapes("conjugate gradients need", n, A.cols, n, n);
  check_krylov_stopping("conjugate gradients", options);
  require_one_device("several right-hand sides", options);
  check_preconditioner(M, n);
  if (columns < 0) throw shape_error("a negative number of columns");
  check_columns("B", B.size(), B.stride(), n, columns);
  check_columns("X", X.size(), X.stride(), n, columns);
  if (columns == 0) return {};
  const stopwatch clock;
  if (!options.matrix_checked) check_spd(dev, A);
  const cg_matrix_facts<T> facts = cg_facts_of(dev, A);
  const std::unique_ptr<preconditioner<T>> power = M == nullptr ? power_for_size(dev, A) : nullptr;
  if (power != nullptr) M = power.get();
  blocked_engine<T> engine(dev, A, M, options.matrix_layout, columns);
  std::vector<checked_column<T>> systems;
  for (std::int64_t j = 0; j < columns; ++j)
    systems.push_back(
        {cg_problem<T>(dev, A, {B.data() + j * n, n}, M, facts), {X.data() + j * n, n}, new_cg_report<T>(M)});
  dev.synchronize();
  const double setup = clock.seconds();
  residual_checked_solve<T>(systems, engine, options);
  std::vector<solve_report> reports;
  for (checked_column<T>& system : systems) {
    system.report.setup_seconds = setup / static_cast<double>(columns);
    reports.push_back(std::move(system.report));
  }
  return reports;
}

template VOUCH_PUBLIC std::vector<solve_report> cg_many(const device&, csr_view<const float>, std::int64_t,
                                                        view<const float>, view<float>, const cg_options&,
                                                        const preconditioner<float>*);
template VOUCH_PUBLIC std::vector<solve_report> cg_many(const device&, csr_view<const double>, std::int64_t,
                                                        view<const double>, view<double>, const cg_options&,
                                                        const preconditioner<double>*);

}  // namespace vouch
