#!/usr/bin/env python3
"""Consumer groups, filters, retries and dead letters at the command line, against a real node.

Usage: consume_journey.py HANDFAST [NAME...]

Each function `journey_*` starts with a fresh node in a fresh folder.
"""

import signal
import sys

import real_node
from real_node import eventually


def produce(node, *bodies, options=()):
    for body in bodies:
        node("produce", "orders", body, *options).ends(0)


def drain(node, group, *options):
    return sorted(node("consume", "orders", "--group", group, "--wait", "1", *options).lines())


def journey_filters(node):
    """A group gets what its filter wants; the rest counts as done for it."""
    node.start()
    produce(node, "a", "b", options=("--tag", "paid"))
    produce(node, "c", options=("--tag", "open"))
    produce(node, "d")
    assert drain(node, "tags", "--tag", "paid || refunded") == ["a", "b"]
    assert drain(node, "sql", "--filter", "TAGS = 'open' OR TAGS IS NULL") == ["c", "d"]
    places = node("group", "show", "sql", "--json").json()["progress"]
    assert all(p["done"] == p["end"] for p in places), places
    node("consume", "orders", "--group", "sql", "--filter", "amount >").ends(2, error="at character")
    produce(node, "dear", options=("--property", "amount=150", "--property", "vip=true"))
    produce(node, "cheap", options=("--property", "amount=99.5"))
    assert drain(node, "big", "--filter", "amount > 100") == ["dear"]
    assert drain(node, "small", "--filter", "amount BETWEEN 99 AND 100") == ["cheap"]


def journey_poison_and_dead_letters(node):
    """A message that fails too often is a dead letter with its reason; resent once, it comes again."""
    node.settings += ("consumer.retry_backoff_min=1ms", "consumer.retry_backoff_max=5ms")
    node.start()
    node("group", "set", "mail", "--delivery-max", "2").ends(0)
    produce(node, "poison", options=("--tag", "bad", "--key", "o1"))
    node("consume", "orders", "--group", "mail", "--max", "2", "--fail", "2", "--wait", "20").ends(
        0, out="poison\npoison\n")
    eventually(lambda: [g for g in node("dlq", "list", "--json").json() if g["group"] == "mail"
                        and g["not_resent"] == 1])
    letter, = node("dlq", "list", "mail", "--json").json()
    assert (letter["body"], letter["tag"], letter["keys"]) == ("poison", "bad", "o1"), letter
    assert letter["properties"]["DLQ_ORIGIN_TOPIC"] == "orders", letter
    assert letter["properties"]["RECONSUME_TIME"] == "2", letter
    page = node("dlq", "list", "mail").ends(0).out
    assert "orders/" in page and "poison" in page, page
    assert node("group", "show", "mail", "--json").json()["dead_letters"] == 1
    assert drain(node, "mail") == []

    node("dlq", "resend", "mail").ends(0, out="resent 1 dead letter of mail\n")
    again, = node("consume", "orders", "--group", "mail", "--max", "1", "--wait", "5", "--json").lines()
    assert '"poison"' in again and '"bad"' in again and "DLQ_" not in again, again
    node("dlq", "resend", "mail").ends(0, out="resent 0 dead letters of mail\n")
    assert drain(node, "mail") == []
    node("dlq", "resend", "nobody").ends(1, error="nobody")


def journey_kill_9_keeps_progress_and_attempts(node):
    """What was acknowledged does not come again, and failed deliveries count on after a crash."""
    node.settings += ("consumer.retry_backoff_min=1ms", "consumer.retry_backoff_max=5ms")
    node.start()
    node("topic", "create", "orders", "--queues", "1").ends(0)
    node("group", "set", "mail", "--delivery-max", "3").ends(0)
    produce(node, "poison", "a", "b")
    node("consume", "orders", "--group", "mail", "--max", "1", "--fail", "1", "--wait", "20").ends(0, out="poison\n")
    for crash in range(2):
        node.stop(signal.SIGKILL)
        node.start()
        shown, = node("consume", "orders", "--group", "mail", "--max", "1", "--fail", "1", "--wait", "20",
                      "--json").lines()
        assert real_node.json.loads(shown)["attempt"] == crash + 2, shown
    eventually(lambda: [m["body"] for m in node("dlq", "list", "mail", "--json").json()] == ["poison"])
    assert drain(node, "mail") == ["a", "b"]
    node.stop(signal.SIGKILL)
    node.start()
    assert drain(node, "mail") == []
    assert [m["body"] for m in node("dlq", "list", "mail", "--json").json()] == ["poison"]


