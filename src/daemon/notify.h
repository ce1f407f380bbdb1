/* SPDX-License-Identifier: BSD-2-Clause */
/* Telling the service manager how it goes: sd_notify(3)'s protocol, a datagram to
 * $NOTIFY_SOCKET. */
#ifndef DAEMON_NOTIFY_H
#define DAEMON_NOTIFY_H

/* Tells that the configuration is being read again, at what time, which a manager may want to know;
 * "READY=1" follows. */
void notify_reloading(void);

/* To be called while all is well, at least each second: tells a manager that wants to hear it, as
 * $WATCHDOG_USEC says, often enough. */
void notify_alive(void);

/* Sends STATE ("READY=1", "STOPPING=1", "STATUS=..."); nothing when nobody listens. */
void notify_manager(const char *state);

#endif
