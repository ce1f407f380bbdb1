/* SPDX-License-Identifier: BSD-2-Clause */
/* A library that is loaded while its program runs. */
void plugin(void);

void plugin(void)
{
	for (volatile unsigned long i = 0; i < 50000; i++)
		;
}
