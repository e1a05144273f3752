#!/usr/bin/env python3
"""A backup of a node under load, brought back: everything answered before is there, and goes on from there.

Usage: backup_journey.py HANDFAST
"""

import glob
import shutil
import signal
import subprocess
import sys

import real_node
from real_node import command


def journey_backup_of_a_node_under_load(node):
    node.start()
    node("topic", "create", "orders", "--queues", "1").ends(0)
    node("produce", "orders", "before").ends(0)
    pending = node("tx", "send", "orders", "undecided", "--group", "shop").lines()[0]
    assert node("consume", "orders", "--group", "mail", "--max", "1", "--wait", "10").lines() == ["before"]
    load = subprocess.Popen([real_node.HANDFAST, "bench", "--server", node.server, "--seconds", "3", "--connections", "4"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    copy = node.folder + ".backup"
    done = command("backup", copy, "--data", node.folder, "--json").json()
    load.wait()
    assert done["sound"] and done["records"] > 3, done
    command("backup", copy, "--data", node.folder).ends(1, "is not empty")
    command("backup", node.folder + "/inside", "--data", node.folder).ends(1, "would lie in the data folder")
    node("tx", "commit", pending).ends(0)
    node.stop(signal.SIGKILL)
    shutil.rmtree(node.folder)

    command("restore", copy, "--data", node.folder).ends(0)
    command("restore", copy, "--data", node.folder).ends(1, "is not empty")
    node.start()
    node("produce", "orders", "after").ends(0)
    assert node("consume", "orders", "--group", "mail", "--max", "1", "--wait", "10").lines() == ["after"]
    node("tx", "commit", pending).ends(0)
    assert node("consume", "orders", "--group", "mail", "--max", "1", "--wait", "10").lines() == ["undecided"]
    node.stop(signal.SIGTERM)


def journey_damage_is_copied_and_told(node):
    node.start()
    node("topic", "create", "orders", "--queues", "1").ends(0)
    node("produce", "orders", "a body to be damaged").ends(0)
    node("produce", "orders", "which shows that it was durable").ends(0)
    node.stop(signal.SIGKILL)
    segment = sorted(glob.glob(node.folder + "/log/*.seg"))[0]
    with open(segment, "r+b") as file:
        content = file.read()
        file.seek(content.index(b"a body to be damaged"))
        file.write(b"A")
    copy = node.folder + ".backup"
    told = command("backup", copy, "--data", node.folder).ends(1)
    assert "damaged record" in told.err and "handfast: the copy has the damage" in told.err, told
    refused = command("restore", copy, "--data", node.folder + ".new").ends(1)
    assert "is damaged" in refused.err and "\n." not in refused.err, refused


def journey_what_is_no_backup(node):
    command("restore", node.folder + ".none", "--data", node.folder).ends(1, "there is no store in")
    command("backup", node.folder + ".copy", "--data", node.folder + ".none").ends(1, "there is no store in")


if __name__ == "__main__":
    sys.exit(real_node.main(globals()))
