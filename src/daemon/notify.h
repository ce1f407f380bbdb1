/* SPDX-License-Identifier: BSD-2-Clause */
/* Telling the service manager how it goes: sd_notify(3)'s protocol, a datagram to $NOTIFY_SOCKET.
 */
#ifndef DAEMON_NOTIFY_H
#define DAEMON_NOTIFY_H

/* Sends STATE ("READY=1", "STOPPING=1", "STATUS=..."); nothing when nobody listens. */
void notify_manager(const char *state);

#endif
