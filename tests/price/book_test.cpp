#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/price/book.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/finite_difference.hpp>

#include "groups.hpp"
#include "temporary.hpp"

namespace vouch {
namespace {

class book : public ::testing::Test, public testing::temporary_folder {
 protected:
  book_report price(const std::string& text, const device& dev = device::cpu(1), int threads = 1) {
    book_options options;
    options.dev = dev;
    options.threads = threads;
    return price(text, options);
  }
  book_report price(const std::string& text, const book_options& options) {
    std::ofstream(path("book.csv"), std::ios::binary) << text;
    return price_book(path("book.csv"), path("prices.csv"), options);
  }
  std::string output() const {
    std::ifstream file(path("prices.csv"), std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  std::vector<std::string> lines() const {
    std::istringstream text(output());
    std::vector<std::string> all;
    for (std::string line; std::getline(text, line);) all.push_back(line);
    return all;
  }
  // The second cell of each line but the first.
  std::vector<double> prices() const {
    const std::vector<std::string> text = lines();
    std::vector<double> all;
    for (std::size_t k = 1; k < text.size(); ++k) {
      const std::string cell = text[k].substr(text[k].find(',') + 1);
      all.push_back(cell.front() == ',' ? -1 : std::stod(cell));
    }
    return all;
  }
};

TEST_F(book, prices_every_kind) {
  for (const device& dev : testing::devices()) {
    const book_report r = price(
        "type, exercise ,spot,strike,rate,volatility,expiry,payoff,barrier,barrier_level\r\n"
        "call,,100,100,0.05,0.2,1,,,\r\n"
        "put,american,100,100,0.05,0.2,1,,,\r\n"
        "\r\n"
        "call,european,100,100,0.05,0.2,1,cash-digital,,\n"
        "put,american,100,100,-0.01,0.2,1,,,\n"
        "call,european,100,100,0.05,0.2,1,,down-out,90\n"
        "put,american,100,90,0.05,0.2,0,,,",
        dev);
    EXPECT_EQ(r.options, 6);
    EXPECT_EQ(r.priced, 6);
    EXPECT_EQ(r.failed, 0);
    const std::vector<double> p = prices();
    ASSERT_EQ(p.size(), 6u);
    EXPECT_NEAR(p[0], 10.4505835722, 1e-9);
    EXPECT_NEAR(p[1], 6.0903706, 1e-5);
    EXPECT_NEAR(p[2], 0.5323248155, 1e-9);
    EXPECT_GT(p[4], 8);
    EXPECT_EQ(p[5], 0);
    EXPECT_EQ(output().substr(0, output().find('\n')), "line,price,delta,gamma,theta,error");
    EXPECT_NE(output().find("\n5,"), std::string::npos);  // the blank line counts
  }
}

TEST_F(book, as_a_spreadsheet_writes_it) {
  const book_report r = price(
      "\xef\xbb\xbf\"type\",\"spot\",\"strike\",\"rate\",\"volatility\",\"expiry\"\r\n"
      "\"call\",\"100\", \" 100 \" ,0.05,0.2,\"1\"\r\n"
      "call,\"100,100,0.05,0.2,1\r\n");
  EXPECT_EQ(r.priced, 1);
  EXPECT_NEAR(prices().front(), 10.4505835722, 1e-9);
  ASSERT_EQ(r.failures.size(), 1u);
  EXPECT_EQ(r.failures.front().line, 3);
  EXPECT_EQ(r.failures.front().column, 6);
}

TEST_F(book, empty_cells_behind_the_last_column) {
  const book_report r = price(
      ",,\r\n"
      "type,spot,strike,volatility,expiry,, \r\n"
      "call,100,100,0.2,1,,\r\n"
      ",,,,,,\r\n"
      "call,100,100,0.2,1\r\n"
      "call,100,100,0.2,1,,7\r\n");
  EXPECT_EQ(r.options, 3);
  EXPECT_EQ(r.priced, 2);
  ASSERT_EQ(r.failures.size(), 1u);
  EXPECT_EQ(r.failures[0].line, 6);
  EXPECT_EQ(r.failures[0].column, 20);
  EXPECT_EQ(r.failures[0].message, "there are 5 columns and more cells");
}

TEST_F(book, says_what_is_no_number) {
  const book_report r = price(
      "type,spot,strike,volatility,expiry\n"
      "call,nan,100,0.2,1\n"
      "call,-inf,100,0.2,1\n"
      "call,1e999,100,0.2,1\n"
      "call,5%,100,0.2,1\n"
      "call,+1e2,\" 100. \",.2,1\n");
  EXPECT_EQ(r.priced, 1);
  ASSERT_EQ(r.failures.size(), 4u);
  EXPECT_EQ(r.failures[0].message, "spot: NaN is not allowed");
  EXPECT_EQ(r.failures[1].message, "spot: infinity is not allowed");
  EXPECT_EQ(r.failures[2].message, "spot: '1e999' overflows double precision");
  EXPECT_EQ(r.failures[3].message, "spot: expected a number, found '5%'");
}

// An exact limit without a derivative by volatility or rate, and one whose gamma has no bound.
TEST_F(book, greeks_that_are_not_known_are_empty) {
  std::ofstream(path("book.csv")) << "type,exercise,spot,strike,rate,volatility,expiry,barrier,barrier_level\n"
                                     "call,american,100,90,0.05,0,1,up-out,130\n"
                                     "call,european,100,100,0,0,1,,\n";
  book_options options;
  options.greeks = true;
  price_book(path("book.csv"), path("prices.csv"), options);
  const std::vector<std::string> written = lines();
  EXPECT_TRUE(written.at(1).ends_with(",,,")) << written.at(1);
  EXPECT_EQ(written.at(2).substr(0, 10), "3,0,0.5,,0") << written.at(2);
}

// With small volatility, great drift and a long time one polynomial for the boundary would be a ten-thousandth
// beside the price. Values of an integral equation with 18 panels, by other code.
TEST_F(book, steep_american_options) {
  const book_report r = price(
      "type,exercise,spot,strike,rate,dividend,volatility,expiry\n"
      "call,american,100,93.31502953509015,0.008245485444337355,0.07387954230098441,0.11738965358366167,"
      "13.38645508477096\n"
      "put,american,110,100,0.084,0,0.08,4\n");
  EXPECT_EQ(r.american, 2);
  EXPECT_EQ(r.by_finite_differences, 0);
  EXPECT_NEAR(prices()[0], 7.0682651, 1e-4);
  EXPECT_NEAR(prices()[1], 0.10867525, 1e-4);
}

TEST_F(book, what_has_no_effect_is_an_error_of_its_line) {
  const book_report r = price(
      "\r\n\n"
      "type,spot,strike,volatility,expiry,barrier,barrier_level,rebate\n"
      "call,100,100,0.2,1,none,0,0\n"
      "call,100,100,0.2,1,none,120,\n"
      "call,100,100,0.2,1,,,2\n"
      "call,100,100,0.2,1,up-out,,\n"
      "call,100,100,0.2,1,up,120,\n");
  EXPECT_EQ(r.priced, 1);
  ASSERT_EQ(r.failures.size(), 4u);
  EXPECT_EQ(r.failures[0].line, 5);
  EXPECT_EQ(r.failures[0].message, "barrier_level 120 without a barrier");
  EXPECT_EQ(r.failures[1].message, "rebate 2 without a barrier");
  EXPECT_EQ(r.failures[2].message, "barrier_level is missing");
  EXPECT_EQ(r.failures[3].message, "unknown barrier 'up': none, up-in, up-out, down-in or down-out");
}

// Prices by the integral equation of another library, tanh-sinh quadrature, 24 nodes.
TEST_F(book, holds_a_tolerance_that_boundaries_by_few_nodes_do_not) {
  std::ofstream(path("book.csv")) << "type,exercise,spot,strike,rate,dividend,volatility,expiry\n"
                                     "put,american,93.03,105.43,0.0505,0.0046,0.1245,2\n"
                                     "call,american,114.04,90.35,0.0409,0.0783,0.1912,1.75\n";
  for (const device& dev : testing::devices()) {
    book_options options;
    options.dev = dev;
    options.tolerance = 1e-7;
    EXPECT_EQ(price_book(path("book.csv"), path("prices.csv"), options).inaccurate, 0);
    EXPECT_NEAR(prices()[0], 12.400557396643, 1e-7);
    EXPECT_NEAR(prices()[1], 23.699516856111, 1e-7);
  }
}

TEST_F(book, a_group_writes_the_file_of_one_device) {
  std::string text = "type,exercise,spot,strike,rate,volatility,expiry\n";
  for (int k = 0; k < 40'000; ++k)
    text += (k % 500 == 0 ? "put,american," : "call,,") + std::to_string(90 + k % 21) + ",100,0.05,0." +
            std::to_string(1 + k % 9) + ",1\n";
  for (const device& one : testing::single_devices()) {
    price(text, one);
    const std::string alone = output();
    for (const device_group& devices : testing::groups_of(one)) {
      book_options options;
      options.dev = devices;
      options.threads = 4;
      EXPECT_EQ(price(text, options).priced, 40'000);
      EXPECT_EQ(output(), alone);
    }
  }
}

TEST_F(book, lines_without_volatility_are_priced_by_their_limit) {
  const book_report r = price(
      "type,exercise,spot,strike,rate,volatility,expiry,payoff,barrier,barrier_level,rebate\n"
      "call,american,100,100,0.05,0,1,,up-out,103,\n"
      "call,american,100,100,0.05,0,1,,up-out,103,4\n"
      "put,american,100,110,0.05,0,1,,up-in,103,\n"
      "put,american,100,104,-0.05,0,1,cash-digital,,,\n");
  EXPECT_EQ(r.priced, 4);
  const std::vector<double> p = prices();
  ASSERT_EQ(p.size(), 4u);
  EXPECT_NEAR(p[0], 3 / 1.03, 1e-12);
  EXPECT_NEAR(p[1], 4 / 1.03, 1e-12);
  EXPECT_NEAR(p[2], 7 / 1.03, 1e-12);
  EXPECT_NEAR(p[3], std::exp(0.05), 1e-12);
}

TEST_F(book, bad_lines_are_named_and_the_rest_is_priced) {
  const book_report r = price(
      "type,spot,strike,volatility,expiry\n"
      "call,100,100,0.2,1\n"
      "cll,100,100,0.2,1\n"
      "call,100,1o0,0.2,1\n"
      "call,100,100,0.2\n"
      "call,100,100,0.2,1,7\n"
      "call,-100,100,0.2,1\n"
      "call,100,,0.2,1\n"
      "put,100,100,0.2,1\n");
  EXPECT_EQ(r.options, 8);
  EXPECT_EQ(r.priced, 2);
  EXPECT_EQ(r.failed, 6);
  ASSERT_EQ(r.failures.size(), 6u);
  EXPECT_EQ(r.failures[0].line, 3);
  EXPECT_EQ(r.failures[0].column, 1);
  EXPECT_EQ(r.failures[1].line, 4);
  EXPECT_EQ(r.failures[1].column, 10);
  EXPECT_EQ(r.failures[1].message, "strike: expected a number, found '1o0'");
  EXPECT_EQ(r.failures[4].message, "spot -100 is negative");
  EXPECT_EQ(prices().size(), 8u);
  EXPECT_NE(output().find("\n4,,,,,\"strike: expected a number, found '1o0'\"\n"), std::string::npos);
}

TEST_F(book, the_header_must_be_right) {
  const auto message = [&](const std::string& text) {
    try {
      price(text);
    } catch (const parse_error& e) {
      return std::string(e.what()).substr(path("book.csv").size());
    }
    return std::string("no error");
  };
  EXPECT_EQ(message("type,spot,strike,volatility,expiry,divdend\n"), ":1:36: unknown column 'divdend'");
  EXPECT_EQ(message("type,spot,strike,volatility,expiry,delta\n"),
            ":1:36: column 'delta' has the name of one of the output");
  EXPECT_EQ(message("type,spot,strike,expiry,id\n"), ":1: column volatility is missing");
  EXPECT_EQ(message("type,spot,strike,expiry,\"id\n"),
            ":1:25: quotes that do not end with the name of the column");
  EXPECT_EQ(message(""), ":1: the file is empty");
  EXPECT_EQ(message("type,spot,strik,volatility,expiry\n"), ":1:11: unknown column 'strik'");
  EXPECT_EQ(message("type,spot,strike,spot,volatility,expiry\n"), ":1:18: column 'spot' is there twice");
  EXPECT_EQ(message("type,spot,strike,volatility\n"), ":1: column expiry is missing");
  EXPECT_EQ(output(), "");
}

// The names of columns that are not known, and their cells, stand in the output as they do in the book.
TEST_F(book, unknown_columns_are_passed_on) {
  const std::string text =
      "id,type,spot,\"bought, by\",strike,volatility,expiry,note\r\n"
      " 7 ,call,100,\"Ann \"\"A\"\", Bob\",100,0.2,1,5\" pipe\r\n"
      "8,cll,100,x,100,0.2,1,\r\n"
      "9,call,100,\"x,100,0.2,1,\r\n";
  const book_report r = price(text);
  EXPECT_EQ(r.priced, 1);
  EXPECT_EQ(r.passed, (std::vector<std::string>{"id", "\"bought, by\"", "note"}));
  const std::vector<std::string> written = lines();
  EXPECT_EQ(written.at(0), "line,id,\"bought, by\",note,price,delta,gamma,theta,error");
  EXPECT_EQ(written.at(1).substr(0, 41), "2, 7 ,\"Ann \"\"A\"\", Bob\",5\" pipe,7.96556745");
  EXPECT_EQ(written.at(2), "3,8,x,,,,,,\"unknown type 'cll': call or put\"");
  EXPECT_EQ(written.at(3), "4,9,,,,,,,\"quotes that do not end with their cell: a cell has no line breaks\"");
  EXPECT_EQ(r.failures.back().column, 12);
  book_options strict;
  strict.strict = true;
  EXPECT_THROW(price(text, strict), parse_error);
}

TEST_F(book, words_in_letters_of_either_size) {
  const book_report r = price(
      "Type,EXERCISE,spot,strike,volatility,expiry,payoff,barrier,barrier_level\n"
      "Call,European,100,100,0.2,1,Vanilla,None,\n"
      "CALL,,100,100,0.2,1,,,\n"
      "C,,100,100,0.2,1,,,\n"
      "Put,,100,100,0.2,1,,Down-Out,20\n"
      "p,American,100,100,0.2,1,,,\n");
  EXPECT_EQ(r.priced, 5);
  for (const double p : prices()) EXPECT_NEAR(p, 7.9655674554, 1e-6);
  EXPECT_EQ(prices()[0], prices()[2]);
}

// Dividends in escrow, means of rates and volatilities: by formula. 100 - 3 exp(-0.05 / 2) is what is random.
TEST_F(book, what_changes_in_time) {
  const book_report r = price(
      "type,exercise,spot,strike,rate,volatility,expiry,dividends,dividend_model,dates,rates,volatilities,"
      "tolerance\n"
      "call,,100,100,0.05,0.2,1,0.5:3,Escrowed,,,,\n"
      "call,,97.0740702639144,100,0.05,0.2,1,,escrowed,,,,\n"
      "call,,100,100,,0.2,1,,,,\"0.5:0.03,1:0.07\",,\n"
      "call,,100,100,,,1,,,,0.5:0.03; 1:0.07,1:0.2,\n"
      "call,american,100,100,0.05,0.2,1,,,,,,1e-9\n"
      "call,bermudan,100,100,0.05,0.2,1,,,0.25;0.5,,,\n"
      "put,american,100,100,0.05,0.2,1,0.5:2,,,,,\n"
      "put,american,100,100,0.05,0.2,1,0.5,,,,,\n"
      "put,bermudan,100,100,0.05,0.2,1,,,,,,\n"
      "put,,100,100,0.05,0.2,1,,,0.5,,,\n"
      "put,,100,100,0.05,0.2,1,,,,0.1,,\n"
      "put,,100,100,0.05,0.2,1,,,,0.1:0.1,,\n"
      "put,,100,100,0.05,0.2,1,,,,,1:0.3,\n"
      "put,,100,100,0.05,0.2,1,,,,,,0\n");
  const std::vector<double> p = prices();
  EXPECT_NEAR(p[0], p[1], 1e-12);
  for (const int k : {2, 3, 4, 5}) EXPECT_NEAR(p[static_cast<std::size_t>(k)], 10.4505835722, 1e-4) << k;
  EXPECT_NEAR(p[6], 6.9229, 2e-4);
  EXPECT_EQ(r.priced, 7);
  ASSERT_EQ(r.failures.size(), 7u);
  EXPECT_EQ(r.failures[0].message, "dividends: '0.5' is not TIME:VALUE");
  EXPECT_EQ(r.failures[1].message, "dates are missing, on which a bermudan option may be exercised");
  EXPECT_EQ(r.failures[2].message, "dates without exercise bermudan");
  EXPECT_EQ(r.failures[3].message, "rates: '0.1' is not TIME:VALUE");
  EXPECT_EQ(r.failures[4].message, "rate and rates exclude each other");
  EXPECT_EQ(r.failures[5].message, "volatility and volatilities exclude each other");
  EXPECT_EQ(r.failures[6].message, "tolerance 0 is not positive");
}

// The American price is one by another library's integral equation.
TEST_F(book, prices_to_volatilities) {
  const book_report r = price(
      "type,exercise,spot,strike,rate,expiry,price,volatility,tolerance,payoff\n"
      "call,,100,100,0.05,1,10.450583572185565,,,\n"
      "put,american,100,100,0.05,1,6.0903706,,1e-6,\n"
      "call,,100,100,0.05,1,,0.2,,\n"
      "call,,100,100,0,1,1e-300,,,\n"
      "call,,100,100,0.05,1,101,,,\n"
      "call,,100,100,0.05,1,,,,\n"
      "call,,100,100,0.05,1,10,0.2,,\n"
      "call,,100,100,0.05,1,0.5,,,cash-digital\n");
  EXPECT_EQ(r.priced, 4);
  EXPECT_EQ(r.failed, 4);
  EXPECT_EQ(lines().at(0), "line,implied_volatility,price,delta,gamma,theta,error");
  const std::vector<double> found = prices();  // the second cells
  EXPECT_NEAR(found[0], 0.2, 1e-15);
  EXPECT_NEAR(found[1], 0.2, 3e-8);
  EXPECT_EQ(found[2], -1);  // an empty cell
  EXPECT_NEAR(found[3], 2.5066282746310005e-302, 1e-317);
  EXPECT_EQ(r.failures[1].message, "volatility is missing");
  EXPECT_EQ(r.failures[2].message, "price and volatility exclude each other");
}

TEST_F(book, likely_slips_are_named) {
  const book_report r = price(
      "type,spot,strike,volatility,expiry,barrier,barrier_level\n"
      "call,100,100,20,1,,\n"
      "call,100,100,0.2,1,up-out,95\n"
      "call,100,100,5,1,up-out,105\n");
  EXPECT_EQ(r.priced, 3);
  EXPECT_EQ(r.warned, 2);
  ASSERT_EQ(r.warnings.size(), 2u);
  EXPECT_EQ(r.warnings[0].line, 2);
  EXPECT_EQ(r.warnings[0].message, "the volatility 20 is 2000 % a year: 0.2 is 20 %");
  EXPECT_EQ(r.warnings[1].message, "the barrier 95 is touched already: the spot is 100");
}

TEST_F(book, what_lies_outside_an_options_life_is_named) {
  const book_report r = price(
      "type,exercise,spot,strike,volatility,expiry,dividends,dates\n"
      "call,,100,100,0.2,1,0.5:1;1.5:2,\n"
      "call,,100,100,0.2,1,0.5:1,\n"
      "put,bermudan,100,100,0.2,1,,0.5;1;1.25\n"
      "put,bermudan,100,100,0.2,1,,1\n");
  EXPECT_EQ(r.priced, 4);
  ASSERT_EQ(r.warnings.size(), 3u);
  EXPECT_EQ(r.warnings[0].line, 2);
  EXPECT_EQ(r.warnings[0].message,
            "the dividend at 1.5 does not lie between today (0) and expiry (1): it has no effect");
  EXPECT_EQ(r.warnings[1].line, 4);
  EXPECT_EQ(r.warnings[1].message,
            "the exercise date 1.25 does not lie between today (0) and expiry (1): it has no effect");
  EXPECT_EQ(r.warnings[2].line, 5);
  EXPECT_EQ(r.warnings[2].message, "a bermudan option without dates before its expiry is a european one");
}

TEST_F(book, further_greeks) {
  book_options options;
  options.more_greeks = true;
  price(
      "type,exercise,spot,strike,rate,volatility,expiry\n"
      "call,,100,100,0.05,0.2,1\n"
      "put,american,100,100,0.05,0.2,1\n",
      options);
  const std::vector<std::string> written = lines();
  EXPECT_EQ(written.at(0), "line,price,delta,gamma,theta,vega,rho,dividend_rho,vanna,volga,charm,error");
  EXPECT_NE(written.at(1).find(",-63.68306511756"), std::string::npos) << written.at(1);  // -T S delta
  EXPECT_TRUE(written.at(2).ends_with(",,,,,")) << written.at(2);
}

TEST_F(book, the_same_bytes_for_any_number_of_threads) {
  std::string text = "type,exercise,spot,strike,rate,dividend,volatility,expiry\n";
  for (int i = 0; i < 20000; ++i)
    text += (i % 2 ? "put," : "call,") + std::string(i % 50 ? "european," : "american,") +
            std::to_string(60 + i % 80) + ",100,0.05,0.01,0." + std::to_string(10 + i % 60) +
            (i % 777 ? ",1.5\n" : ",x\n");
  price(text);
  const std::string once = output();
  const book_report r = price(text, device::cpu(1), 5);
  EXPECT_EQ(output(), once);
  EXPECT_EQ(r.options, 20000);
  EXPECT_EQ(r.failed, 26);
}

TEST_F(book, stops_when_asked) {
  std::ofstream(path("book.csv")) << "type,spot,strike,volatility,expiry\ncall,100,100,0.2,1\n";
  book_options options;
  options.stop = [] { return true; };
  EXPECT_TRUE(price_book(path("book.csv"), path("prices.csv"), options).stopped);
  EXPECT_EQ(output(), "");
}

}  // namespace
}  // namespace vouch
