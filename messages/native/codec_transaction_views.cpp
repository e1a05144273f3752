#include "messages/native/codec_support.hpp"

namespace handfast::native {

namespace schema = native_schema;

namespace {

constexpr std::uint8_t any_state = 255;

void write_request(frame_writer& to, frame_kind kind, correlation id,
                   const transaction_id& transaction) {
  codec::write_any<schema::TransactionRequest>(to, kind,
                                               [&](schema::TransactionRequest::Builder root) {
                                                 root.setCorrelation(id.value);
                                                 root.setOpenedAt(transaction.opened_at.value);
                                                 root.setCheck(transaction.check);
                                               });
}

result<void> read_request(const frame& from, frame_kind kind, correlation& id,
                          transaction_id& transaction) {
  return codec::read_root<schema::TransactionRequest>(
      from, kind, [&](schema::TransactionRequest::Reader root) -> result<void> {
        id = {root.getCorrelation()};
        transaction = codec::id_of(root.getOpenedAt(), root.getCheck());
        return {};
      });
}

} // namespace

void encode(frame_writer& to, const query_transaction& from) {
  write_request(to, query_transaction::kind, from.id, from.transaction);
}
result<void> decode(const frame& from, query_transaction& into) {
  return read_request(from, query_transaction::kind, into.id, into.transaction);
}

void encode(frame_writer& to, const reopen& from) {
  write_request(to, reopen::kind, from.id, from.transaction);
}
result<void> decode(const frame& from, reopen& into) {
  return read_request(from, reopen::kind, into.id, into.transaction);
}

void encode(frame_writer& to, const reopened& from) {
  codec::write_any<schema::Reopened>(to, reopened::kind, [&](schema::Reopened::Builder root) {
    root.setCorrelation(from.id.value);
    root.setOldOpenedAt(from.old_id.opened_at.value);
    root.setOldCheck(from.old_id.check);
    root.setNewOpenedAt(from.new_id.opened_at.value);
    root.setNewCheck(from.new_id.check);
  });
}

result<void> decode(const frame& from, reopened& into) {
  return codec::read_root<schema::Reopened>(
      from, reopened::kind, [&](schema::Reopened::Reader root) -> result<void> {
        into.id = {root.getCorrelation()};
        into.old_id = codec::id_of(root.getOldOpenedAt(), root.getOldCheck());
        into.new_id = codec::id_of(root.getNewOpenedAt(), root.getNewCheck());
        return {};
      });
}

void encode(frame_writer& to, const list_transactions& from) {
  codec::write_any<schema::ListTransactions>(
      to, list_transactions::kind, [&](schema::ListTransactions::Builder root) {
        root.setCorrelation(from.id.value);
        root.setAfter(from.after.value);
        root.setItemsMax(from.items_max);
        root.setState(from.state ? static_cast<std::uint8_t>(*from.state) : any_state);
        root.setGroup(codec::text(from.group));
        root.setTopic(codec::text(from.topic));
      });
}

result<void> decode(const frame& from, list_transactions& into) {
  return codec::read_root<schema::ListTransactions>(
      from, list_transactions::kind, [&](schema::ListTransactions::Reader root) -> result<void> {
        into.id = {root.getCorrelation()};
        into.after = {root.getAfter()};
        into.items_max = root.getItemsMax();
        into.state.reset();
        if (root.getState() != any_state) {
          if (!codec::valid_state(root.getState()))
            return codec::bad(list_transactions::kind, "state out of range");
          into.state = static_cast<transaction_state>(root.getState());
        }
        codec::take(into.group, root.getGroup());
        codec::take(into.topic, root.getTopic());
        return {};
      });
}

namespace {

void put_life(schema::TransactionInfo::Builder to, const transaction_life& life) {
  to.setOpenedAt(life.id.opened_at.value);
  to.setCheck(life.id.check);
  to.setProducer(life.producer.value);
  to.setStoredMs(life.stored_ms);
  to.setAgeMs(life.age_ms);
  to.setNextCheckInMs(life.next_check_in_ms);
  to.setDecidedMs(life.decided_ms);
  to.setReopenedAs(life.reopened_as.opened_at.value);
  to.setReopenedAsCheck(life.reopened_as.check);
  to.setReopenedFrom(life.reopened_from.opened_at.value);
  to.setReopenedFromCheck(life.reopened_from.check);
  to.setGroup(life.group.value);
  to.setTimeoutMs(life.timeout_ms);
  to.setCheckIntervalMs(life.check_interval_ms);
  to.setAttempts(life.attempts);
  to.setAttemptsMax(life.attempts_max);
  to.setState(static_cast<std::uint8_t>(life.state));
  to.setDecidedBy(static_cast<std::uint8_t>(life.decided_by));
  to.setAttemptsUnknown(life.attempts_unknown);
  to.setMessagesPartial(life.messages_partial);
  to.setWaitingForProducer(life.waiting_for_producer);
  to.setNote(codec::text(life.note));
  auto asks = to.initAsks(static_cast<unsigned>(life.asks.size()));
  for (unsigned i = 0; i < asks.size(); ++i) {
    asks[i].setAskedMs(life.asks[i].at_ms);
    asks[i].setMember(life.asks[i].member);
    asks[i].setAttempt(life.asks[i].attempt);
    asks[i].setMemberName(codec::text(life.asks[i].member_name));
    asks[i].setAnswer(codec::text(life.asks[i].answer));
  }
}

void put_info(schema::TransactionInfo::Builder to, const transaction_info& from) {
  put_life(to, from.life);
  to.setGroupName(codec::text(from.group));
  auto messages = to.initMessages(static_cast<unsigned>(from.life.messages.size()));
  for (unsigned i = 0; i < messages.size(); ++i) {
    const auto& message = from.life.messages[i];
    messages[i].setPosition(message.at.value);
    messages[i].setOffset(message.offset.value);
    messages[i].setTopic(message.topic.value);
    messages[i].setLength(message.length);
    messages[i].setTagHash(message.tag_hash);
    messages[i].setQueue(message.queue.value);
    messages[i].setDueMs(message.due_ms);
    if (i < from.topics.size())
      messages[i].setTopicName(codec::text(from.topics[i]));
  }
}

bool take_life(schema::TransactionInfo::Reader from, transaction_life& into) {
  if (!codec::valid_state(from.getState()) || !codec::valid_origin(from.getDecidedBy()))
    return false;
  into.id = codec::id_of(from.getOpenedAt(), from.getCheck());
  into.producer = {from.getProducer()};
  into.stored_ms = from.getStoredMs();
  into.age_ms = from.getAgeMs();
  into.next_check_in_ms = from.getNextCheckInMs();
  into.decided_ms = from.getDecidedMs();
  into.reopened_as = codec::id_of(from.getReopenedAs(), from.getReopenedAsCheck());
  into.reopened_from = codec::id_of(from.getReopenedFrom(), from.getReopenedFromCheck());
  into.group = {from.getGroup()};
  into.timeout_ms = from.getTimeoutMs();
  into.check_interval_ms = from.getCheckIntervalMs();
  into.attempts = from.getAttempts();
  into.attempts_max = from.getAttemptsMax();
  into.state = static_cast<transaction_state>(from.getState());
  into.decided_by = static_cast<origin>(from.getDecidedBy());
  into.attempts_unknown = from.getAttemptsUnknown();
  into.messages_partial = from.getMessagesPartial();
  into.waiting_for_producer = from.getWaitingForProducer();
  codec::take(into.note, from.getNote());
  auto asks = from.getAsks();
  into.asks.resize(asks.size());
  for (unsigned i = 0; i < asks.size(); ++i) {
    into.asks[i].at_ms = asks[i].getAskedMs();
    into.asks[i].member = asks[i].getMember();
    into.asks[i].attempt = asks[i].getAttempt();
    codec::take(into.asks[i].member_name, asks[i].getMemberName());
    codec::take(into.asks[i].answer, asks[i].getAnswer());
  }
  return true;
}

bool take_info(schema::TransactionInfo::Reader from, transaction_info& into) {
  codec::take(into.group, from.getGroupName());
  auto messages = from.getMessages();
  into.life.messages.resize(messages.size());
  into.topics.resize(messages.size());
  for (unsigned i = 0; i < messages.size(); ++i) {
    into.life.messages[i] = {{messages[i].getPosition()}, {messages[i].getTopic()},
                             {messages[i].getQueue()},    {messages[i].getOffset()},
                             messages[i].getLength(),     messages[i].getTagHash(),
                             messages[i].getDueMs()};
    codec::take(into.topics[i], messages[i].getTopicName());
  }
  return take_life(from, into.life);
}

} // namespace

void encode(frame_writer& to, const transactions& from) {
  codec::write_any<schema::Transactions>(
      to, transactions::kind, [&](schema::Transactions::Builder root) {
        root.setCorrelation(from.id.value);
        root.setMore(from.more);
        auto items = root.initItems(static_cast<unsigned>(from.items.size()));
        for (unsigned i = 0; i < items.size(); ++i)
          put_info(items[i], from.items[i]);
      });
}

result<void> decode(const frame& from, transactions& into) {
  return codec::read_root<schema::Transactions>(
      from, transactions::kind, [&](schema::Transactions::Reader root) -> result<void> {
        into.id = {root.getCorrelation()};
        into.more = root.getMore();
        auto items = root.getItems();
        into.items.resize(items.size());
        for (unsigned i = 0; i < items.size(); ++i)
          if (!take_info(items[i], into.items[i]))
            return codec::bad(transactions::kind, "state or origin out of range");
        return {};
      });
}

} // namespace handfast::native
