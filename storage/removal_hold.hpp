#pragma once

/// Keeps files in a data folder while another process copies it: a lock beside the store's own,
/// which the operating system gives back when that process ends in any way.

#include "storage/file_system.hpp"

namespace handfast::storage {

/// Until the lock goes, the node that uses the store in `root` removes no segment, checkpoint or
/// derived run; a removal that has begun may still end. ec::directory_in_use if somebody else holds
/// them; ec::not_writable.
result<std::unique_ptr<file_lock>> hold_removals(file_system& disk, const std::string& root);

/// Whether somebody does. For the node, before it removes what it no longer needs: what stays
/// because of it is removed with the next occasion.
result<bool> removals_held(file_system& disk, const std::string& root);

} // namespace handfast::storage
