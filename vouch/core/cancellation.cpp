#include <vouch/core/cancellation.hpp>

#include <utility>

namespace vouch {
namespace {

thread_local const cancellation* heard_here = nullptr;

}  // namespace

cancellation_scope::cancellation_scope(const cancellation& request) noexcept
    : before_(std::exchange(heard_here, &request)) {}

cancellation_scope::cancellation_scope(const cancellation_probe& heard) noexcept
    : before_(std::exchange(heard_here, heard.request_)) {}

cancellation_scope::~cancellation_scope() { heard_here = before_; }

cancellation_probe::cancellation_probe() noexcept : request_(heard_here) {}

void cancellation_probe::stop() { throw cancelled("interrupted before it was done"); }

}  // namespace vouch
