#include "messages/filter/filter.hpp"

#include "messages/filter/sql_parser.hpp"
#include "messages/names.hpp"
#include "messages/properties.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace handfast {

struct filter::compiled {
  filter_kind kind = filter_kind::tags;
  std::string text;
  std::vector<std::string> tags;     ///< sorted, each once
  std::vector<std::uint32_t> hashes; ///< of the tags, sorted
  sql::program program;
};

namespace {

constexpr std::string_view bars = "||";

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\n\r\f\v";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

result<void> check_length(std::string_view text) {
  if (text.size() <= limits::filter_bytes_max)
    return {};
  return fail(ec::bad_request,
              "filter " + printable(text) + " has " + std::to_string(text.size()) +
                  " bytes, at most " + std::to_string(limits::filter_bytes_max) +
                  " are allowed; let the producer set a tag or property that says what is wanted");
}

result<void> check_tag(std::string_view text, std::string_view tag) {
  if (tag.find(property_name_end) == std::string_view::npos &&
      tag.find(property_value_end) == std::string_view::npos)
    return {};
  return fail(ec::bad_request, "filter " + printable(text) + " has the tag " + printable(tag) +
                                   ", and no tag can hold a byte 0x01 or 0x02; leave it out");
}

/// The tags between the bars, without blanks around; empty ones are left out, as clients do.
std::vector<std::string> split_tags(std::string_view text) {
  std::vector<std::string> tags;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(bars, at), text.size());
    if (const auto tag = trimmed(text.substr(at, end - at)); !tag.empty())
      tags.emplace_back(tag);
    at = end + bars.size();
  }
  return tags;
}

template <class T>
void sort_each_once(std::vector<T>& items) {
  std::ranges::sort(items);
  const auto rest = std::ranges::unique(items);
  items.erase(rest.begin(), rest.end());
}

} // namespace

result<filter> parse_tag_filter(std::string_view given) {
  if (auto fits = check_length(given); !fits)
    return tl::unexpected<error>{fits.error()};
  const auto text = trimmed(given);
  if (text.empty())
    return filter{};
  auto tags = split_tags(text);
  if (tags.empty())
    return fail(ec::bad_request, "filter " + printable(text) +
                                     " names no tag; write tags with || between, such as A || B, "
                                     "or * for every message");
  if (std::ranges::find(tags, "*") != tags.end())
    return filter{};
  for (const auto& tag : tags) {
    if (auto good = check_tag(text, tag); !good)
      return tl::unexpected<error>{good.error()};
  }
  sort_each_once(tags);
  if (tags.size() > limits::filter_values_max)
    return fail(ec::bad_request, "filter " + printable(text) + " has " +
                                     std::to_string(tags.size()) + " tags, at most " +
                                     std::to_string(limits::filter_values_max) +
                                     " are allowed; use fewer tags, or * and choose in the "
                                     "consumer");
  filter::compiled made;
  made.text = text;
  for (const auto& tag : tags)
    made.hashes.push_back(tag_hash(tag));
  made.tags = std::move(tags);
  sort_each_once(made.hashes);
  return filter{std::make_shared<const filter::compiled>(std::move(made))};
}

result<filter> parse_sql_filter(std::string_view given) {
  if (auto fits = check_length(given); !fits)
    return tl::unexpected<error>{fits.error()};
  const auto text = trimmed(given);
  if (text.empty() || text == "*")
    return filter{};
  auto program = sql::parse(text);
  if (!program)
    return tl::unexpected<error>{program.error()};
  filter::compiled made;
  made.kind = filter_kind::sql;
  made.text = text;
  made.program = *std::move(program);
  return filter{std::make_shared<const filter::compiled>(std::move(made))};
}

bool filter::may_match(std::uint32_t hash) const {
  if (wants_all() || compiled_->kind == filter_kind::sql)
    return true;
  return std::ranges::binary_search(compiled_->hashes, hash);
}

bool filter::matches(std::string_view properties) const {
  if (wants_all())
    return true;
  if (compiled_->kind == filter_kind::sql) {
    const sql::property_values values{properties, compiled_->program.properties};
    return sql::evaluate(compiled_->program.root, values) == sql::truth::yes;
  }
  const auto tag = find_property(properties, property_keys::tags);
  return tag &&
         std::binary_search(compiled_->tags.begin(), compiled_->tags.end(), *tag, std::less<>{});
}

bool filter::needs_properties() const {
  if (wants_all())
    return false;
  return compiled_->kind == filter_kind::tags || !compiled_->program.properties.empty();
}

filter_kind filter::kind() const {
  return wants_all() ? filter_kind::tags : compiled_->kind;
}

std::string filter::text() const {
  return wants_all() ? "*" : compiled_->text;
}

bool operator==(const filter& a, const filter& b) {
  if (a.compiled_ == b.compiled_)
    return true;
  if (a.wants_all() || b.wants_all() || a.kind() != b.kind())
    return false;
  return a.kind() == filter_kind::tags ? a.compiled_->tags == b.compiled_->tags
                                       : a.compiled_->text == b.compiled_->text;
}

} // namespace handfast
