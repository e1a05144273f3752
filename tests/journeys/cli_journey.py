#!/usr/bin/env python3
"""Command lines as people type them, against a real node.

Usage: cli_journey.py HANDFAST [NAME...]

Each function `journey_*` starts with a fresh node in a fresh folder. Prints a line per journey; the exit code is the
number of those that failed.
"""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

import real_node
from real_node import command, eventually

# -- transactions ---------------------------------------------------------------------------------


def journey_commit(node):
    """A half is listed and not delivered; its commit delivers it once."""
    node.start()
    tx = node("tx", "send", "orders", "paid: order 1", "--group", "shop").lines()[0]
    assert re.fullmatch("[0-9A-F]{24}", tx), tx
    listed = node("tx", "list", "--json").json()
    assert [(t["id"], t["state"], t["group"]) for t in listed] == [(tx, "pending", "shop")], listed
    node("consume", "orders", "--group", "mail", "--wait", "0").ends(0, out="")
    node("tx", "commit", tx).ends(0)
    node("consume", "orders", "--group", "mail", "--max", "1", "--wait", "5").ends(0, out="paid: order 1\n")
    node("consume", "orders", "--group", "mail", "--wait", "0").ends(0, out="")
    shown = node("tx", "show", tx, "--json").json()
    assert (shown["state"], shown["decided"]["by"]) == ("committed", "admin"), shown
    page = node("tx", "show", tx).ends(0).out
    assert "stored 1 message" in page and "committed by an operator" in page, page
    assert "visible in orders, queue" in page, page


def journey_rollback(node):
    """A rolled-back message is never delivered, and the opposite decision is refused."""
    node.start()
    tx = node("tx", "send", "orders", "paid: order 1", "--group", "shop").lines()[0]
    assert node("tx", "rollback", tx, "--json").json()["outcome"] == "rolled_back"
    node("tx", "rollback", tx).ends(0)
    node("tx", "commit", tx).ends(1, error="rolled back before; that outcome stands")
    node("consume", "orders", "--group", "mail", "--wait", "1").ends(0, out="")


def journey_several_messages(node):
    """Messages of one transaction to several topics become visible by one decision."""
    node.start()
    tx = node("tx", "send", "orders", "paid", "--group", "shop").lines()[0]
    node("tx", "send", "stock", "reserve", "--group", "shop", "--join", tx).ends(0, out=tx + "\n")
    node("consume", "stock", "--group", "g", "--wait", "0").ends(0, out="")
    node("tx", "commit", tx).ends(0, out="committed: 2 messages\n")
    node("consume", "orders", "--group", "g", "--max", "1", "--wait", "5").ends(0, out="paid\n")
    node("consume", "stock", "--group", "g", "--max", "1", "--wait", "5").ends(0, out="reserve\n")
    node("tx", "send", "stock", "late", "--group", "shop", "--join", tx).ends(1, error=tx)


def journey_checks(node):
    """An undecided transaction is asked about, and the answer decides it."""
    node.settings += ("transaction.timeout=300ms", "transaction.check_interval=300ms")
    node.start()
    tx = node("tx", "send", "orders", "paid", "--group", "shop").lines()[0]
    heard = node("tx", "listen", "--group", "shop", "--answer", "unknown", "--max", "1", "--json").json()
    assert (heard["id"], heard["answered"], heard["attempt"]) == (tx, "unknown", 1), heard
    heard = node("tx", "listen", "--group", "shop", "--answer", "commit", "--max", "1", "--json").json()
    assert (heard["id"], heard["outcome"]) == (tx, "committed"), heard
    node("consume", "orders", "--group", "mail", "--max", "1", "--wait", "5").ends(0, out="paid\n")
    page = node("tx", "show", tx).ends(0).out
    assert "asked handfast@" in page and "committed by an answer to a check" in page, page


def journey_sending_answers_no_checks(node):
    """`tx send` is a member of its group for a moment; that must not use up checks of other transactions."""
    node.settings += ("transaction.timeout=1ms", "transaction.check_interval=1ms", "transaction.check_max=3")
    node.start()
    ids = [node("tx", "send", "orders", str(i), "--group", "shop").lines()[0] for i in range(8)]
    states = {t["id"]: t["state"] for t in node("tx", "list", "--json").json()}
    assert states == {tx: "pending" for tx in ids}, states


