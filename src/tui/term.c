/* SPDX-License-Identifier: BSD-2-Clause */
/* See term.h.
 *
 * A crash cannot call ncurses, which may be what crashed.  So the sequences that give the terminal
 * back are asked for at the start, and the handler writes them and restores the line discipline:
 * write(2) and tcsetattr(3) are safe in a handler (signal-safety(7)).
 *
 * ncurses is opened when a terminal is taken.  Linked, it and its terminfo library would cost every
 * other command a tenth of what a short one takes: the loader settles all their symbols at once. */
#include "tui/term.h"

#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <curses.h>
#include <dlfcn.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "base/char_width.h"

#define NCURSES_LIBRARY "libncursesw.so.6"
#define TINFO_LIBRARY	"libtinfo.so.6"

/* What is used of the two libraries. */
#define CURSES_CALLS(use)                                                                          \
	use(newterm) use(delscreen) use(endwin) use(tigetstr) use(has_colors) use(start_color)     \
		use(use_default_colors) use(init_pair) use(cbreak) use(noecho) use(nonl)           \
			use(keypad) use(nodelay) use(leaveok) use(curs_set) use(wget_wch)          \
				use(wmove) use(wattr_set) use(waddnwstr) use(waddch) use(wrefresh) \
					use(clearok)

static struct {
#define CURSES_DECLARE(name) __typeof__(&name) name;
	CURSES_CALLS(CURSES_DECLARE)
#undef CURSES_DECLARE
	WINDOW **stdscr;
	int *lines, *cols;
} curses;

static struct {
	SCREEN *screen; /* NULL: not taken */
	bool colour;
	struct termios before;
	char back[256]; /* what the terminal is given back with */
	size_t n_back;
} term;

static volatile sig_atomic_t signalled;

static void term_on_signal(int sig)
{
	signalled = sig;
}

static void term_on_crash(int sig)
{
	ssize_t n = write(STDOUT_FILENO, term.back, term.n_back);

	(void)n;
	tcsetattr(STDIN_FILENO, TCSANOW, &term.before);
	signal(sig, SIG_DFL);
	raise(sig);
}

static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT};

static void watch_signals(void (*on_end)(int), void (*on_crash)(int))
{
	struct sigaction sa = {.sa_handler = on_end};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		sigaction(ends[i], &sa, NULL);
	sa.sa_handler = on_crash;
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++)
		sigaction(crashes[i], &sa, NULL);
}

static void *find_call(void *ncurses, void *tinfo, const char *name)
{
	void *found = ncurses ? dlsym(ncurses, name) : NULL;

	return found || !tinfo ? found : dlsym(tinfo, name);
}

