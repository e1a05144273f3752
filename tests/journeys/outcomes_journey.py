#!/usr/bin/env python3
"""Outcomes stay known beyond the memory window: repeats and opposites, before and after checkpoints and restarts.

Usage: outcomes_journey.py HANDFAST [NAME...]

Like cli_journey.py. The node keeps 100 outcomes in memory; then more than 10,000 others are decided.
"""

import os
import signal
import sys

import real_node

DECISIONS = 10_000


def sample(node, name):
    return sum(s["value"] for actor in node("status", "--json").json()["actors"]
               for s in actor["samples"] if s["name"] == name)


def decide_many(node):
    """Until so many were committed in this life of the node."""
    while sample(node, "rocketmq_commit_messages_total") < DECISIONS:
        node("bench", "--connections", "4", "--window", "16", "--seconds", "1", "--warm-up", "0", "--body", "100",
             "--dir", os.path.dirname(node.folder)).ends(0)


def first_ones(node):
    """One of each outcome that a producer can give."""
    ids = [node("tx", "send", "orders", body, "--group", "shop").lines()[0] for body in ("goes", "stays")]
    node("tx", "commit", ids[0]).ends(0)
    node("tx", "rollback", ids[1]).ends(0)
    return ids


def answers_are_right(node, ids):
    committed, rolled_back = ids
    done = node("tx", "commit", committed, "--json").json()
    assert (done["outcome"], done["id"]) == ("committed", committed), done
    node("tx", "rollback", committed).ends(1, error="it was committed before; that outcome stands")
    assert node("tx", "rollback", rolled_back, "--json").json()["outcome"] == "rolled_back"
    node("tx", "commit", rolled_back).ends(1, error="it was rolled back before; that outcome stands")
    states = [node("tx", "show", tx, "--json").json()["state"] for tx in ids]
    assert states == ["committed", "rolled_back"], states


def everything_again(node, ids):
    """After an orderly stop, after kill -9, and after more decisions on top."""
    for end in (signal.SIGTERM, signal.SIGKILL):
        node.stop(end)
        node.start()
        answers_are_right(node, ids)
    decide_many(node)
    answers_are_right(node, ids)
    node("consume", "orders", "--group", "mail", "--wait", "1").ends(0, out="goes\n")


def journey_without_a_checkpoint_meanwhile(node):
    node.settings += ("transaction.outcomes_in_memory=100", "store.checkpoint_bytes=1GiB")
    node.start()
    ids = first_ones(node)
    decide_many(node)
    answers_are_right(node, ids)
    node.stop(signal.SIGKILL)
    node.start()
    answers_are_right(node, ids)
    everything_again(node, ids)


def journey_with_checkpoints_meanwhile(node):
    node.settings += ("transaction.outcomes_in_memory=100", "store.checkpoint_bytes=1MiB")
    node.start()
    ids = first_ones(node)
    decide_many(node)
    assert sample(node, "handfast_checkpoints_total") > 0
    # What no checkpoint has yet stays in memory, too.
    assert sample(node, "handfast_outcomes_in_memory") < sample(node, "rocketmq_commit_messages_total")
    answers_are_right(node, ids)
    node.stop(signal.SIGKILL)
    node.start()
    answers_are_right(node, ids)
    everything_again(node, ids)


if __name__ == "__main__":
    sys.exit(real_node.main(globals()))
