// vouch solve: the result and its files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "data.hpp"
#include "devices.hpp"
#include "small_system.hpp"
#include "solve_fixture.hpp"

namespace vouch {
namespace {

using nlohmann::json;
using testing::chain;
using testing::numbers;
using testing::ones;
using testing::tool_result;
using testing::tool_solve;

void expect_number(const json& value) { EXPECT_TRUE(value.is_number()) << value; }

TEST_F(tool_solve, object_has_every_key_with_its_type) {
  write("A.mtx", chain(40).file());
  const tool_result r = run("solve A.mtx --method cg --json");
  ASSERT_EQ(r.code, 0);
  EXPECT_EQ(r.err, "");
  const json o = json::parse(r.out);
  std::vector<std::string> keys;
  const auto in_order = nlohmann::ordered_json::parse(r.out);
  for (const auto& [key, value] : in_order.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"schema",         "version",       "matrix",
                                            "method",         "method_reason", "preconditioner",
                                            "backend",        "engine",        "problem",
                                            "rank",           "inertia",       "precision",
                                            "device",         "status",        "reason",
                                            "iterations",     "reproducible",  "reproducible_at",
                                            "tolerance",      "residual",      "condition_estimate",
                                            "error_estimate", "convergence",   "error_bound",
                                            "checkpoint",     "repeat",        "time_s",
                                            "memory_bytes"}));
  EXPECT_EQ(o["schema"], "vouch.solve/1");
  EXPECT_EQ(o["matrix"],
            json::parse(R"({"file":"A.mtx","rows":40,"cols":40,"nonzeros":118,"symmetric":true})"));
  EXPECT_EQ(o["method"], "cg");
  EXPECT_TRUE(o["method_reason"].is_null());
  EXPECT_EQ(o["preconditioner"], "none");
  EXPECT_EQ(o["precision"], "double");
  EXPECT_EQ(o["device"]["kind"], "cpu");
  EXPECT_TRUE(o["device"]["name"].is_string());
  EXPECT_TRUE(o["device"]["threads"].is_number_integer());
  EXPECT_EQ(o["status"], "converged");
  EXPECT_FALSE(o["reason"].get<std::string>().empty());
  EXPECT_TRUE(o["iterations"].is_number_integer());
  EXPECT_EQ(o["tolerance"], json::parse(R"({"relative":1e-8,"absolute":0.0})"));
  for (const char* key : {"relative_true", "relative_recurrence", "backward_error"})
    expect_number(o["residual"][key]);
  EXPECT_TRUE(o["error_bound"].is_null());
  EXPECT_EQ(o["repeat"]["count"], 1);
  EXPECT_EQ(o["repeat"]["stddev_s"], 0.0);
  expect_number(o["repeat"]["mean_s"]);
  double parts = 0;
  for (const char* key : {"read", "setup", "transfer", "solve", "write"}) {
    expect_number(o["time_s"][key]);
    parts += o["time_s"][key].get<double>();
  }
  EXPECT_LE(parts, o["time_s"]["total"].get<double>());
  EXPECT_EQ(o["time_s"]["cuda_start"], 0.0);
  EXPECT_GT(o["memory_bytes"]["host_peak"], 0);
  EXPECT_EQ(o["memory_bytes"]["device_peak"], 0);
}

TEST_F(tool_solve, written_x_has_the_residual_that_is_reported) {
  const auto A = chain(300);
  write("A.mtx", A.file());
  for (const std::string precond : {"none", "jacobi", "block-jacobi:4", "ssor", "ic0", "chebyshev"}) {
    const json o = solve("A.mtx --device cpu --threads 2 -o x.txt --precond " + precond);
    EXPECT_EQ(o["status"], "converged") << precond;
    const double exact = A.relative_residual(ones(300), numbers(content("x.txt")));
    EXPECT_LE(exact, 1e-8) << precond;
    EXPECT_NEAR(o["residual"]["relative_true"].get<double>(), exact, 1e-16) << precond;
  }
}