static int curses_load(struct err *err)
{
	void *tinfo = dlopen(TINFO_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	void *ncurses = dlopen(NCURSES_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	bool all = true;

#define FIND(name)                                                                                 \
	curses.name = (__typeof__(curses.name))find_call(ncurses, tinfo, #name);                   \
	all = all && curses.name;
	CURSES_CALLS(FIND)
#undef FIND
	curses.stdscr = find_call(ncurses, tinfo, "stdscr");
	curses.lines = find_call(ncurses, tinfo, "LINES");
	curses.cols = find_call(ncurses, tinfo, "COLS");
	all = all && curses.stdscr && curses.lines && curses.cols;
	/* They stay loaded: each process takes one terminal. */
	return all ? 0
		   : err_set(err, -ENOTSUP,
			     "the terminal needs the library " NCURSES_LIBRARY
			     " (package libncursesw6)");
}

/* Keeps what terminfo(5) has for CAPABILITY among what the terminal is given back with. */
static void keep_for_crash(const char *capability)
{
	const char *s = curses.tigetstr(capability);
	const size_t n = s && s != (char *)-1 ? strlen(s) : 0;

	if (n && n < sizeof(term.back) - term.n_back) {
		memcpy(term.back + term.n_back, s, n);
		term.n_back += n;
	}
}

static void start_colours(void)
{
	const char *no = getenv("NO_COLOR"); /* no-color.org: any value but the empty one */

	term.colour = curses.has_colors() && !(no && *no) && curses.start_color() == OK;
	if (!term.colour)
		return;
	curses.use_default_colors();
	for (short c = COLOR_RED; c <= COLOR_WHITE; c++)
		curses.init_pair(c, c, -1);
}

int term_open(struct err *err)
{
	const char *name = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return err_set(err, -ENOTTY, "stdin and stdout must be a terminal");
	if (curses_load(err) < 0)
		return -ENOTSUP;
	tcgetattr(STDIN_FILENO, &term.before);
	/* Texts are UTF-8 whatever the locale is, as in all other output. */
	if (!setlocale(LC_CTYPE, "") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		setlocale(LC_CTYPE, "C.UTF-8");
	setenv("ESCDELAY", "25", 0);
	term.screen = name && *name ? curses.newterm(NULL, stdout, stdin) : NULL;
	if (!term.screen)
		return err_set(err, -ENOTSUP, "$TERM '%s': is no terminal that terminfo knows",
			       name ? name : "");
	if (!curses.tigetstr("cup") || curses.tigetstr("cup") == (char *)-1) {
		term_close();
		return err_set(err, -ENOTSUP, "$TERM '%s': cannot place the cursor", name);
	}
	keep_for_crash("sgr0");
	keep_for_crash("cnorm");
	keep_for_crash("rmkx");
	keep_for_crash("rmcup");
	watch_signals(term_on_signal, term_on_crash);
	start_colours();
	curses.cbreak();
	curses.noecho();
	curses.nonl();
	curses.keypad(*curses.stdscr, TRUE);
	curses.nodelay(*curses.stdscr, TRUE);
	curses.leaveok(*curses.stdscr, TRUE);
	curses.curs_set(0);
	return 0;
}

void term_close(void)
{
	if (!term.screen)
		return;
	curses.endwin();
	curses.delscreen(term.screen);
	term.screen = NULL;
	term.n_back = 0;
	/* A terminal that goes away sends several: what is left to do is done all the same. */
	watch_signals(term_on_signal, SIG_DFL);
}

int term_signal(void)
{
	return signalled;
}

unsigned term_rows(void)
{
	return curses.lines && *curses.lines > 0 ? (unsigned)*curses.lines : 1;
}

unsigned term_columns(void)
{
	return curses.cols && *curses.cols > 0 ? (unsigned)*curses.cols : 1;
}

bool term_has_colour(void)
{
	return term.colour;
}

static int key_of_curses(wint_t c)
{
	static const struct {
		wint_t curses;
		int key;
	} keys[] = {
		{KEY_UP, TERM_UP},	   {KEY_DOWN, TERM_DOWN},
		{KEY_LEFT, TERM_LEFT},	   {KEY_RIGHT, TERM_RIGHT},
		{KEY_PPAGE, TERM_PAGE_UP}, {KEY_NPAGE, TERM_PAGE_DOWN},
		{KEY_HOME, TERM_HOME},	   {KEY_END, TERM_END},
		{KEY_ENTER, TERM_ENTER},   {KEY_BACKSPACE, TERM_BACKSPACE},
		{KEY_RESIZE, TERM_RESIZE},
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].curses == c)
			return keys[i].key;
	if (c >= KEY_F(1) && c <= KEY_F(10))
		return TERM_F1 + (int)(c - KEY_F(1));
	return TERM_NONE;
}

int term_key(void)
{
	wint_t c;
	const int rc = curses.wget_wch(*curses.stdscr, &c);

	if (rc == KEY_CODE_YES)
		return key_of_curses(c);
	if (rc != OK)
		return TERM_NONE;
	switch (c) {
	case '\r':
	case '\n':
		return TERM_ENTER;
	case 27:
		return TERM_ESCAPE;
	case 8:
	case 127:
		return TERM_BACKSPACE;
	default:
		return (int)c;
	}
}

/* --- writing --- */

/* Returns the length of a colour at S, ESC [ N m, and sets *RET_PAIR and *RET_BOLD; 0: it is
 * none. */
static size_t take_colour(const char *s, const char *end, short *ret_pair, bool *ret_bold)
{
	const char *p = s + 2;
	unsigned n = 0;

	if (end - s < 3 || s[0] != 27 || s[1] != '[')
		return 0;
	while (p < end && *p >= '0' && *p <= '9' && n < 1000)
		n = n * 10 + (unsigned)(*p++ - '0');
	if (p == end || *p != 'm')
		return 0;
	*ret_bold = n == 1;
	*ret_pair = n >= 31 && n <= 37 ? (short)(n - 30) : 0;
	return (size_t)(p + 1 - s);
}

static void set_look(enum term_look look, short pair, bool bold)
{
	attr_t a = look == TERM_PLAIN ? A_NORMAL : A_REVERSE;

	if (look == TERM_BAR && term.colour)
		a = A_BOLD;
	curses.wattr_set(*curses.stdscr, bold ? a | A_BOLD : a,
			 look == TERM_CURSOR || !term.colour ? 0 : pair, NULL);
}

void term_line(unsigned row, const char *text, size_t n, unsigned skip, enum term_look look)
{
	const char *end = text + n;
	const unsigned columns = term_columns();
	unsigned at = 0; /* column of the text */
	short pair = 0;
	bool bold = false;
	mbstate_t state = {0};

	if (row >= term_rows() || curses.wmove(*curses.stdscr, (int)row, 0) == ERR)
		return;
	set_look(look, pair, bold);
	while (text < end) {
		const size_t colour = take_colour(text, end, &pair, &bold);
		wchar_t c[2] = {0};
		size_t k;
		unsigned width;

		if (colour) {
			text += colour;
			set_look(look, pair, bold);
			continue;
		}
		k = mbrtowc(c, text, (size_t)(end - text), &state);
		if (k == 0 || k == (size_t)-1 || k == (size_t)-2) {
			memset(&state, 0, sizeof(state));
			text++;
			continue;
		}
		text += k;
		if (char_is_harmful((uint32_t)c[0]))
			continue;
		width = char_width((uint32_t)c[0]);
		if (at + width > skip + columns)
			break;
		if (at >= skip)
			curses.waddnwstr(*curses.stdscr, c, 1);
		at += width;
	}
	set_look(look, 0, false);
	if (at < skip + columns) {
		const int x = at > skip ? (int)(at - skip) : 0;

		if (curses.wmove(*curses.stdscr, (int)row, x) != ERR)
			for (int i = x; i < (int)columns; i++)
				curses.waddch(*curses.stdscr, ' ');
	}
}

void term_show(int cursor_column)
{
	curses.curs_set(cursor_column >= 0);
	curses.leaveok(*curses.stdscr, cursor_column < 0);
	if (cursor_column >= 0)
		curses.wmove(*curses.stdscr, (int)term_rows() - 1, cursor_column);
	curses.wrefresh(*curses.stdscr);
}

void term_redraw(void)
{
	curses.clearok(*curses.stdscr, TRUE);
}
