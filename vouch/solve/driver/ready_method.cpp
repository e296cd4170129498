#include <vouch/solve/driver/ready_method.hpp>

#include <algorithm>
#include <cmath>

namespace vouch {
namespace {

// The magnitudes of a row's entries.
struct row_magnitudes {
  double diagonal = 0, largest = 0;

  void take(double entry, bool on_diagonal) {
    if (on_diagonal) diagonal = std::fabs(entry);
    largest = std::max(largest, std::fabs(entry));
  }
};

bool is_lost(double entry) { return entry != 0 && static_cast<float>(entry) == 0; }

// row(i) gives the magnitudes of row i.
template <class Row>
void refuse_first_lost(const method_setting& setting, const Row& row) {
  const structure_facts& facts = setting.A.facts().matrix;
  const bool needs_diagonal = facts.symmetric && facts.diagonal_positive;
  const std::int64_t n = setting.A.rows();
  std::int64_t first = n;
#pragma omp parallel for firstprivate(ieee) num_threads(setting.A.cpu().threads()) schedule(static) \
    reduction(min                                                                                   \
              : first) if (n >= many_values)
  for (std::int64_t i = 0; i < n; ++i) {
    const row_magnitudes m = row(i);
    if (is_lost(m.largest) || (needs_diagonal && is_lost(m.diagonal))) first = std::min(first, i);
  }
  if (first == n) return;
  const row_magnitudes m = row(first);
  const bool all = is_lost(m.largest);
  throw value_error(string_printf("%s: %s row %lld is zero in single precision: %.3g%s underflows",
                                  setting.options.names.matrix.c_str(),
                                  all ? "all of" : "the diagonal entry of", static_cast<long long>(first + 1),
                                  all ? m.largest : m.diagonal, all ? ", its largest entry," : ""),
                    "take --precision double, or scale the system");
}

}  // namespace

void refuse_lost_rows(const method_setting& setting, csr_view<const double> A) {
  refuse_first_lost(setting, [A](std::int64_t i) {
    row_magnitudes m;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) m.take(A.val[k], A.col[k] == i);
    return m;
  });
}

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
      const rounding_loss loss = loss_in<T>(cpu, {A.val, A.nonzeros}, setting.options.names.matrix);
      if (loss.underflows) refuse_lost_rows(setting, A);
      placed.rounded = loss.rounds;
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
      bool underflows = false;
      for_columns(A, [&](view<const double> values, std::int64_t at) {
        const rounding_loss loss = loss_in<T>(cpu, values, setting.options.names.matrix);
        placed.rounded = placed.rounded || loss.rounds;
        underflows = underflows || loss.underflows;
        round_to<T, double>(cpu, values, placed.own.data() + at);
      });
      if (underflows)
        refuse_first_lost(setting, [A](std::int64_t i) {
          row_magnitudes m;
          for (std::int64_t j = 0; j < A.cols; ++j) m.take(A(i, j), i == j);
          return m;
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
