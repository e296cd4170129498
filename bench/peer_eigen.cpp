// Compiled by itself: Eigen's headers are heavy, and its warnings are not ours.
#if VOUCH_HAVE_EIGEN
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#endif

#include <algorithm>
#include <limits>

#include <vouch/core/stopwatch.hpp>

#include "peers.hpp"

namespace vouch::bench {

#if VOUCH_HAVE_EIGEN
template <real T>
std::optional<peer_answer<T>> eigen_cg(csr_view<const T> A, std::span<const T> b, int threads,
                                       const peer_task& task) {
  using matrix = Eigen::SparseMatrix<T, Eigen::RowMajor, int>;
  using vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (A.nonzeros > most || A.rows > most) return std::nullopt;
  Eigen::setNbThreads(threads);
  matrix M(static_cast<Eigen::Index>(A.rows), static_cast<Eigen::Index>(A.cols));
  M.resizeNonZeros(static_cast<Eigen::Index>(A.nonzeros));
  std::copy(A.row_ptr, A.row_ptr + A.rows + 1, M.outerIndexPtr());
  std::copy(A.col, A.col + A.nonzeros, M.innerIndexPtr());
  std::copy(A.val, A.val + A.nonzeros, M.valuePtr());

  Eigen::ConjugateGradient<matrix, Eigen::Lower | Eigen::Upper, Eigen::IdentityPreconditioner> cg(M);
  cg.setTolerance(static_cast<T>(task.rtol));
  cg.setMaxIterations(static_cast<Eigen::Index>(task.limit));
  const Eigen::Map<const vector> rhs(b.data(), static_cast<Eigen::Index>(b.size()));
  vector x(rhs.size());
  peer_answer<T> answer;
  answer.seconds = std::numeric_limits<double>::max();
  int run = 0;
  do {
    const stopwatch clock;
    x = cg.solve(rhs);
    const double seconds = clock.seconds();
    answer.seconds = std::min(answer.seconds, seconds);
  } while (++run < task.repeats);
  answer.iterations = cg.iterations();
  answer.x.assign(x.data(), x.data() + x.size());
  return answer;
}
#else
template <real T>
std::optional<peer_answer<T>> eigen_cg(csr_view<const T>, std::span<const T>, int, const peer_task&) {
  return std::nullopt;
}
#endif

template std::optional<peer_answer<float>> eigen_cg(csr_view<const float>, std::span<const float>, int,
                                                    const peer_task&);
template std::optional<peer_answer<double>> eigen_cg(csr_view<const double>, std::span<const double>, int,
                                                     const peer_task&);

}  // namespace vouch::bench
