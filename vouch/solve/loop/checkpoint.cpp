// A file begins with eight bytes of its name and its version. Then come parts: kind and length of the name in 32 bits
// each, the number of values in 64, the name and the values, both filled up to eight bytes. Vectors are those of the whole
// system, in the order of its rows. The last part has no name and one value, the CRC-32 of all bytes before that value.
#include <vouch/solve/loop/checkpoint.hpp>

#include <zlib.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <exception>
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

class file_writer final : public solver_state {
 public:
  explicit file_writer(const std::string& path) : file_(path) {
    put(magic);
    put(bytes_of(version));
  }
  bool loads() const override { return false; }

  void text(const std::string& name, const std::string& value) {
    begin(name.c_str(), kind::text, value.size());
    put(value);
    fill_up(value.size());
  }
  void commit() {
    begin("", kind::end, 1);
    const std::uint64_t sum = sum_;
    put(bytes_of(sum));
    file_.commit_to_disk();
  }

 private:
  void values(const char* name, kind type, const device& dev, void* data, std::int64_t count) override {
    const std::size_t bytes = static_cast<std::size_t>(count) * size_of(type);
    begin(name, type, static_cast<std::uint64_t>(count));
    if (dev.is_cuda())
      put_from(dev, static_cast<const char*>(data), bytes);
    else
      put({static_cast<const char*>(data), bytes});
    fill_up(bytes);
  }
  std::int64_t length(const char*, std::int64_t own) override { return own; }

  void put_from(const device& dev, const char* data, std::size_t bytes) {
    constexpr std::size_t piece = std::size_t{4} << 20;
    std::vector<char> here(std::min(piece, bytes));
    for (std::size_t done = 0; done < bytes; done += here.size()) {
      const std::size_t now = std::min(here.size(), bytes - done);
      copy_bytes(here.data(), device::cpu(1), data + done, dev, now);
      put({here.data(), now});
    }
  }
  void begin(const char* name, kind type, std::uint64_t count) {
    const std::string_view called(name);
    put(bytes_of(part_head{type, static_cast<std::uint32_t>(called.size()), count}));
    put(called);
    fill_up(called.size());
  }
  void fill_up(std::size_t bytes) {
    constexpr std::array<char, unit> zeros{};
    put({zeros.data(), whole_units(bytes) - bytes});
  }
  void put(std::string_view bytes) {
    if (bytes.empty()) return;  // the sum of nothing at no address would be that of no bytes so far
    sum_ = crc32_z(sum_, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    file_.write(bytes);
  }

  atomic_file file_;
  uLong sum_ = 0;
};

// All of a file, of which the sum is right.
class file_reader final : public solver_state {
 public:
  explicit file_reader(const std::string& path) : path_(path) {
    input_file file(path);
    read_all(file);
    check();
  }
  bool loads() const override { return true; }

  // The texts at the beginning.
  std::map<std::string, std::string> texts() {
    std::map<std::string, std::string> all;
    for (part p = peek(); p.head.type == kind::text; p = peek()) {
      all[std::string(p.name)] = std::string(p.data, p.head.count);
      at_ = p.next;
    }
    return all;
  }
  [[noreturn]] void refuse(const std::string& why, const std::string& hint = {}) const {
    throw parse_error(path_, 0, 0, why, hint);
  }

 private:
  struct part {
    part_head head;
    std::string_view name;
    const char* data;
    std::size_t next;
  };

  // What is no checkpoint is not read to its end.
  void read_all(input_file& file) {
    if (file.peek(magic.size()) != magic)
      refuse("no checkpoint of vouch: it does not begin as one", "--checkpoint of vouch solve writes them");
    constexpr std::size_t piece = std::size_t{4} << 20;
    std::size_t size = 0;
    for (std::size_t got = 1; got > 0; size += got) {
      all_.resize(size + piece);
      got = file.read(all_.data() + size, piece);
    }
    all_.resize(size);
  }

  void check() {
    constexpr std::size_t least = 2 * unit + sizeof(part_head) + unit;
    if (all_.size() < least || all_.size() % unit != 0) damaged();
    std::uint64_t found = 0, sum = 0;
    std::memcpy(&found, all_.data() + unit, sizeof found);
    const std::size_t before = all_.size() - unit;
    std::memcpy(&sum, all_.data() + before, sizeof sum);
    if (crc32_z(0, reinterpret_cast<const Bytef*>(all_.data()), before) != sum) damaged();
    if (found != version)
      refuse(
          "a checkpoint in version " + std::to_string(found) + " of the format, not " + std::to_string(version),
          "resume it with the vouch that wrote it");
    at_ = 2 * unit;
    while (peek().head.type != kind::end) at_ = peek().next;
    if (peek().next != all_.size()) damaged();
    at_ = 2 * unit;
  }
  [[noreturn]] void damaged() const {
    refuse("a checkpoint that is cut short or damaged: its check sum is another",
           "begin anew, or resume from an earlier one");
  }

  part peek() const {
    part p{};
    const std::size_t left = all_.size() - at_;
    if (left < sizeof p.head) damaged();
    std::memcpy(&p.head, all_.data() + at_, sizeof p.head);
    std::size_t at = at_ + sizeof p.head;
    if (p.head.type > kind::singles || p.head.name > all_.size() - at) damaged();
    p.name = {all_.data() + at, p.head.name};
    at += whole_units(p.head.name);
    if (at > all_.size() || p.head.count > (all_.size() - at) / size_of(p.head.type)) damaged();
    p.data = all_.data() + at;
    p.next = at + whole_units(p.head.count * size_of(p.head.type));
    if (p.next > all_.size()) damaged();
    return p;
  }

  void values(const char* name, kind type, const device& dev, void* data, std::int64_t count) override {
    const part p = peek();
    if (p.name != name || p.head.type != type || p.head.count != static_cast<std::uint64_t>(count))
      refuse("a checkpoint of another solve: there are " + std::to_string(p.head.count) + " values of '" +
                 std::string(p.name) + "' where " + std::to_string(count) + " of '" + name + "' belong",
             "resume it with the matrix, the method and the precision that wrote it");
    copy_bytes(data, dev, p.data, device::cpu(1), static_cast<std::size_t>(count) * size_of(type));
    at_ = p.next;
  }
  // Where the next part has another name values() says so.
  std::int64_t length(const char*, std::int64_t) override {
    return static_cast<std::int64_t>(peek().head.count);
  }

  std::string path_;
  std::vector<char> all_;
  std::size_t at_ = 0;
};

thread_local checkpoint* kept_here = nullptr;

}  // namespace

checkpoint::checkpoint(std::string file, double seconds, listener heard)
    : file_(std::move(file)), seconds_(seconds), heard_(std::move(heard)) {
  constexpr double most = 1e9;  // a time point beyond would overflow
  if (!(seconds >= 0)) throw value_error("the seconds between two checkpoints are negative or no number");
  seconds_ = std::min(seconds, most);
  begin_to_wait();
}

checkpoint checkpoint::resumed(const std::string& from, std::string file, double seconds, listener heard) {
  checkpoint kept(std::move(file), seconds, std::move(heard));
  auto reader = std::make_unique<file_reader>(from);
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
    file_writer writer(file_);
    for (const auto& [name, text] : facts_) writer.text(name, text);
    writer.integer("iteration", iteration);
    state(writer);
    writer.commit();
    iteration_ = iteration;
    ++written_;
  } catch (const std::exception& e) {
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