TEST_F(tool_solve, takes_coordinates_and_near_nullspaces_for_multigrid) {
  ASSERT_EQ(run("gen elasticity-2d -n 24 --order random -o A.mtx --coordinates c.txt").code, 0);
  const json by_modes = solve("A.mtx --coordinates c.txt --device cpu"),
             alone = solve("A.mtx --precond amg --device cpu");
  EXPECT_EQ(by_modes["status"], "converged");
  EXPECT_NE(by_modes["preconditioner"].get<std::string>().find("a near-nullspace of 3 vectors"),
            std::string::npos);
  EXPECT_LT(by_modes["iterations"].get<int>(), alone["iterations"].get<int>());
  const std::size_t rows = by_modes["matrix"]["rows"].get<std::size_t>();
  std::string translations;
  for (std::size_t i = 0; i < rows; ++i) translations += i % 2 == 0 ? "1 0\n" : "0 1\n";
  write("t.txt", translations);
  EXPECT_EQ(solve("A.mtx --near-nullspace t.txt --device cpu")["iterations"], alone["iterations"]);
  write("short.txt", "1 0\n");
  write("zero.txt", [&] {
    std::string zeros;
    for (std::size_t i = 0; i < rows; ++i) zeros += "0\n";
    return zeros;
  }());
  for (const auto& [options, said] : std::initializer_list<std::pair<const char*, const char*>>{
           {"--coordinates short.txt", "1 nodes of 2 unknowns"},
           {"--coordinates t.txt", "nodes of 2 unknowns"},
           {"--coordinates zero.txt", "1 number a node"},
           {"--near-nullspace short.txt", "1 row"},
           {"--near-nullspace zero.txt", "is zero"},
           {"--near-nullspace t.txt --coordinates c.txt", "exclude each other"},
           {"--coordinates c.txt --precond ic0", "takes none"}}) {
    const tool_result r = run(std::string("solve A.mtx ") + options);
    EXPECT_EQ(r.code, 2) << options;
    EXPECT_NE(r.err.find(said), std::string::npos) << options << ": " << r.err;
  }
  EXPECT_EQ(run("gen poisson-2d -n 9 -o B.mtx --coordinates d.txt").code, 2);
}

TEST_F(tool_solve, takes_the_type_of_multigrid) {
  ASSERT_EQ(run("gen poisson-2d -n 30 -o A.mtx -q").code, 0);
  ASSERT_EQ(run("gen poisson-2d -n 30 --order random -o B.mtx -q").code, 0);
  const auto preconditioner = [&](const std::string& arguments) {
    return solve(arguments + " --device cpu")["preconditioner"].get<std::string>();
  };
  for (const char* options : {"--precond amg", "--amg-type structured", "--precond amg:type=structured",
                              "--precond amg:3 --amg-type structured"})
    EXPECT_EQ(preconditioner(std::string("A.mtx ") + options).find("amg (structured, "), 0u) << options;
  for (const char* options : {"A.mtx --amg-type sa", "A.mtx --precond amg:type=sa", "B.mtx --precond amg"})
    EXPECT_EQ(preconditioner(options).find("amg (smoothed aggregation, "), 0u) << options;
  for (const auto& [options, said] : std::initializer_list<std::pair<const char*, const char*>>{
           {"B.mtx --amg-type structured", "no structured hierarchy: "},
           {"A.mtx --amg-type box", "unknown value 'box'"},
           {"A.mtx --precond amg:type=box", "unknown type"},
           {"A.mtx --amg-type sa --precond ic0", "takes none"}}) {
    const tool_result r = run(std::string("solve --device cpu ") + options);
    EXPECT_EQ(r.code, 2) << options;
    EXPECT_NE(r.err.find(said), std::string::npos) << options << ": " << r.err;
  }
}

TEST_F(tool_solve, vectors_in_every_format) {
  const auto A = chain(50);
  write("A.mtx", A.file());
  solve("A.mtx -o x.txt");
  solve("A.mtx -o x.mtx");
  solve("A.mtx -o x.npy");
  const std::vector<double> x = numbers(content("x.txt"));
  ASSERT_EQ(x.size(), 50u);
  const std::string matrix_market = content("x.mtx");
  EXPECT_EQ(matrix_market.find("%%MatrixMarket matrix array real general\n50 1\n"), 0u);
  EXPECT_EQ(numbers(matrix_market.substr(matrix_market.find("50 1\n") + 5)), x);
  const std::string npy = content("x.npy");
  ASSERT_GE(npy.size(), 400u);
  std::vector<double> binary(50);
  std::memcpy(binary.data(), npy.data() + npy.size() - 400, 400);
  EXPECT_EQ(binary, x);
  // and as right-hand sides and starts
  for (const std::string name : {"x.txt", "x.mtx", "x.npy"}) {
    const json o = solve("A.mtx --rhs " + name + " -o y.txt");
    EXPECT_LE(A.relative_residual(x, numbers(content("y.txt"))), 1e-8) << name;
    EXPECT_EQ(solve("A.mtx --initial " + name)["iterations"], 0) << name;
    EXPECT_GT(o["iterations"], 0) << name;
  }
}

