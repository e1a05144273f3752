#pragma once

/// Mail from the actor's own loop.

#include <caf/mailbox_element.hpp>

#include <utility>

namespace handfast {

/// Messages in the order in which they came; plain, for one thread. CAF's own mailbox takes mail
/// from any thread, with priorities, streams and a log line for each turn, which costs about as
/// much as a short handler does.
class near_mail {
public:
  near_mail() = default;
  ~near_mail() {
    while (!empty())
      pop();
  }
  near_mail(const near_mail&) = delete;
  near_mail& operator=(const near_mail&) = delete;

  [[nodiscard]] bool empty() const { return first_ == nullptr; }

  void push(caf::mailbox_element_ptr what) {
    auto* added = what.release();
    added->next = nullptr;
    if (first_)
      last_->next = added;
    else
      first_ = added;
    last_ = added;
  }

  /// The oldest; there must be one.
  caf::mailbox_element_ptr pop() {
    auto* oldest = first_;
    first_ = static_cast<caf::mailbox_element*>(oldest->next);
    return caf::mailbox_element_ptr{oldest};
  }

private:
  caf::mailbox_element* first_ = nullptr;
  caf::mailbox_element* last_ = nullptr;
};

} // namespace handfast
