#pragma once

/// Rules that a record must keep to be folded. A record that breaks one is listed with the rule's
/// sentence, so the sentence is for people; a fault of this program is HANDFAST_ASSERT's business.

#include "messages/assert.hpp"

#include <string>

namespace handfast {

/// A record says what cannot be.
class rule_broken : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// @param sentence what is wrong with the record if the rule does not hold: "it ..."
inline void require_of_record(bool holds, const char* sentence) {
  if (!holds) [[unlikely]]
    throw rule_broken{sentence};
}

/// Why a record could not be folded, without the places in this program that its makers like to
/// see.
inline std::string sentence_of(const std::exception& why) {
  std::string text{why.what()};
  if (dynamic_cast<const invariant_broken*>(&why) == nullptr)
    return text;
  if (const auto place = text.rfind(" at "); place != std::string::npos)
    text.resize(place);
  return "it can't be true together with the records before it (" + text + " does not hold)";
}

} // namespace handfast
