/* SPDX-License-Identifier: BSD-2-Clause */
/* Two matrices are multiplied.  -DROWS: in the order in which memory lies. */
#include <stdio.h>
#include <stdlib.h>
#define N 700
static double a[N][N], b[N][N], c[N][N];

#ifndef ROWS
__attribute__((noinline)) void multiply(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			for (int k = 0; k < N; k++)
				c[i][j] += a[i][k] * b[k][j];
}
#else
__attribute__((noinline)) void multiply(void)
{
	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++)
			for (int j = 0; j < N; j++)
				c[i][j] += a[i][k] * b[k][j];
}
#endif

__attribute__((noinline)) double check(void)
{
	double sum = 0;

	for (int n = 0; n < 60; n++)
		for (int i = 0; i < N; i++)
			for (int j = 0; j < N; j++)
				sum = sum * .5 + c[i][j];
	return sum;
}

int main(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			a[i][j] = (double)random();
			b[i][j] = (double)random();
		}
	multiply();
	printf("%g\n", check());
	return 0;
}