def journey_give_up_and_reopen(node):
    """Given up after the last check, listed, copied, opened again, and then committed."""
    node.settings += ("transaction.timeout=100ms", "transaction.check_interval=100ms", "transaction.check_max=2")
    node.start()
    old = node("tx", "send", "orders", "paid", "--group", "shop").lines()[0]
    listener = node.background("tx", "listen", "--group", "shop", "--answer", "unknown")
    eventually(lambda: node("tx", "show", old, "--json").json()["state"] == "given_up")
    listener.send_signal(signal.SIGINT)
    assert listener.wait(timeout=20) == 0
    node("tx", "commit", old).ends(1, error="handfast tx reopen ID")
    node("consume", "TRANS_CHECK_MAX_TIME_TOPIC", "--group", "ops", "--max", "1", "--wait", "5").ends(0, out="paid\n")
    assert [t["id"] for t in node("tx", "list", "--state", "given_up", "--json").json()] == [old]
    new = node("tx", "reopen", old).lines()[0]
    assert new != old
    node("tx", "commit", new).ends(0)
    node("consume", "orders", "--group", "mail", "--max", "1", "--wait", "5").ends(0, out="paid\n")
    shown = node("tx", "show", old, "--json").json()
    assert (shown["state"], shown["reopened_as"]) == ("given_up", new), shown


# -- plain messages -------------------------------------------------------------------------------


def journey_produce_and_consume(node):
    node.start()
    for i in range(3):
        node("produce", "news", f"number {i}", "--tag", "t").ends(0)
    assert sorted(node("consume", "news", "--group", "g", "--max", "3").lines()) == \
        ["number 0", "number 1", "number 2"]
    node("consume", "news", "--group", "g", "--wait", "0").ends(0, out="")
    one = json.loads(node("consume", "news", "--group", "other", "--max", "1", "--json").out)
    assert one["tag"] == "t" and one["topic"] == "news", one
    node("produce", "news", "latest is behind this", "--json").json()
    node("consume", "news", "--group", "late", "--from", "latest", "--wait", "0").ends(0, out="")
    big = "x" * 100_000 + "\nwith a line"
    node("produce", "big", "-", stdin=big).ends(0)
    node("consume", "big", "--group", "g", "--max", "1").ends(0, out=big + "\n")
    node("produce", "news", "--", "-5").ends(0)


def journey_consume_follows(node):
    """Without --max and --wait it waits for messages until Ctrl-C, and acknowledges what it printed."""
    node.start()
    node("topic", "create", "news").ends(0)
    follower = node.background("consume", "news", "--group", "g")
    for body in ("one", "two"):
        node("produce", "news", body).ends(0)
        assert follower.stdout.readline() == body + "\n"
    follower.send_signal(signal.SIGINT)
    assert follower.wait(timeout=20) == 0
    node("consume", "news", "--group", "g", "--wait", "0").ends(0, out="")


