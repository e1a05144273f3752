#!/usr/bin/env python3
"""Cases from the field that take a process of its own: kill -9, tools, members that come and go.

Usage: field_journey.py HANDFAST [NAME...]

Like cli_journey.py. `docs/field-cases.md` lists all cases and where each is shown.
"""

import pathlib
import re
import signal
import sys
import time

import real_node
from real_node import eventually
from store_bytes import Store

QUICK = ("transaction.timeout=300ms", "transaction.check_interval=200ms", "transaction.check_max=3")


def send(node, body, topic="orders"):
    return node("tx", "send", topic, body, "--group", "shop").lines()[0]


def state(node, tx):
    return node("tx", "show", tx, "--json").json()["state"]


def consumed(node, group="mail"):
    return node("consume", "orders", "--group", group, "--wait", "1").out.splitlines()


class Listener:
    """`tx listen` in the background; what it was asked."""

    def __init__(self, node, answer):
        self.process = node.background("tx", "listen", "--group", "shop", "--answer", answer, "--json")

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=30)
        return out.splitlines()


def journey_acknowledged_commits_are_not_asked_about_after_kill9(node):
    """F27, F28: killed right behind the acknowledgement; nothing asked, one copy each."""
    node.settings += QUICK
    sent = []
    for number in range(10):
        node.start()
        tx = send(node, f"paid {number}")
        node("tx", "commit", tx).ends(0)
        node.stop(signal.SIGKILL)
        sent.append(tx)
        node.start()
        listener = Listener(node, "commit")
        probe = send(node, f"probe {number}")
        eventually(lambda: state(node, probe) == "committed")
        asked = listener.stop()
        assert len(asked) == 1 and probe in asked[0], asked
        node.stop(signal.SIGKILL)
    node.start()
    assert [state(node, tx) for tx in sent] == ["committed"] * 10
    assert sorted(consumed(node)) == sorted(f"{what} {n}" for what in ("paid", "probe") for n in range(10))


def journey_a_restarted_producer_that_sends_nothing_is_asked(node):
    """F19: and also after a restart of the node in between."""
    node.settings += QUICK
    node.start()
    tx = send(node, "paid")
    node.stop(signal.SIGKILL)
    node.start()
    listener = Listener(node, "commit")
    eventually(lambda: state(node, tx) == "committed")
    assert tx in listener.stop()[0]
    assert consumed(node) == ["paid"]


def journey_nothing_is_given_up_while_nobody_is_online(node):
    """F23: no attempt is used up, the wait is visible, and the first member that comes decides."""
    node.settings += QUICK
    node.start()
    tx = send(node, "paid")
    time.sleep(3)
    shown = node("tx", "show", tx).ends(0).out
    assert "waits for a producer of group shop" in shown, shown
    assert node("tx", "show", tx, "--json").json()["checks"]["asked"] == 0
    assert "1 waiting for a producer" in node("status").ends(0).out
    listener = Listener(node, "commit")
    eventually(lambda: state(node, tx) == "committed")
    listener.stop()
    assert consumed(node) == ["paid"]


def journey_a_damaged_half_does_not_hold_up_checks_of_others(node):
    """F18, F16: one body is damaged; a hundred others are asked about and decided."""
    node.settings += QUICK
    node.start()
    bad = send(node, "damaged")
    node.stop(signal.SIGTERM)
    store = Store(node.folder)
    half = store.records("half")[0]
    store.flip(half, half.payload)
    node.start()
    fine = [send(node, f"fine {n}") for n in range(100)]
    listener = Listener(node, "commit")
    eventually(lambda: node("tx", "list", "--state", "pending", "--json").json() == [], 60)
    listener.stop()
    assert {state(node, tx) for tx in fine} == {"committed"}
    assert state(node, bad) == "quarantined"
    assert sorted(consumed(node)) == sorted(f"fine {n}" for n in range(100))


def journey_tools_show_states_and_not_copies(node):
    """F60: what is rolled back or pending is shown as that, and stands in no queue."""
    node.start()
    rolled_back, pending, committed = (send(node, body) for body in ("never", "not yet", "paid"))
    node("tx", "rollback", rolled_back).ends(0)
    node("tx", "commit", committed).ends(0)
    states = {t["id"]: t["state"] for t in node("tx", "list", "--json").json()}
    assert states == {rolled_back: "rolled_back", pending: "pending", committed: "committed"}, states
    bodies = [node("browse", "orders", "--queue", str(q), "--bodies").out for q in range(4)]
    assert "".join(bodies) == "paid\n", bodies
    assert consumed(node) == ["paid"]


def journey_nobody_writes_to_the_topics_of_the_node(node):
    """Scenario 33."""
    node.start()
    for topic in ("RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC", "TRANS_CHECK_MAX_TIME_TOPIC"):
        node("produce", topic, "x").ends(1, error="kept by the node")
        node("tx", "send", topic, "x", "--group", "shop").ends(1, error="kept by the node")


def journey_the_documentation_names_tests_that_exist(_):
    """docs/field-cases.md."""
    here = pathlib.Path(__file__).resolve().parent
    page = (here.parents[1] / "docs" / "field-cases.md").read_text()
    tests, journeys = set(), set()
    for source in here.parent.rglob("*.cpp"):
        tests |= {".".join(pair) for pair in re.findall(r"TEST(?:_F|_P)?\((\w+), (\w+)\)", source.read_text())}
    for source in here.glob("*_journey.py"):
        journeys |= set(re.findall(r"def journey_(\w+)", source.read_text()))
        journeys.add("Journeys." + source.name.removesuffix("_journey.py"))
    rows = [line for line in page.splitlines() if re.match(r"\| (F?\d)", line)]
    named = [name for row in rows for name in re.findall(r"`([\w./]+)`", row.split("|")[3])]
    assert len(rows) > 60 and len(named) > len(rows), page
    for name in named:
        assert name in tests | journeys or (here.parents[1] / name).is_file(), f"{name} is not a test"


if __name__ == "__main__":
    sys.exit(real_node.main(globals()))