TEST_F(tool_solve, row_sums_are_solved_by_ones) {
  write("A.mtx", chain(100).file());
  solve("A.mtx --rhs row-sums --rtol 1e-12 -o x.txt");
  for (const double x : numbers(content("x.txt"))) EXPECT_NEAR(x, 1, 1e-9);
  EXPECT_EQ(solve("A.mtx --rhs row-sums --initial ones")["iterations"], 0);
}

// The GPU reads what it solves: facts, x and what is proved are those of the matrix that the CPU reads.
TEST_F(tool_solve, a_gpu_reads_the_matrix_itself) {
  VOUCH_NEEDS_GPU();
  ASSERT_EQ(run("gen poisson-2d -n 60 --solution smooth --rhs b.txt -q -o A.mtx").code, 0);
  EXPECT_EQ(shell("gzip -k A.mtx"), 0);
  const json here = solve("A.mtx --rhs b.txt -o x.txt");
  EXPECT_EQ(here["time_s"]["cuda_start"], 0.0);
  for (const std::string file : {"A.mtx", "A.mtx.gz"})
    for (const std::string more :
         {"", " --verify", " --precond ic0", " --precision mixed", " --precision single"}) {
      const json o = solve(file + " --rhs b.txt -o y.txt --device cuda" + more);
      EXPECT_EQ(o["status"], "converged") << file << more;
      EXPECT_EQ(o["device"]["kind"], "cuda");
      EXPECT_GT(o["time_s"]["cuda_start"].get<double>(), 0);
      for (const char* fact : {"rows", "cols", "nonzeros", "symmetric"})
        EXPECT_EQ(o["matrix"][fact], here["matrix"][fact]) << fact;
      if (more == " --verify") {
        EXPECT_EQ(o["error_bound"]["verified"], true) << o["error_bound"];
      }
      const std::vector<double> x = numbers(content("x.txt")), y = numbers(content("y.txt"));
      ASSERT_EQ(x.size(), y.size());
      for (std::size_t i = 0; i < x.size(); ++i)
        EXPECT_NEAR(x[i], y[i], more == " --precision single" ? 0.1 : 1e-4) << i;
    }
  EXPECT_EQ(solve("A.mtx --rhs row-sums -o y.txt --device cuda")["status"], "converged");
  for (const double y : numbers(content("y.txt"))) EXPECT_NEAR(y, 1, 1e-4);
  EXPECT_EQ(shell("cat A.mtx | \"$VOUCH\" solve /dev/stdin --device cuda --method cg --json > o.json"), 0);
  EXPECT_EQ(json::parse(content("o.json"))["iterations"], solve("A.mtx --device cuda")["iterations"]);
  const tool_result v = run("verify A.mtx y.txt --rhs row-sums --device cuda --json");
  EXPECT_EQ(v.code, 0) << v.err;
  write("wrong.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 4\n1 2 1\n2 2 4\n");
  EXPECT_EQ(refused("wrong.mtx --method cg --device cuda").err, refused("wrong.mtx --method cg").err);
}

TEST_F(tool_solve, several_right_hand_sides) {
  const auto A = chain(60);
  write("A.mtx", A.file());
  std::vector<double> b1 = ones(60), b2;
  std::string both, second;
  for (int i = 0; i < 60; ++i) {
    b2.push_back(i % 7 - 3);
    second += std::to_string(i % 7 - 3) + "\n";
    both += "1 " + std::to_string(i % 7 - 3) + "\n";
  }
  write("both.txt", both);
  write("second.txt", second);
  const json o = solve("A.mtx --rhs both.txt -o x.txt");
  const json first_alone = solve("A.mtx");
  const json second_alone = solve("A.mtx --rhs second.txt -o x2.txt");
  EXPECT_EQ(o["iterations"], first_alone["iterations"].get<int>() + second_alone["iterations"].get<int>());
  EXPECT_EQ(o["residual"]["relative_true"], std::max(first_alone["residual"]["relative_true"].get<double>(),
                                                     second_alone["residual"]["relative_true"].get<double>()));
  for (const char* estimate : {"condition_estimate", "error_estimate"})
    EXPECT_NEAR(o[estimate].get<double>(),
                std::max(first_alone[estimate].get<double>(), second_alone[estimate].get<double>()),
                1e-6 * o[estimate].get<double>())
        << estimate;
  const std::vector<double> x = numbers(content("x.txt"));
  ASSERT_EQ(x.size(), 120u);
  std::vector<double> x2;
  for (std::size_t i = 0; i < 60; ++i) x2.push_back(x[2 * i + 1]);
  EXPECT_EQ(x2, numbers(content("x2.txt")));
}

