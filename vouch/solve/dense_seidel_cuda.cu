// Plans and runs the kernel of dense_seidel.cuh.
#include <cuda_runtime.h>

#include <string>

#include <vouch/core/error.hpp>
#include <vouch/solve/dense_engine_cuda.cuh>
#include <vouch/solve/dense_seidel.cuh>
#include <vouch/solve/dense_seidel_blocks.cuh>

namespace vouch {
namespace {

using namespace seidel_kernel;

// How the kernel uses the GPU.
struct plan {
  std::int64_t blocks = 0;
  int teams = 1;
  int stage_pieces = 2;
  int stages = 0;
  bool resident = false;
  bool columns_shared = true;
  bool inverse_shared = true;
  std::size_t bytes = 0;
};

template <class T>
auto kernel_of(int depth) {
  return depth > 0 ? seidel_sweeps<T, true> : seidel_sweeps<T, false>;
}

template <class T>
plan make_plan(const device& dev, std::int64_t n, int depth) {
  constexpr std::int64_t rows = step_rows<T>;
  plan p;
  const std::int64_t processors = dev.processors();
  if (processors < std::min(rows, n))
    throw value_error("Gauss-Seidel on a GPU needs " + std::to_string(rows) +
                          " multiprocessors, this one has " + std::to_string(processors),
                      "take --device cpu");
  // Every block has a row in some step, every team a full one.
  p.teams = static_cast<int>(std::max<std::int64_t>(1, std::min(processors, n) / rows));
  p.blocks = p.teams == 1 ? std::min(rows, n) : p.teams * rows;
  const std::int64_t room = dense_engine::shared_room(dev, kernel_of<T>(depth), "seidel_sweeps");
  const std::int64_t own = ceil_div(steps_of<T>(n), p.teams);
  for (const auto& [inverse, columns, pieces] :
       {std::tuple{true, true, 4}, std::tuple{false, true, 4}, std::tuple{false, false, 4}}) {
    p.inverse_shared = inverse;
    p.columns_shared = columns;
    p.stage_pieces = std::min(pieces, pieces_of<T>(n));
    const std::int64_t tiles = own * row_stages<T>(n, p.stage_pieces);
    const std::int64_t a_stage =
        p.stage_pieces * piece_bytes + 2 * static_cast<std::int64_t>(sizeof(std::uint64_t));
    const auto fixed =
        static_cast<std::int64_t>(shared_bytes<T>(n, 0, p.stage_pieces, columns, inverse) + stage_ring::align);
    p.stages = static_cast<int>(std::clamp<std::int64_t>((room - fixed) / a_stage, 0, tiles));
    p.resident = p.stages == tiles;
    if (p.resident || p.stages * a_stage >= dense_engine::least_ring) break;
  }
  p.bytes = shared_bytes<T>(n, p.stages, p.stage_pieces, p.columns_shared, p.inverse_shared);
  return p;
}

template <class T>
class seidel_engine final : public cg_engine<T> {
 public:
  seidel_engine(const device& dev, const detail::aligned_rows<T>& A, const sweep_rule& rule, bool by_residual,
                int depth)
      : dev_(dev),
        A_(A),
        by_residual_(by_residual),
        plan_(make_plan<T>(dev, A.padded, depth)),
        r_(dev, A.n, A.padded),
        d_(dev, A.n, A.padded),
        weight_(dev, A.padded),
        columns_(dev, plan_.columns_shared ? 0 : plan_.blocks * pieces_of<T>(A.padded) * piece_columns<T>),
        forward_change_(dev, rule.order == sweep_order::symmetric ? 2 * A.padded : 0),
        words_(array<std::uint64_t>::zeros(dev, (3 * A.padded * flagged_words<T>)+2)),
        mixing_(dev, depth > 0
                         ? plan_.blocks * mixing_vectors(depth) * pieces_of<T>(A.padded) * piece_columns<T>
                         : 0),
        mixing_scratch_(dev, depth > 0 ? plan_.blocks : 0),
        residual_(dev, A.n),
        unused_(dev, 2 * A.n),
        work_(detail::make_workspace(dev, A)),
        box_(borrow_mailbox()) {
    dense_engine::make_relaxation<T>(dev, A, rule.omega, nullptr, weight_.data());
    in_.a = A.data;
    in_.n = A.padded;
    in_.ld = A.ld;
    in_.weight = weight_.data();
    in_.columns = columns_.data();
    in_.forward_change = forward_change_.data();
    in_.met = words_.data();
    in_.delta = in_.met + A.padded * flagged_words<T>;
    in_.wish = in_.delta + 2 * A.padded * flagged_words<T>;
    in_.depth = depth;
    in_.mixing = mixing_.data();
    in_.mixing_scratch = mixing_scratch_.data();
    in_.box = box_.get();
    in_.look = dense_engine::iterations_between_looks(A.padded * A.ld * static_cast<std::int64_t>(sizeof(T)));
    in_.teams = plan_.teams;
    in_.order = rule.order;
    in_.stages = plan_.stages;
    in_.stage_pieces = plan_.stage_pieces;
    in_.resident = plan_.resident;
    in_.kept = dense_engine::stages_in_cache(dev, plan_.blocks, plan_.stage_pieces * piece_bytes);
    in_.inverse_shared = plan_.inverse_shared;
    for (const int backward : {0, 1})
      if (rule.order == sweep_order::symmetric || (rule.order == sweep_order::backward) == (backward == 1))
        invert(backward);
  }

