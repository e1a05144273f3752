#!/usr/bin/env python3
"""Messages that become visible later, against a real node that is killed meanwhile.

Usage: delay_journey.py HANDFAST [NAME...]

Like cli_journey.py.
"""

import datetime
import json
import signal
import sys
import time

import real_node


def consume(node, topic="orders", wait="0", group="mail", most="100"):
    run = node("consume", topic, "--group", group, "--wait", wait, "--max", most, "--json").ends(0)
    return [json.loads(line) for line in run.out.splitlines()]


def now_ms():
    return time.time() * 1000


def is_on_time(message, due_ms):
    """Not before, and at most 100 ms after; much more is forgiven a busy machine."""
    late = message["visible_ms"] - due_ms
    assert 0 <= late < 2000, f"{late} ms late: {message}"


def journey_plain(node):
    """A delayed message is stored at once and seen when it is due."""
    node.start()
    stored = node("produce", "orders", "later", "--delay", "1500ms", "--json").json()
    assert "offset" not in stored, stored
    assert abs(stored["due_ms"] - now_ms() - 1500) < 1500, stored
    assert [m["body"] for m in node("delay", "list", "--json").json() and consume(node)] == []
    node("produce", "orders", "at once").ends(0)
    assert [m["body"] for m in consume(node, wait="5", most="1")] == ["at once"]
    later = consume(node, wait="10", most="1")
    assert [m["body"] for m in later] == ["later"], later
    is_on_time(later[0], stored["due_ms"])
    assert node("delay", "list").ends(0).out == "no message waits for its time\n"
    assert consume(node, wait="1") == [], "once"


def journey_level_and_date(node):
    """RocketMQ's levels, and a moment."""
    node.start()
    first = node("produce", "orders", "level", "--delay-level", "1", "--json").json()
    assert abs(first["due_ms"] - now_ms() - 1000) < 1500, first
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=3)
    date = moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    second = node("produce", "orders", "date", "--at", date, "--json").json()
    assert abs(second["due_ms"] - int(moment.timestamp()) * 1000) < 1000, second
    got = consume(node, wait="10", most="2")
    assert [m["body"] for m in got] == ["level", "date"], got
    node("produce", "orders", "x", "--delay", "1097d").ends(1, error="three years")


def journey_transaction(node):
    """The delay of a half counts from the commit."""
    node.start()
    tx = node("tx", "send", "orders", "remind", "--group", "shop", "--delay", "1s").lines()[0]
    assert "1.0 s after the commit" in node("tx", "show", tx).ends(0).out
    time.sleep(1.5)
    assert node("delay", "list", "--json").json() == [], "nothing is committed yet"
    done = node("tx", "commit", tx, "--json").json()
    assert abs(done["due_ms"] - now_ms() - 1000) < 1500, done
    assert node("tx", "commit", tx, "--json").json()["due_ms"] == done["due_ms"], "the same when asked again"
    assert done["outcome"] == "committed" and "offset" not in done, done
    assert "becomes visible in orders" in node("tx", "show", tx).ends(0).out
    node("message", "get", tx).ends(1, error="has its place in the queue from")
    waiting = node("delay", "list", "--json").json()
    assert [w["transaction"] for w in waiting] == [tx], waiting
    got = consume(node, wait="10", most="1")
    assert [m["body"] for m in got] == ["remind"], got
    is_on_time(got[0], done["due_ms"])
    assert got[0]["transaction"] == tx, got
    assert node("message", "find", "orders", "--id", tx, "--json").json()["body"] == "remind"


