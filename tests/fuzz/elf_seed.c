/* SPDX-License-Identifier: BSD-2-Clause */
/* A small program with what fuzz_elf is to meet: symbols of all bindings, stubs, a build-id. */
#include <stdio.h>
#include <stdlib.h>

int elf_seed_strong(int x);
int elf_seed_weak(int x);

static int __attribute__((noinline)) hidden(int x)
{
	return x * 3 + rand();
}

int __attribute__((noinline)) elf_seed_strong(int x)
{
	return hidden(x) + 1;
}

int elf_seed_weak(int x) __attribute__((weak, alias("elf_seed_strong")));

int main(int argc, char **argv)
{
	puts(argv[0]);
	return elf_seed_weak(argc);
}
