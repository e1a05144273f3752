# The Cap'n Proto part of native frames (see docs/protocol.md). Bodies stand behind it, never inside.
# Fields are only ever added at the end. Hot kinds are lists of structs without pointers.
@0xe2b6a4d1937c5f08;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("handfast::native_schema");

# ---- session

struct Hello {
  producer        @0 :UInt64;
  credit          @1 :UInt32;
  version         @2 :UInt16;
  library         @3 :Text;
  libraryVersion  @4 :Text;
  client          @5 :Text;
  mechanism       @6 :Text;
  credentials     @7 :Data;
}

struct Welcome {
  storeId      @0 :UInt64;
  creditBytes  @1 :UInt64;
  credit       @2 :UInt32;
  frameMax     @3 :UInt32;
  bodyMax      @4 :UInt32;
  version      @5 :UInt16;
  node         @6 :Text;
  nodeVersion  @7 :Text;
}

# Closing, Refused, Goodbye, Done.
struct Notice {
  correlation @0 :UInt64;
  code        @1 :UInt16;
  detail      @2 :Text;
}

struct ResolveTopic {
  correlation @0 :UInt64;
  create      @1 :Bool;
  name        @2 :Text;
}

struct TopicResolved {
  correlation @0 :UInt64;
  topic       @1 :UInt32;
  queues      @2 :UInt32;
  code        @3 :UInt16;
  detail      @4 :Text;
}

struct JoinProducerGroup {
  correlation @0 :UInt64;
  session     @1 :UInt64;
  group       @2 :Text;
  topics      @3 :List(Text);
}

struct GroupJoined {
  correlation @0 :UInt64;
  group       @1 :UInt32;
  code        @2 :UInt16;
  detail      @3 :Text;
}

struct LeaveProducerGroup {
  correlation @0 :UInt64;
  group       @1 :UInt32;
}

# ---- produce

# 80 bytes.
struct SendEntry {
  correlation    @0 :UInt64;
  sequence       @1 :UInt64;
  bornMs         @2 :UInt64;
  openedAt       @3 :UInt64;
  delayMs        @4 :UInt64;
  check          @5 :UInt32;
  topic          @6 :UInt32;
  group          @7 :UInt32;
  propertiesSize @8 :UInt32;
  bodySize       @9 :UInt32;
  timeoutMs      @10 :UInt32;
  orderHash      @11 :UInt32;
  sysFlag        @12 :UInt32;
  queue          @13 :UInt16;
  flags          @14 :UInt16;
}

# Send and SendHalf.
struct Send {
  entries @0 :List(SendEntry);
}

# What was refused, in words; only beside entries that have a code.
struct Detail {
  correlation @0 :UInt64;
  text        @1 :Text;
}

# 40 bytes. `dueMs`: when it becomes visible, and gets its offset; 0 = it has one.
struct SentEntry {
  correlation @0 :UInt64;
  position    @1 :UInt64;
  offset      @2 :UInt64;
  topic       @3 :UInt32;
  queue       @4 :UInt16;
  code        @5 :UInt16;
  dueMs       @6 :UInt64;
}

struct Sent {
  entries @0 :List(SentEntry);
  details @1 :List(Detail);
}

# 32 bytes.
struct HalfStoredEntry {
  correlation @0 :UInt64;
  openedAt    @1 :UInt64;
  halfOffset  @2 :UInt64;
  check       @3 :UInt32;
  queue       @4 :UInt16;
  code        @5 :UInt16;
}

struct HalfStored {
  entries @0 :List(HalfStoredEntry);
  details @1 :List(Detail);
}

# ---- transactions

# 32 bytes.
struct DecideEntry {
  correlation @0 :UInt64;
  openedAt    @1 :UInt64;
  check       @2 :UInt32;
  group       @3 :UInt32;
  messages    @4 :UInt16;
  attempt     @5 :UInt16;
  outcome     @6 :UInt8;
  origin      @7 :UInt8;
  inProgress  @8 :Bool;
}

struct Decide {
  entries @0 :List(DecideEntry);
}

