#!/usr/bin/env python3
"""Damaged bytes on the disk of a real node: what is set aside, what stops it, and what goes on.

Usage: damage_journey.py HANDFAST [NAME...]

Like cli_journey.py. Between two lives of the node, bytes of its log are changed (`store_bytes.py`), with and without
making the checksums right again.
"""

import os
import re
import shutil
import signal
import struct
import sys

import real_node
from real_node import command, eventually
from store_bytes import Store

WAYS_TO_END = (signal.SIGTERM, signal.SIGKILL)
# Bytes of a DECIDE record's Cap'n Proto part with one decision and one entry, from its begin.
OUTCOME, ENTRY_OFFSET, ENTRY_QUEUE = 54, 72, 92


def six_transactions(node, end):
    """Bodies b0 to b5, the first three committed, all of one queue; then the node ends."""
    node.start()
    node("topic", "create", "orders", "--queues", "1").ends(0)
    ids = [node("tx", "send", "orders", f"b{i}", "--group", "shop").lines()[0] for i in range(6)]
    for tx in ids[:3]:
        node("tx", "commit", tx).ends(0)
    node.stop(end)
    return ids, Store(node.folder)


def quarantine(node):
    return {item["position"]: item for item in node("quarantine", "list", "--json").json()}


def states(node):
    return {t["id"]: t["state"] for t in node("tx", "list", "--json").json()}


def consumed(node, group, count):
    bodies = node("consume", "orders", "--group", group, "--max", str(count), "--wait", "10").lines()
    node("consume", "orders", "--group", group, "--wait", "0").ends(0, out="")
    return bodies


def the_others_go_on(node, round_number):
    """A transaction, a plain message, and a restart on top of what is damaged."""
    tx = node("tx", "send", "payments", f"tx {round_number}", "--group", "shop").lines()[0]
    node("tx", "commit", tx).ends(0)
    node("produce", "payments", f"plain {round_number}").ends(0)
    got = node("consume", "payments", "--group", "mail", "--max", "2", "--wait", "10").lines()
    assert sorted(got) == [f"plain {round_number}", f"tx {round_number}"], got


def after_each_of_three_restarts(node, look):
    """`look(round)` after each; ended both in order and by kill -9."""
    for number, end in enumerate((*WAYS_TO_END, *WAYS_TO_END)):
        node.start()
        look(number)
        the_others_go_on(node, number)
        node.stop(end)


# -- set aside ------------------------------------------------------------------------------------


def flipped_body_of_a_pending_half(node, end):
    ids, store = six_transactions(node, end)
    half = store.records("half")[3]
    store.flip(half, half.payload)
    verified = command("log", "verify", node.folder).ends(1)
    assert f"damaged record at {half.at}" in verified.out, verified

    def look(number):
        eventually(lambda: half.at in quarantine(node))
        assert quarantine(node)[half.at]["transaction"] == ids[3]
        assert states(node)[ids[3]] == "quarantined"
        shown = node("tx", "show", ids[3]).ends(0).out
        assert "a stored body of it is damaged; it can only be rolled back" in shown, shown
        node("tx", "commit", ids[3]).ends(1, error="handfast quarantine list")
        assert consumed(node, f"g{number}", 3) == ["b0", "b1", "b2"]
        assert "see `handfast quarantine list`" in node("status").ends(0).out

    after_each_of_three_restarts(node, look)
    node.start()
    node("tx", "commit", ids[4]).ends(0)
    node("tx", "rollback", ids[3]).ends(0)
    assert consumed(node, "last", 4) == ["b0", "b1", "b2", "b4"]


def journey_flipped_body_of_a_pending_half_behind_the_checkpoint(node):
    flipped_body_of_a_pending_half(node, signal.SIGKILL)


def journey_flipped_body_of_a_pending_half_below_the_checkpoint(node):
    flipped_body_of_a_pending_half(node, signal.SIGTERM)


def flipped_body_of_a_committed_half(node, end):
    """It is not delivered and listed, the others are delivered, and its outcome stays known."""
    ids, store = six_transactions(node, end)
    half = store.records("half")[1]
    store.flip(half, half.payload)

    def look(number):
        assert consumed(node, f"g{number}", 2) == ["b0", "b2"]
        eventually(lambda: half.at in quarantine(node))
        assert "committed" in node("tx", "show", ids[1]).ends(0).out
        node("tx", "commit", ids[1]).ends(0)
        node("tx", "rollback", ids[1]).ends(1, error="committed before")

    after_each_of_three_restarts(node, look)
    node.start()
    assert half.at in quarantine(node), "also before anybody reads it again"


