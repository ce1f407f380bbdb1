/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a program from memory, without a file: memfd PROGRAM ARG... */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
	int in = argc > 1 ? open(argv[1], O_RDONLY) : -1,
	    fd = memfd_create("in_memory", MFD_CLOEXEC);
	struct stat st;

	if (in < 0 || fd < 0 || fstat(in, &st) < 0 ||
	    sendfile(fd, in, NULL, (size_t)st.st_size) != st.st_size)
		return 1;
	fexecve(fd, argv + 1, environ);
	perror("fexecve");
	return 1;
}