# 48 bytes. `dueMs` as in SentEntry, of the first message.
struct DecidedEntry {
  correlation @0 :UInt64;
  openedAt    @1 :UInt64;
  offset      @2 :UInt64;
  check       @3 :UInt32;
  topic       @4 :UInt32;
  queue       @5 :UInt16;
  code        @6 :UInt16;
  messages    @7 :UInt16;
  outcome     @8 :UInt8;
  origin      @9 :UInt8;
  dueMs       @10 :UInt64;
}

struct Decided {
  entries @0 :List(DecidedEntry);
  details @1 :List(Detail);
}

# 16 bytes.
struct TransactionRef {
  openedAt @0 :UInt64;
  check    @1 :UInt32;
  group    @2 :UInt32;
}

# Running and CheckReceived.
struct TransactionRefs {
  entries @0 :List(TransactionRef);
}

# 56 bytes.
struct CheckEntry {
  openedAt       @0 :UInt64;
  storedMs       @1 :UInt64;
  bornMs         @2 :UInt64;
  check          @3 :UInt32;
  group          @4 :UInt32;
  topic          @5 :UInt32;
  sysFlag        @6 :UInt32;
  propertiesSize @7 :UInt32;
  bodySize       @8 :UInt32;
  queue          @9 :UInt16;
  attempt        @10 :UInt16;
  attemptsMax    @11 :UInt16;
  messages       @12 :UInt16;
}

struct TopicName {
  topic @0 :UInt32;
  name  @1 :Text;
}

struct Check {
  entries @0 :List(CheckEntry);
  topics  @1 :List(TopicName);
}

# QueryTransaction and Reopen.
struct TransactionRequest {
  correlation @0 :UInt64;
  openedAt    @1 :UInt64;
  check       @2 :UInt32;
}

# `state` 255 = any.
struct ListTransactions {
  correlation @0 :UInt64;
  after       @1 :UInt64;
  itemsMax    @2 :UInt32;
  state       @3 :UInt8 = 255;
  group       @4 :Text;
  topic       @5 :Text;
}

# `dueMs` of a committed one: when it becomes visible, 0 = it is; else its delay.
struct TransactionMessage {
  position  @0 :UInt64;
  offset    @1 :UInt64;
  topic     @2 :UInt32;
  length    @3 :UInt32;
  tagHash   @4 :UInt32;
  queue     @5 :UInt16;
  topicName @6 :Text;
  dueMs     @7 :UInt64;
}

struct TransactionAsk {
  askedMs    @0 :UInt64;
  member     @1 :UInt32;
  attempt    @2 :UInt16;
  memberName @3 :Text;
  answer     @4 :Text;
}

struct TransactionInfo {
  openedAt          @0 :UInt64;
  producer          @1 :UInt64;
  storedMs          @2 :UInt64;
  ageMs             @3 :UInt64;
  nextCheckInMs     @4 :UInt64;
  decidedMs         @5 :UInt64;
  reopenedAs        @6 :UInt64;
  reopenedFrom      @7 :UInt64;
  check             @8 :UInt32;
  group             @9 :UInt32;
  timeoutMs         @10 :UInt32;
  checkIntervalMs   @11 :UInt32;
  attempts          @12 :UInt32;
  attemptsMax       @13 :UInt32;
  reopenedAsCheck   @14 :UInt32;
  reopenedFromCheck @15 :UInt32;
  state             @16 :UInt8;
  decidedBy         @17 :UInt8;
  waitingForProducer @18 :Bool;
  groupName         @19 :Text;
  note              @20 :Text;
  messages          @21 :List(TransactionMessage);
  asks              @22 :List(TransactionAsk);
  messagesPartial   @23 :Bool;
  attemptsUnknown   @24 :Bool;
}

# Answer to QueryTransaction (one item) and ListTransactions.
struct Transactions {
  correlation @0 :UInt64;
  more        @1 :Bool;
  items       @2 :List(TransactionInfo);
}

struct Reopened {
  correlation @0 :UInt64;
  oldOpenedAt @1 :UInt64;
  newOpenedAt @2 :UInt64;
  oldCheck    @3 :UInt32;
  newCheck    @4 :UInt32;
}

