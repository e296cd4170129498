// A file begins with eight bytes of its name and its version. Then come parts: kind and length of the name in 32 bits
// each, the number of values in 64, the name and the values, both filled up to eight bytes. Vectors are those of the whole
// system, in the order of its rows. The last part has no name and one value, the CRC-32 of all bytes before that value.
#include <vouch/solve/loop/checkpoint.hpp>

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

#include <vouch/core/error.hpp>
#include <vouch/core/memory.hpp>
#include <vouch/text/file.hpp>

namespace vouch {
namespace {

static_assert(std::endian::native == std::endian::little, "files hold numbers as they are in memory");

constexpr std::string_view magic{"vouchsav", 8};
constexpr std::uint64_t version = 1;
constexpr std::size_t unit = 8;  // parts begin at multiples of it

constexpr std::size_t whole_units(std::size_t bytes) { return (bytes + unit - 1) / unit * unit; }

std::size_t size_of(solver_state::kind type) {
  return type == solver_state::kind::text ? 1 : type == solver_state::kind::singles ? sizeof(float) : 8;
}

struct part_head {
  solver_state::kind type;
  std::uint32_t name;
  std::uint64_t count;
};
static_assert(sizeof(part_head) == 2 * unit);

template <class Value>
std::string_view bytes_of(const Value& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

constexpr std::int64_t piece = std::int64_t{4} << 20;

// A process that shares its system with none.
class single_process final : public checkpoint_team {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void together(const std::function<void()>& work) override { work(); }
  std::vector<std::int64_t> gather(std::int64_t mine) override { return {mine}; }
  void share(std::string&) override {}
};
checkpoint_team& alone() {
  static single_process self;
  return self;
}

// Of `mine` in a team: what all have, and those before.
struct share_of_team {
  std::int64_t all = 0, before = 0;
  explicit share_of_team(std::int64_t own) : all(own) {}  // which all have
  share_of_team(checkpoint_team& team, std::int64_t mine) {
    const std::vector<std::int64_t> counts = team.gather(mine);
    for (int rank = 0; rank < team.size(); ++rank) {
      all += counts[static_cast<std::size_t>(rank)];
      if (rank < team.rank()) before += counts[static_cast<std::size_t>(rank)];
    }
  }
};

uLong sum_of(std::string_view bytes, uLong before = 0) {
  if (bytes.empty()) return before;  // the sum of nothing at no address would be that of no bytes so far
  return crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
}

// That of `before`, then every process's bytes, one process after another.
uLong sum_of_team(checkpoint_team& team, uLong before, uLong mine, std::int64_t bytes) {
  const std::vector<std::int64_t> sums = team.gather(static_cast<std::int64_t>(mine)),
                                  lengths = team.gather(bytes);
  for (std::size_t k = 0; k < sums.size(); ++k)
    before = crc32_combine(before, static_cast<uLong>(sums[k]), lengths[k]);
  return before;
}

// Process 0 makes the file and writes what all have the same; elements each writes at their place. What fails is said
// at the end: until then all go through the same steps.
class file_writer final : public solver_state {
 public:
  file_writer(const std::string& path, checkpoint_team& team) : path_(path), team_(team) {
    std::string unfinished;
    team.together([&] {
      if (team.rank() != 0) return;
      file_.emplace(path);
      unfinished = file_->unfinished_name();
      if (unfinished.empty() && team.size() > 1)
        throw value_error("'" + path + "' is no regular file", "several processes write to it at once");
    });
    team.share(unfinished);
    team.together([&] {
      if (team.rank() != 0) part_.emplace(unfinished);
    });
    put(magic);
    put(bytes_of(version));
  }
  bool loads() const override { return false; }

  void text(const std::string& name, const std::string& value) {
    begin(name.c_str(), kind::text, static_cast<std::int64_t>(value.size()));
    put(value);
    fill_up(value.size());
  }
  void commit() {
    begin("", kind::end, 1);
    const std::uint64_t sum = sum_;
    put(bytes_of(sum));
    team_.together([&] {
      if (failed_) std::rethrow_exception(failed_);
      if (part_) part_->to_disk();
    });
    team_.together([&] {
      if (file_) file_->commit_to_disk();
    });
  }

 private:
  void values(const char* name, kind type, void* data, std::int64_t count) override {
    const std::size_t bytes = static_cast<std::size_t>(count) * size_of(type);
    begin(name, type, count);
    put({static_cast<const char*>(data), bytes});
    fill_up(bytes);
  }
  void elements(const char* name, kind type, const device& dev, void* data, std::int64_t count) override {
    const share_of_team share(team_, count);
    const auto each = static_cast<std::int64_t>(size_of(type)), bytes = count * each;
    begin(name, type, share.all);
    const uLong mine = put_own(dev, static_cast<const char*>(data), bytes, at_ + share.before * each);
    sum_ = sum_of_team(team_, sum_, mine, bytes);
    at_ += share.all * each;
    if (file_ && share.all > count) attempt([&] { file_->skip((share.all - count) * each); });
    fill_up(static_cast<std::size_t>(share.all * each));
  }
  std::int64_t length(const char*, std::int64_t own) override { return own; }
  const std::string& file() const override { return path_; }

  void begin(const char* name, kind type, std::int64_t count) {
    const std::string_view called(name);
    put(bytes_of(
        part_head{type, static_cast<std::uint32_t>(called.size()), static_cast<std::uint64_t>(count)}));
    put(called);
    fill_up(called.size());
  }
  void fill_up(std::size_t bytes) {
    constexpr std::array<char, unit> zeros{};
    put({zeros.data(), whole_units(bytes) - bytes});
  }
  // What all processes have.
  void put(std::string_view bytes) {
    sum_ = sum_of(bytes, sum_);
    at_ += static_cast<std::int64_t>(bytes.size());
    if (file_) attempt([&] { file_->write(bytes); });
  }
  // Their sum.
  uLong put_own(const device& dev, const char* data, std::int64_t bytes, std::int64_t offset) {
    uLong sum = 0;
    std::vector<char> copy(dev.is_cuda() ? static_cast<std::size_t>(std::min(piece, bytes)) : 0);
    for (std::int64_t done = 0; done < bytes; done += piece) {
      std::string_view now(data + done, static_cast<std::size_t>(std::min(piece, bytes - done)));
      if (dev.is_cuda()) {
        copy_bytes(copy.data(), device::cpu(1), now.data(), dev, now.size());
        now = {copy.data(), now.size()};
      }
      sum = sum_of(now, sum);
      attempt([&] {
        if (file_)
          file_->write(now);
        else
          part_->write_at(offset + done, now);
      });
    }
    return sum;
  }
  template <class Work>
  void attempt(const Work& work) noexcept {
    if (failed_) return;
    try {
      work();
    } catch (...) {
      failed_ = std::current_exception();
    }
  }

  std::string path_;
  checkpoint_team& team_;
  std::optional<atomic_file> file_;  // of process 0
  std::optional<file_part> part_;    // of the others
  uLong sum_ = 0;                    // of all bytes so far
  std::int64_t at_ = 0;              // how many there are
  std::exception_ptr failed_;
};

// A file of which the sum is right.
class file_reader final : public solver_state {
 public:
  file_reader(const std::string& path, checkpoint_team& team) : path_(path), team_(team) {
    team.together([&] { open(); });
    check_sum();
    team.together([&] { find_parts(); });
  }
  bool loads() const override { return true; }

  // Those at the beginning.
  std::map<std::string, std::string> texts() {
    std::map<std::string, std::string> all;
    team_.together([&] {
      for (; next().type == kind::text; ++next_) {
        std::string value(static_cast<std::size_t>(next().count), ' ');
        read(next().offset, value.data(), next().count);
        all[next().name] = std::move(value);
      }
    });
    return all;
  }

 private:
  struct part {
    kind type;
    std::string name;
    std::int64_t count, offset;
  };
  static constexpr auto head_bytes = static_cast<std::int64_t>(sizeof(part_head));
  static constexpr auto unit_bytes = static_cast<std::int64_t>(unit);

  [[noreturn]] void refuse(const std::string& why, const std::string& hint = {}) const {
    throw parse_error(path_, 0, 0, why, hint);
  }
  [[noreturn]] void damaged() const {
    refuse("a checkpoint that is cut short or damaged: its check sum is another",
           "begin anew, or resume from an earlier one");
  }

  // What is no checkpoint is not read to its end.
  void open() {
    file_.emplace(path_);
    if (file_->peek(magic.size()) != magic)
      refuse("no checkpoint of vouch: it does not begin as one", "--checkpoint of vouch solve writes them");
    if (!file_->random_access())
      refuse("a checkpoint, but compressed or from a pipe",
             "it is read at several places: give the file itself");
    bytes_ = file_->most_bytes();
    if (bytes_ < 2 * unit_bytes + head_bytes + unit_bytes || bytes_ % unit_bytes != 0) damaged();
    read(bytes_ - unit_bytes, reinterpret_cast<char*>(&sum_), unit_bytes);
  }

  // Each process reads its share.
  void check_sum() {
    const auto require_same = [this](std::int64_t mine) {
      for (const std::int64_t theirs : team_.gather(mine))
        if (theirs != mine) throw_different();
    };
    require_same(bytes_);
    require_same(static_cast<std::int64_t>(sum_));
    const std::int64_t units = bytes_ / unit_bytes - 1, rank = team_.rank(), size = team_.size();
    const std::int64_t begin = units * rank / size * unit_bytes,
                       length = units * (rank + 1) / size * unit_bytes - begin;
    uLong mine = 0;
    team_.together([&] {
      std::string bytes;
      for (std::int64_t done = 0; done < length; done += piece) {
        bytes.resize(static_cast<std::size_t>(std::min(piece, length - done)));
        read(begin + done, bytes.data(), static_cast<std::int64_t>(bytes.size()));
        mine = sum_of(bytes, mine);
      }
    });
    if (sum_of_team(team_, 0, mine, length) != sum_) damaged();
  }
  [[noreturn]] void throw_different() const {
    throw value_error("'" + path_ + "' is not the same checkpoint in all processes",
                      "all must see the same file");
  }

  void find_parts() {
    std::uint64_t found = 0;
    read(unit_bytes, reinterpret_cast<char*>(&found), unit_bytes);
    if (found != version)
      refuse(
          "a checkpoint in version " + std::to_string(found) + " of the format, not " + std::to_string(version),
          "resume it with the vouch that wrote it");
    for (std::int64_t at = 2 * unit_bytes; parts_.empty() || parts_.back().type != kind::end;)
      at = take_part(at);
  }
  // Where the next one begins.
  std::int64_t take_part(std::int64_t at) {
    part_head head{};
    if (bytes_ - at < head_bytes) damaged();
    read(at, reinterpret_cast<char*>(&head), head_bytes);
    at += head_bytes;
    if (head.type > kind::singles || head.name > bytes_ - at) damaged();
    std::string name(head.name, ' ');
    read(at, name.data(), head.name);
    at += static_cast<std::int64_t>(whole_units(head.name));
    if (at > bytes_ || head.count > static_cast<std::uint64_t>(bytes_ - at) / size_of(head.type)) damaged();
    parts_.push_back({head.type, std::move(name), static_cast<std::int64_t>(head.count), at});
    at += static_cast<std::int64_t>(whole_units(head.count * size_of(head.type)));
    if (at > bytes_ || (head.type == kind::end && at != bytes_)) damaged();
    return at;
  }

  void read(std::int64_t offset, char* to, std::int64_t bytes) const {
    if (file_->read_at(offset, to, static_cast<std::size_t>(bytes)) != static_cast<std::size_t>(bytes))
      damaged();
  }
  const part& next() const { return parts_[next_]; }

  // The next part, of which this process has its share.
  void take(const char* name, kind type, const device& dev, void* data, std::int64_t count,
            const share_of_team& share) {
    const part& p = next();
    if (p.name != name || p.type != type || p.count != share.all)
      refuse("a checkpoint of another solve: there are " + std::to_string(p.count) + " values of '" + p.name +
                 "' where " + std::to_string(share.all) + " of '" + name + "' belong",
             "resume it with the matrix, the method and the precision that wrote it");
    const auto each = static_cast<std::int64_t>(size_of(type));
    team_.together(
        [&] { read_to(p.offset + share.before * each, dev, static_cast<char*>(data), count * each); });
    ++next_;
  }
  void read_to(std::int64_t offset, const device& dev, char* data, std::int64_t bytes) const {
    if (!dev.is_cuda()) return read(offset, data, bytes);
    std::vector<char> copy(static_cast<std::size_t>(bytes));
    read(offset, copy.data(), bytes);
    copy_bytes(data, dev, copy.data(), device::cpu(1), copy.size());
  }

  void values(const char* name, kind type, void* data, std::int64_t count) override {
    take(name, type, device::cpu(1), data, count, share_of_team(count));
  }
  void elements(const char* name, kind type, const device& dev, void* data, std::int64_t count) override {
    take(name, type, dev, data, count, {team_, count});
  }
  // Where the next part has another name values() says so.
  std::int64_t length(const char*, std::int64_t) override { return next().count; }
  const std::string& file() const override { return path_; }

  std::string path_;
  checkpoint_team& team_;
  std::optional<input_file> file_;
  std::int64_t bytes_ = 0;
  std::uint64_t sum_ = 0;  // as the file has it
  std::vector<part> parts_;
  std::size_t next_ = 0;
};

thread_local checkpoint* kept_here = nullptr;

}  // namespace

void solver_state::integer(const char* name, std::int64_t& value, std::int64_t most, std::int64_t least) {
  values(name, kind::integers, &value, 1);
  if (loads() && (value < least || value > most))
    throw parse_error(file(), 0, 0,
                      "'" + std::string(name) + "' is " + std::to_string(value) + ", not " +
                          std::to_string(least) + " to " + std::to_string(most),
                      "begin anew, or resume from another checkpoint");
}

checkpoint::checkpoint(std::string file, double seconds, listener heard, checkpoint_team* team)
    : team_(team != nullptr ? team : &alone()),
      file_(std::move(file)),
      seconds_(seconds),
      heard_(std::move(heard)) {
  constexpr double most = 1e9;  // a time point beyond would overflow
  if (!(seconds >= 0)) throw value_error("the seconds between two checkpoints are negative or no number");
  seconds_ = std::min(seconds, most);
  begin_to_wait();
}

checkpoint checkpoint::resumed(const std::string& from, std::string file, double seconds, listener heard,
                               checkpoint_team* team) {
  checkpoint kept(std::move(file), seconds, std::move(heard), team);
  auto reader = std::make_unique<file_reader>(from, *kept.team_);
  kept.facts_read_ = reader->texts();
  reader->integer("iteration", kept.iteration_);
  kept.source_ = std::move(reader);
  return kept;
}

checkpoint::~checkpoint() = default;
checkpoint::checkpoint(checkpoint&&) noexcept = default;
checkpoint& checkpoint::operator=(checkpoint&&) noexcept = default;

const std::string& checkpoint::fact(const std::string& name) const {
  static const std::string nothing;
  const auto found = facts_read_.find(name);
  return found == facts_read_.end() ? nothing : found->second;
}

bool checkpoint::state_fact(const std::string& name, const std::string& text) {
  facts_[name] = text;
  const auto found = facts_read_.find(name);
  return !waits() || found == facts_read_.end() || found->second == text;
}

void checkpoint::save(std::int64_t iteration, const std::function<void(solver_state&)>& state) noexcept {
  if (file_.empty()) return;
  checkpoint_note note;
  try {
    note.file = file_;
    note.iteration = iteration;
    file_writer writer(file_, *team_);
    for (const auto& [name, text] : facts_) writer.text(name, text);
    writer.integer("iteration", iteration);
    state(writer);
    writer.commit();
    iteration_ = iteration;
    ++written_;
  } catch (const error& e) {
    note.failure = e.what();
  } catch (const std::exception& e) {
    if (team_->size() > 1) std::terminate();  // the others do not know of it, and wait
    note.failure = e.what();
  }
  if (heard_) heard_(note);
  begin_to_wait();
}

void checkpoint::begin_to_wait() {
  next_ = clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds_));
}

checkpoint_scope::checkpoint_scope(checkpoint& kept) noexcept : before_(std::exchange(kept_here, &kept)) {}
checkpoint_scope::checkpoint_scope() noexcept : before_(std::exchange(kept_here, nullptr)) {}
checkpoint_scope::~checkpoint_scope() { kept_here = before_; }
checkpoint* checkpoint_scope::here() noexcept { return kept_here; }

}  // namespace vouch
