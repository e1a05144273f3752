#pragma once

/// Which messages of a topic a subscription wants: by tag, or by a condition over properties in the
/// SQL dialect of RocketMQ. `docs/filters.md` is the page for people.

#include "messages/error.hpp"
#include "messages/filter_kind.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace handfast {

/// A compiled filter: an immutable value, cheap to copy, safe to use from several threads at once.
/// Made by the parsers below; default-constructed it wants everything.
class filter {
public:
  filter() = default;

  /// By the tag hash alone, which index entries keep: false means that no message with this hash
  /// is wanted, true that `matches` must look at the properties (different tags can share a hash).
  /// Hash 0 stands for a message without a tag.
  [[nodiscard]] bool may_match(std::uint32_t tag_hash) const;

  /// Whether a message with these properties (as `messages/properties.hpp` encodes them) is wanted.
  /// The whole answer, with no need to call `may_match` before; never allocates, takes time linear
  /// in the size of the properties, and is total: bytes that are no properties have no tag.
  [[nodiscard]] bool matches(std::string_view properties) const;

  /// False if the answer is the same whatever the properties are, so that they need not be read.
  [[nodiscard]] bool needs_properties() const;
  /// It wants every message.
  [[nodiscard]] bool wants_all() const { return compiled_ == nullptr; }

  [[nodiscard]] filter_kind kind() const;
  /// As it was written, without blanks around; `*` for one that wants everything.
  [[nodiscard]] std::string text() const;

  /// The same kind and, for tags, the same set of tags; for SQL, the same text.
  friend bool operator==(const filter& a, const filter& b);

  /// What the parsers make; of no use outside this folder.
  struct compiled;
  explicit filter(std::shared_ptr<const compiled> from) : compiled_{std::move(from)} {}

private:
  std::shared_ptr<const compiled> compiled_; ///< null: everything
};

/// `A || B`: one of these tags, blanks around a tag not counted. `*`, also as one of several, and
/// the empty text want everything. `ec::bad_request` if the text or the number of tags is over its
/// limit, if nothing stands between the bars, or if a tag holds a byte that no property can.
result<filter> parse_tag_filter(std::string_view text);

/// A condition over properties (`docs/filters.md` has the grammar); the empty text and `*` want
/// everything. `ec::bad_request` with the place, what was found, what is wanted and the nearest
/// remedy, or with the limit that is exceeded.
result<filter> parse_sql_filter(std::string_view text);

} // namespace handfast
