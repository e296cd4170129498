#include <vouch/solve/driver/ready_method.hpp>

namespace vouch {

template <real T>
placed_csr<T> place_sparse(const method_setting& setting) {
  const device &cpu = setting.A.cpu(), &dev = setting.dev;
  placed_csr<T> placed;
  if constexpr (sizeof(T) == sizeof(double)) {
    const auto take = [&] { placed.A = setting.A.sparse(dev); };
    if (is_same_place(dev, setting.A.home()))
      take();
    else
      timed(setting.times.transfer, take);
    return placed;
  } else {
    timed(setting.times.setup, [&] {
      const csr_view<const double> A = setting.A.sparse(cpu);
      placed.rounded = !fits<T>(cpu, {A.val, A.nonzeros}, setting.options.names.matrix);
      placed.own = convert_values<T>(cpu, A);
    });
    if (dev.is_cuda()) timed(setting.times.transfer, [&] { placed.own = placed.own.to(dev); });
    placed.A = placed.own.all();
    return placed;
  }
}

namespace {

// All entries as one view where no column is apart from the next, else column by column.
template <class Work>
void for_columns(matrix_view<const double> A, const Work& work) {
  if (A.ld == A.rows || A.cols == 1) return work({A.data, A.rows * A.cols}, std::int64_t{0});
  for (std::int64_t j = 0; j < A.cols; ++j) work(A.column(j), j * A.rows);
}

}  // namespace

template <real T>
placed_matrix<T> place_dense(const method_setting& setting) {
  const device &cpu = setting.A.cpu(), &dev = setting.dev;
  placed_matrix<T> placed;
  if constexpr (sizeof(T) == sizeof(double)) {
    const auto take = [&] { placed.A = setting.A.dense(dev); };
    if (is_same_place(dev, setting.A.home()))
      take();
    else
      timed(setting.times.transfer, take);
    return placed;
  } else {
    const matrix_view<const double> A = setting.A.dense(cpu);
    timed(setting.times.setup, [&] {
      placed.own = matrix<T>(cpu, A.rows, A.cols);
      for_columns(A, [&](view<const double> values, std::int64_t at) {
        placed.rounded = !fits<T>(cpu, values, setting.options.names.matrix) || placed.rounded;
        round_to<T, double>(cpu, values, placed.own.data() + at);
      });
    });
    if (dev.is_cuda()) timed(setting.times.transfer, [&] { placed.own = placed.own.to(dev); });
    placed.A = placed.own.read();
    return placed;
  }
}

template placed_csr<float> place_sparse(const method_setting&);
template placed_csr<double> place_sparse(const method_setting&);
template placed_matrix<float> place_dense(const method_setting&);
template placed_matrix<double> place_dense(const method_setting&);

}  // namespace vouch