def journey_flipped_body_of_a_committed_half_behind_the_checkpoint(node):
    flipped_body_of_a_committed_half(node, signal.SIGKILL)


def journey_flipped_body_of_a_committed_half_below_the_checkpoint(node):
    flipped_body_of_a_committed_half(node, signal.SIGTERM)


def journey_half_of_an_unknown_type(node):
    """A right checksum over what this version can't read: that transaction alone can't be told about."""
    ids, store = six_transactions(node, signal.SIGKILL)
    half = store.records("half")[4]
    store.rewrite(half, 8, b"\x63")
    assert "content that cannot be decoded" in command("log", "verify", node.folder).ends(1).out

    def look(number):
        assert "content that cannot be decoded" in quarantine(node)[half.at]["why"]
        assert sorted(states(node)[tx] for tx in ids[:4] + ids[5:]) == ["committed"] * 3 + ["pending"] * 2
        for verb in ("show", "commit", "rollback"):
            node("tx", verb, ids[4]).ends(1, error="quarantine")
        assert consumed(node, f"g{number}", 3) == ["b0", "b1", "b2"]

    after_each_of_three_restarts(node, look)
    node.start()
    node("tx", "commit", ids[5]).ends(0)
    assert consumed(node, "last", 4) == ["b0", "b1", "b2", "b5"]


def journey_decision_with_an_impossible_outcome(node):
    """Its transaction is pending again and is decided again; the queue passes over the offset that it held."""
    ids, store = six_transactions(node, signal.SIGKILL)
    decide = store.records("decide")[1]
    store.rewrite(decide, decide.meta + OUTCOME, b"\xc8")

    def look(number):
        listed = quarantine(node)
        assert "content that cannot be decoded" in listed[decide.at]["why"]
        assert any("offsets 1 to 1" in item["why"] for item in listed.values()), listed
        assert states(node)[ids[1]] == "pending"
        assert consumed(node, f"g{number}", 2) == ["b0", "b2"]

    after_each_of_three_restarts(node, look)
    node.start()
    node("tx", "commit", ids[1]).ends(0)
    assert consumed(node, "last", 3) == ["b0", "b2", "b1"]


def journey_decision_for_an_offset_far_ahead(node):
    """One entry that can't be right does not stop its queue; the check of the folder names it, too."""
    ids, store = six_transactions(node, signal.SIGKILL)
    command("log", "verify", node.folder).ends(0)
    decide = store.records("decide")[1]
    store.rewrite(decide, decide.meta + ENTRY_OFFSET, struct.pack("<Q", 1 << 40))
    verified = command("log", "verify", node.folder).ends(1).out
    assert f"impossible record at {decide.at}: it gives offset {1 << 40} of queue" in verified, verified

    def look(number):
        assert any(f"offsets 1 to {(1 << 40) - 1}" in item["why"] for item in quarantine(node).values())
        assert consumed(node, f"g{number}", 2 + number) == ["b0", "b1"] + ["more"] * number
        tx = node("tx", "send", "orders", "more", "--group", "shop").lines()[0]
        node("tx", "commit", tx).ends(0)

    after_each_of_three_restarts(node, look)


def journey_decision_for_a_queue_that_is_not_there(node):
    ids, store = six_transactions(node, signal.SIGKILL)
    decide = store.records("decide")[1]
    store.rewrite(decide, decide.meta + ENTRY_QUEUE, struct.pack("<H", 999))

    def look(number):
        assert any("offsets 1 to 1" in item["why"] for item in quarantine(node).values())
        assert consumed(node, f"g{number}", 2) == ["b0", "b2"]
        assert states(node)[ids[1]] == "committed"

    after_each_of_three_restarts(node, look)


