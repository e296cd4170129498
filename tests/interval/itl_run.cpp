#include "interval/itl_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>

namespace vouch::testing {
namespace {

constexpr const char* overlap_names[] = {
    "bothEmpty", "firstEmpty", "secondEmpty", "before",   "meets",     "overlaps",     "starts", "containedBy",
    "finishes",  "equals",     "finishedBy",  "contains", "startedBy", "overlappedBy", "metBy",  "after"};
constexpr const char* decoration_names[] = {"ill", "trv", "def", "dac", "com"};

std::optional<itl_operation> shared_operation(const std::string& name) {
  const auto* const found = std::find(std::begin(itl_names), std::end(itl_names), name);
  if (found == std::end(itl_names)) return std::nullopt;
  return static_cast<itl_operation>(found - std::begin(itl_names));
}

bool is_decorated(const itl_value& v) { return v.kind == itl_kind::decorated; }

bool is_decorated(const itl_assertion& a) {
  return std::any_of(a.operands.begin(), a.operands.end(), [](auto& v) { return is_decorated(v); }) ||
         std::any_of(a.results.begin(), a.results.end(), [](auto& v) { return is_decorated(v); });
}

template <class Interval>
Interval as(const itl_value& v) {
  if constexpr (std::is_same_v<Interval, interval<double>>)
    return v.set.bare();
  else
    return v.set;
}

template <class Interval>
itl_case<Interval> to_case(itl_operation operation, const itl_assertion& a) {
  itl_case<Interval> one{operation, {}};
  Interval* const places[] = {&one.operands.x, &one.operands.y, &one.operands.z};
  std::size_t next = 0;
  for (const itl_value& v : a.operands)
    if (v.kind == itl_kind::number)
      one.operands.number = v.number;
    else if (next < std::size(places))
      *places[next++] = as<Interval>(v);
    else
      ADD_FAILURE() << a.place << ": " << a.operation << " with too many operands";
  return one;
}

int word_code(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  const auto* const state = std::find(std::begin(overlap_names), std::end(overlap_names), text);
  if (state != std::end(overlap_names)) return static_cast<int>(state - std::begin(overlap_names));
  return static_cast<int>(itl_decoration(text));
}

// The outcome as the values that the file would name, by the kind of the values it does name.
template <class Interval>
std::vector<itl_value> as_values(const itl_outcome<Interval>& outcome, const itl_assertion& a) {
  std::vector<itl_value> values;
  for (const itl_value& wanted : a.results) {
    const bool first = values.empty();
    if (wanted.kind == itl_kind::number) {
      values.push_back(first ? outcome.number : outcome.second_number);
    } else if (wanted.kind == itl_kind::word) {
      const bool same = word_code(wanted.text) == outcome.word;
      values.push_back({itl_kind::word, same ? wanted.text : std::to_string(outcome.word)});
    } else {
      values.push_back(first ? outcome.first : outcome.second);
    }
  }
  return values;
}

// None of these operations signals.
void judge(const itl_assertion& a, const std::vector<itl_value>& ours, itl_count& count) {
  const bool two = a.operation == "mulRevToPair" || a.operation == "midRad";
  const bool same = a.signal.empty() && a.results.size() == (two ? 2 : 1) &&
                    std::equal(ours.begin(), ours.end(), a.results.begin(), itl_same);
  const bool smallest = !same && !two && itl_is_smallest(a, ours.front());
  ++(same ? count.passed : smallest ? count.narrower : count.failed);
  EXPECT_TRUE(same || smallest) << a.place << ": " << a.operation << itl_show(a.operands) << " ="
                                << itl_show(a.results) << ", ours" << itl_show(ours);
}

template <class Interval>
void check_with(const std::vector<itl_assertion>& assertions, bool decorated,
                const itl_evaluator<Interval>& evaluate, itl_counts& counts) {
  std::vector<itl_case<Interval>> cases;
  std::vector<const itl_assertion*> meant;
  for (const itl_assertion& a : assertions)
    if (const auto operation = shared_operation(a.operation); operation && is_decorated(a) == decorated) {
      cases.push_back(to_case<Interval>(*operation, a));
      meant.push_back(&a);
    }
  const auto outcomes = evaluate(cases);
  for (std::size_t k = 0; k < meant.size(); ++k)
    judge(*meant[k], as_values(outcomes[k], *meant[k]), counts[meant[k]->operation]);
}

void show(std::ostream& out, const interval<double>& x) {
  if (is_empty(x))
    out << "[empty]";
  else
    out << '[' << x.lo() << ", " << x.hi() << ']';
}

}  // namespace

bool itl_same(const itl_value& a, const itl_value& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case itl_kind::number:
      return a.number == b.number || (a.number != a.number && b.number != b.number);
    case itl_kind::bare:
      return a.set.bare() == b.set.bare();
    case itl_kind::decorated:
      return a.set.bare() == b.set.bare() && a.set.decoration_part() == b.set.decoration_part();
    case itl_kind::array:
      return a.array == b.array;
    default:
      return a.text == b.text;
  }
}

std::string itl_show(const std::vector<itl_value>& values) {
  std::ostringstream out;
  out << std::hexfloat;
  for (const itl_value& v : values) {
    out << ' ';
    if (v.kind == itl_kind::number) out << v.number;
    if (v.kind == itl_kind::bare || v.kind == itl_kind::decorated) show(out, v.set.bare());
    if (v.kind == itl_kind::decorated)
      out << '_' << decoration_names[static_cast<int>(v.set.decoration_part())];
    out << v.text;
  }
  return out.str();
}

std::vector<itl_assertion> read_itl_folder(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".itl") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  std::vector<itl_assertion> all;
  for (const std::string& file : files)
    for (itl_assertion& one : parse_itl(file)) all.push_back(std::move(one));
  return all;
}

itl_counts check_shared_operations(const std::vector<itl_assertion>& assertions,
                                   const itl_evaluator<interval<double>>& bare,
                                   const itl_evaluator<decorated_interval<double>>& decorated) {
  itl_counts counts;
  check_with(assertions, false, bare, counts);
  check_with(assertions, true, decorated, counts);
  return counts;
}

std::map<std::string, int> itl_not_run(const std::vector<itl_assertion>& assertions, const itl_counts& counts) {
  std::map<std::string, int> left;
  for (const itl_assertion& a : assertions) ++left[a.operation];
  for (const auto& [name, count] : counts) left[name] -= count.passed + count.narrower + count.failed;
  std::erase_if(left, [](const auto& one) { return one.second == 0; });
  return left;
}

std::string itl_table(const itl_counts& counts) {
  std::ostringstream out;
  itl_count all;
  for (const auto& [name, count] : counts) {
    out << "  " << name << ' ' << count.passed;
    if (count.narrower > 0) out << " (and " << count.narrower << " narrower than in the file)";
    if (count.failed > 0) out << " (failed " << count.failed << ')';
    out << '\n';
    all.passed += count.passed;
    all.narrower += count.narrower;
    all.failed += count.failed;
  }
  out << "  all " << all.passed << " passed, " << all.narrower << " proved narrower, " << all.failed
      << " failed\n";
  return out.str();
}

}  // namespace vouch::testing
