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


def journey_list_of_decided(node):
    """Decided transactions are listed with all that is known of them, and with no false numbers."""
    node.settings += ("transaction.timeout=100ms", "transaction.check_interval=100ms", "transaction.check_max=2")
    node.start()
    several = node("tx", "send", "orders", "a", "--group", "shop").lines()[0]
    for topic in ("stock", "stock"):
        node("tx", "send", topic, "b", "--group", "shop", "--join", several).ends(0)
    node("tx", "commit", several).ends(0)
    back = node("tx", "send", "orders", "c", "--group", "shop").lines()[0]
    node("tx", "send", "stock", "d", "--group", "shop", "--join", back).ends(0)
    node("tx", "rollback", back).ends(0)
    lost = node("tx", "send", "orders", "e", "--group", "bank").lines()[0]
    listener = node.background("tx", "listen", "--group", "bank", "--answer", "unknown")
    eventually(lambda: node("tx", "show", lost, "--json").json()["state"] == "given_up")
    listener.kill()
    listener.communicate()

    def listed(*words):
        return {t["id"]: t for t in node("tx", "list", "--json", *words).json()}

    all_of_them = listed()
    assert [m["topic"] for m in all_of_them[several]["messages"]] == ["orders", "stock", "stock"], all_of_them
    assert [m["topic"] for m in all_of_them[lost]["messages"]] == ["orders"], all_of_them
    assert all_of_them[lost]["checks"]["asked"] == 2, all_of_them
    assert all_of_them[back]["messages_partial"] and all_of_them[back]["messages"][0]["topic"] == "orders"
    assert set(listed("--topic", "orders")) == {several, back, lost}
    assert set(listed("--topic", "stock")) == {several}
    table = node("tx", "list").ends(0).out
    assert "TRANS_CHECK_MAX_TIME_TOPIC" not in table, table
    assert re.search(several + r"  committed +shop +orders \+1 +3 ", table), table
    assert re.search(back + r"  rolled back +shop +orders +1\+ .* 0  by operator", table), table
    assert re.search(lost + r"  given up +bank +orders +1 .* 2  by give-up rule", table), table
    eventually(lambda: len(node("browse", "RMQ_SYS_TRANS_OP_HALF_TOPIC", "--bodies").lines()) == 3)
    assert node("browse", "RMQ_SYS_TRANS_OP_HALF_TOPIC", "--bodies").lines() == ["0,1,2,", "3,", "5,"]


def journey_names_that_are_not_there(node):
    """Reading makes no topics, and says which one was probably meant."""
    node.start()
    node("produce", "orders", "x").ends(0)
    for words in (("consume", "ordes", "--group", "g"), ("browse", "ordes"), ("topic", "show", "ordes"),
                  ("topic", "delete", "ordes"), ("tx", "list", "--topic", "ordes")):
        node(*words).ends(1, out="", error="topic 'ordes' does not exist. Did you mean 'orders'? Else create it with "
                                           "`handfast topic create ordes`.")
    node("tx", "list", "--group", "shop").ends(1, error="no group 'shop' is known. See `handfast group list`.")
    assert "ordes" not in node("topic", "list").out
    node("browse", "TRANS_CHECK_MAX_TIME_TOPIC").ends(0, out="")


def journey_members_of_json(node):
    """docs/cli.md says what each printed member means."""
    page = command("docs", "cli").ends(0).out
    documented = {}
    for section in page.split("\n### A ")[1:]:
        rows = re.findall(r"^\| (\*?)`([^`]+)`\*? \|", section, re.M)
        documented[section.split(":")[0]] = {path: bool(star) for star, path in rows}

    def paths(value, shape, at=""):
        inside = any(p.startswith((at + ".", at + "[].")) for p in shape)
        if at and (not inside or isinstance(value, list)):
            yield at
        if at and not inside:
            return
        items = value if isinstance(value, list) else [value]
        for item in items:
            for key, inner in item.items():
                yield from paths(inner, shape, key if not at else f"{at}[].{key}" if isinstance(value, list)
                                 else f"{at}.{key}")

    def check(name, value):
        shape = documented[name]
        printed = set(paths(value, shape))
        assert printed <= set(shape), (name, printed - set(shape))
        missing = {p for p, sometimes in shape.items() if not sometimes} - printed
        assert not missing, (name, missing)

    node.start()
    tx = node("tx", "send", "orders", "x", "--group", "shop", "--json").json()
    check("opened transaction", tx)
    check("decision", node("tx", "commit", tx["id"], "--json").json())
    check("status", node("status", "--json").json())
    for one in node("tx", "list", "--json").json():
        check("transaction", one)
    for line in command("log", "dump", node.folder, "--json", "--bodies").lines():
        check("record", json.loads(line))
    check("configured key", command("config", "show", "--json").json()[0])
    node.stop()
    check("report", command("log", "verify", node.folder, "--json").json())


def journey_full_disk(node):
    """Status says how much room the node wants."""
    node.start()
    assert " needed\n" in node("status").ends(0).out


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


