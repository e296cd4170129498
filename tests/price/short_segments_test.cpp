// Events close to expiry, to now or to each other: their steps are refined as all others, and so the estimate
// holds.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include <vouch/price/closed_form.hpp>
#include <vouch/price/finite_difference/time_stepping.hpp>
#include <vouch/price/price.hpp>

#include "contracts.hpp"
#include "quadrature_price.hpp"

namespace vouch {
namespace {

contract put_of_a_year() {
  contract c = testing::call_at_the_money();
  c.plain.type = option_type::put;
  return c;
}

TEST(short_segments, have_twice_the_steps_on_the_next_level) {
  contract c = put_of_a_year();
  c.exercise_dates = {1e-6, 0.3, 0.3001, 0.99, 1 - 1e-7};
  c.dividends = {{1e-4, 1}, {0.995, 2}};
  c.rates = {{0.25, 0.05}, {0.25001, 9}, {1, 0.02}};
  c.volatilities = {{0.01, 2}, {1, 0.2}};
  for (const exercise_style exercise :
       {exercise_style::european, exercise_style::american, exercise_style::bermudan}) {
    c.exercise = exercise;
    const std::int64_t first = exercise == exercise_style::american ? 128 : 24;
    for (std::int64_t steps = first; steps <= 64 * first; steps *= 2) {
      const auto coarse = make_segments(c, steps), fine = make_segments(c, 2 * steps);
      ASSERT_EQ(coarse.size(), fine.size());
      for (std::size_t k = 0; k < coarse.size(); ++k) {
        EXPECT_EQ(fine[k].from, coarse[k].from);
        EXPECT_EQ(fine[k].steps, 2 * coarse[k].steps) << k;
        EXPECT_EQ(fine[k].smooths, coarse[k].smooths);
      }
    }
  }
}

TEST(short_segments, leave_the_steps_of_a_plain_option_alone) {
  const contract european = testing::call_at_the_money();
  for (const std::int64_t steps : {1, 7, 24, 1001}) {
    ASSERT_EQ(make_segments(european, steps).size(), 1U);
    EXPECT_EQ(make_segments(european, steps)[0].steps, steps);
  }
  contract american = put_of_a_year();
  american.exercise = exercise_style::american;
  for (const std::int64_t steps : {4, 50, 128, 1000, 4096}) {
    std::int64_t sum = 0;
    for (const fd_segment& s : make_segments(american, steps)) sum += s.steps;
    EXPECT_EQ(sum, steps);
  }
}

void expect_covered(const contract& c, double exact, double tolerance, const std::string& what,
                    bool verified = false) {
  pricing_options how;
  how.finite_difference.verify = verified;
  how.force_finite_difference = true;
  how.finite_difference.tolerance = tolerance;
  const pricing p = price(c, how);
  EXPECT_TRUE(p.tolerance_met) << what;
  EXPECT_LE(std::abs(p.value.price - exact), p.error_estimate + 1e-7) << what;
}

// Value by quadrature over the underlying at the date, in 25 digits.
TEST(short_segments, one_date_of_exercise_before_expiry) {
  contract c = put_of_a_year();
  c.plain.volatility = 0.5;
  c.exercise = exercise_style::bermudan;
  c.exercise_dates = {0.99};
  for (const double tolerance : {1e-2, 1e-4, 1e-5}) expect_covered(c, 16.9378306, tolerance, "0.99");
}

TEST(short_segments, dates_dividends_and_spikes) {
  for (const double near : {1e-2, 1e-3, 1e-5}) {
    const std::string what = std::to_string(near);
    contract dates = put_of_a_year();
    dates.exercise = exercise_style::bermudan;
    dates.exercise_dates = {near, 0.5, 0.5 + near, 1 - near};
    expect_covered(dates, testing::quadrature_price(dates).price(), 1e-4, "dates " + what);
    contract fall = put_of_a_year();
    fall.dividends = {{near, 2}, {0.5, 1}, {0.5 + near, 3}, {1 - near, 4}};
    expect_covered(fall, testing::quadrature_price(fall).price(), 1e-4, "dividends " + what);
    contract spike = put_of_a_year();  // half the variance
    spike.plain.barrier = barrier_kind::down_and_out;
    spike.plain.barrier_level = 75;
    spike.volatilities = {{near, 0.2 / std::sqrt(near)}, {1, 0.2}};
    expect_covered(spike, testing::quadrature_price(spike).price(), 1e-4, "spike " + what);
  }
}

contract on_an_underlying_at_100(option_type type, double strike, double rate, double dividend,
                                 double volatility, double expiry) {
  contract c;
  c.plain.type = type;
  c.plain.spot = 100;
  c.plain.strike = strike;
  c.plain.rate = rate;
  c.plain.dividend = dividend;
  c.plain.volatility = volatility;
  c.plain.expiry = expiry;
  return c;
}

// What campaigns once took for errors far above the estimate, most of them errors of what they compared with.
contract volatilities_and_a_dividend_close_to_expiry() {
  contract c = on_an_underlying_at_100(option_type::put, 59.199406772866404, -0.015429302628502532, 0,
                                       0.52815348826060549, 1.6568707751036673);
  c.exercise = exercise_style::bermudan;
  c.exercise_dates = {4.8454994719257959e-05, 1.5940790561771854, 1.6567107665363285};
  c.dividends = {{0.95344242128625289, 0.21883486905727448}, {1.6567064591396781, 1.0914942431050543}};
  c.volatilities = {{1.6954952066461036e-05, 0.1818527038937508},
                    {1.1360492362692025, 0.16885714845316724},
                    {1.6401516615198048, 0.41838239238888114},
                    {1.6568707751036673, 0.45191757635391483}};
  return c;
}

contract dates_between_dividends() {
  contract c = on_an_underlying_at_100(option_type::put, 131.39238348346598, 0.11701979987854376,
                                       0.034577023815230215, 0.9065393783144462, 0.22222110654999946);
  c.exercise = exercise_style::bermudan;
  c.exercise_dates = {0.14322837592019377, 0.19413826206327148, 0.19908819027793148};
  c.dividends = {{5.9928368135669138e-05, 2.4174634517520346},
                 {0.15078038941361513, 18.727040463654568},
                 {0.22193057057351698, 2.5942635909478247}};
  c.volatilities = {{0.0014620819366329074, 1.1280239221523174},
                    {0.078124435150275146, 1.0002161222814154},
                    {0.22222110654999946, 2}};
  return c;
}

contract dividend_of_an_underlying_below_a_barrier() {
  contract c = on_an_underlying_at_100(option_type::put, 168.98561316399287, 0.034222057376590967,
                                       0.049680673040170348, 0.90379330853813122, 3.2641421185279307);
  c.plain.barrier = barrier_kind::up_and_out;
  c.plain.barrier_level = 148.29730985796235;
  c.dividends = {{3.2193868977493967, 0.69905885882624297}};
  return c;
}

contract two_dividends_of_an_underlying_below_a_barrier() {
  contract c = on_an_underlying_at_100(option_type::put, 49.100311848390746, -0.016728954004581232, 0,
                                       0.34424259252213457, 3.7124904416573168);
  c.plain.barrier = barrier_kind::up_and_out;
  c.plain.barrier_level = 373.38135490555248;
  c.exercise = exercise_style::bermudan;
  c.exercise_dates = {0.0015030328448469626, 2.6579505182858072, 3.5404384955509731};
  c.dividends = {{3.4857829010760768, 1.1978107671839744}, {3.4968100087709248, 1.3716157656322845}};
  c.rates = {{0.16907968609886315, 0.026660894621666556}, {3.7124904416573168, -0.018156672551070147}};
  c.volatilities = {{1.8662762616086921, 0.54793510320863947},
                    {2.74791026297784, 0.75268831483678988},
                    {2.7995290375720114, 0.39300324623338861},
                    {3.7124904416573168, 0.136208094771786}};
  return c;
}

contract two_dividends_in_escrow_close_to_expiry() {
  contract c = on_an_underlying_at_100(option_type::put, 91.332008108755673, 0.005205797125491532,
                                       0.072953309481068013, 0.15666744036077618, 0.4518183684717102);
  c.dividends = {{0.40789980992935426, 0.25220601725305614},
                 {0.45173092455796604, 0.3746083366690996},
                 {0.45174540805541635, 4.1449896979002361}};
  c.model = dividend_model::escrowed;
  return c;
}

contract call_with_two_dividends_in_escrow() {
  contract c = on_an_underlying_at_100(option_type::call, 96.2058378038369, 0.091675434909191555,
                                       0.08429100478980385, 0.095028483557095034, 0.40562996139641194);
  c.dividends = {{0.074397568252662485, 1.7647550885794061},
                 {0.40548994574653774, 1.3093993093794352},
                 {0.4054980607348691, 1.9645262063072328}};
  c.model = dividend_model::escrowed;
  return c;
}

contract call_in_escrow(double strike, double rate, double volatility, double expiry,
                        const std::vector<cash_dividend>& dividends) {
  contract c = on_an_underlying_at_100(option_type::call, strike, rate, 0, volatility, expiry);
  c.exercise = exercise_style::american;
  c.dividends = dividends;
  c.model = dividend_model::escrowed;
  return c;
}

// Without a yield a call is exercised just before a dividend or never.
double exercised_before_dividends(contract c) {
  c.exercise = exercise_style::bermudan;
  for (const cash_dividend& paid : c.dividends) c.exercise_dates.push_back(paid.time);
  return testing::quadrature_price(c).price();
}

contract smile_close_to_now() {
  contract c = on_an_underlying_at_100(option_type::call, 92.963600000738722, 0.010964065116636255,
                                       0.037081748136047255, 0.10478136857210066, 0.47295601549548738);
  c.local_volatility.times = {0.00082204388394489867, 0.00085231151386376265, 0.0010228310372768885,
                              0.27930523780924599};
  c.local_volatility.spots = {70, 90, 100, 115, 140};
  c.local_volatility.values = {
      0.069774283883255989, 0.14454074425263636,  0.1159918253055164,   0.15949039406906865,
      0.080552646629309124, 0.17140615550177279,  0.071002987465290199, 0.10446071804190619,
      0.14593930484163897,  0.17579012306760758,  0.14158001686505045,  0.1145544717885149,
      0.16271811138149786,  0.076673242904549133, 0.15423086834583652,  0.071395948367598869,
      0.12739532873902776,  0.095972225625377008, 0.082549370816190071, 0.13875695929659884};
  return c;
}

contract smile_of_small_volatility() {
  contract c = on_an_underlying_at_100(option_type::put, 102.61015982964039, 0.063464800559113563, 0,
                                       0.11254688108702422, 0.26484218638966633);
  c.local_volatility.times = {1.1241887818307413e-05, 0.014126344725236915, 0.070508400595119355,
                              0.2614692181367963};
  c.local_volatility.spots = {70, 90, 100, 115, 140};
  c.local_volatility.values = {
      0.10506282990704371,  0.073842536595941241, 0.1537443044614257,   0.15012871705887074,
      0.080293871864551031, 0.11379819347094333,  0.15796554823129821,  0.09028545023734548,
      0.10227488281829995,  0.10398650976121566,  0.13704382891177833,  0.12107578208628336,
      0.13007025581482412,  0.075742976133859455, 0.093401254970317205, 0.069491960212554757,
      0.16338268791246141,  0.091879270578327024, 0.18573187977550917,  0.089343819624268808};
  return c;
}

TEST(short_segments, quadratures_agree_with_formulas_of_dividends_in_escrow) {
  for (const contract& c : {two_dividends_in_escrow_close_to_expiry(), call_with_two_dividends_in_escrow()}) {
    plain_option of_the_rest = c.plain;
    of_the_rest.spot -= escrow(c, 0);
    EXPECT_NEAR(testing::quadrature_price(c).price(), closed_form(of_the_rest).price, 1e-8);
  }
}

// After the dividend the option has a formula; the rest by Simpson's rule over the underlying just before it:
// 51.404258283.
TEST(short_segments, quadratures_know_what_an_underlying_far_from_a_barrier_is_worth) {
  EXPECT_NEAR(testing::quadrature_price(dividend_of_an_underlying_below_a_barrier()).price(), 51.404258283,
              1e-8);
}

TEST(short_segments, that_alarmed_campaigns) {
  const auto expect_quadrature_covered = [](const contract& c, double tolerance, const std::string& what) {
    expect_covered(c, testing::quadrature_price(c).price(), tolerance, what);
  };
  expect_quadrature_covered(volatilities_and_a_dividend_close_to_expiry(), 0.00019,
                            "volatilities and a dividend close to expiry");
  expect_quadrature_covered(dates_between_dividends(), 0.000311, "dates between dividends");
  expect_quadrature_covered(dividend_of_an_underlying_below_a_barrier(), 0.000239,
                            "dividend of an underlying below a barrier");
  expect_quadrature_covered(two_dividends_of_an_underlying_below_a_barrier(), 0.000184,
                            "two dividends of an underlying below a barrier");
  expect_quadrature_covered(two_dividends_in_escrow_close_to_expiry(), 0.00125,
                            "two dividends in escrow close to expiry");
  expect_quadrature_covered(call_with_two_dividends_in_escrow(), 0.000879, "call with two dividends in escrow");
  // What exercise pays bends below the strike by the escrow, anywhere between two nodes.
  const auto expect_exercise_covered = [](const contract& c, double tolerance, const std::string& what) {
    const double exact = exercised_before_dividends(c);
    expect_covered(c, exact, tolerance, what);
    expect_covered(c, exact, tolerance, what + ", verified", true);
  };
  expect_exercise_covered(call_in_escrow(101.90710259497419, 0.0092128797309355831, 0.070414513501812687,
                                         0.085721291194737274, {{0.071971759721441098, 2.7173344411201055}}),
                          1e-5, "call out of the money with a dividend in escrow");
  expect_exercise_covered(
      call_in_escrow(
          99.869793758455202, 0.11708404229553419, 0.19262953716397124, 0.033156978167627082,
          {{1.0353448709963735e-06, 0.35290290290033122}, {0.033151909902011743, 0.20095039569246131}}),
      4e-4, "call with dividends in escrow close to now and to expiry");
  expect_exercise_covered(
      call_in_escrow(83.318228230828637, 0.030357462704844695, 0.092220768547301699, 2.9397618785196888,
                     {{0.074281241870928813, 0.79297943317315844},
                      {1.374038670173936, 1.2672868597058982},
                      {2.9360672835598702, 1.8727609383187813}}),
      0.00602, "call with three dividends in escrow");
  // Converged on the campaign's other grid, four times as fine as there.
  expect_covered(smile_close_to_now(), 6.88238239, 0.000283, "smile close to now");
  expect_covered(smile_of_small_volatility(), 2.84344741, 0.000293, "smile of small volatility");
}

}  // namespace
}  // namespace vouch
