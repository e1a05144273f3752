#pragma once

/// All families of commands, in the order of the help. Each function is defined in the file of its
/// family and adds the commands, their options and what they do.

#include "runtime/cli/menu.hpp"

namespace handfast::cli {

void add_topic_commands(menu& to);   // topic create | list | show | delete
void add_produce_command(menu& to);  // produce
void add_consume_command(menu& to);  // consume
void add_browse_command(menu& to);   // browse
void add_message_commands(menu& to); // message get | find
void add_transaction_commands(
    menu& to);                     // tx send | listen | list | show | commit | rollback | reopen
void add_delay_commands(menu& to); // delay list | cancel
void add_group_commands(menu& to); // group list | show | set | reset | delete
void add_dead_letter_commands(menu& to); // dlq list | resend
void add_status_command(menu& to);       // status
void add_quarantine_commands(menu& to);  // quarantine list
void add_bench_command(menu& to);        // bench
void add_config_commands(menu& to);      // config show | check | docs
void add_log_commands(menu& to);         // log verify | dump
void add_backup_commands(menu& to);      // backup | restore

} // namespace handfast::cli
