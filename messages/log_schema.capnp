# Stored form of the log's records: the Cap'n Proto part that follows the fixed record header.
# The payload (properties, then body) stands behind it and is never encoded. Fields are only ever added at the end.
@0xd7f1b0a64c2e9a51;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("handfast::log_schema");

# MESSAGE, HALF, and the copy inside MOVE.
struct Message {
  bornMs         @0  :UInt64;
  offset         @1  :UInt64;
  producer       @2  :UInt64;
  sequence       @3  :UInt64;
  transaction    @4  :UInt64;
  delayMs        @5  :UInt64;
  topic          @6  :UInt32;
  group          @7  :UInt32;
  sysFlag        @8  :UInt32;
  timeoutMs      @9  :UInt32;
  tagHash        @10 :UInt32;
  orderHash      @11 :UInt32;
  queue          @12 :UInt16;
  flags          @13 :UInt16;
  propertiesSize @14 :UInt16;
}

struct Decision {
  transaction @0 :UInt64;
  group       @1 :UInt32;
  messages    @2 :UInt16;
  outcome     @3 :UInt8;
  origin      @4 :UInt8;
}

# 32 bytes. An offset with the top bit set is none: the other bits say when one is given (wall clock, ms).
struct IndexEntry {
  at      @0 :UInt64;
  offset  @1 :UInt64;
  topic   @2 :UInt32;
  length  @3 :UInt32;
  tagHash @4 :UInt32;
  queue   @5 :UInt16;
}

struct Decide {
  opOffset  @0 :UInt64;
  decisions @1 :List(Decision);
  entries   @2 :List(IndexEntry);
}

# 16 bytes: what a check costs.
struct CheckAttempt {
  transaction @0 :UInt64;
  member      @1 :UInt32;
  attempt     @2 :UInt16;
}

struct Checked {
  attempts @0 :List(CheckAttempt);
}

struct Release {
  entries   @0 :List(IndexEntry);
  cancelled @1 :List(UInt64);
}

struct Reopen {
  oldTransaction @0 :UInt64;
  group          @1 :UInt32;
  timeoutMs      @2 :UInt32;
  messages       @3 :List(IndexEntry);
}

struct Move {
  from     @0 :UInt64;
  message  @1 :Message;
}

struct OffsetRange {
  from @0 :UInt64;
  to   @1 :UInt64;
}

struct DeliveryAttempts {
  offset   @0 :UInt64;
  attempts @1 :UInt32;
}

struct GroupProgress {
  base     @0 :UInt64;
  group    @1 :UInt32;
  topic    @2 :UInt32;
  queue    @3 :UInt16;
  done     @4 :List(OffsetRange);
  attempts @5 :List(DeliveryAttempts);
}

struct Progress {
  groups @0 :List(GroupProgress);
}

struct Attributes {
  retentionMs          @0 :UInt64;
  retentionBytes       @1 :UInt64;
  transactionTimeoutMs @2 :UInt32;
  checkIntervalMs      @3 :UInt32;
  checkMax             @4 :UInt32;
  buffered             @5 :Bool;
  deliveryMax          @6 :UInt16;
}

struct Meta {
  change  @0 :UInt8;
  id      @1 :UInt32;
  name    @2 :Text;
  queues  @3 :UInt32;
  options @4 :Attributes;
}

struct DeadLetter {
  offset   @0 :UInt64;
  group    @1 :UInt32;
  topic    @2 :UInt32;
  attempts @3 :UInt32;
  queue    @4 :UInt16;
  message  @5 :Message;
}

struct QueueFirst {
  first @0 :UInt64;
  topic @1 :UInt32;
  queue @2 :UInt16;
}

struct Retire {
  begin  @0 :UInt64;
  queues @1 :List(QueueFirst);
}

struct Epoch {
  epoch  @0 :UInt32;
  reason @1 :Text;
}
