// tests/interval/itl_operations.hpp -- the ITF1788 operations that host and device both have, by number.
#pragma once
#include <vouch/interval/decorated_functions.hpp>

namespace vouch::testing {

enum class itl_operation : int {
  pos,
  neg,
  add,
  sub,
  mul,
  div,
  recip,
  sqr,
  sqrt,
  fma,
  pown,
  abs,
  min,
  max,
  sign,
  ceil,
  floor,
  trunc,
  round_even,
  round_away,
  cancel_plus,
  cancel_minus,
  intersection,
  hull,
  mul_rev,
  mul_rev_of,
  mul_rev_to_pair,
  sqr_rev,
  sqr_rev_of,
  abs_rev,
  abs_rev_of,
  pown_rev,
  pown_rev_of,
  inf,
  sup,
  mid,
  rad,
  mid_rad,
  wid,
  mag,
  mig,
  is_empty,
  is_entire,
  is_common,
  is_singleton,
  is_member,
  is_nai,
  equal,
  subset,
  interior,
  disjoint,
  less,
  strict_less,
  precedes,
  strict_precedes,
  overlap,
  decoration_part,
  new_decoration
};

/// The names of ITF1788, in the same order.
inline constexpr const char* itl_names[] = {"pos",
                                            "neg",
                                            "add",
                                            "sub",
                                            "mul",
                                            "div",
                                            "recip",
                                            "sqr",
                                            "sqrt",
                                            "fma",
                                            "pown",
                                            "abs",
                                            "min",
                                            "max",
                                            "sign",
                                            "ceil",
                                            "floor",
                                            "trunc",
                                            "roundTiesToEven",
                                            "roundTiesToAway",
                                            "cancelPlus",
                                            "cancelMinus",
                                            "intersection",
                                            "convexHull",
                                            "mulRev",
                                            "mulRevTen",
                                            "mulRevToPair",
                                            "sqrRev",
                                            "sqrRevBin",
                                            "absRev",
                                            "absRevBin",
                                            "pownRev",
                                            "pownRevBin",
                                            "inf",
                                            "sup",
                                            "mid",
                                            "rad",
                                            "midRad",
                                            "wid",
                                            "mag",
                                            "mig",
                                            "isEmpty",
                                            "isEntire",
                                            "isCommonInterval",
                                            "isSingleton",
                                            "isMember",
                                            "isNaI",
                                            "equal",
                                            "subset",
                                            "interior",
                                            "disjoint",
                                            "less",
                                            "strictLess",
                                            "precedes",
                                            "strictPrecedes",
                                            "overlap",
                                            "decorationPart",
                                            "newDec"};

template <class Interval>
struct itl_operands {
  Interval x, y, z;
  double number = 0;
};

/// Whatever an operation returns; what it does not return keeps its default on both sides of a comparison.
template <class Interval>
struct itl_outcome {
  Interval first{};
  Interval second{};
  double number = 0;
  double second_number = 0;
  int word = 0;  // a truth value, a state of overlap, a decoration
};

namespace itl {

template <class Interval>
VOUCH_HOST_DEVICE itl_outcome<Interval> set(Interval x) {
  return {x, {}, 0, 0, 0};
}
template <class Interval>
VOUCH_HOST_DEVICE itl_outcome<Interval> number(double a, double b = 0) {
  return {{}, {}, a, b, 0};
}
template <class Interval>
VOUCH_HOST_DEVICE itl_outcome<Interval> word(int w) {
  return {{}, {}, 0, 0, w};
}

template <class Interval>
VOUCH_HOST_DEVICE itl_outcome<Interval> relation(itl_operation operation, Interval x, Interval y) {
  using enum itl_operation;
  switch (operation) {
    case is_empty:
      return word<Interval>(vouch::is_empty(x));
    case is_entire:
      return word<Interval>(vouch::is_entire(x));
    case is_common:
      return word<Interval>(vouch::is_common(x));
    case is_singleton:
      return word<Interval>(vouch::is_singleton(x));
    case equal:
      return word<Interval>(vouch::equal(x, y));
    case subset:
      return word<Interval>(vouch::subset(x, y));
    case interior:
      return word<Interval>(vouch::interior(x, y));
    case disjoint:
      return word<Interval>(vouch::disjoint(x, y));
    case less:
      return word<Interval>(vouch::less(x, y));
    case strict_less:
      return word<Interval>(vouch::strict_less(x, y));
    case precedes:
      return word<Interval>(vouch::precedes(x, y));
    case strict_precedes:
      return word<Interval>(vouch::strict_precedes(x, y));
    case overlap:
      return word<Interval>(static_cast<int>(vouch::overlap(x, y)));
    default:
      return word<Interval>(-1);
  }
}

template <class Interval>
VOUCH_HOST_DEVICE itl_outcome<Interval> size_of(itl_operation operation, Interval x) {
  using enum itl_operation;
  switch (operation) {
    case inf:
      return number<Interval>(vouch::inf(x));
    case sup:
      return number<Interval>(vouch::sup(x));
    case mid:
      return number<Interval>(vouch::mid(x));
    case rad:
      return number<Interval>(vouch::rad(x));
    case mid_rad:
      return number<Interval>(vouch::mid(x), vouch::rad(x));
    case wid:
      return number<Interval>(vouch::wid(x));
    case mag:
      return number<Interval>(vouch::mag(x));
    case mig:
      return number<Interval>(vouch::mig(x));
    default:
      return word<Interval>(-1);
  }
}

template <class Interval>
VOUCH_HOST_DEVICE itl_outcome<Interval> function(itl_operation operation, Interval x, Interval y) {
  using enum itl_operation;
  switch (operation) {
    case pos:
      return set(+x);
    case neg:
      return set(-x);
    case add:
      return set(x + y);
    case sub:
      return set(x - y);
    case mul:
      return set(x * y);
    case div:
      return set(x / y);
    case recip:
      return set(vouch::recip(x));
    case sqr:
      return set(vouch::sqr(x));
    case sqrt:
      return set(vouch::sqrt(x));
    case abs:
      return set(vouch::abs(x));
    case min:
      return set(vouch::min(x, y));
    case max:
      return set(vouch::max(x, y));
    case sign:
      return set(vouch::sign(x));
    case ceil:
      return set(vouch::ceil(x));
    case floor:
      return set(vouch::floor(x));
    case trunc:
      return set(vouch::trunc(x));
    case round_even:
      return set(vouch::round_ties_to_even(x));
    case round_away:
      return set(vouch::round(x));
    case cancel_plus:
      return set(vouch::cancel_plus(x, y));
    case cancel_minus:
      return set(vouch::cancel_minus(x, y));
    case intersection:
      return set(vouch::intersection(x, y));
    case hull:
      return set(vouch::hull(x, y));
    default:
      return word<Interval>(-1);
  }
}

template <class Interval>
VOUCH_HOST_DEVICE itl_outcome<Interval> reverse(itl_operation operation, const itl_operands<Interval>& v) {
  using enum itl_operation;
  const int exponent = static_cast<int>(v.number);
  switch (operation) {
    case mul_rev:
      return set(vouch::mul_rev(v.x, v.y));
    case mul_rev_of:
      return set(vouch::mul_rev(v.x, v.y, v.z));
    case sqr_rev:
      return set(vouch::sqr_rev(v.x));
    case sqr_rev_of:
      return set(vouch::sqr_rev(v.x, v.y));
    case abs_rev:
      return set(vouch::abs_rev(v.x));
    case abs_rev_of:
      return set(vouch::abs_rev(v.x, v.y));
    case pown_rev:
      return set(vouch::pown_rev(v.x, exponent));
    case pown_rev_of:
      return set(vouch::pown_rev(v.x, v.y, exponent));
    default: {
      const auto parts = vouch::mul_rev_to_pair(v.x, v.y);
      return {parts.first, parts.second, 0, 0, 0};
    }
  }
}

}  // namespace itl

template <class Interval>
VOUCH_HOST_DEVICE itl_outcome<Interval> itl_evaluate(itl_operation operation, const itl_operands<Interval>& v) {
  using enum itl_operation;
  if constexpr (requires { v.x.decoration_part(); }) {
    if (operation == is_nai) return itl::word<Interval>(vouch::is_nai(v.x));
    if (operation == decoration_part) return itl::word<Interval>(static_cast<int>(v.x.decoration_part()));
    if (operation == new_decoration) return itl::set(Interval(v.x.bare()));
  }
  if (operation == fma) return itl::set(vouch::fma(v.x, v.y, v.z));
  if (operation == pown) return itl::set(vouch::pown(v.x, static_cast<int>(v.number)));
  if (operation == is_member) return itl::word<Interval>(vouch::is_member(v.number, v.x));
  if (operation >= mul_rev && operation <= pown_rev_of) return itl::reverse(operation, v);
  if (operation >= inf && operation <= mig) return itl::size_of(operation, v.x);
  if (operation >= is_empty && operation <= overlap) return itl::relation(operation, v.x, v.y);
  return itl::function(operation, v.x, v.y);
}

}  // namespace vouch::testing