def journey_messages_looked_up(node):
    node.start()
    node("topic", "create", "orders", "--queues", "1").ends(0)
    for n in range(3):
        node("produce", "orders", f"b{n}", "--key", f"k{n} all").ends(0)
    tx = node("tx", "send", "orders", "of a transaction", "--group", "shop").lines()[0]
    node("message", "get", tx).ends(1, "is not committed")
    node("tx", "commit", tx).ends(0)

    def bodies(*words):
        return [json.loads(line)["body"] for line in node("message", *words, "--json").lines()]

    assert bodies("get", tx) == ["of a transaction"]
    assert bodies("get", "orders", "--offset", "1") == ["b1"]
    node("message", "get", "orders", "--offset", "9").ends(1, "no message stands at offset 9")
    node("message", "get", "orders").ends(2, "is not the id of a transaction")
    assert bodies("find", "orders", "--key", "k2") == ["b2"]
    assert bodies("find", "orders", "--key", "k") == []
    assert bodies("find", "orders", "--key", "all", "--max", "2") == ["b0", "b1"]
    assert bodies("find", "orders", "--id", tx) == ["of a transaction"]
    assert bodies("find", "orders", "--from", "offset:2") == ["b2", "of a transaction"]
    assert bodies("find", "orders", "--until", "offset:1") == ["b0"]
    assert bodies("find", "orders", "--from", "1h") == ["b0", "b1", "b2", "of a transaction"]
    node("message", "find", "ordres").ends(1, "Did you mean 'orders'?")


def journey_single_senders_use_all_queues(node):
    """Each a process of its own: they must not all begin at the same queue."""
    node.start()
    node("topic", "create", "orders", "--queues", "2").ends(0)
    queues = {node("produce", "orders", "x", "--json").json()["queue"] for _ in range(40)}
    assert queues == {0, 1}, queues


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
    assert "orders queue" in command("log", "dump", node.folder, "--type", "half").out
    first = command("log", "dump", node.folder, "--max", "3")
    assert len(first.lines()) == 3
    next_at = re.search(r"ended after 3 records; --from (\d+) goes on", first.err).group(1)
    assert command("log", "dump", node.folder, "--from", next_at).lines()[0].split()[0] == next_at
    upper = command("log", "dump", node.folder, "--to", next_at).lines()
    assert [line.split()[0] for line in upper] == [str(r["position"]) for r in records[:3]], upper
    for wrong in ("1", "12345", str(int(next_at) + 8), "99999999999"):
        command("log", "dump", node.folder, "--from", wrong).ends(1, out="", error=f"no record begins at position {wrong}")
    command("log", "dump", node.folder + ".log").ends(1, error="there is no store in")
    command("log", "dump", node.folder + ".none").ends(1, error="there is no folder")
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
    node("produce", "nowhere", "x").ends(1, error="handfast topic create nowhere")
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


def journey_second_node(node):
    """A second node on the same folder or the same ports is refused and told what to change."""
    node.start()
    other = node.folder + "-other"

    def second(data, *words):
        return command("node", "--data", data, "--set", "listen.http=", *words)

    second(node.folder, "--listen", "127.0.0.1:0").ends(1, error="--data DIR")
    os.remove(os.path.join(node.folder, "lock"))
    second(node.folder, "--listen", "127.0.0.1:0").ends(1, error="is locked by another process")
    second(other, "--listen", node.server).ends(1, error="`--set listen.native=HOST:PORT`")
    second(other, "--listen", "127.0.0.1:0", "--set", "listen.http=" + node.server).ends(
        1, error="`--set listen.http=HOST:PORT`")
    second(node.folder + ".log", "--listen", "127.0.0.1:0").ends(1, error="is a file, not a folder")
    second(node.folder + ".log/x", "--listen", "127.0.0.1:0").ends(1, error="is a file, not a folder")
    node("produce", "news", "x").ends(0)


def journey_queues_have_a_bound(node):
    node.settings += ("topic.queues_max=10",)
    node.start()
    node("topic", "create", "a", "--queues", "8").ends(0)
    for words in (("topic", "create", "b", "--queues", "3"), ("produce", "c", "x")):
        node(*words).ends(1, error="topic.queues_max is 10. Give it fewer queues")
    node("topic", "create", "b", "--queues", "2").ends(0)
    node("topic", "delete", "a").ends(0)
    node("produce", "c", "x").ends(0)


def journey_example(node):
    """The example says what it does, at once, also when nobody answers."""
    program = os.path.join(os.path.dirname(real_node.HANDFAST), "example_order_payment")

    def example(*words):
        return subprocess.run([program, *words], capture_output=True, text=True, timeout=10)

    shown = example("--help")
    assert shown.returncode == 0 and shown.stdout.startswith("usage: "), shown
    assert example("--wrong").returncode == 2 and example("a", "b").returncode == 2
    alone = example("127.0.0.1:1")
    assert alone.returncode == 3, alone
    assert alone.stderr == ("connecting to 127.0.0.1:1\nno node answers at 127.0.0.1:1: start one with `handfast node`\n"), alone
    node.start()
    paid = example(node.server)
    assert paid.returncode == 0 and "order 1 is paid and announced" in paid.stdout, paid
    node("consume", "orders", "--group", "mail", "--max", "1", "--wait", "5").ends(0, out="order 1\n")


def journey_scripts(_):
    """They answer --help without installing or building anything."""
    here = os.path.dirname(os.path.abspath(__file__))
    for script in ("run", "build", "test"):
        done = subprocess.run([os.path.join(here, "..", "..", "scripts", script), "--help"], capture_output=True,
                              text=True, timeout=10)
        assert done.returncode == 0 and done.stdout.startswith(f"Usage: scripts/{script} ") and not done.stderr, done


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