TEST_F(tool_solve, many_right_hand_sides_go_together) {
  // A chain whose unknowns stand in an order without any, so that no layout but csr holds it.
  constexpr int n = 503, count = 11;
  testing::small_system A{n, {}};
  const auto place = [](int i) { return i * i % n * i % n; };  // a permutation
  for (int i = 0; i < n; ++i) {
    A.lower.push_back({place(i), place(i), 2.1});
    for (const int step : {1, 2})
      if (i >= step)
        A.lower.push_back({std::max(place(i), place(i - step)), std::min(place(i), place(i - step)), -0.5});
  }
  write("A.mtx", A.file());
  std::vector<std::vector<double>> b(count);
  std::string text;
  for (int i = 0; i < n; ++i)
    for (std::size_t j = 0; j < count; ++j) {
      b[j].push_back(i * (static_cast<int>(j) + 3) % 17 - 5);
      text += std::to_string(static_cast<int>(b[j].back())) + (j + 1 < count ? " " : "\n");
    }
  write("b.txt", text);
  const tool_result r = run("solve A.mtx --rhs b.txt --device cpu -o x.txt");
  EXPECT_EQ(r.code, 0);
  for (const char* part : {"columns 1 to 8 of 11", "columns 9 to 11 of 11", "columns at once"})
    EXPECT_NE(r.err.find(part), std::string::npos) << part << "\n" << r.err;
  EXPECT_NE(r.out.find("worst of 11 columns"), std::string::npos);
  for (const std::string options :
       {"", "--precond jacobi", "--precond ic0", "--precision mixed", "--repeat 2"}) {
    EXPECT_EQ(solve("A.mtx --rhs b.txt --device cpu -o x.txt " + options)["status"], "converged") << options;
    const std::vector<double> x = numbers(content("x.txt"));
    ASSERT_EQ(x.size(), std::size_t{n} * count);
    for (std::size_t j = 0; j < count; ++j) {
      std::vector<double> column;
      for (std::size_t i = 0; i < n; ++i) column.push_back(x[i * count + j]);
      EXPECT_LE(A.relative_residual(b[j], column), 1e-8) << options << " column " << j;
    }
  }
  const json single = solve("A.mtx --rhs b.txt --precision single --rtol 1e-4 --device cpu");
  EXPECT_EQ(single["status"], "converged");
  EXPECT_LE(single["residual"]["relative_true"], 1e-4);
  EXPECT_EQ(solve("A.mtx --rhs b.txt --fixed-iterations 7")["iterations"], 7 * count);
}

TEST_F(tool_solve, same_bits_for_any_number_of_threads_and_any_run) {
  write("A.mtx", chain(5000).file());
  solve("A.mtx --device cpu --threads 1 -o a.txt --max-iterations 300", 1);
  solve("A.mtx --device cpu --threads 3 -o b.txt --max-iterations 300", 1);
  solve("A.mtx --device cpu --threads 3 -o c.txt --max-iterations 300 --repeat 2", 1);
  EXPECT_EQ(content("a.txt"), content("b.txt"));
  EXPECT_EQ(content("a.txt"), content("c.txt"));
}

TEST_F(tool_solve, precisions) {
  const auto A = chain(30);
  write("A.mtx", A.file());
  const json single = solve("A.mtx --precision single -o s.txt --rtol 1e-4");
  EXPECT_EQ(single["precision"], "single");
  EXPECT_EQ(single["status"], "converged");
  // of the matrix in the file, which single precision rounds
  const double exact = A.relative_residual(ones(30), numbers(content("s.txt")));
  EXPECT_LE(exact, 1e-4);
  EXPECT_NEAR(single["residual"]["relative_true"].get<double>(), exact, 1e-9 * exact);
  const std::string reason = single["reason"];  // "true residual X, ..." in three digits
  EXPECT_NEAR(std::stod(reason.substr(reason.find_first_of("0123456789"))), exact * std::sqrt(30),
              5e-3 * exact * std::sqrt(30));
  EXPECT_EQ(solve("A.mtx --precision single --fixed-iterations 1")["tolerance"]["relative"], 1e-5);

  const json mixed = solve("A.mtx --precision mixed --precond jacobi -o m.txt");
  EXPECT_EQ(mixed["precision"], "mixed");
  EXPECT_LE(A.relative_residual(ones(30), numbers(content("m.txt"))), 1e-8);
}

