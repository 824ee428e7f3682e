# SPDX-License-Identifier: GPL-2.0-only
"""Rows of lab table programs that are short and come after a pause."""
import json

from stacks import crypt
from workloads import WORK, listens, printed, python, server, shell, work_folder, workload


def text():
    work_folder()
    shell(f"cp README.md {WORK}/text")


def after_pauses(pause_s, times, skipped, body, setup):
    """Python that pauses and then does the body, so often. Of all but the first: the mean in ms, the median and 99th percentile in us."""
    return python(f"""import os, pty, socket, time
{setup}
took = []
for number in range({times}):
    time.sleep({pause_s})
    before = time.monotonic()
    {body}
    took.append((time.monotonic() - before) * 1e6)
took = sorted(took[{skipped}:])
print(sum(took) / len(took) / 1000, took[len(took) // 2], took[len(took) * 99 // 100])
""")


def typed(program, pause_s, *commands):
    """Types them at its prompts, 24 of them."""
    return after_pauses(pause_s, 24, 4, "os.write(terminal, COMMANDS[number % len(COMMANDS)].encode() + b\"\\n\"); prompt()", f"""
COMMANDS = {json.dumps(commands)}
pid, terminal = pty.fork()
if not pid:
    program = {json.dumps(program)}
    os.execvpe(program[0], program, {{**os.environ, "PS1": "@> ", "TERM": "dumb"}})
def prompt():
    got = b""
    while not got.endswith(b"@> "): got += os.read(terminal, 4096)
prompt()""")


SHELL = ("bash", "--norc", "-i")
SSH = ("ssh", "-tt", "-p", "2222", "-i", f"{WORK}/ssh/key", "-o", "StrictHostKeyChecking=no", "-o", "LogLevel=quiet", "127.0.0.1",
       "PS1=\"@> \" TERM=dumb exec bash --norc -i")
COMMANDS = (f"ls -l {WORK}", f"grep -c the {WORK}/text", f"sort {WORK}/text | tail -n 1", f"wc -l {WORK}/text")
RAM = f"{WORK}/ram"


def in_ram():
    """A shell and the commands, as a disk's cache has them on other machines: what is behind 9p waits for the host."""
    text()
    shell(f"""mkdir -p {RAM}; mount -t tmpfs -o mode=755 ram {RAM}; cd {RAM}; mkdir -p proc .{WORK}
        programs=$(command -v bash ls grep sort tail wc)
        tar ch /etc/passwd $programs $(ldd $programs | grep -o '/[^ :)]*[.]so[^ :)]*' | sort -u) 2>/dev/null | tar x
        mount --bind /proc proc; mount --bind {WORK} .{WORK}""")


def secure_shell():
    """A key, and what sshd wants to be there."""
    text()
    shell(f"mkdir -p {WORK}/ssh /run/sshd; cd {WORK}/ssh; [ -f key ] || ssh-keygen -q -t ed25519 -N '' -f key; "
          "grep -q ^sshd: /etc/passwd || echo 'sshd:x:74:65534::/run/sshd:/usr/sbin/nologin' >>/etc/passwd")


def sshd():
    """Without PAM, as the guest has no sessions."""
    return server(["/usr/sbin/sshd", "-D", "-f", "/dev/null", "-p", "2222", "-h", f"{WORK}/ssh/key", "-o", f"AuthorizedKeysFile={WORK}/ssh/key.pub",
                   "-o", "StrictModes=no", "-o", "UsePAM=no", "-o", "PermitRootLogin=yes"], listens(2222))


def unit():
    work_folder()
    shell(f"printf '#include <stdio.h>\nint main(void) {{ return puts(\"x\"); }}\n' >{WORK}/unit.c")


def tunnel():
    """WireGuard to a network namespace, over a pair of veth."""
    work_folder()
    shell(f"""modprobe wireguard; modprobe veth; cd {WORK}
        ip netns add there; ip link add here type veth peer name here netns there
        for at in "" "ip netns exec there"; do
            side=${{at:+2}}; side=${{side:-1}}
            wg genkey >wg$side; wg pubkey <wg$side >wg$side.pub
        done
        for at in "" "ip netns exec there"; do
            side=${{at:+2}}; side=${{side:-1}}; other=$((3 - side))
            $at ip link add wg0 type wireguard
            $at wg set wg0 listen-port 51820 private-key wg$side peer $(cat wg$other.pub) allowed-ips 10.2.0.0/24 endpoint 10.1.0.$other:51820
            $at ip addr add 10.1.0.$side/24 dev here; $at ip addr add 10.2.0.$side/24 dev wg0
            $at ip link set lo up; $at ip link set here up; $at ip link set wg0 up
        done""")


def far_end():
    """It answers each 16 KiB by a byte."""
    return server(["ip", "netns", "exec", "there", "python3", "-c", """import socket
with socket.create_server(("10.2.0.2", 7777)) as listening:
    while True:
        asked, _ = listening.accept()
        while asked.recv(16384, socket.MSG_WAITALL): asked.send(b"x")"""], listens(7777, "10.2.0.2"))


TUNNEL = after_pauses(0.01, 200, 20, "asked.sendall(bytes(16384)); asked.recv(1)", """asked = socket.create_connection(("10.2.0.2", 7777))
asked.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)""")

# 256 KiB of an encrypted disk, which another process reads.
DECRYPTED = after_pauses(0.1, 40, 4, "asked.send(bytes([number])); asked.recv(1)", """asked, there = socket.socketpair()
if not os.fork():
    asked.close()
    disk = os.open("/dev/mapper/decrypted", os.O_RDONLY)
    while which := there.recv(1):
        os.pread(disk, 262144, which[0] * 37 % 100 * 262144)
        there.send(b"x")
    os._exit(0)
os.posix_fadvise(os.open("/dev/mapper/decrypted", os.O_RDONLY), 0, 0, os.POSIX_FADV_DONTNEED)""")


# A collector of figures, each 100 ms by the clock, as monitoring agents are: how many of its rounds of four
# commands are over after 50 ms, in percent, and how long they take, in us.
COLLECTOR = f"""import os, time
COMMANDS = (["grep", "-c", "MHz", "/proc/cpuinfo"], ["wc", "-l", "{WORK}/text"], ["ls", "-l", "{WORK}"],
            ["sort", "-u", "{WORK}/text"])
to = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
took = []; due = time.monotonic()
for number in range(24):
    due = max(due + 0.1, time.monotonic())
    time.sleep(max(0, due - time.monotonic()))
    for command in COMMANDS:
        os.waitpid(os.posix_spawnp(command[0], command, os.environ, file_actions=to), 0)
    took.append((time.monotonic() - due) * 1e6)
took = sorted(took[4:])
print(100 * sum(us < 50000 for us in took) / len(took), took[len(took) // 2], took[-1])
"""


PAUSES = (
    workload("terminal", "ms", "lower", typed(("chroot", RAM, *SHELL), 0.1, *COMMANDS), printed, (in_ram,)),
    workload("ssh", "ms", "lower", typed(SSH, 0.1, *COMMANDS), printed, (secure_shell,), sshd),
    workload("compile", "ms", "lower", typed(SHELL, 1, f"gcc -c {WORK}/unit.c -o {WORK}/unit.o"), printed, (unit,)),
    workload("tunnel", "ms", "lower", TUNNEL, printed, (tunnel,), far_end),
    workload("decrypted", "ms", "lower", DECRYPTED, printed, (crypt("decrypted"),)),
    workload("collector", "% on time", "higher", python(COLLECTOR), printed, (text,)),
)