# ---- consume

struct Fetch {
  correlation @0 :UInt64;
  topic       @1 :UInt32;
  group       @2 :UInt32;
  messagesMax @3 :UInt32;
  bytesMax    @4 :UInt32;
  waitMs      @5 :UInt32;
  queue       @6 :UInt16;
  start       @7 :UInt8;
  groupName   @8 :Text;
  startValue  @9 :UInt64;
  mode        @10 :UInt8;
  filter      @11 :UInt8;
  expression  @12 :Text;
}

struct ReadView {
  correlation @0 :UInt64;
  offset      @1 :UInt64;
  topic       @2 :UInt32;
  messagesMax @3 :UInt32;
  queue       @4 :UInt16;
}

# 80 bytes.
struct DeliveredEntry {
  position       @0 :UInt64;
  offset         @1 :UInt64;
  lease          @2 :UInt64;
  bornMs         @3 :UInt64;
  visibleMs      @4 :UInt64;
  openedAt       @5 :UInt64;
  check          @6 :UInt32;
  topic          @7 :UInt32;
  propertiesSize @8 :UInt32;
  bodySize       @9 :UInt32;
  sysFlag        @10 :UInt32;
  orderHash      @11 :UInt32;
  queue          @12 :UInt16;
  attempts       @13 :UInt16;
}

struct Delivered {
  correlation @0 :UInt64;
  group       @1 :UInt32;
  code        @2 :UInt16;
  detail      @3 :Text;
  entries     @4 :List(DeliveredEntry);
  leaseMs     @5 :UInt32;
  next        @6 :List(QueueOffset);
}

# 16 bytes.
struct QueueOffset {
  offset @0 :UInt64;
  queue  @1 :UInt16;
}

# 40 bytes. `handling` counts; `done` is what clients without it send.
struct AcknowledgeEntry {
  offset @0 :UInt64;
  lease  @1 :UInt64;
  topic  @2 :UInt32;
  queue  @3 :UInt16;
  done   @4 :Bool;
  to     @5 :UInt64;
  retryMs @6 :UInt32;
  handling @7 :UInt8;
}

struct Acknowledge {
  correlation  @0 :UInt64;
  group        @1 :UInt32;
  entries      @2 :List(AcknowledgeEntry);
  subscription @3 :UInt64;
  credit       @4 :UInt32;
}

struct Acknowledged {
  correlation @0 :UInt64;
  accepted    @1 :UInt32;
  late        @2 :UInt32;
  code        @3 :UInt16;
  detail      @4 :Text;
}

struct Subscribe {
  correlation @0 :UInt64;
  startValue  @1 :UInt64;
  topic       @2 :UInt32;
  group       @3 :UInt32;
  credit      @4 :UInt32;
  start       @5 :UInt8;
  mode        @6 :UInt8;
  filter      @7 :UInt8;
  groupName   @8 :Text;
  expression  @9 :Text;
}

struct Credit {
  subscription @0 :UInt64;
  messages     @1 :UInt32;
}

struct Unsubscribe {
  correlation  @0 :UInt64;
  subscription @1 :UInt64;
}

struct ReadQueues {
  correlation @0 :UInt64;
  topic       @1 :UInt32;
  messagesMax @2 :UInt32;
  bytesMax    @3 :UInt32;
  waitMs      @4 :UInt32;
  filter      @5 :UInt8;
  expression  @6 :Text;
  places      @7 :List(QueueOffset);
}

# FindOffsets and ResetProgress.
struct StartRequest {
  correlation @0 :UInt64;
  startValue  @1 :UInt64;
  topic       @2 :UInt32;
  queue       @3 :UInt16;
  oneQueue    @4 :Bool;
  start       @5 :UInt8;
  group       @6 :Text;
}

# 32 bytes.
struct OffsetEntry {
  offset @0 :UInt64;
  first  @1 :UInt64;
  end    @2 :UInt64;
  queue  @3 :UInt16;
}

struct Offsets {
  correlation @0 :UInt64;
  entries     @1 :List(OffsetEntry);
}

# ---- administration

