#include <vouch/distributed/communicator.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>

namespace vouch {
namespace {

enum class failure : std::int32_t { none, bad_input, bad_shape, no_means, cancelled };

struct outcome {
  failure kind = failure::none;
  std::string what, hint;
};

outcome outcome_of(const std::function<void()>& work) {
  try {
    work();
    return {};
  } catch (const cancelled& e) {
    return {failure::cancelled, e.what(), ""};
  } catch (const file_error& e) {
    return {failure::no_means, e.what(), e.hint()};
  } catch (const out_of_memory& e) {
    return {failure::no_means, e.what(), e.hint()};
  } catch (const shape_error& e) {
    return {failure::bad_shape, e.what(), e.hint()};
  } catch (const error& e) {
    return {failure::bad_input, e.what(), e.hint()};
  } catch (const std::bad_alloc&) {
    return {failure::no_means, "out of memory on the host", ""};
  } catch (const std::exception& e) {
    return {failure::no_means, e.what(), ""};
  }
}

std::vector<std::string> gather_texts(communicator& ranks, const std::string& mine) {
  const std::vector<std::int64_t> sizes = gather(ranks, static_cast<std::int64_t>(mine.size()));
  const std::vector<char> all = gather_all<char>(ranks, mine);
  std::vector<std::string> texts;
  auto at = all.begin();
  for (const std::int64_t size : sizes) {
    texts.emplace_back(at, at + size);
    at += size;
  }
  return texts;
}

}  // namespace

void agree(communicator& ranks, const std::function<void()>& work) {
  const outcome mine = outcome_of(work);
  const std::vector<failure> kinds = gather(ranks, mine.kind);
  const auto first = std::find_if(kinds.begin(), kinds.end(), [](failure f) { return f != failure::none; });
  if (first == kinds.end()) return;
  const auto rank = static_cast<std::size_t>(first - kinds.begin());
  const std::vector<std::string> texts = gather_texts(ranks, mine.what), hints = gather_texts(ranks, mine.hint);
  const bool same =
      std::all_of(texts.begin(), texts.end(), [&](const std::string& t) { return t == texts[rank]; });
  const std::string what = same ? texts[rank] : "rank " + std::to_string(rank) + ": " + texts[rank];
  if (*first == failure::cancelled) throw cancelled(what);
  if (*first == failure::no_means) throw file_error(what, hints[rank]);
  if (*first == failure::bad_shape) throw shape_error(what, hints[rank]);
  throw value_error(what, hints[rank]);
}

void share(communicator& ranks, std::string& text, int from) {
  auto size = static_cast<std::int64_t>(text.size());
  ranks.broadcast(&size, sizeof size, from);
  text.resize(static_cast<std::size_t>(size));
  ranks.broadcast(text.data(), size, from);
}

void require_same(communicator& ranks, const void* data, std::int64_t bytes, const char* what,
                  const char* hint) {
  const std::vector<std::string> all =
      gather_texts(ranks, std::string(static_cast<const char*>(data), static_cast<std::size_t>(bytes)));
  for (std::size_t rank = 1; rank < all.size(); ++rank)
    if (all[rank] != all[0])
      throw value_error("rank " + std::to_string(rank) + " has other " + what + " than rank 0", hint);
}

}  // namespace vouch
