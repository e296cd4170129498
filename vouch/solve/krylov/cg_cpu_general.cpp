// Conjugate gradients on the CPU for any operator and preconditioner: they bring their own threads, so the
// vector sweeps between them are parallel loops of their own. Chunk sums in fixed order, as in cg_cpu.cpp.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/solve/krylov/cg_engines.hpp>

namespace vouch {
namespace {

constexpr std::int64_t chunk = 4096;

// In eight sums, which are then added in order.
#define VOUCH_DOT_OF_CHUNK(T)                                                     \
  VOUCH_SIMD_CLONES double dot_of_chunk(std::int64_t n, const T* a, const T* b) { \
    constexpr std::int64_t lanes = 8;                                             \
    double sums[lanes] = {}, sum = 0;                                             \
    std::int64_t i = 0;                                                           \
    for (; i + lanes <= n; i += lanes)                                            \
      for (std::int64_t l = 0; l < lanes; ++l)                                    \
        sums[l] += static_cast<double>(a[i + l]) * static_cast<double>(b[i + l]); \
    for (std::int64_t l = 0; i + l < n; ++l)                                      \
      sums[l] += static_cast<double>(a[i + l]) * static_cast<double>(b[i + l]);   \
    for (const double l : sums) sum += l;                                         \
    return sum;                                                                   \
  }
VOUCH_DOT_OF_CHUNK(float)
VOUCH_DOT_OF_CHUNK(double)
#undef VOUCH_DOT_OF_CHUNK

template <real T>
class general_engine final : public inner_solver<T> {
 public:
  general_engine(const device& dev, const linear_operator<T>& A, const preconditioner<T>* M)
      : dev_(dev),
        A_(A),
        M_(M),
        n_(A.rows()),
        p_(dev, n_),
        q_(dev, n_),
        z_(dev, M != nullptr ? n_ : 0),
        parts_(static_cast<std::size_t>(ceil_div(n_, chunk))) {}

  std::string name() const override { return "general operator"; }

  inner_outcome run(T* r, T* d, const stopping_rule& rule, iteration_log& log) override {
    zero_bytes(dev_, d, static_cast<std::size_t>(n_) * sizeof(T));
    cg_scalars s;
    // Behind the scalars of an iteration, before its direction.
    const auto state = [&](solver_state& kept) {
      kept.vector("direction of CG", dev_, p_.data(), n_);
      double numbers[] = {s.alpha, s.beta, s.rz, s.rr};
      kept.numbers("numbers of CG", numbers, 4);
      s.alpha = numbers[0], s.beta = numbers[1], s.rz = numbers[2], s.rr = numbers[3];
      kept.integer("iterations of this run", s.iteration);
    };
    bool begun = log.resume(state);
    for (std::int64_t iteration = s.iteration;; ++iteration) {
      const T* z = precondition(r);
      if (!std::exchange(begun, false)) {
        cg_take_direction(s, dot(r, r), M_ != nullptr ? dot(r, z) : dot(r, r), rule, iteration);
        if (iteration > 0) log.step(s.alpha, s.beta);
        const bool wanted = log.note(iteration, std::sqrt(s.rr), d);
        if (s.event != solver_event::running) break;
        if (log.save_due() || (log.keeps() && !wanted)) log.save(iteration, state);
        if (!wanted) s.event = solver_event::interrupted;
      }
      if (s.event != solver_event::running) break;
      turn(iteration == 0, static_cast<T>(s.beta), z);
      A_.apply(dev_, p_, q_);
      cg_take_step(s, dot(p_.data(), q_.data()));
      if (s.event != solver_event::running) break;
      update(static_cast<T>(s.alpha), r, d);
    }
    return {s.event, s.iteration, s.rr};
  }
  bool saves() const override { return true; }

 private:
  template <class Body>
  void for_chunks(Body body) const {
    const auto chunks = static_cast<std::int64_t>(parts_.size());
    const int threads = chunks < 8 ? 1 : dev_.threads();
#pragma omp parallel for firstprivate(ieee) num_threads(threads) schedule(static) if (threads > 1)
    for (std::int64_t c = 0; c < chunks; ++c) body(c, c * chunk, std::min(n_, (c + 1) * chunk));
  }

  double dot(const T* a, const T* b) {
    for_chunks([&](std::int64_t c, std::int64_t first, std::int64_t last) {
      parts_[static_cast<std::size_t>(c)] = dot_of_chunk(last - first, a + first, b + first);
    });
    double sum = 0;
    for (const double part : parts_) sum += part;
    return sum;
  }

  const T* precondition(const T* r) {
    if (M_ == nullptr) return r;
    M_->apply(dev_, {r, n_}, z_);
    return z_.data();
  }

  void turn(bool first, T beta, const T* z) {
    for_chunks([&](std::int64_t, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) p_[i] = first ? z[i] : z[i] + beta * p_[i];
    });
  }

  void update(T alpha, T* r, T* d) {
    for_chunks([&](std::int64_t, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        d[i] += alpha * p_[i];
        r[i] -= alpha * q_[i];
      }
    });
  }

  device dev_;
  const linear_operator<T>& A_;
  const preconditioner<T>* M_;
  std::int64_t n_;
  array<T> p_, q_, z_;
  std::vector<double> parts_;
};

}  // namespace

template <real T>
std::unique_ptr<inner_solver<T>> cg_cpu_general(const device& dev, const linear_operator<T>& A,
                                                const preconditioner<T>* M) {
  return std::make_unique<general_engine<T>>(dev, A, M);
}

template std::unique_ptr<inner_solver<float>> cg_cpu_general(const device&, const linear_operator<float>&,
                                                             const preconditioner<float>*);
template std::unique_ptr<inner_solver<double>> cg_cpu_general(const device&, const linear_operator<double>&,
                                                              const preconditioner<double>*);

}  // namespace vouch
