#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Who may read, see and change: clients that are processes of other users and groups.

See service.py for the environment.
"""

import os
import socket
import unittest

from service import FreshServiceTest, Raw, needs_fixture

NOBODY, READERS, CHANGERS = 65534, 40010, 40011
GROUPS = ("--read-group", str(READERS), "--change-group", str(CHANGERS))
DENIED = {"error": "org.varlink.service.PermissionDenied", "parameters": {}}


@unittest.skipIf(os.geteuid(), "needs root to become other users")
class RightsTest(FreshServiceTest):
    options = GROUPS

    def connection_of(self, uid, gid, *groups, lives=False):
        """A connection that another process has made, which is dead, or lives as long as the test."""
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if not pid:
            try:
                os.setgroups(groups)
                os.setgid(gid)
                os.setuid(uid)
                connection = socket.socket(socket.AF_UNIX)
                connection.connect(self.fixture.path)
                ours.close()
                socket.send_fds(theirs, [b"x"], [connection.fileno()])
                if lives:
                    theirs.recv(1)
            finally:
                os._exit(0)
        theirs.close()
        _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)

        def end():
            ours.close()
            os.waitpid(pid, 0)
        if lives:
            self.addCleanup(end)
        else:
            end()
        raw = Raw.__new__(Raw)
        raw.socket = socket.socket(fileno=descriptors[0])
        raw.pending = b""
        self.addCleanup(raw.socket.close)
        return raw

    def assert_rights(self, raw, read, change):
        for method in ("Status", "Domains", "Tasks"):
            reply = raw.call(f"io.wakegov.{method}")
            self.assertEqual(reply == DENIED, not read, method)
        self.assertEqual(raw.call("io.wakegov.Reload") == DENIED, not change)
        self.assertIn("vendor", raw.call("org.varlink.service.GetInfo")["parameters"])
        monitor = raw.call("io.wakegov.Monitor", more=True)
        self.assertEqual(monitor == DENIED, not read)


@needs_fixture
class EveryoneReads(RightsTest):
    def test_users_and_groups(self):
        for uid, gid, groups, change in ((NOBODY, NOBODY, (), False), (NOBODY, READERS, (), False),
                                         (NOBODY, NOBODY, (1, 2, READERS), False),
                                         (NOBODY, CHANGERS, (), True),
                                         (NOBODY, NOBODY, (1, CHANGERS), True),
                                         (0, 0, (), True), (0, NOBODY, (), True)):
            with self.subTest(uid=uid, gid=gid, groups=groups):
                self.assert_rights(self.connection_of(uid, gid, *groups), True, change)

    def test_rights_are_those_of_who_connected(self):
        """Not of who holds the connection now, which is root here, nor of who has the pid."""
        raw = self.connection_of(NOBODY, NOBODY)
        self.assertEqual(raw.call("io.wakegov.Reload"), DENIED)


@needs_fixture
class GroupReads(RightsTest):
    options = (*GROUPS, "--readers-group")

    def test_users_and_groups(self):
        for uid, gid, groups, read, change in ((NOBODY, NOBODY, (), False, False),
                                               (NOBODY, NOBODY, (1, 2), False, False),
                                               (NOBODY, READERS, (), True, False),
                                               (NOBODY, NOBODY, (READERS,), True, False),
                                               (NOBODY, CHANGERS, (), True, True),
                                               (0, 0, (), True, True)):
            with self.subTest(uid=uid, gid=gid, groups=groups):
                self.assert_rights(self.connection_of(uid, gid, *groups), read, change)

    def test_many_groups(self):
        groups = [50000 + i for i in range(5000)]
        self.assert_rights(self.connection_of(NOBODY, NOBODY, *groups), False, False)
        self.assert_rights(self.connection_of(NOBODY, NOBODY, *groups, CHANGERS), True, True)


if __name__ == "__main__":
    unittest.main()
