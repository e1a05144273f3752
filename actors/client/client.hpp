#pragma once

/// The entry to the client library.

#include "actors/client/options.hpp"

#include <memory>

namespace handfast::client {

class session;

/// One connection to a node, kept up in the background by one thread of its own. Producers,
/// consumers and `admin` are made from it and share it; they may outlive it, and then answer every
/// call with `stopping`.
///
/// The constructor returns at once; the connection is made when the first request needs it or right
/// away, whichever comes first. Thread-safe.
class client {
public:
  explicit client(connection_options options = {});
  /// Ends the connection in order. What is not answered yet ends as *unknown*, what was never sent
  /// as *refused*. Must not run in a callback of this client.
  ~client();
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  /// For the library's own classes.
  [[nodiscard]] const std::shared_ptr<session>& link() const { return session_; }

private:
  std::shared_ptr<session> session_;
};

} // namespace handfast::client