def journey_killed_meanwhile(node):
    """What waits survives kill -9, before and after checkpoints; what was due meanwhile comes at the start, once."""
    node.settings += ("store.checkpoint_bytes=64KiB",)
    node.start()
    tx = node("tx", "send", "orders", "half", "--group", "shop", "--delay", "3s").lines()[0]
    due = {}
    for n in range(3):
        due[f"soon {n}"] = node("produce", "orders", f"soon {n}", "--delay", "2s", "--json").json()["due_ms"]
    due["late"] = node("produce", "orders", "late", "--delay", "12s", "--json").json()["due_ms"]
    cancelled = node("produce", "orders", "never", "--delay", "4s", "--json").json()["position"]
    node("tx", "commit", tx).ends(0)
    node("delay", "cancel", str(cancelled)).ends(0)
    node.stop(signal.SIGKILL)
    node.start()
    for _ in range(40):  # a checkpoint or two
        node("produce", "other", "x" * 4000).ends(0)
    node.stop(signal.SIGKILL)
    time.sleep(4)
    node.start()
    node.stop(signal.SIGKILL)
    node.start()
    got = consume(node, wait="10", most="4")
    assert sorted(m["body"] for m in got) == ["half", "soon 0", "soon 1", "soon 2"], got
    node.stop()
    node.start()
    got = consume(node, wait="15", most="1")
    assert [m["body"] for m in got] == ["late"], got
    is_on_time(got[0], due["late"])
    assert consume(node, wait="1") == []
    assert consume(node, group="another", wait="1", most="100") and node("delay", "list", "--json").json() == []


def journey_list_and_cancel(node):
    """Listed by due time, by topic; a cancelled one is never delivered."""
    node.start()
    for n in range(5):
        node("produce", "orders", f"order {n}", "--delay", f"{100 - n}s").ends(0)
    node("produce", "stock", "stock", "--delay", "2s").ends(0)
    listed = node("delay", "list", "--json").json()
    assert [w["topic"] for w in listed] == ["stock"] + 5 * ["orders"], listed
    assert listed == sorted(listed, key=lambda w: w["due_ms"]), listed
    orders = node("delay", "list", "--topic", "orders", "--json").json()
    assert len(orders) == 5 and str(orders[0]["id"]) in node("delay", "list").ends(0).out
    node("delay", "cancel", str(listed[0]["id"])).ends(0)
    node("delay", "cancel", str(listed[0]["id"])).ends(1, error="cancelled or expired")
    node("delay", "cancel", "12345").ends(1)
    assert consume(node, topic="stock", wait="4") == []
    node("topic", "delete", "orders").ends(1, error="5 messages to become visible later")
    node("delay", "cancel", str(orders[0]["id"])).ends(0)
    node("topic", "delete", "orders", "--force").ends(0)
    assert node("delay", "list", "--json").json() == []


def journey_beside_other_features(node):
    """Order keys, tags, retries and dead letters treat a delayed message like any other."""
    node.settings += ("consumer.retry_backoff_min=1ms", "consumer.retry_backoff_max=5ms")
    node.start()
    for n in range(6):  # sent in another order than they become visible in
        node("produce", "orders", f"step {n}", "--delay", f"{8 - n}s", "--order-key", "a", "--tag",
             "even" if n % 2 == 0 else "odd").ends(0)
    ordered = node("consume", "orders", "--group", "mail", "--ordered", "--wait", "12", "--max", "6").lines()
    assert ordered == [f"step {n}" for n in reversed(range(6))], ordered
    even = node("consume", "orders", "--group", "even", "--tag", "even", "--wait", "2", "--max", "3").lines()
    assert even == ["step 4", "step 2", "step 0"], even
    node("group", "set", "poisoned", "--delivery-max", "2").ends(0)
    tx = node("tx", "send", "poison", "bad", "--group", "shop", "--delay", "500ms", "--key", "k1").lines()[0]
    node("tx", "commit", tx).ends(0)
    node("consume", "poison", "--group", "poisoned", "--max", "2", "--fail", "2", "--wait", "10").ends(
        0, out="bad\nbad\n")
    real_node.eventually(lambda: [m["body"] for m in node("dlq", "list", "poisoned", "--json").json()] == ["bad"])
    node("dlq", "resend", "poisoned").ends(0)
    again = consume(node, topic="poison", group="poisoned", wait="5", most="1")
    assert [m["body"] for m in again] == ["bad"], again


def journey_bound(node):
    """More than the bound is refused, by its own name; other messages are not."""
    node.settings += ("delay.max=3",)
    node.start()
    for n in range(3):
        node("produce", "orders", str(n), "--delay", "1h").ends(0)
    refused = node("produce", "orders", "one too many", "--delay", "1h")
    assert refused.code != 0 and "delay.max" in refused.err, refused
    node("produce", "orders", "at once").ends(0)
    log = node.folder
    node.stop()
    dump = real_node.command("log", "dump", log, "--type", "message").ends(0).out
    assert "delayed 1 h" in dump, dump


if __name__ == "__main__":
    sys.exit(real_node.main(globals()))
