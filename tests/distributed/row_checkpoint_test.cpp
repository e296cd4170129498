// vouch/solve/distributed/row_checkpoint.hpp: what goes on from a file, on other numbers of ranks, against the solve that
// nobody interrupted.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/solve/distributed/row_fingerprint.hpp>
#include <vouch/solve/distributed/row_solver.hpp>
#include <vouch/solve/solver.hpp>
#include <vouch/verify/fingerprint.hpp>

#include "distributed/split_systems.hpp"
#include "distributed/thread_ranks.hpp"
#include "temporary.hpp"

namespace vouch {
namespace {

using testing::named_matrix;
using testing::on_ranks;
using testing::temporary_folder;

const device cpu = device::cpu(1);

struct saved_system {
  csr<double> A;
  std::vector<double> b;
};

saved_system of_matrix(csr<double> A) {
  std::vector<double> b(static_cast<std::size_t>(A.rows));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = random_unit(9, i) - 0.3;
  return {std::move(A), std::move(b)};
}

struct saved_answer {
  solve_report report;
  std::vector<double> x;
  std::int64_t written = 0, iteration = -1;
  std::string failure;
};

struct saving {
  std::string from, to;  // files, "": none
  double seconds = 1e9;
};

// As rank 0 has it.
saved_answer solve_saved(int count, const saved_system& s, const row_solve_options& options,
                         const saving& how) {
  saved_answer first;
  on_ranks(count, [&](communicator& ranks) {
    const row_matrix A = row_matrix::from_entries(ranks, s.A.rows, testing::share_of(ranks, s.A));
    const std::vector<double> rhs = testing::part_of(A, s.b);
    std::vector<double> x(rhs.size(), 0.0);
    saved_answer mine;
    const auto heard = [&mine](const checkpoint_note& note) { mine.failure = note.failure; };
    rank_team team(ranks);
    checkpoint kept = how.from.empty() ? checkpoint(how.to, how.seconds, heard, &team)
                                       : checkpoint::resumed(how.from, how.to, how.seconds, heard, &team);
    const checkpoint_scope saves(kept);
    mine.report = solve_rows(cpu, A, {rhs.data(), A.rows()}, {x.data(), A.rows()}, options);
    mine.x = testing::whole_of(A, x.data());
    mine.written = kept.written();
    mine.iteration = kept.iteration();
    EXPECT_EQ(gather(ranks, mine.written),
              std::vector<std::int64_t>(static_cast<std::size_t>(count), mine.written));
    if (ranks.rank() == 0) first = std::move(mine);
  });
  return first;
}

saved_answer solve_until(int count, const saved_system& s, row_solve_options options, const saving& how,
                         std::int64_t last) {
  options.on_iteration = [last](const iteration_record& at) { return at.iteration < last; };
  return solve_saved(count, s, options, how);
}

void expect_same(const saved_answer& found, const saved_answer& undisturbed, const std::string& what) {
  EXPECT_EQ(found.report.status, undisturbed.report.status) << what;
  EXPECT_EQ(found.report.reason, undisturbed.report.reason) << what;
  EXPECT_EQ(found.report.iterations, undisturbed.report.iterations) << what;
  EXPECT_EQ(found.report.restarts, undisturbed.report.restarts) << what;
  EXPECT_EQ(found.report.true_residual, undisturbed.report.true_residual) << what;
  EXPECT_EQ(found.report.condition_estimate, undisturbed.report.condition_estimate) << what;
  EXPECT_EQ(found.x, undisturbed.x) << what;
  ASSERT_EQ(found.report.history.size(), undisturbed.report.history.size()) << what;
  for (std::size_t k = 0; k < found.report.history.size(); ++k) {
    EXPECT_EQ(found.report.history[k].iteration, undisturbed.report.history[k].iteration) << what;
    EXPECT_EQ(found.report.history[k].residual, undisturbed.report.history[k].residual) << what;
  }
}

struct way {
  const char* preconditioner;
  row_method method = row_method::cg;
};
constexpr way ways[] = {{"none"}, {"jacobi"}, {"chebyshev"}, {"none", row_method::jacobi}};

row_solve_options options_of(const way& w, double rtol = 1e-14, double of_jacobi = 1e-2) {
  row_solve_options options;
  options.method = w.method;
  options.preconditioner.name = w.preconditioner;
  options.rtol = w.method == row_method::jacobi ? of_jacobi : rtol;
  return options;
}

TEST(row_checkpoint, goes_on_to_the_same_bits_on_another_number_of_ranks) {
  std::uint64_t seed = 0;
  constexpr int numbers[] = {1, 2, 3, 7};
  for (const named_matrix& m : testing::shared_matrices()) {
    if (m.A.rows < 4) continue;
    const saved_system s = of_matrix(m.A.to(cpu));
    for (const way& w : ways) {
      if (w.method == row_method::jacobi && m.name != "seven points") continue;
      const row_solve_options options = options_of(w);
      const saved_answer undisturbed = solve_saved(1, s, options, {});
      ASSERT_GT(undisturbed.report.iterations, 5) << m.name;
      const temporary_folder folder;
      const std::string file = folder.path("saved");
      const auto part = [&] {
        return static_cast<std::int64_t>(random_bits(3, seed++) %
                                         static_cast<std::uint64_t>(undisturbed.report.iterations / 2));
      };
      const auto ranks = [&] { return numbers[random_bits(4, seed++) % 4]; };
      const std::string what = m.name + " " + w.preconditioner;
      const saved_answer ended = solve_until(ranks(), s, options, {"", file}, part());
      ASSERT_EQ(ended.report.status, solve_status::interrupted) << what;
      ASSERT_EQ(ended.written, 1) << what;
      const saved_answer again = solve_until(ranks(), s, options, {file, file}, ended.iteration + part());
      if (again.report.status == solve_status::interrupted) {
        EXPECT_GE(again.iteration, ended.iteration);
        expect_same(solve_saved(ranks(), s, options, {file, ""}), undisturbed, what);
      } else {
        expect_same(again, undisturbed, what);
      }
      EXPECT_EQ(folder.files(), 1u);
    }
  }
}

TEST(row_checkpoint, saving_all_the_time_changes_no_bit_and_every_file_serves) {
  const saved_system s = of_matrix(std::move(testing::shared_matrices()[0].A));
  for (const way& w : ways) {
    const row_solve_options options = options_of(w, 1e-2, 0.5);
    const temporary_folder folder;
    const std::string file = folder.path("saved");
    const saved_answer undisturbed = solve_saved(1, s, options, {});
    const saved_answer saved = solve_saved(3, s, options, {"", file, 0});
    expect_same(saved, undisturbed, w.preconditioner);
    EXPECT_EQ(saved.failure, "");
    EXPECT_GE(saved.written, undisturbed.report.iterations / 2);
    EXPECT_EQ(folder.files(), 1u);
    expect_same(solve_saved(2, s, options, {file, ""}), undisturbed, w.preconditioner);
  }
}

// The format is that of one process, in which the vectors are whole: every number of ranks leaves the same bytes.
TEST(row_checkpoint, has_the_same_bytes_whatever_the_number_of_ranks) {
  const saved_system s = of_matrix(std::move(testing::shared_matrices()[3].A));
  const row_solve_options options = options_of(ways[1]);
  const temporary_folder folder;
  const auto bytes_on = [&](int count) {
    const std::string file = folder.path("saved");
    EXPECT_EQ(solve_until(count, s, options, {"", file}, 20).report.status, solve_status::interrupted);
    return testing::content_of(file);
  };
  const std::string one = bytes_on(1);
  for (const int count : {2, 3, 16}) EXPECT_TRUE(bytes_on(count) == one) << count;
}

TEST(row_checkpoint, knows_a_system_by_the_fingerprints_of_one_process) {
  for (const named_matrix& m : testing::shared_matrices()) {
    const saved_system s = of_matrix(m.A.to(cpu));
    const matrix_fingerprint whole = fingerprint_of(cpu, s.A);
    const matrix_fingerprint column =
        fingerprint_of(cpu, matrix_view<const double>{s.b.data(), s.A.rows, 1, s.A.rows});
    for (const int count : testing::numbers_of_ranks)
      on_ranks(count, [&](communicator& ranks) {
        const row_matrix A = row_matrix::from_entries(ranks, s.A.rows, testing::share_of(ranks, s.A));
        const std::vector<double> rhs = testing::part_of(A, s.b);
        EXPECT_EQ(distributed::fingerprint_of(A), whole) << m.name << ' ' << count;
        EXPECT_EQ(distributed::fingerprint_of(A, view<const double>(rhs.data(), A.rows())), column);
      });
  }
}

TEST(row_checkpoint, where_none_can_be_written_the_solve_goes_on) {
  const saved_system s = of_matrix(std::move(testing::shared_matrices()[0].A));
  const row_solve_options options = options_of(ways[1]);
  const saved_answer undisturbed = solve_saved(1, s, options, {});
  for (const std::string file : {"/there/is/no/such/folder/saved", "/dev/full"}) {
    const saved_answer found = solve_saved(3, s, options, {"", file, 0});
    expect_same(found, undisturbed, file);
    EXPECT_EQ(found.written, 0);
    EXPECT_NE(found.failure, "");
  }
}

TEST(row_checkpoint, a_disk_that_fills_is_said_by_all) {
  const saved_system s = of_matrix(std::move(testing::shared_matrices()[0].A));
  const row_solve_options options = options_of(ways[1]);
  const temporary_folder folder;
  const saved_answer undisturbed = solve_saved(1, s, options, {});
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit low{24 * 1024, before.rlim_max};
  void (*const handler)(int) = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  const saved_answer found = solve_saved(4, s, options, {"", folder.path("saved"), 0});
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  expect_same(found, undisturbed, "full");
  EXPECT_EQ(found.written, 0);
  EXPECT_NE(found.failure.find("File too large"), std::string::npos) << found.failure;
  EXPECT_EQ(folder.files(), 0u);
}

TEST(row_checkpoint, what_belongs_to_another_solve_is_refused_by_all) {
  const saved_system s = of_matrix(std::move(testing::shared_matrices()[0].A));
  const row_solve_options options = options_of(ways[1]);
  const temporary_folder folder;
  const std::string file = folder.path("saved");
  ASSERT_EQ(solve_until(3, s, options, {"", file}, 9).written, 1);
  const auto resume = [&](const saved_system& other, const row_solve_options& with, const std::string& from) {
    return testing::refusal([&] { solve_saved(2, other, with, {from, ""}); });
  };
  saved_system other = of_matrix(s.A.to(cpu));
  other.b[1500] = std::nextafter(other.b[1500], 2);
  EXPECT_EQ(resume(other, options, file),
            "the right-hand side is not the one of the checkpoint: its numbers differ");
  other = of_matrix(s.A.to(cpu));
  other.A.val[other.A.val.size() - 1] *= 2;
  EXPECT_EQ(resume(other, options, file), "the matrix is not the one of the checkpoint: its numbers differ");
  EXPECT_EQ(resume(s, options_of(ways[0]), file),
            "the checkpoint is of a solve with precond 'jacobi', not 'none'");

  const std::string whole = testing::content_of(file);
  for (const std::size_t at : {std::size_t{9}, std::size_t{40}, whole.size() / 2, whole.size() - 3}) {
    std::string bad = whole;
    bad[at] = static_cast<char>(bad[at] ^ 16);
    std::ofstream(folder.path("bad"), std::ios::binary) << bad;
    EXPECT_NE(resume(s, options, folder.path("bad")).find("cut short or damaged"), std::string::npos) << at;
  }
  std::ofstream(folder.path("cut"), std::ios::binary) << whole.substr(0, 4000);
  EXPECT_NE(resume(s, options, folder.path("cut")).find("cut short or damaged"), std::string::npos);
  EXPECT_NE(resume(s, options, folder.path("none")).find("none"), std::string::npos);
}

TEST(row_checkpoint, of_ranks_is_none_of_one_process_without_them) {
  const saved_system s = of_matrix(std::move(testing::shared_matrices()[0].A));
  const temporary_folder folder;
  const std::string of_ranks = folder.path("ranks"), of_one = folder.path("one");
  const auto n = static_cast<std::int64_t>(s.b.size());
  std::vector<double> x(s.b.size(), 0.0);
  solve_options options;
  options.method = "cg";
  options.preconditioner = parse_preconditioner("jacobi");
  options.goal.rtol = 1e-14;
  options.run_on = cpu;
  const auto solve_in_one = [&](checkpoint kept) {
    const checkpoint_scope saves(kept);
    solver(cpu, s.A, options).solve(view<const double>(s.b.data(), n), view<double>(x.data(), n));
  };
  options.goal.on_iteration = [](const iteration_record& at) { return at.iteration < 9; };
  ASSERT_EQ(solve_until(2, s, options_of(ways[1]), {"", of_ranks}, 9).written, 1);
  EXPECT_EQ(testing::refusal([&] { solve_in_one(checkpoint::resumed(of_ranks, "")); }),
            "the checkpoint is of a solve with engine 'ranks', not ''");
  solve_in_one(checkpoint(of_one));
  EXPECT_EQ(testing::refusal([&] {
              solve_saved(2, s, options_of(ways[1]), {of_one, ""});
            }),
            "the checkpoint is of a solve with engine '', not 'ranks'");
}

}  // namespace
}  // namespace vouch
