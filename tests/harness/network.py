"""Hosts on one machine: network namespaces that a switch connects. Between any two of them, packets can be dropped
without a sign, as by a cable that is pulled: neither side gets a reset or an unreachable host.

Needs root and `in_namespaces("mount", "net")`, whose network is the host of this program, FIRST."""

import ipaddress
import os
import subprocess
import time

from harness.machine import skip
from harness.server import RUNNING

SUBNET = ipaddress.ip_network("10.77.0.0/24")
NOWHERE = "02:00:00:00:78:00"  # a hardware address that no host has


def ip(commands, wrapper=()):
    subprocess.run([*wrapper, "ip", "-batch", "-"], input="\n".join(commands), text=True, check=True,
                   stdout=subprocess.DEVNULL)


class Host:
    """`wrapper` before a command line runs it on this host."""

    def __init__(self, number, device, wrapper):
        self.address, self.device, self.wrapper = str(SUBNET[number]), device, wrapper
        self.hardware = f"02:00:00:00:77:{number:02x}"

    def send_to(self, other, hardware):
        """The packets for `other` go to this hardware address. Nothing is looked up, so nothing is found."""
        ip([f"neigh replace {other.address} lladdr {hardware} nud permanent dev {self.device}"], self.wrapper)


class Network:
    """As a context, it exists. `hosts[0]` is this program's."""

    def __init__(self, count):
        self.count, self.hosts, self.holders = count, [], []

    def __enter__(self):
        first = Host(1, "switch", ())
        try:
            ip([f"link add switch address {first.hardware} type bridge", f"addr add {first.address}/24 dev switch",
                "link set switch up"])
        except subprocess.CalledProcessError:
            skip("needs a kernel with bridges")
        self.hosts.append(first)
        for number in range(2, self.count + 2):
            self.add(number)
        for one in self.hosts:
            for other in self.hosts:
                if one is not other:
                    one.send_to(other, other.hardware)
        return self

    def add(self, number):
        holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        RUNNING.add(holder)
        self.holders.append(holder)
        path, own = f"/proc/{holder.pid}/ns/net", os.readlink("/proc/self/ns/net")
        while os.readlink(path) == own:
            time.sleep(0.005)
        host = Host(number, "port", ("nsenter", "--net=" + path, "--"))
        ip([f"link add plug{number} type veth peer name port netns {holder.pid}",
            f"link set plug{number} master switch", f"link set plug{number} up"])
        ip([f"link set port address {host.hardware}", f"addr add {host.address}/24 dev port", "link set port up",
            "link set lo up"], host.wrapper)
        self.hosts.append(host)

    def __exit__(self, *_):
        for holder in self.holders:
            holder.kill()
            holder.wait()
            RUNNING.discard(holder)

    @staticmethod
    def cut(ones, others):
        """Drops all packets between two groups of hosts, in both directions."""
        for one in ones:
            for other in others:
                one.send_to(other, NOWHERE)
                other.send_to(one, NOWHERE)

    @staticmethod
    def heal(ones, others):
        for one in ones:
            for other in others:
                one.send_to(other, other.hardware)
                other.send_to(one, one.hardware)