def journey_topic_with_an_impossible_id(node):
    ids, store = six_transactions(node, signal.SIGKILL)
    meta = next(r for r in store.records("meta") if b"orders" in r.bytes)
    store.rewrite(meta, meta.bytes.index(struct.pack("<I", 16), meta.meta), struct.pack("<I", 2))

    def look(number):
        assert quarantine(node)[meta.at]["what"] == "META"
        assert quarantine(node)[meta.at]["why"] == "it makes a topic with an id that only the node's own topics have"
        assert [states(node)[tx] for tx in ids] == ["committed"] * 3 + ["pending"] * 3

    after_each_of_three_restarts(node, look)


def journey_damage_that_a_consumer_found_stays_listed_after_kill_9(node):
    ids, store = six_transactions(node, signal.SIGTERM)
    half = store.records("half")[1]
    store.flip(half, half.payload)
    node.start()
    before = checkpoints(node)
    assert consumed(node, "finder", 2) == ["b0", "b2"]
    eventually(lambda: checkpoints(node) != before)
    node.stop(signal.SIGKILL)
    node.start()
    assert half.at in quarantine(node), "before anybody reads it again"


# -- derived runs ---------------------------------------------------------------------------------


def checkpoints(node):
    return sorted(name for name in os.listdir(os.path.join(node.folder, "checkpoints")) if name.endswith(".ckpt"))


def flip_in_run(node, block):
    """One bit of one block of the only run; its path."""
    folder = os.path.join(node.folder, "runs")
    [name] = [name for name in os.listdir(folder) if name.endswith(".run")]
    with open(os.path.join(folder, name), "r+b") as run:
        run.seek(4096 * block + 50)
        byte = run.read(1)[0]
        run.seek(4096 * block + 50)
        run.write(bytes([byte ^ 4]))
    return os.path.join(folder, name)


def journey_flipped_byte_in_a_derived_run(node):
    """Head, entries, extents: nobody is told that there is nothing, and the run is made again."""
    for block in range(3):
        ids, _ = six_transactions(node, signal.SIGTERM)
        run = flip_in_run(node, block)
        verified = command("log", "verify", node.folder).ends(1).out
        assert f"damaged file: {run}" in verified, verified
        for end in WAYS_TO_END:
            node.start()
            assert consumed(node, end.name, 3) == ["b0", "b1", "b2"]
            assert [states(node)[tx] for tx in ids[3:]] == ["pending"] * 3
            node("tx", "commit", ids[0]).ends(0)
            node("tx", "rollback", ids[0]).ends(1, error="committed before")
            eventually(lambda: any(item["what"] == "derived run" for item in quarantine(node).values()))
            the_others_go_on(node, end.name)
            node.stop(end)
        assert os.path.exists(run + ".damaged")
        command("log", "verify", node.folder).ends(0)
        node.fresh()


# -- refused and accepted -------------------------------------------------------------------------