  std::string name() const override {
    return std::to_string(plan_.blocks) + " blocks of " + std::to_string(all_threads) +
           " threads, dense by rows, steps of " + std::to_string(step_rows<T>) +
           (plan_.resident ? ", in shared memory" : "");
  }

  cg_outcome run(T* r, T* d, const cg_rule& rule, cg_log& log) override {
    zero_bytes(dev_, d, static_cast<std::size_t>(A_.n) * sizeof(T));
    if (rule.limit <= 0) return {cg_event::limit, 0, look(r, d)};
    r_.bring(r);
    d_.bring(d);
    double trigger = residual_trigger<T>(rule, by_residual_);
    const double target = trigger;
    in_.r = r_.of(r);
    in_.d = d_.of(d);
    in_.first = 0;
    box_->progress = 0;
    box_->stop = 0;
    mail_reader reader(*box_, log);
    for (;;) {
      in_.progress = dense_engine::progress_of<T>(rule, trigger, by_residual_, A_.n);
      in_.progress.best_at = in_.first;
      launch(dev_, "seidel_sweeps", {plan_.blocks, all_threads, plan_.bytes, 1, true}, kernel_of<T>(in_.depth),
             in_);
      d_.take_back(d);
      follow(dev_, {&reader, 1});
      const std::int64_t done = box_->iterations + 1;
      in_.epoch += static_cast<std::uint32_t>(done - in_.first) * (in_.order == sweep_order::symmetric ? 2 : 1);
      in_.first = done;
      const double met = box_->last_squared;
      cg_outcome outcome{static_cast<cg_event>(box_->event), done, met, box_->mean_change};
      if (outcome.event != cg_event::reached || !(met <= trigger)) return outcome;
      // The sweep met little enough; the residual itself decides.
      outcome.residual_squared = look(r, d);
      if (outcome.residual_squared <= target) return outcome;
      if (done >= rule.limit) {
        outcome.event = cg_event::limit;
        return outcome;
      }
      const double missing = met > 0 ? target * (met / outcome.residual_squared) : target;
      trigger = 0.81 * std::min(trigger, missing);
    }
  }

 private:
  double look(const T* r, const T* d) {
    const detail::row_results<T> rows{residual_.data(), unused_.data(), unused_.data() + A_.n};
    const double norm = detail::residual_pass<T>(dev_, A_, r, d, nullptr, rows, work_).facts().norm2;
    return norm * norm;
  }

  void invert(int backward) {
    const std::int64_t steps = steps_of<T>(A_.padded), elements = steps * lead_elements<T>;
    inverse_[backward] = array<T>::zeros(dev_, elements);
    coupling_[backward] = array<T>::zeros(dev_, elements);
    in_.inverse[backward] = inverse_[backward].data();
    in_.coupling[backward] = coupling_[backward].data();
    launch(dev_, "invert_steps", {steps, threads, invert_bytes<T>}, invert_steps<T>, A_.data, A_.padded, A_.ld,
           static_cast<const T*>(weight_.data()), backward == 0 ? 1 : 0, inverse_[backward].data(),
           coupling_[backward].data());
  }

  device dev_;
  const detail::aligned_rows<T>& A_;
  bool by_residual_;
  plan plan_;
  dense_engine::padded_vector<T> r_, d_;
  array<T> weight_, columns_, forward_change_;
  array<std::uint64_t> words_;
  array<T> mixing_;
  array<mixing_numbers> mixing_scratch_;
  array<T> residual_;
  array<double> unused_;
  detail::pass_workspace work_;
  array<T> inverse_[2], coupling_[2];
  std::shared_ptr<device_mailbox> box_;
  task<T> in_;
};

}  // namespace

template <real T>
std::unique_ptr<cg_engine<T>> dense_seidel_cuda(const device& dev, const detail::aligned_rows<T>& A,
                                                const sweep_rule& rule, bool by_residual,
                                                const acceleration& accelerate) {
  return std::make_unique<seidel_engine<T>>(dev, A, rule, by_residual, accelerate.anderson);
}

template std::unique_ptr<cg_engine<float>> dense_seidel_cuda(const device&, const detail::aligned_rows<float>&,
                                                             const sweep_rule&, bool, const acceleration&);
template std::unique_ptr<cg_engine<double>> dense_seidel_cuda(const device&,
                                                              const detail::aligned_rows<double>&,
                                                              const sweep_rule&, bool, const acceleration&);

}  // namespace vouch