struct TopicOptions {
  retentionMs          @0 :UInt64;
  retentionBytes       @1 :UInt64;
  transactionTimeoutMs @2 :UInt32;
  checkIntervalMs      @3 :UInt32;
  checkMax             @4 :UInt32;
  buffered             @5 :Bool;
}

# TopicCreate, TopicShow, TopicDelete.
struct TopicRequest {
  correlation @0 :UInt64;
  queues      @1 :UInt32;
  force       @2 :Bool;
  name        @3 :Text;
  options     @4 :TopicOptions;
}

# TopicList, GroupList, Status, QuarantineList. `after` is the last name of the page before.
struct Ask {
  correlation @0 :UInt64;
  itemsMax    @1 :UInt32;
  after       @2 :Text;
}

# 24 bytes.
struct QueueInfo {
  first @0 :UInt64;
  end   @1 :UInt64;
  queue @2 :UInt16;
}

struct TopicInfo {
  topic    @0 :UInt32;
  queues   @1 :UInt32;
  readOnly @2 :Bool;
  name     @3 :Text;
  options  @4 :TopicOptions;
  perQueue @5 :List(QueueInfo);
}

# Answer to TopicCreate, TopicShow (one item) and TopicList.
struct Topics {
  correlation @0 :UInt64;
  more        @1 :Bool;
  items       @2 :List(TopicInfo);
}

struct GroupQueue {
  done     @0 :UInt64;
  end      @1 :UInt64;
  leased   @2 :UInt32;
  queue    @3 :UInt16;
  topic    @4 :Text;
}

struct GroupInfo {
  group     @0 :UInt32;
  producers @1 :UInt32;
  consumers @2 :UInt32;
  name      @3 :Text;
  progress  @4 :List(GroupQueue);
}

struct Groups {
  correlation @0 :UInt64;
  more        @1 :Bool;
  items       @2 :List(GroupInfo);
}

struct StatusReport {
  correlation @0 :UInt64;
  json        @1 :Text;
}

struct QuarantineEntry {
  position @0 :UInt64;
  openedAt @1 :UInt64;
  check    @2 :UInt32;
  what     @3 :Text;
  why      @4 :Text;
}

struct QuarantinePage {
  correlation @0 :UInt64;
  items       @1 :List(QuarantineEntry);
}

# GroupShow, GroupDelete, GroupSet.
struct GroupRequest {
  correlation @0 :UInt64;
  deliveryMax @1 :UInt16;
  name        @2 :Text;
}

struct GroupMember {
  held       @0 :UInt32;
  queuesHeld @1 :UInt32;
  name       @2 :Text;
}

struct GroupPlace {
  base         @0 :UInt64;
  end          @1 :UInt64;
  inFlight     @2 :UInt32;
  waitingAgain @3 :UInt32;
  queue        @4 :UInt16;
  paused       @5 :Bool;
  topic        @6 :Text;
}

struct GroupTerms {
  mode       @0 :UInt8;
  filter     @1 :UInt8;
  topic      @2 :Text;
  expression @3 :Text;
}

struct GroupDescription {
  correlation @0 :UInt64;
  deadLetters @1 :UInt64;
  group       @2 :UInt32;
  name        @3 :Text;
  members     @4 :List(GroupMember);
  places      @5 :List(GroupPlace);
  terms       @6 :List(GroupTerms);
}

# ---- delays

# `after...` of the last item of the page before. An empty topic means any.
struct ListDelayed {
  correlation   @0 :UInt64;
  afterDueMs    @1 :UInt64;
  afterPosition @2 :UInt64;
  itemsMax      @3 :UInt32;
  topic         @4 :Text;
}

struct CancelDelayed {
  correlation @0 :UInt64;
  position    @1 :UInt64;
}

struct DelayedEntry {
  position @0 :UInt64;
  dueMs    @1 :UInt64;
  openedAt @2 :UInt64;
  check    @3 :UInt32;
  length   @4 :UInt32;
  queue    @5 :UInt16;
  topic    @6 :Text;
}

struct DelayedPage {
  correlation @0 :UInt64;
  more        @1 :Bool;
  items       @2 :List(DelayedEntry);
}