def journey_members_share(node):
    """Two members of a group share its messages; another group gets them all too."""
    node.start()
    bodies = [f"m{n:02}" for n in range(40)]
    node("topic", "create", "orders").ends(0)
    both = [node.background("consume", "orders", "--group", "mail", "--wait", "3") for _ in range(2)]
    produce(node, *bodies)
    printed = [member.communicate(timeout=30)[0].splitlines() for member in both]
    assert sorted(sum(printed, [])) == bodies, printed
    assert drain(node, "books") == bodies


def journey_reset(node):
    """A group goes back to the beginning, to an offset, to a time, and to the end."""
    node.start()
    node("topic", "create", "orders", "--queues", "1").ends(0)
    produce(node, "a", "b", "c")
    assert drain(node, "mail") == ["a", "b", "c"]
    node("group", "reset", "mail", "orders", "--to", "earliest").ends(
        0, out="mail goes on in orders, queue 0, at offset 0\n")
    assert drain(node, "mail") == ["a", "b", "c"]
    node("group", "reset", "mail", "orders", "--to", "offset:2").ends(0)
    assert drain(node, "mail") == ["c"]
    assert node("group", "reset", "mail", "orders", "--to", "1h", "--json").json() == [{"queue": 0, "offset": 0}]
    node("group", "reset", "mail", "orders", "--to", "latest").ends(0)
    assert drain(node, "mail") == []
    node("group", "reset", "nobody", "orders", "--to", "latest").ends(1, error="nobody")
    node("group", "reset", "mail", "nowhere", "--to", "latest").ends(1, error="nowhere")


def journey_where_a_group_begins(node):
    node.start()
    node("topic", "create", "orders", "--queues", "1").ends(0)
    produce(node, "a", "b")
    assert drain(node, "at-one", "--from", "offset:1") == ["b"]
    assert drain(node, "an-hour-ago", "--from", "1h") == ["a", "b"]
    assert drain(node, "in-future", "--from", "2100-01-01T00:00:00Z") == []
    assert drain(node, "late", "--from", "latest") == []
    produce(node, "c")
    assert drain(node, "late") == ["c"]


def journey_broadcast(node):
    """Everyone gets everything, and goes on where its file says, also after the node's restart."""
    node.start()
    produce(node, "a", "b")
    mine, yours = node.folder + ".mine", node.folder + ".yours"

    def listen(file):
        return sorted(node("consume", "orders", "--broadcast", "--from", "earliest", "--offsets", file, "--wait",
                           "0.5").lines())

    assert listen(mine) == ["a", "b"]
    assert listen(yours) == ["a", "b"]
    produce(node, "c")
    node.stop()
    node.start()
    assert listen(mine) == ["c"]
    assert listen(mine) == []

    # From the latest on, by a consumer that saw nothing in most queues, or in none, while it ran.
    node("topic", "create", "spread", "--queues", "4").ends(0)
    late = node.folder + ".late"

    def follow():
        return sorted(node("consume", "spread", "--broadcast", "--offsets", late, "--wait", "0.5").lines())

    assert follow() == []
    bodies = [f"m{n}" for n in range(12)]
    for body in bodies:
        node("produce", "spread", body).ends(0)
    assert follow() == sorted(bodies)
    node("consume", "spread", "--broadcast", "--offsets", node.folder + "/none/at/all", "--wait", "5").ends(1)


def journey_ordered(node):
    """Messages of one key come in their order; a group reads in one way only."""
    node.start()
    for n in range(10):
        node("produce", "orders", f"x{n}", "--order-key", "x").ends(0)
        node("produce", "orders", f"y{n}", "--order-key", "y").ends(0)
    got = node("consume", "orders", "--group", "book", "--ordered", "--max", "20", "--wait", "20").lines()
    for key in "xy":
        assert [b for b in got if b[0] == key] == [f"{key}{n}" for n in range(10)], got
    placed = {m["queue"] for m in map(real_node.json.loads, node("browse", "orders", "--json").lines())
              if m["order_key"] == "x"}
    assert len(placed) == 1, placed


def journey_groups(node):
    """A group is listed, shown, and deleted once nobody reads."""
    node.start()
    produce(node, "a")
    assert drain(node, "mail") == ["a"]
    listed = {g["name"] for g in node("group", "list", "--json").json()}
    assert "mail" in listed, listed
    page = node("group", "show", "mail").ends(0).out
    assert "in any order" in page and "DONE" in page, page
    assert node("dlq", "list", "mail", "--json").json() == []
    eventually(lambda: node("group", "delete", "mail").code == 0)
    node("group", "show", "mail").ends(1, error="mail")


if __name__ == "__main__":
    sys.exit(real_node.main(globals()))
