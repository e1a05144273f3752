#pragma once

/// Turns each frame struct into bytes and back.
///
/// `encode` appends one frame to the writer. `decode` reads `from`, whose kind must be that of the
/// struct, into `into`, whose vectors are reused: decoding batch after batch into the same struct
/// allocates nothing. Bodies become windows that share the frame's bytes. `decode` never throws,
/// whatever the bytes are: `ec::bad_frame`, and `into` then has no meaning. A decoded code,
/// outcome, origin or state is always a value of its enum.

#include "messages/native/admin.hpp"
#include "messages/native/consume.hpp"
#include "messages/native/delays.hpp"
#include "messages/native/frame_writer.hpp"
#include "messages/native/frames.hpp"
#include "messages/native/groups.hpp"
#include "messages/native/produce.hpp"
#include "messages/native/session.hpp"
#include "messages/native/transactions.hpp"

namespace handfast::native {

// session
void encode(frame_writer& to, const hello& from);
void encode(frame_writer& to, const welcome& from);
void encode(frame_writer& to, const closing& from);
void encode(frame_writer& to, const goodbye& from);
void encode(frame_writer& to, const refused& from);
void encode(frame_writer& to, const done& from);
void encode(frame_writer& to, const resolve_topic& from);
void encode(frame_writer& to, const topic_resolved& from);
void encode(frame_writer& to, const join_producer_group& from);
void encode(frame_writer& to, const group_joined& from);
void encode(frame_writer& to, const leave_producer_group& from);
result<void> decode(const frame& from, hello& into);
result<void> decode(const frame& from, welcome& into);
result<void> decode(const frame& from, closing& into);
result<void> decode(const frame& from, goodbye& into);
result<void> decode(const frame& from, refused& into);
result<void> decode(const frame& from, done& into);
result<void> decode(const frame& from, resolve_topic& into);
result<void> decode(const frame& from, topic_resolved& into);
result<void> decode(const frame& from, join_producer_group& into);
result<void> decode(const frame& from, group_joined& into);
result<void> decode(const frame& from, leave_producer_group& into);

// produce
void encode(frame_writer& to, const send& from);
void encode(frame_writer& to, const send_half& from);
void encode(frame_writer& to, const sent& from);
void encode(frame_writer& to, const half_stored& from);
result<void> decode(const frame& from, send& into);
result<void> decode(const frame& from, send_half& into);
result<void> decode(const frame& from, sent& into);
result<void> decode(const frame& from, half_stored& into);

// transactions
void encode(frame_writer& to, const decide& from);
void encode(frame_writer& to, const decided& from);
void encode(frame_writer& to, const running& from);
void encode(frame_writer& to, const check_received& from);
void encode(frame_writer& to, const check& from);
void encode(frame_writer& to, const query_transaction& from);
void encode(frame_writer& to, const list_transactions& from);
void encode(frame_writer& to, const transactions& from);
void encode(frame_writer& to, const reopen& from);
void encode(frame_writer& to, const reopened& from);
result<void> decode(const frame& from, decide& into);
result<void> decode(const frame& from, decided& into);
result<void> decode(const frame& from, running& into);
result<void> decode(const frame& from, check_received& into);
result<void> decode(const frame& from, check& into);
result<void> decode(const frame& from, query_transaction& into);
result<void> decode(const frame& from, list_transactions& into);
result<void> decode(const frame& from, transactions& into);
result<void> decode(const frame& from, reopen& into);
result<void> decode(const frame& from, reopened& into);

// consume
void encode(frame_writer& to, const fetch& from);
void encode(frame_writer& to, const read_view& from);
void encode(frame_writer& to, const delivered& from);
void encode(frame_writer& to, const acknowledge& from);
void encode(frame_writer& to, const acknowledged& from);
void encode(frame_writer& to, const subscribe& from);
void encode(frame_writer& to, const credit& from);
void encode(frame_writer& to, const unsubscribe& from);
void encode(frame_writer& to, const read_queues& from);
void encode(frame_writer& to, const find_offsets& from);
void encode(frame_writer& to, const offsets& from);
result<void> decode(const frame& from, fetch& into);
result<void> decode(const frame& from, read_view& into);
result<void> decode(const frame& from, delivered& into);
result<void> decode(const frame& from, acknowledge& into);
result<void> decode(const frame& from, acknowledged& into);
result<void> decode(const frame& from, subscribe& into);
result<void> decode(const frame& from, credit& into);
result<void> decode(const frame& from, unsubscribe& into);
result<void> decode(const frame& from, read_queues& into);
result<void> decode(const frame& from, find_offsets& into);
result<void> decode(const frame& from, offsets& into);

// delays
void encode(frame_writer& to, const list_delayed& from);
void encode(frame_writer& to, const cancel_delayed& from);
void encode(frame_writer& to, const delayed_page& from);
result<void> decode(const frame& from, list_delayed& into);
result<void> decode(const frame& from, cancel_delayed& into);
result<void> decode(const frame& from, delayed_page& into);

// administration
void encode(frame_writer& to, const topic_create& from);
void encode(frame_writer& to, const topic_show& from);
void encode(frame_writer& to, const topic_delete& from);
void encode(frame_writer& to, const topic_list& from);
void encode(frame_writer& to, const group_list& from);
void encode(frame_writer& to, const status& from);
void encode(frame_writer& to, const quarantine_list& from);
void encode(frame_writer& to, const topics& from);
void encode(frame_writer& to, const groups& from);
void encode(frame_writer& to, const status_report& from);
void encode(frame_writer& to, const quarantine_page& from);
result<void> decode(const frame& from, topic_create& into);
result<void> decode(const frame& from, topic_show& into);
result<void> decode(const frame& from, topic_delete& into);
result<void> decode(const frame& from, topic_list& into);
result<void> decode(const frame& from, group_list& into);
result<void> decode(const frame& from, status& into);
result<void> decode(const frame& from, quarantine_list& into);
result<void> decode(const frame& from, topics& into);
result<void> decode(const frame& from, groups& into);
result<void> decode(const frame& from, status_report& into);
result<void> decode(const frame& from, quarantine_page& into);

// groups
void encode(frame_writer& to, const group_show& from);
void encode(frame_writer& to, const group_set& from);
void encode(frame_writer& to, const group_delete& from);
void encode(frame_writer& to, const reset_progress& from);
void encode(frame_writer& to, const group_description& from);
result<void> decode(const frame& from, group_show& into);
result<void> decode(const frame& from, group_set& into);
result<void> decode(const frame& from, group_delete& into);
result<void> decode(const frame& from, reset_progress& into);
result<void> decode(const frame& from, group_description& into);

} // namespace handfast::native
