#include "actors/client/client.hpp"

#include "actors/client/session.hpp"

namespace handfast::client {

client::client(connection_options options)
    : session_{std::make_shared<session>(std::move(options))} {}

client::~client() {
  session_->stop();
}

} // namespace handfast::client