TEST_F(tool_solve, single_precision_is_judged_on_the_matrix_of_the_file) {
  // 1 + 1e-5 rounds to another number; the ones that solve the rounded system miss the true one.
  write("A.mtx",
        "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 16777217\n2 1 -16777216\n2 2 16777217\n");
  const json o = solve("A.mtx --precision single -o x.txt", 1);
  EXPECT_NE(o["status"], "converged");
}

TEST_F(tool_solve, repeats) {
  write("A.mtx", chain(40).file());
  const json o = solve("A.mtx --repeat 3");
  EXPECT_EQ(o["repeat"]["count"], 3);
  EXPECT_GT(o["repeat"]["mean_s"], 0.0);
  EXPECT_GE(o["repeat"]["stddev_s"], 0.0);
  EXPECT_EQ(o["iterations"], solve("A.mtx")["iterations"]);
}

TEST_F(tool_solve, edges) {
  const auto A = chain(5);
  write("A.mtx", A.file());
  write("zero.txt", "0\n0\n0\n0\n0\n");
  const json zero = solve("A.mtx --rhs zero.txt --initial ones -o x.txt");
  EXPECT_EQ(zero["status"], "converged");
  EXPECT_EQ(content("x.txt"), "0\n0\n0\n0\n0\n");
  EXPECT_EQ(zero["residual"]["relative_true"], 0.0);

  write("dense.mtx", "%%MatrixMarket matrix array real symmetric\n2 2\n4\n1\n3\n");
  const json dense = solve("dense.mtx -o d.txt");
  EXPECT_EQ(dense["status"], "converged");
  const std::vector<double> d = numbers(content("d.txt"));
  EXPECT_NEAR(d.at(0), 2.0 / 11, 1e-8);
  EXPECT_NEAR(d.at(1), 3.0 / 11, 1e-8);

  ASSERT_EQ(shell("gzip -k A.mtx"), 0);
  EXPECT_EQ(solve("A.mtx.gz")["iterations"], solve("A.mtx")["iterations"]);
  EXPECT_EQ(shell("cat A.mtx | \"$VOUCH\" solve /dev/stdin -q > /dev/null"), 0);
  EXPECT_EQ(shell("\"$VOUCH\" solve A.mtx -q > /dev/full 2> /dev/null"), 3);
}

TEST_F(tool_solve, history_and_plot) {
  write("A.mtx", chain(200).file());
  const json o = solve("A.mtx --history h.csv --plot p.svg --rhs row-sums");
  const std::string csv = content("h.csv");
  ASSERT_EQ(csv.find("iteration,residual,relative\n0,"), 0u) << csv.substr(0, 60);
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  double first = 0, last = -1;
  while (std::getline(lines, line)) {
    double iteration = 0, residual = 0, relative = 0;
    ASSERT_EQ(std::sscanf(line.c_str(), "%lf,%lf,%lf", &iteration, &residual, &relative), 3) << line;
    EXPECT_GT(iteration, last);
    last = iteration;
    if (iteration == 0) first = residual;
    EXPECT_NEAR(relative, residual / first, 1e-12 * relative);
  }
  EXPECT_EQ(last, o["iterations"]);
  const std::string svg = content("p.svg");
  EXPECT_EQ(svg.find("<svg "), 0u);
  EXPECT_NE(svg.find("A.mtx: converged after"), std::string::npos);
  EXPECT_NE(svg.find("tolerance 1e-08"), std::string::npos);
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_EQ(files(), (std::vector<std::string>{"A.mtx", "h.csv", "p.svg"}));
}