def journey_flipped_bit_in_a_header(node):
    """Below the durable mark: the node names the positions and the remedy, and changes nothing."""
    for bit in (0, 8 * 4 + 3, 8 * 8 + 1, 8 * 16 + 6, 8 * 39 + 7):
        ids, store = six_transactions(node, signal.SIGKILL)
        lost, behind = store.records("half")[1:3]
        store.flip(lost, bit // 8, bit % 8)
        with open(lost.segment, "rb") as segment:
            before = segment.read()
        for _ in range(2):
            said = node.refuses_to_start()
            assert re.search(rf"\b{lost.at}\b.*\b{behind.at}\b", said), said
            assert "store.accept_corruption" in said, said
        with open(lost.segment, "rb") as segment:
            assert segment.read() == before
        verified = command("log", "verify", node.folder).ends(1).out
        assert str(lost.at) in verified and "NOT sound" in verified, verified
        node.fresh()


def journey_accepted_loss(node):
    """With the operator's flag the rest is there, also without the flag afterwards."""
    ids, store = six_transactions(node, signal.SIGKILL)
    lost = store.records("decide")[1]
    store.flip(lost, 12)
    node.refuses_to_start()
    plain, node.settings = node.settings, (*node.settings, "store.accept_corruption=true")
    node.start()
    node.settings = plain
    node.stop(signal.SIGKILL)

    def look(number):
        assert "lost up to position" in quarantine(node)[lost.at]["why"]
        assert states(node)[ids[1]] == "pending"
        assert consumed(node, f"g{number}", 2) == ["b0", "b2"]

    after_each_of_three_restarts(node, look)


def journey_lost_segment(node):
    """A file in the middle is gone: refused with its positions; with the flag, consumers pass the hole (F32)."""
    node.settings += ("store.segment_size=1MiB", "limits.body=128KiB")
    node.start()
    node("topic", "create", "orders", "--queues", "1").ends(0)
    for number in range(30):
        node("produce", "orders", "-", stdin=f"{number:02}" + "x" * 100_000).ends(0)
    node.stop(signal.SIGKILL)
    gone = Store(node.folder).segments[1]
    begin = int(os.path.basename(gone)[:-4], 16)
    os.remove(gone)
    said = node.refuses_to_start()
    assert f"at positions {begin} to " in said and "store.accept_corruption" in said, said
    node.settings += ("store.accept_corruption=true",)
    for end in WAYS_TO_END:
        node.start()
        assert any("offsets" in item["why"] for item in quarantine(node).values())
        out = node("consume", "orders", "--group", end.name, "--wait", "1").lines()
        numbers = [int(body[:2]) for body in out]
        lost = sorted(set(range(30)) - set(numbers))
        assert numbers == sorted(numbers) and 5 < len(lost) < 15 and lost == list(range(lost[0], lost[-1] + 1)), out
        the_others_go_on(node, end.name)
        node.stop(end)


def refused_then_accepted(node, named):
    """Twice named with the remedy, then accepted, then listed without being asked again."""
    for _ in range(2):
        said = node.refuses_to_start()
        assert named in said and "store.accept_corruption" in said, said
    assert "NOT sound" in command("log", "verify", node.folder).ends(1).out
    plain, node.settings = node.settings, (*node.settings, "store.accept_corruption=true")
    node.start()
    node.settings = plain
    node.stop(signal.SIGKILL)
    for end in WAYS_TO_END:
        node.start()
        assert any("lost up to position" in item["why"] for item in quarantine(node).values())
        the_others_go_on(node, end.name)
        node.stop(end)
    command("log", "verify", node.folder).ends(0)


def without_checkpoints(node):
    for folder in ("checkpoints", "runs"):
        shutil.rmtree(os.path.join(node.folder, folder))


def journey_first_segment_is_gone_without_a_checkpoint(node):
    for end in WAYS_TO_END:
        _, store = six_transactions(node, end)
        without_checkpoints(node)
        os.remove(store.segments[0])
        refused_then_accepted(node, "at positions 0 to ")
        node.fresh()


def journey_the_log_folder_is_gone_without_a_checkpoint(node):
    for end in WAYS_TO_END:
        six_transactions(node, end)
        without_checkpoints(node)
        shutil.rmtree(os.path.join(node.folder, "log"))
        refused_then_accepted(node, "at positions 0 to ")
        node.fresh()


def journey_a_segment_was_cut_short_without_a_checkpoint(node):
    """In the middle of a record, between two, and below its own head."""
    for cut in ("in", "before", "head"):
        _, store = six_transactions(node, signal.SIGKILL)
        without_checkpoints(node)
        half = store.records("half")[3]
        size = {"in": half.offset + 60, "before": half.offset, "head": 30}[cut]
        os.truncate(half.segment, size)
        refused_then_accepted(node, "at positions 0 to " if cut == "head" else f"at positions {half.at} to ")
        node.fresh()


def journey_torn_tail(node):
    """Garbage, half a record, or a header without its body behind the last record: cut off, nothing lost."""
    for number in range(4):
        ids, store = six_transactions(node, signal.SIGKILL)
        last = store.records()[-1]
        tail = {0: os.urandom(3000), 1: last.bytes[:len(last.bytes) // 2], 2: os.urandom(40), 3: b"\1"}[number]
        store.write_behind_the_last(tail)
        for end in WAYS_TO_END:
            node.start()
            assert [states(node)[tx] for tx in ids] == ["committed"] * 3 + ["pending"] * 3
            assert quarantine(node) == {}
            assert consumed(node, end.name, 3) == ["b0", "b1", "b2"]
            the_others_go_on(node, end.name)
            node.stop(end)
        command("log", "verify", node.folder).ends(0)
        node.fresh()


if __name__ == "__main__":
    sys.exit(real_node.main(globals()))
