/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of means: numbers that others published, and what must hold of any. */
#include "query/compare/means.h"

#include <math.h>

#include "t.h"

/* "Student's sleep data": hours of sleep gained by ten patients with two drugs (Student 1908, table
 * of section VIII).  R's documentation of t.test has its results: paired t = -4.0621, df = 9,
 * p-value = 0.002833; Welch t = -1.8608, df = 17.776, p-value = 0.07939. */
static const double drug1[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
static const double drug2[] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};

TEST(sleep_data)
{
	double d[10];

	for (int i = 0; i < 10; i++)
		d[i] = drug1[i] - drug2[i];
	EXPECT(fabs(paired_means_p(d, 10) - 0.002833) < 5e-7);
	EXPECT(fabs(two_means_p(drug1, 10, drug2, 10) - 0.07939) < 5e-6);
	EXPECT(two_means_p(drug1, 10, drug2, 10) == two_means_p(drug2, 10, drug1, 10));
}

/* Tables of Student's distribution: t of two-sided 5 % and 1 %; with one degree of freedom it is
 * Cauchy's, with two it has a closed form. */
TEST(tables)
{
	static const struct {
		double t, df, p;
	} rows[] = {{12.7062, 1, 0.05}, {2.7764, 4, 0.05},  {2.2281, 10, 0.05}, {2.0423, 30, 0.05},
		    {63.6567, 1, 0.01}, {3.1693, 10, 0.01}, {1.9600, 1e7, 0.05}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		EXPECT(fabs(student_p(rows[i].t, rows[i].df) - rows[i].p) < 1e-5);
	for (double t = -8; t < 9; t += 0.37) {
		EXPECT(fabs(student_p(t, 1) - (1 - 2 / M_PI * atan(fabs(t)))) < 1e-12);
		EXPECT(fabs(student_p(t, 2) - (1 - fabs(t) / sqrt(2 + t * t))) < 1e-12);
	}
}

TEST(nothing_to_tell)
{
	static const double zeros[3], ones[3] = {1, 1, 1};

	EXPECT(paired_means_p(zeros, 1) == 1);
	EXPECT(paired_means_p(zeros, 3) == 1);
	EXPECT(paired_means_p(ones, 3) == 0);
	EXPECT(two_means_p(zeros, 1, ones, 3) == 1);
	EXPECT(two_means_p(zeros, 3, zeros, 3) == 1);
	EXPECT(two_means_p(zeros, 3, ones, 3) == 0);
}
