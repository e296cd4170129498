// vouch/solve/krylov/tried_preconditioner.hpp -- a preconditioner of many solves, and what trying it has shown; private.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/solve/loop/operator.hpp>

namespace vouch {

/// What is asked of a preconditioner for complex numbers.
enum class trait { linear, symmetric };

/// M, which outlives it, with answers that are found once. For one solve at a time.
template <real T>
class tried_preconditioner final : public preconditioner<T> {
 public:
  explicit tried_preconditioner(const preconditioner<T>& M) : M_(M) {}
  void apply(const device& dev, view<const T> r, view<T> z) const override { M_.apply(dev, r, z); }
  std::string name() const override { return M_.name(); }
  std::int64_t rows() const override { return M_.rows(); }
  const T* diagonal() const override { return M_.diagonal(); }

  template <class Trial>
  bool has(trait which, const Trial& trial) const {
    std::optional<bool>& answer = answers_[static_cast<std::size_t>(which)];
    if (!answer) answer = trial();
    return *answer;
  }

 private:
  const preconditioner<T>& M_;
  mutable std::array<std::optional<bool>, 2> answers_;
};

/// What trial() says of M; once where M keeps answers.
template <real T, class Trial>
bool has(const preconditioner<T>& M, trait which, const Trial& trial) {
  const auto* const keeps = dynamic_cast<const tried_preconditioner<T>*>(&M);
  return keeps != nullptr ? keeps->has(which, trial) : trial();
}

}  // namespace vouch