def journey_progress_survives(node):
    """Topics, progress and pending transactions are there after a stop, and after a kill."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        node.start()
        node("produce", "news", how.name).ends(0)
        tx = node("tx", "send", "news", "half", "--group", "shop").lines()[0]
        node("consume", "news", "--group", "g", "--max", "1", "--wait", "5").ends(0, out=how.name + "\n")
        node.stop(how)
        node.start()
        node("consume", "news", "--group", "g", "--wait", "0").ends(0, out="")
        assert node("tx", "show", tx, "--json").json()["state"] == "pending"
        node("tx", "commit", tx).ends(0)
        node("consume", "news", "--group", "g", "--max", "1", "--wait", "5").ends(0, out="half\n")
        node.stop()


# -- looking --------------------------------------------------------------------------------------


def journey_topics(node):
    node.start()
    made = node("topic", "create", "orders", "--queues", "8", "--json").json()
    assert (made["name"], made["queues"]) == ("orders", 8), made
    node("topic", "create", "orders", "--queues", "2").ends(1, error="topic 'orders'")
    node("topic", "create", "rules", "--first-check", "9", "--check-max", "3").ends(0)
    assert node("topic", "show", "rules", "--json").json()["options"]["transaction_timeout_ms"] == 9000
    names = [t["name"] for t in node("topic", "list", "--json").json()]
    assert "orders" in names and "RMQ_SYS_TRANS_HALF_TOPIC" in names, names
    node("produce", "orders", "x").ends(0)
    assert sum(q["end"] - q["first"] for q in node("topic", "show", "orders", "--json").json()["extents"]) == 1
    assert "orders" in node("topic", "list").ends(0).out
    tx = node("tx", "send", "orders", "half", "--group", "shop").lines()[0]
    node("topic", "delete", "orders").ends(1, error="handfast tx list")
    node("tx", "rollback", tx).ends(0)
    node("topic", "delete", "orders").ends(0)
    node("topic", "show", "orders").ends(1, error="topic 'orders'")


def journey_views(node):
    """The half and op topics can be read, and refuse writes and groups."""
    half, op = "RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC"
    node.start()
    tx = node("tx", "send", "orders", "paid", "--group", "shop").lines()[0]
    node("browse", half, "--bodies").ends(0, out="paid\n")
    node("browse", op, "--bodies").ends(0, out="")
    node("tx", "commit", tx).ends(0)
    eventually(lambda: node("browse", op, "--bodies").out == "0,\n")
    for view in (half, op):
        node("produce", view, "x").ends(1, error="kept by the node")
        node("tx", "send", view, "x", "--group", "shop").ends(1, error="kept by the node")
        node("consume", view, "--group", "g").ends(1, error="handfast browse")
        node("topic", "delete", view).ends(1, error=view)
    browsed = json.loads(node("browse", "orders", "--json").out)
    assert (browsed["body"], browsed["transaction"]) == ("paid", tx), browsed
    node("browse", "orders", "--queue", "77").ends(1, error="has no queue 77")


def journey_status(node):
    node.start()
    node("produce", "orders", "x").ends(0)
    assert isinstance(node("status", "--json").json(), dict)
    assert len(node("status").lines()) > 3
    node("consume", "orders", "--group", "mail", "--max", "1", "--wait", "5").ends(0)
    groups = {g["name"] for g in node("group", "list", "--json").json()}
    assert "mail" in groups, groups
    node("group", "list").ends(0)
    assert node("quarantine", "list", "--json").json() == []


def journey_log(node):
    """A data folder can be verified and dumped, also beside a running node."""
    node.start()
    tx = node("tx", "send", "orders", "paid", "--group", "shop").lines()[0]
    node("tx", "commit", tx).ends(0)
    records = [json.loads(line) for line in command("log", "dump", node.folder, "--json", "--bodies").lines()]
    kinds = [r["type"] for r in records]
    assert "half" in kinds and "decide" in kinds, kinds
    assert [r["body"] for r in records if r["type"] == "half"] == ["paid"]
    assert len(command("log", "dump", node.folder, "--type", "decide").lines()) == 1
    node.stop()
    report = command("log", "verify", node.folder, "--json").json()
    assert report["sound"] and report["records"] >= len(records), report
    command("log", "verify", node.folder).ends(0)


def journey_bench(node):
    node.start()
    result = node("bench", "--connections", "2", "--window", "2", "--seconds", "0.5", "--warm-up", "0.1", "--json",
                  "--dir", os.path.dirname(node.folder)).json()
    assert result["committed_per_s"] > 0 and result["errors"] == {} and result["unanswered"] == 0, result
    assert result["p50_ms"] <= result["p99_ms"] and result["disk"]["fdatasync_p50_ms"] >= 0, result
    node("bench", "--connections", "1", "--window", "1", "--seconds", "0.2", "--warm-up", "0", "--plain",
         "--dir", os.path.dirname(node.folder)).ends(0)


# -- bad input ------------------------------------------------------------------------------------


def journey_refusals(node):
    node.settings += ("topic.auto_create=false", "limits.body=1KiB")
    node.start()
    node("produce", "nowhere", "x").ends(1, error="handfast topic create NAME")
    node("tx", "send", "nowhere", "x", "--group", "shop").ends(1, error="'nowhere'")
    node("consume", "nowhere", "--group", "g", "--wait", "0").ends(1, error="'nowhere'")
    node("topic", "create", "orders").ends(0)
    node("produce", "orders", "-", stdin="x" * 1024).ends(0)
    node("produce", "orders", "-", stdin="x" * 1025).ends(1, error="limits.body")
    node("tx", "send", "orders", "-", "--group", "shop", stdin="x" * 1025).ends(1, error="limits.body")
    for name in ("a/b", "../x", "", "n" * 128, "tab\there"):
        node("topic", "create", name).ends(1, error="1 to 127 characters")
        node("produce", name, "x").ends(1, error="1 to 127 characters")
        node("tx", "send", "orders", "x", "--group", name).ends(1, error="1 to 127 characters")
        node("consume", "orders", "--group", name, "--wait", "0").ends(1, error="1 to 127 characters")
    for verb in ("show", "commit", "rollback", "reopen"):
        node("tx", verb, "0" * 24).ends(1, error="never opened that transaction")
        node("tx", verb, "F" * 24).ends(1, error="never opened that transaction")
        node("tx", verb, "garbage").ends(2, error="24 hex digits")
    tx = node("tx", "send", "orders", "x", "--group", "shop").lines()[0]
    node("tx", "send", "orders", "x", "--group", "others", "--join", tx).ends(1, error="producer group")
    node("tx", "reopen", tx).ends(1, error="Only a given-up transaction")


def journey_unreachable(_):
    began = time.monotonic()
    command("status", "--server", "127.0.0.1:1").ends(3, error="no node can be reached at 127.0.0.1:1")
    command("tx", "send", "t", "x", "--group", "g", "--server", "127.0.0.1:1").ends(3, error="127.0.0.1:1")
    command("status", "--server", "no.such.host.invalid:7310").ends(3, error="no.such.host.invalid")
    assert time.monotonic() - began < 15


def journey_bytes_that_are_no_frames(node):
    """Garbage, another protocol, a frame too large, a cut: that connection ends, the log says why, others go on."""
    node.start()
    host, port = node.server.split(":")
    hello = frame_that_a_client_sends_first(node)
    too_large = hello + hello[:12] + b"\0\0\0\x7f"
    for bytes_sent, why in ((os.urandom(4000), "bad_frame"), (b"GET / HTTP/1.1\r\n\r\n", "bad_frame"),
                            (too_large, "frame_too_large"), (hello[16:], "bad_frame"), (hello + hello, "bad_frame"),
                            (hello + hello[:20], "middle of a frame"), (hello[:7], "middle of a frame")):
        with socket.create_connection((host, int(port)), 10) as wire:
            wire.sendall(bytes_sent)
            wire.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionError):
                while wire.recv(65536):
                    pass
        eventually(lambda: why in open(node.folder + ".log").read().splitlines()[-1])
        node("produce", "news", "x").ends(0)


def frame_that_a_client_sends_first(node):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = node.background("status", "--server", "127.0.0.1:%d" % listener.getsockname()[1])
        with listener.accept()[0] as wire:
            hello = wire.recv(65536)
        client.kill()
        client.communicate()
    return hello


def journey_standard_output(node):
    """What could not be printed is not acknowledged."""
    node.start()
    node("produce", "news", "kept").ends(0)
    with open("/dev/full", "w") as full:
        done = subprocess.run([real_node.HANDFAST, "consume", "news", "--group", "g", "--max", "1"], stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=60,
                              env={**os.environ, "HANDFAST_SERVER": node.server})
    assert done.returncode == 1 and "standard output could not be written" in done.stderr, done
    node("consume", "news", "--group", "g", "--max", "1", "--wait", "40").ends(0, out="kept\n")


def journey_docs(_):
    """docs/cli.md is what the whole program prints."""
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "..", "..", "docs", "cli.md")) as page:
        assert page.read() == command("docs", "cli").ends(0).out, "write it anew: handfast docs cli > docs/cli.md"


if __name__ == "__main__":
    sys.exit(real_node.main(globals()))