TEST_F(tool_solve, talk) {
  write("A.mtx", chain(40).file());
  const tool_result normal = run("solve A.mtx --method cg");
  EXPECT_EQ(normal.out.find("converged: true residual "), 0u) << normal.out;
  for (const char* part : {"matrix     A.mtx: 40 x 40, 118 nonzeros, symmetric, positive diagonal\n",
                           "goal       ||b - Ax|| <= 1e-08 ||b||", "   iteration      residual",
                           "checked    true residual", "rounding may leave", "backward error"})
    EXPECT_NE(normal.err.find(part), std::string::npos) << part << "\n" << normal.err;
  EXPECT_EQ((normal.out + normal.err).find('\033'), std::string::npos);  // no terminal, no colours
  EXPECT_EQ(run("solve A.mtx -q").err, "");
  EXPECT_NE(run("solve A.mtx --json -v").err.find("checked    true residual"), std::string::npos);
  const tool_result preflight = run("solve A.mtx --json --rtol 1e-17");
  EXPECT_EQ(preflight.err.find("vouch: warning: the tolerance 1e-17 is below"), 0u) << preflight.err;
}

TEST_F(tool_solve, real_matrix) {
  const std::string path = testing::data_file("matrices/bcsstk14.mtx");
  VOUCH_NEEDS_DATA(path);
  const json o = solve("'" + path + "' --rhs row-sums --precond jacobi -o x.txt");
  EXPECT_EQ(o["status"], "converged");
  EXPECT_EQ(o["matrix"]["nonzeros"], 63454);
  EXPECT_LE(o["residual"]["relative_true"], 1e-8);
}

// b is large where the springs of a chain are stiff: the residual is small before the soft part has moved.
TEST_F(tool_solve, an_error_behind_a_small_residual_is_estimated) {
  std::string text = "%%MatrixMarket matrix coordinate real symmetric\n60 60 119\n", b;
  for (int i = 1; i <= 60; ++i) {
    const double left = i <= 30 ? 1e8 : 1, right = i < 30 ? 1e8 : 1;
    text += std::to_string(i) + " " + std::to_string(i) + " " + std::to_string(left + right) + "\n";
    if (i < 60) text += std::to_string(i + 1) + " " + std::to_string(i) + " " + std::to_string(-right) + "\n";
    b += i == 1 ? "1e8\n" : i == 60 ? "1\n" : "0\n";
  }
  write("A.mtx", text);
  write("b.txt", b);
  const tool_result r = run("solve A.mtx --rhs b.txt --method cg --json");
  ASSERT_EQ(r.code, 0) << r.err;
  const json o = json::parse(r.out);
  EXPECT_EQ(o["status"], "converged");
  EXPECT_GT(o["error_estimate"].get<double>(), 0.01);
  EXPECT_GT(o["condition_estimate"].get<double>(), 1e6);
  EXPECT_NE(r.err.find("warning: the error of x may be up to about"), std::string::npos) << r.err;
  EXPECT_NE(run("solve A.mtx --rhs b.txt --method cg").err.find("error at most about  "), std::string::npos);
  const tool_result direct = run("solve A.mtx --rhs b.txt --method sparse-lu --json");
  EXPECT_LT(json::parse(direct.out)["error_estimate"].get<double>(), 1e-10);
  EXPECT_EQ(direct.err.find("the error of x"), std::string::npos) << direct.err;
  EXPECT_NE(run("solve A.mtx --rhs b.txt --method sparse-lu").err.find("error about          "),
            std::string::npos);
  EXPECT_TRUE(solve_test::solve("A.mtx --method jacobi --fixed-iterations 2")["error_estimate"].is_null());
}

// Single precision rounds 10000.1 by 2e-4, which moves x = 1 / 0.1; the rounded system is solved to its last digits.
TEST_F(tool_solve, factors_estimate_no_error_of_rounded_systems) {
  write("A.mtx",
        "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 10000.1\n2 1 10000\n2 2 10000.1\n");
  write("b.txt", "1\n-1\n");  // x = (10, -10)
  const json rounded =
      solve_test::solve("A.mtx --rhs b.txt --method sparse-lu --precision single --rtol 0.01 -o x.txt");
  EXPECT_GT(std::abs(numbers(content("x.txt"))[0] - 10), 1e-4);
  EXPECT_TRUE(rounded["error_estimate"].is_null());
  const json exact = solve_test::solve("A.mtx --rhs b.txt --method sparse-lu -o x.txt");
  EXPECT_NEAR(numbers(content("x.txt"))[0], 10, 1e-8);
  EXPECT_LT(exact["error_estimate"].get<double>(), 1e-10);
}

}  // namespace
}  // namespace vouch
