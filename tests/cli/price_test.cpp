// vouch price: one option and a book.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include <vouch/core/config.hpp>

#include "run_tool.hpp"

namespace vouch {
namespace {

using nlohmann::json;
using testing::tool_result;

class tool_price : public testing::tool_test {
 protected:
  const std::string one = "--spot 100 --strike 100 --rate 0.05 --volatility 0.2 --expiry 1 ";
};

TEST_F(tool_price, a_european_call) {
  const tool_result r = run("price --type call " + one + "--json");
  EXPECT_EQ(r.code, 0);
  const json o = json::parse(r.out);
  EXPECT_EQ(o["schema"], "vouch.price/1");
  EXPECT_NEAR(o["price"], 10.4505835722, 1e-9);
  EXPECT_NEAR(o["closed_form"], 10.4505835722, 1e-9);
  EXPECT_NEAR(o["delta"], 0.6368306512, 1e-9);
  EXPECT_NEAR(o["gamma"], 0.0187620173, 1e-9);
  EXPECT_NEAR(o["vega"], 37.52403469, 1e-7);
  EXPECT_EQ(o["grid"], nullptr);
  for (const char* key : {"theta", "rho", "error_estimate", "method", "device", "time_s"})
    EXPECT_TRUE(o.contains(key));
}

TEST_F(tool_price, words_in_letters_of_either_size) {
  const std::string price = run("price --type call " + one + "--json -q").out;
  for (const std::string word : {"Call", "CALL", "c", "C"})
    EXPECT_EQ(json::parse(run("price --type " + word + " " + one + "--json").out)["price"],
              json::parse(price)["price"])
        << word;
  EXPECT_EQ(run("price --type put " + one + "--exercise American").code, 0);
  EXPECT_EQ(run("price --type cal " + one).code, 2);
}

// 10.4505835721856... is the exact price; the grid's is farther from it than its bound says the least.
TEST_F(tool_price, bounds_of_the_exact_price) {
  if (!built_with_mpfr) GTEST_SKIP() << "this build has no MPFR";
  const tool_result r = run("price --type call " + one + "--verify --json");
  ASSERT_EQ(r.code, 0) << r.err;
  const json o = json::parse(r.out);
  const double lo = o["enclosure"]["price"][0], hi = o["enclosure"]["price"][1];
  EXPECT_LE(lo, hi);
  EXPECT_NEAR(lo, 10.4505835721856, 1e-12);
  EXPECT_LT(hi - lo, 1e-12);
  EXPECT_EQ(o["error_bound"]["verified"], true);
  EXPECT_LE(o["error_bound"]["max_absolute"], 1e-12);
  const json grid = json::parse(run("price --type call " + one + "--grid 101 --steps 50 --verify --json").out);
  EXPECT_GE(grid["error_bound"]["to_exact"].get<double>(), std::fabs(grid["price"].get<double>() - lo));
  EXPECT_LE(grid["error_bound"]["to_exact"], 0.1);
  EXPECT_EQ(json::parse(run("price --type call " + one + "--json").out)["enclosure"], nullptr);
  EXPECT_NE(run("price --type call " + one + "--verify").out.find("price  [10.45058357218"), std::string::npos);
  for (const char* option : {"--exercise american", "--barrier up-out:150", "--payoff cash-digital",
                             "--dividends 0.5:1", "--implied 10"})
    EXPECT_EQ(run("price --type call " + one + "--verify " + option).code, 2) << option;
}

// The steps' own bound is one of rounding, for products without a closed form too.
TEST_F(tool_price, bounds_of_the_discrete_solution) {
  if (!built_with_mpfr) GTEST_SKIP() << "this build has no MPFR";
  const std::string without_rate = "--spot 100 --strike 100 --volatility 0.2 --expiry 1 ";
  for (const std::string& option :
       {one, one + "--payoff cash-digital", one + "--barrier down-out:85",
        one + "--exercise bermudan --dates 0.5", without_rate + "--rates 0.5:0.01,1:0.1",
        one + "--exercise american --dividend 0.06", one + "--dividends 0.3:2,0.7:1"}) {
    const std::string call =
        "price --type call " + option + " --scheme crank-nicolson --grid 200 --steps 60 --verify";
    const tool_result r = run(call + " --json");
    ASSERT_EQ(r.code, 0) << option << r.err;
    const json o = json::parse(r.out), bound = o["error_bound"];
    EXPECT_EQ(bound["verified"], true);
    EXPECT_EQ(bound["method"], "steps in time");
    EXPECT_NE(bound["bounds"].get<std::string>().find("discrete problem"), std::string::npos);
    EXPECT_LE(bound["max_absolute"], 1e-10);
    const double lo = o["discrete_enclosure"]["price"][0], hi = o["discrete_enclosure"]["price"][1];
    EXPECT_LE(std::fabs(o["price"].get<double>() - lo), bound["max_absolute"]);
    EXPECT_LE(std::fabs(o["price"].get<double>() - hi), bound["max_absolute"]);
    EXPECT_NE(run(call).out.find("discrete problem"), std::string::npos);
  }
  const tool_result other =
      run("price --type call " + one +
          "--payoff cash-digital --barrier up-in:120 --grid 100 --steps 20 --verify --json");
  EXPECT_EQ(other.code, 1);
  const json bound = json::parse(other.out)["error_bound"];
  EXPECT_EQ(bound["verified"], false);
  EXPECT_EQ(bound["max_absolute"], nullptr);
  EXPECT_NE(bound["reason"].get<std::string>().find("the option without barrier"), std::string::npos);
}

// Neither has steps of a kind of its own: the one none at all, the other those of two problems.
TEST_F(tool_price, bounds_of_what_is_not_simply_stepped) {
  if (!built_with_mpfr) GTEST_SKIP() << "this build has no MPFR";
  for (const std::string& option :
       {std::string("--type call --scheme exponential --tolerance 1e-3"),
        std::string("--type call --scheme exponential --space uniform --barrier down-out:85 --grid 300"),
        std::string("--type put --exercise american --barrier up-in:110 --grid 300 --steps 50")}) {
    const tool_result r = run("price " + one + option + " --verify --json");
    ASSERT_EQ(r.code, 0) << option << r.err;
    const json o = json::parse(r.out), bound = o["error_bound"];
    EXPECT_EQ(bound["verified"], true);
    EXPECT_EQ(bound["method"],
              option.find("exponential") != std::string::npos ? "exponential in time" : "steps in time");
    EXPECT_LE(bound["max_absolute"], 1e-8);
    EXPECT_NEAR(o["price"], o["discrete_enclosure"]["price"][0], 1e-8);
  }
}

TEST_F(tool_price, an_american_put_two_ways) {
  const json fast = json::parse(run("price --type put --exercise american " + one + "--json").out);
  EXPECT_NEAR(fast["price"], 6.0903706, 1e-6);
  EXPECT_EQ(fast["closed_form"], nullptr);
  const json grid = json::parse(
      run("price --type put --exercise american " + one + "--scheme rannacher --tolerance 1e-4 --json").out);
  EXPECT_NEAR(grid["price"], 6.0903706, 1e-4);
  EXPECT_LE(grid["error_estimate"], 1e-4);
  EXPECT_EQ(grid["method"], "finite-difference");
  EXPECT_EQ(grid["vega"], nullptr);
}

TEST_F(tool_price, a_grid_that_was_asked_for) {
  const json o = json::parse(run("price --type call " + one + "--grid 801 --steps 200 --greeks --json").out);
  EXPECT_EQ(o["grid"]["nodes"], 801);
  EXPECT_EQ(o["grid"]["steps"], 200);
  EXPECT_NEAR(o["price"], 10.4505835722, 2e-3);
  EXPECT_NEAR(o["vega"], 37.52403469, 0.02);
}

TEST_F(tool_price, everything_that_changes_in_time) {
  write("vol.csv", "time,80,120\n0,0.2,0.2\n1,0.2,0.2\n");
  const auto cost = [&](const std::string& more) {
    return json::parse(run("price --type call --json --spot 100 --strike 100 --expiry 1 " + more).out)["price"]
        .get<double>();
  };
  EXPECT_NEAR(cost("--rate 0.05 --local-volatility vol.csv"), 10.4505835722, 1e-5);
  EXPECT_NEAR(cost("--rates 0.5:0.03,1:0.07 --volatilities 1:0.2"), 10.4505835722, 1e-5);
  EXPECT_LT(cost("--rate 0.05 --volatility 0.2 --dividends 0.5:2"), 9.5);
  EXPECT_NEAR(cost("--rate 0.05 --volatility 0.2 --barrier down-out:90"), 8.6654, 1e-3);
}

TEST_F(tool_price, dividends_in_escrow) {
  const auto cost = [&](const std::string& more) {
    return json::parse(run("price --type call --json " + more).out)["price"].get<double>();
  };
  // What is random is 100 - 3 exp(-0.05 / 2).
  const std::string rest = "--strike 100 --rate 0.05 --volatility 0.2 --expiry 1 ";
  EXPECT_NEAR(cost(one + "--dividends 0.5:3 --dividend-model escrowed"),
              cost("--spot 97.0740702639144 " + rest), 1e-12);
  const tool_result r = run("price --type call " + one + "--dividends 0.5:3 --dividend-model escrow");
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("escrowed"), std::string::npos) << r.err;
}

TEST_F(tool_price, a_solver_that_was_asked_for) {
  const std::string grid = "price --type call " + one + "--grid 501 --steps 50 --json ";
  const double expected = json::parse(run(grid).out)["price"];
  for (const char* solver : {"thomas", "cyclic-reduction", "pcr", "partition"}) {
    const json o = json::parse(run(grid + "--solver " + solver).out);
    EXPECT_NEAR(o["price"], expected, 1e-10);
    EXPECT_EQ(o["grid"]["solver"], solver);
  }
  EXPECT_EQ(run("price --type put --exercise american " + one + "--solver pcr").code, 2);
}

TEST_F(tool_price, implied_volatility) {
  const json o = json::parse(run("price --type call --spot 100 --strike 100 --rate 0.05 --expiry 1 --implied "
                                 "10.450583572185565 --json")
                                 .out);
  EXPECT_NEAR(o["implied_volatility"], 0.2, 1e-14);
  EXPECT_EQ(run("price --type call --spot 100 --strike 100 --expiry 1 --implied 200").code, 2);
}

TEST_F(tool_price, what_would_have_no_effect_is_refused) {
  const auto message = [&](const std::string& more) {
    const tool_result r = run("price --type call " + more);
    EXPECT_EQ(r.code, 2) << more;
    EXPECT_EQ(r.out, "") << more;
    return r.err;
  };
  EXPECT_EQ(message(one + "--volatilities 1:0.3"),
            "vouch: error: options --volatility and --volatilities exclude each other\n");
  EXPECT_EQ(message(one + "--rates 1:0.3"), "vouch: error: options --rate and --rates exclude each other\n");
  EXPECT_EQ(message(one + "--implied 10"),
            "vouch: error: options --implied and --volatility exclude each other\n");
  EXPECT_EQ(message(one + "--rebate 3"), "vouch: error: option --rebate has no effect without --barrier\n");
  EXPECT_EQ(message(one + "--cash 3"),
            "vouch: error: option --cash has no effect without --payoff cash-digital\n");
  EXPECT_EQ(message(one + "--dividend-model escrowed"),
            "vouch: error: option --dividend-model has no effect without --dividends\n");
  write("vol.csv", "time,80,120\n0,0.2,0.2\n");
  for (const char* other : {"--volatility 0.2", "--volatilities 1:0.2"})
    EXPECT_EQ(message(std::string("--spot 100 --strike 100 --expiry 1 --local-volatility vol.csv ") + other)
                      .find("exclude each other") == std::string::npos,
              false);
}

TEST_F(tool_price, an_american_option_that_begins_at_a_barrier) {
  const json o = json::parse(
      run("price --type put --exercise american --barrier down-in:90 --tolerance 1e-4 --json " + one).out);
  EXPECT_NEAR(o["price"], 5.93635, 1e-4);
  EXPECT_EQ(o["method"], "finite-difference");
}

// Single precision alone holds no price; what was used is said.
TEST_F(tool_price, the_precision_that_was_used) {
  const std::string grid = "price --type call --grid 400 --steps 100 --json " + one;
  EXPECT_EQ(json::parse(run(grid).out)["precision"], "double");
  EXPECT_EQ(json::parse(run(grid + "--precision mixed").out)["precision"], "mixed");
  const tool_result single = run(grid + "--precision single");
  EXPECT_EQ(json::parse(single.out)["precision"], "mixed");
  EXPECT_NE(single.err.find("mixed precision"), std::string::npos) << single.err;
  EXPECT_EQ(json::parse(run("price --type call --json --precision single " + one).out)["precision"], "double");
}

// What does not hold is named: here gamma, not the price.
TEST_F(tool_price, a_tolerance_that_gamma_misses) {
  const tool_result r = run("price --type call --scheme crank-nicolson " + one);
  EXPECT_EQ(r.code, 1);
  EXPECT_NE(r.err.find("gamma not to 0.1 %"), std::string::npos) << r.err;
}

TEST_F(tool_price, wrong_use_is_explained) {
  EXPECT_EQ(run("price").code, 2);
  const tool_result type = run("price --type pt " + one);
  EXPECT_EQ(type.code, 2);
  EXPECT_NE(type.err.find("put"), std::string::npos);
  EXPECT_EQ(run("price --type put --spot -5 --strike 100 --volatility 0.2 --expiry 1").err,
            "vouch: error: spot -5 is negative\n");
  EXPECT_EQ(run("price --type put " + one + "--barrier up-ot:120").err,
            "vouch: error: option --barrier: unknown kind 'up-ot'\nhint: did you mean up-out?\n");
  EXPECT_EQ(run("price --type put --exercise american " + one + "--scheme exponential").code, 2);
}

TEST_F(tool_price, a_book) {
  write(
      "book.csv",
      "type,exercise,spot,strike,rate,volatility,expiry\ncall,european,100,100,0.05,0.2,1\nput,x,1,1,0,1,1\n");
  const tool_result r = run("price --book book.csv -o prices.csv --json");
  EXPECT_EQ(r.code, 1);
  const json o = json::parse(r.out);
  EXPECT_EQ(o["priced"], 1);
  EXPECT_EQ(o["failed"], 1);
  EXPECT_EQ(o["failures"][0]["line"], 3);
  EXPECT_NE(r.err.find("book.csv:3:5: unknown exercise 'x'"), std::string::npos);
  EXPECT_EQ(content("prices.csv").substr(0, 40), "line,price,delta,gamma,theta,error\n2,10.");
  write("bad.csv", "type,spot\n");
  EXPECT_EQ(run("price --book bad.csv -o out.csv").code, 2);
  EXPECT_FALSE(exists("out.csv"));
  EXPECT_EQ(run("price --book missing.csv -o out.csv").code, 3);
}

TEST_F(tool_price, a_book_with_columns_of_its_owner) {
  write("book.csv",
        "id,type,exercise,spot,strike,rate,volatility,expiry,price\n"
        "\"a, b\",Call,,100,100,0.05,,1,10.450583572185565\n"
        "c,PUT,american,100,100,0.05,9,1,\n");
  const tool_result r = run("price --book book.csv -o prices.csv --json");
  EXPECT_EQ(r.code, 0) << r.err;
  const json o = json::parse(r.out);
  EXPECT_EQ(o["passed_columns"], json::array({"id"}));
  EXPECT_EQ(o["warned"], 1);
  EXPECT_EQ(o["warnings"][0]["line"], 3);
  EXPECT_NE(r.err.find("columns that are not known go to the output as they are: 'id'"), std::string::npos);
  EXPECT_EQ(content("prices.csv").substr(0, 68),
            "line,id,implied_volatility,price,delta,gamma,theta,error\n2,\"a, b\",0.");
  const tool_result strict = run("price --book book.csv -o out.csv --strict");
  EXPECT_EQ(strict.code, 2);
  EXPECT_NE(strict.err.find("book.csv:1:1: unknown column 'id'"), std::string::npos);
  write("bad.csv", "type,spot,strike,expiry,volatility,divdend\n");
  EXPECT_NE(run("price --book bad.csv -o out.csv").err.find("did you mean dividend?"), std::string::npos);
  EXPECT_FALSE(exists("out.csv"));
  EXPECT_EQ(run("price --type call --strict " + one).code, 2);
}

TEST_F(tool_price, further_greeks) {
  const json o = json::parse(run("price --type call --json " + one).out);
  EXPECT_NEAR(o["dividend_rho"], -63.68306512, 1e-7);
  EXPECT_NEAR(o["volga"], 9.850059107, 1e-8);
  const json american = json::parse(run("price --type put --exercise american --json " + one).out);
  for (const char* key : {"dividend_rho", "vanna", "volga", "charm"}) {
    EXPECT_TRUE(o[key].is_number()) << key;
    EXPECT_EQ(american[key], nullptr) << key;
  }
  EXPECT_NE(run("price --type call --more-greeks " + one).out.find("vanna -0.2814"), std::string::npos);
  EXPECT_EQ(run("price --type call " + one).out.find("vanna"), std::string::npos);
}

TEST_F(tool_price, likely_slips_are_told) {
  const std::string option = "price --type call --spot 100 --strike 100 --expiry 1 ";
  EXPECT_NE(run(option + "--volatility 20").err.find("the volatility 20 is 2000 % a year"), std::string::npos);
  EXPECT_EQ(run(option + "--volatility 5").err, "");
  EXPECT_NE(run(option + "--volatility 0.2 --barrier down-in:110").err.find("touched already"),
            std::string::npos);
}

// As -h describes it: the first cell of the first line is not looked at, but it is there.
TEST_F(tool_price, a_file_of_local_volatilities) {
  const std::string call =
      "price --type call --spot 100 --strike 100 --rate 0.05 --expiry 1 --json --local-volatility ";
  write("blank.csv", ",80,120\n0,0.2,0.2\n1,0.2,0.2\n");
  EXPECT_NEAR(json::parse(run(call + "blank.csv").out)["price"], 10.4505835722, 1e-5);
  write("none.csv", "80,120\n0,0.2,0.2\n1,0.2,0.2\n");
  EXPECT_EQ(run(call + "none.csv").code, 2);
  EXPECT_NE(run("price -h").out.find("any cell, then spots"), std::string::npos);
}

TEST_F(tool_price, an_american_implied_volatility) {
  const std::string put =
      "price --type put --exercise american --spot 100 --strike 100 --rate 0.05 --expiry 1 ";
  const tool_result r = run(put + "--implied 6.0903706 --tolerance 1e-7 --json");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NEAR(json::parse(r.out)["implied_volatility"], 0.2, 5e-9);
  EXPECT_EQ(run(put + "--implied 100").code, 2);
  EXPECT_NEAR(json::parse(run("price --type call --spot 100 --strike 100 --expiry 1 --implied 1e-300 --json")
                              .out)["implied_volatility"]
                  .get<double>(),
              2.5066282746310005e-302, 1e-317);
}

TEST_F(tool_price, a_book_in_a_pipe) {
  write("book.csv", "type,spot,strike,rate,volatility,expiry\ncall,100,100,0.05,0.2,1\n");
  EXPECT_EQ(shell("\"$VOUCH\" price --book - -o - < book.csv > prices.csv"), 0);
  EXPECT_EQ(content("prices.csv").substr(0, 53), "line,price,delta,gamma,theta,error\n2,10.4505835721855");
  EXPECT_EQ(content("prices.csv").find("priced in"), std::string::npos);
  EXPECT_EQ(shell("\"$VOUCH\" price --book - -o - --json < book.csv > prices.csv 2> error"), 2);
}

TEST_F(tool_price, a_book_takes_no_options_of_one_price) {
  write("book.csv", "type,spot,strike,rate,volatility,expiry\ncall,100,100,0.05,0.2,1\n");
  for (const char* option : {"--dividend 0.02", "--exercise american", "--payoff cash-digital", "--rate 0.1",
                             "--scheme rannacher", "--verify", "--implied 3"})
    EXPECT_EQ(run("price --book " + path("book.csv") + " -o " + path("x.csv") + " " + option).code, 2)
        << option;
  const tool_result single =
      run("price --book " + path("book.csv") + " -o " + path("x.csv") + " --precision single --json");
  EXPECT_EQ(single.code, 0);
  EXPECT_NE(single.err.find("computed in double precision"), std::string::npos);
  EXPECT_EQ(json::parse(single.out)["precision"], "double");
  EXPECT_EQ(json::parse(single.out)["tolerance"], 1e-4);
}

TEST_F(tool_price, what_has_no_effect_is_said) {
  const auto expect_said = [&](const std::string& options, const std::string& text) {
    const tool_result r = run("price --type put " + one + options);
    EXPECT_EQ(r.code, 0) << options;
    EXPECT_NE(r.err.find(text), std::string::npos) << options << ": " << r.err;
  };
  expect_said("--exercise bermudan", "without dates before its expiry is a european one");
  expect_said("--exercise bermudan --dates 0.5,2",
              "the exercise date 2 does not lie between today (0) and expiry (1)");
  for (const char* time : {"0", "-1", "1", "1.5"})
    expect_said("--dividends " + std::string(time) + ":3",
                "the dividend at " + std::string(time) +
                    " does not lie between today (0) and expiry (1): it has no effect");
  expect_said("--scheme exponential --grid 201 --steps 10", "--steps has no effect");
  expect_said("--precision mixed", "computed in double precision");
  for (const char* option : {"--tolerance 1e-3", "--greeks", "--solver pcr", "--space uniform"})
    EXPECT_EQ(
        run("price --type put --spot 100 --strike 100 --expiry 1 --implied 5 " + std::string(option)).code, 2)
        << option;
  EXPECT_EQ(run("price --type put " + one + "--barrier none:90").code, 2);
}

TEST_F(tool_price, a_drawing) {
  EXPECT_EQ(run("price --type put --exercise american " + one + "--plot surface.svg").code, 0);
  EXPECT_EQ(content("surface.svg").substr(0, 4), "<svg");
  EXPECT_NE(content("surface.svg").find("boundary of early exercise"), std::string::npos);
}

}  // namespace
}  // namespace vouch
