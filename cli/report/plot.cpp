#include "plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vouch/core/error.hpp>
#include <vouch/text/tokens.hpp>

namespace vouch::plot {
namespace {

struct tick {
  double value = 0;
  std::string label;     // "": a faint line of the grid alone
  std::string exponent;  // raised behind the label
};

/// An axis with its ends fixed; maps values to 0..1.
class fitted_axis {
 public:
  /// Room for all of the values that the axis can show; `room` is about how many labels fit.
  fitted_axis(const axis& wanted, const std::vector<double>& values, int room);

  /// Whether the value can be shown at all.
  bool shows(double value) const;
  /// 0 at one end, 1 at the other.
  double place(double value) const;
  const std::vector<tick>& ticks() const { return ticks_; }

 private:
  void fit_linear(const axis& wanted, int room);
  void fit_logarithmic(const axis& wanted, int room);
  double position(double value) const;

  scale kind_;
  double low_ = 0, high_ = 1;  // of position()
  std::vector<tick> ticks_;
};

/// "1000000" as "1 000 000", "0.25", "1e-07": a short text of a number.
std::string short_number(double value);

// The smallest of 1, 2 and 5 times a power of ten that is no smaller than x.
double round_step(double x) {
  const double decade = std::pow(10.0, std::floor(std::log10(x)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * decade >= x * (1 - 1e-12)) return factor * decade;
  return 10 * decade;
}

tick power_of_ten(int exponent) {
  const double value = std::pow(10.0, exponent);
  if (exponent >= 0 && exponent <= 3) return {value, fmt::format("{:.0f}", value), ""};
  // A minus sign, not a hyphen.
  return {value, "10", exponent < 0 ? fmt::format("\u2212{}", -exponent) : fmt::format("{}", exponent)};
}

std::string short_number(double value) {
  std::string text = fmt::format("{:.6g}", value);
  const std::size_t digits = text.find_first_not_of("0123456789");
  if (digits != std::string::npos || text.size() < 5) return text;
  for (std::size_t at = text.size() - 3; at > 0 && at < text.size(); at -= std::min<std::size_t>(at, 3))
    text.insert(at, "\u2009");  // thin space
  return text;
}

fitted_axis::fitted_axis(const axis& wanted, const std::vector<double>& values, int room) : kind_(wanted.kind) {
  low_ = std::numeric_limits<double>::infinity();
  high_ = -low_;
  const auto cover = [this](double value) {
    if (!shows(value)) return;
    low_ = std::min(low_, position(value));
    high_ = std::max(high_, position(value));
  };
  for (const double value : values) cover(value);
  if (wanted.from) cover(*wanted.from);
  if (wanted.to) cover(*wanted.to);
  if (low_ > high_) low_ = 0, high_ = 1;
  kind_ == scale::linear ? fit_linear(wanted, room) : fit_logarithmic(wanted, room);
}

bool fitted_axis::shows(double value) const {
  return std::isfinite(value) && (kind_ == scale::linear || value > 0);
}

double fitted_axis::position(double value) const { return kind_ == scale::linear ? value : std::log10(value); }

double fitted_axis::place(double value) const { return (position(value) - low_) / (high_ - low_); }

void fitted_axis::fit_linear(const axis& wanted, int room) {
  if (wanted.from) low_ = *wanted.from;
  if (wanted.to) high_ = *wanted.to;
  if (!(high_ > low_)) high_ = low_ + std::max(1.0, std::fabs(low_));
  const double step = round_step((high_ - low_) / room);
  if (!wanted.from) low_ = step * std::floor(low_ / step * (1 - 1e-12));
  if (!wanted.to && high_ > step * (std::floor(high_ / step) + 0.6)) high_ = step * std::ceil(high_ / step);
  for (double k = std::ceil(low_ / step - 1e-9); k * step <= high_ + 1e-9 * step; ++k)
    ticks_.push_back({k * step, short_number(k == 0 ? 0.0 : k * step), ""});  // no minus zero
}

void fitted_axis::fit_logarithmic(const axis& wanted, int room) {
  low_ = wanted.from && shows(*wanted.from) ? position(*wanted.from) : std::floor(low_ + 1e-9);
  high_ = wanted.to && shows(*wanted.to) ? position(*wanted.to) : std::ceil(high_ - 1e-9);
  if (!(high_ > low_)) high_ = low_ + 1;
  const int stride = std::max(1, static_cast<int>(std::ceil((high_ - low_) / room)));
  const int first = static_cast<int>(std::floor(low_)), last = static_cast<int>(std::ceil(high_));
  for (int decade = first; decade <= last; ++decade) {
    tick whole = power_of_ten(decade);
    if (decade % stride != 0) whole.label.clear();
    const auto add = [this](const tick& t) {
      if (position(t.value) >= low_ - 1e-9 && position(t.value) <= high_ + 1e-9) ticks_.push_back(t);
    };
    add(whole);
    if (high_ - low_ > 6) continue;
    for (int k = 2; k <= 9; ++k) {
      const double value = k * std::pow(10.0, decade);
      const bool labelled = high_ - low_ <= 2 && (k == 2 || k == 5);
      add({value, labelled ? short_number(value) : "", ""});
    }
  }
}

// Distinguishable for colour-blind readers too (Okabe and Ito), darkened for lines on white.
constexpr std::array<const char*, 7> palette{"#0064a8", "#c8500a", "#00805e", "#a3437f",
                                             "#2f8fc4", "#8a6d00", "#444444"};
constexpr const char* reference_colour = "#a01c1c";
constexpr double text_size = 13;

// Bytes of UTF-8 that start a character.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// There is no font to ask: an upper estimate for common sans-serif faces.
double text_width(std::string_view text, double size = text_size) {
  return 0.6 * size * static_cast<double>(characters(text));
}

struct point {
  double x, y;
};

class drawing {
 public:
  explicit drawing(const line_plot& plot)
      : plot_(plot), x_(plot.x, x_values(), plot.width / 110), y_(plot.y, y_values(), plot.height / 45) {}

  std::string draw() {
    lay_out();
    open();
    grid();
    references();
    for (std::size_t k = 0; k < plot_.lines.size(); ++k) draw_series(plot_.lines[k], colour(k));
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  static const char* colour(std::size_t k) { return palette[k % palette.size()]; }

  std::vector<double> x_values() const {
    std::vector<double> all;
    for (const series& s : plot_.lines) all.insert(all.end(), s.x.begin(), s.x.end());
    return all;
  }
  std::vector<double> y_values() const {
    std::vector<double> all;
    for (const series& s : plot_.lines) all.insert(all.end(), s.y.begin(), s.y.end());
    for (const reference_line& r : plot_.references) all.push_back(r.y);
    return all;
  }

  // Title, subtitle and legend stand above the plot, where they hide no data.
  void lay_out() {
    double widest = 0;
    for (const tick& t : y_.ticks()) widest = std::max(widest, text_width(t.label) + text_width(t.exponent, 9));
    left_ = 22 + widest + (plot_.y.title.empty() ? 0 : 20);
    right_ = plot_.width - 20;
    top_ = 14 + (plot_.title.empty() ? 0 : 22) + (plot_.subtitle.empty() ? 0 : 19);
    legend_top_ = top_ + 8;
    double x = left_, rows = 0;
    for (const series& s : plot_.lines) {
      if (s.name.empty()) continue;
      const double width = 34 + text_width(s.name) + 16;
      if (rows == 0 || x + width > right_) {
        x = left_;
        ++rows;
      }
      legend_.push_back({x, legend_top_ + 20 * (rows - 1)});
      x += width;
    }
    top_ += 20 * rows + (rows > 0 ? 10 : 4);
    bottom_ = plot_.height - (plot_.x.title.empty() ? 30 : 54);
  }

  double at_x(double value) const { return left_ + x_.place(value) * (right_ - left_); }
  double at_y(double value) const { return bottom_ - y_.place(value) * (bottom_ - top_); }

  template <class... Values>
  void put(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Values>(values)...);
  }

  void open() {
    put("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
        "role=\"img\" font-family=\"system-ui, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif\" "
        "font-size=\"{2}\" fill=\"#333\">\n<title>{3}</title>\n<rect width=\"{0}\" height=\"{1}\" "
        "fill=\"#fff\"/>\n",
        plot_.width, plot_.height, text_size, escaped_xml(plot_.title));
    double y = 28;
    if (!plot_.title.empty())
      put("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"17\" font-weight=\"600\" fill=\"#111\">{}</text>\n",
          left_, y, escaped_xml(plot_.title));
    if (!plot_.title.empty()) y += 20;
    if (!plot_.subtitle.empty())
      put("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"#666\">{}</text>\n", left_, y, escaped_xml(plot_.subtitle));
    legend();
  }

  void legend() {
    std::size_t place = 0;
    for (std::size_t k = 0; k < plot_.lines.size(); ++k) {
      const series& s = plot_.lines[k];
      if (s.name.empty()) continue;
      const point at{legend_[place].x, legend_[place].y + 6};
      ++place;
      if (s.line) stroke(fmt::format("M{:.1f} {:.1f}h26", at.x, at.y), s, colour(k));
      if (s.markers) marker({at.x + 13, at.y}, colour(k));
      put("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", at.x + 33, at.y + 4.5, escaped_xml(s.name));
    }
  }

  void grid() {
    for (const tick& t : x_.ticks()) {
      const double x = at_x(t.value);
      put("<path d=\"M{:.1f} {:.1f}V{:.1f}\" stroke=\"{}\"/>\n", x, top_, bottom_, grid_colour(t));
      if (!t.label.empty()) label(t, x, bottom_ + 19, "middle");
    }
    for (const tick& t : y_.ticks()) {
      const double y = at_y(t.value);
      put("<path d=\"M{:.1f} {:.1f}H{:.1f}\" stroke=\"{}\"/>\n", left_, y, right_, grid_colour(t));
      if (!t.label.empty()) label(t, left_ - 8, y + 4.5, "end");
    }
    put("<path d=\"M{0:.1f} {1:.1f}V{2:.1f}H{3:.1f}\" fill=\"none\" stroke=\"#666\"/>\n", left_, top_, bottom_,
        right_);
    if (!plot_.x.title.empty())
      put("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", (left_ + right_) / 2,
          bottom_ + 42, escaped_xml(plot_.x.title));
    if (!plot_.y.title.empty())
      put("<text transform=\"translate(18 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
          (top_ + bottom_) / 2, escaped_xml(plot_.y.title));
  }

  static const char* grid_colour(const tick& t) { return t.label.empty() ? "#f1f1f1" : "#dedede"; }

  void label(const tick& t, double x, double y, const char* anchor) {
    put("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}", x, y, anchor, t.label);
    if (!t.exponent.empty()) put("<tspan dy=\"-5\" font-size=\"9.5\">{}</tspan>", t.exponent);
    out_ += "</text>\n";
  }

  void references() {
    for (const reference_line& r : plot_.references) {
      if (!y_.shows(r.y)) continue;
      const double y = at_y(r.y);
      put("<path d=\"M{:.1f} {:.1f}H{:.1f}\" stroke=\"{}\" stroke-width=\"1.4\" stroke-dasharray=\"7 4\"/>\n",
          left_, y, right_, reference_colour);
      // A halo keeps the label readable where a curve runs through it.
      put("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\" stroke=\"#fff\" stroke-width=\"4\" "
          "paint-order=\"stroke\">{}</text>\n",
          left_ + 8, y - 6 < top_ + text_size ? y + 16 : y - 6, reference_colour, escaped_xml(r.label));
    }
  }

  void stroke(const std::string& path, const series& s, const char* stroke_colour) {
    put("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\" stroke-linejoin=\"round\"{}/>\n", path,
        stroke_colour, s.dashed ? " stroke-dasharray=\"6 4\"" : "");
  }

  void marker(point at, const char* fill) {
    put("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\" fill=\"{}\" stroke=\"#fff\" stroke-width=\"1.2\"/>\n",
        at.x, at.y, fill);
  }

  void draw_series(const series& s, const char* stroke_colour) {
    if (s.x.size() != s.y.size())
      throw value_error(fmt::format("plot: series '{}' has {} x and {} y", s.name, s.x.size(), s.y.size()));
    std::string path;
    for (const std::vector<point>& piece : pieces(s)) {
      const std::vector<point> kept = thinned(piece);
      for (std::size_t k = 0; k < kept.size(); ++k)
        fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", k == 0 ? 'M' : 'L', kept[k].x, kept[k].y);
      if (kept.size() == 1) path += "h0.1";
    }
    if (s.line && !path.empty()) stroke(path, s, stroke_colour);
    if (!s.markers) return;
    for (const std::vector<point>& piece : pieces(s))
      for (const point at : piece) marker(at, stroke_colour);
  }

  // Runs of neighbouring points that can be shown, in the drawing's coordinates.
  std::vector<std::vector<point>> pieces(const series& s) const {
    std::vector<std::vector<point>> all;
    bool open = false;
    for (std::size_t k = 0; k < s.x.size(); ++k) {
      const bool shown = x_.shows(s.x[k]) && y_.shows(s.y[k]);
      if (shown && !open) all.emplace_back();
      if (shown) all.back().push_back({at_x(s.x[k]), at_y(s.y[k])});
      open = shown;
    }
    return all;
  }

  std::vector<point> thinned(const std::vector<point>& all) const {
    if (static_cast<double>(all.size()) <= right_ - left_) return all;
    std::vector<point> kept;
    for (std::size_t begin = 0; begin < all.size();) {
      std::size_t end = begin, least = begin, greatest = begin;
      for (; end < all.size() && std::floor(all[end].x) == std::floor(all[begin].x); ++end) {
        if (all[end].y < all[least].y) least = end;
        if (all[end].y > all[greatest].y) greatest = end;
      }
      std::array<std::size_t, 4> chosen{begin, least, greatest, end - 1};
      std::sort(chosen.begin(), chosen.end());
      const auto last = std::unique(chosen.begin(), chosen.end());
      for (auto k = chosen.begin(); k != last; ++k) kept.push_back(all[*k]);
      begin = end;
    }
    return kept;
  }

  const line_plot& plot_;
  fitted_axis x_, y_;
  double left_ = 0, right_ = 0, top_ = 0, bottom_ = 0, legend_top_ = 0;
  std::vector<point> legend_;  // top left corners of its items
  std::string out_;
};

}  // namespace

std::string to_svg(const line_plot& plot) { return drawing(plot).draw(); }

}  // namespace vouch::plot
