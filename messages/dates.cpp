#include "messages/dates.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace handfast {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc{} || stop != end)
    return std::nullopt;
  return number;
}

/// Takes a date apart, from its beginning to its end. Once something is not there, all is refused.
class date_reader {
public:
  explicit date_reader(std::string_view text) : rest_{text} {}

  unsigned digits(std::size_t count) {
    const auto number = rest_.size() < count || !std::all_of(rest_.begin(), rest_.begin() + count,
                                                             [](char c) { return is_digit(c); })
                            ? std::nullopt
                            : whole_number(rest_.substr(0, count));
    ok_ = ok_ && number;
    rest_.remove_prefix(std::min(count, rest_.size()));
    return static_cast<unsigned>(number.value_or(0));
  }
  bool take(char sign) {
    const bool there = rest_.starts_with(sign);
    if (there)
      rest_.remove_prefix(1);
    return there;
  }
  void need(char sign) { ok_ = take(sign) && ok_; }
  /// One to three digits behind the point.
  unsigned thousandths() {
    const auto end = std::ranges::find_if_not(rest_, is_digit);
    const auto count = static_cast<std::size_t>(end - rest_.begin());
    ok_ = ok_ && count >= 1 && count <= 3;
    if (!ok_)
      return 0;
    unsigned value = digits(count);
    for (auto i = count; i < 3; ++i)
      value *= 10;
    return value;
  }
  [[nodiscard]] bool read_whole() const { return ok_ && rest_.empty(); }

private:
  std::string_view rest_;
  bool ok_ = true;
};

} // namespace

std::optional<wall_ms> date_from_text(std::string_view text) {
  using namespace std::chrono;
  date_reader in{text};
  const year y{static_cast<int>(in.digits(4))};
  in.need('-');
  const month m{in.digits(2)};
  in.need('-');
  const day d{in.digits(2)};
  in.need('T');
  const auto hour = in.digits(2);
  in.need(':');
  const auto minute = in.digits(2);
  const auto second = in.take(':') ? in.digits(2) : 0;
  const auto fraction = in.take('.') ? in.thousandths() : 0;
  in.need('Z');
  const auto date = y / m / d;
  if (!in.read_whole() || !date.ok() || y < year{1970} || hour > 23 || minute > 59 || second > 59)
    return std::nullopt;
  const milliseconds since_1970 = sys_days{date}.time_since_epoch() + hours{hour} +
                                  minutes{minute} + seconds{second} + milliseconds{fraction};
  return static_cast<wall_ms>(since_1970.count());
}

} // namespace handfast
