/* SPDX-License-Identifier: BSD-2-Clause */
/* Jump tables: what a jump through a register is about to do.
 *
 * The instructions of one way that leads to the jump are executed on values that are half known: a
 * number, a multiple of some unknown plus a number, or an entry of a table.  A compiler's switch
 * then ends in an entry of a table (plus the table's start, times four, ...), whatever the order of
 * instructions and whichever register has what:
 *
 *     cmp $9,%edi; ja ..        X = edi is at most 9
 *     lea table(%rip),%rdx      rdx = table
 *     mov %edi,%edi             rdi = X
 *     movslq (%rdx,%rdi,4),%rax rax = entry X at table, 4 bytes each
 *     add %rdx,%rax             rax = entry X + table
 *     jmp *%rax
 *
 * An unknown that was read from memory is called by where it was (which unknown, how far from it),
 * so that code without optimisation, which reads it twice, is understood too.  Values are guesses:
 * other ways to the jump may bring other ones, and memory may have changed.  Entries are therefore
 * checked by who uses them. */
#include "base/hash.h"
#include "resolve/flow_impl.h"

#define SLOT	   (1ull << 63) /* names of unknowns in memory have this bit */
#define NEAR_BYTES 65536	/* an addend below is a field or an offset, no table */

void flow_values_init(struct flow_values *v, uint8_t sp)
{
	v->next_id = 1;
	v->n_bounds = v->n_slots = 0;
	v->has_compared = false;
	for (unsigned i = 0; i < FLOW_N_REGS; i++)
		v->regs[i] = flow_value_fresh(v);
	v->sp_id = v->regs[sp].id;
}

struct flow_value flow_value_const(uint64_t value)
{
	return (struct flow_value){.kind = FLOW_CONST, .addend = value};
}

static struct flow_value flow_table_unknown(uint64_t id)
{
	return (struct flow_value){.kind = FLOW_LINEAR, .id = id, .scale = 1};
}

struct flow_value flow_value_fresh(struct flow_values *v)
{
	return flow_table_unknown(v->next_id++);
}

static bool is_near(uint64_t addend)
{
	return addend + NEAR_BYTES < 2 * NEAR_BYTES;
}

struct flow_value flow_value_add(struct flow_values *v, struct flow_value a, struct flow_value b)
{
	/* a number, if any, is B */
	if (a.kind == FLOW_CONST && b.kind != FLOW_CONST)
		return flow_value_add(v, b, a);
	if (b.kind != FLOW_CONST)
		return flow_value_fresh(v);
	/* An unknown less a number is an unknown of its own: it is what is compared next. */
	if (a.kind == FLOW_LINEAR && a.scale == 1 && a.id != v->sp_id && b.addend &&
	    is_near(b.addend))
		return flow_value_fresh(v);
	a.addend += b.addend;
	if (a.kind == FLOW_LINEAR)
		a.table = 0;
	return a;
}

struct flow_value flow_value_shift(struct flow_values *v, struct flow_value a, unsigned n_bits)
{
	if (n_bits > 63)
		return flow_value_fresh(v);
	if (a.kind == FLOW_LOADED) {
		if (a.addend || a.shift + n_bits > 63)
			return flow_value_fresh(v);
		a.shift = (uint8_t)(a.shift + n_bits);
		return a;
	}
	a.scale <<= n_bits;
	a.addend <<= n_bits;
	if (a.kind == FLOW_LINEAR)
		a.table = 0;
	return a;
}

struct flow_value flow_value_named(struct flow_value a)
{
	if (a.kind != FLOW_LOADED)
		return a;
	return flow_table_unknown(hash_pair(hash_pair(a.id, a.table), a.addend + a.entry_bytes) |
				  SLOT);
}

static uint64_t slot_name(const struct flow_value *address)
{
	return hash_pair(address->id, address->addend) | SLOT;
}

static bool is_slot(const struct flow_value *address)
{
	return address->kind == FLOW_CONST ||
	       (address->kind == FLOW_LINEAR && address->scale == 1 && !address->is_indexed &&
		is_near(address->addend));
}

struct flow_value flow_value_load(struct flow_values *v, struct flow_value address,
				  unsigned n_bytes, bool is_signed)
{
	if (is_slot(&address)) {
		uint64_t id = slot_name(&address);
		struct flow_value ret = flow_table_unknown(id);

		for (unsigned i = 1; i <= v->n_slots && i <= FLOW_N_SLOTS; i++) {
			unsigned at = (v->n_slots - i) % FLOW_N_SLOTS;

			if (v->slots[at].id == id)
				return v->slots[at].value;
		}
		if (address.kind == FLOW_CONST) {
			ret.table = address.addend;
			ret.entry_bytes = (uint8_t)n_bytes;
		}
		return ret;
	}
	if (address.kind != FLOW_LINEAR || !address.scale)
		return flow_value_fresh(v);
	return (struct flow_value){
		.kind = FLOW_LOADED,
		.entry_bytes = (uint8_t)n_bytes,
		.is_signed = is_signed,
		.id = address.id,
		.scale = address.scale,
		.table = address.addend,
	};
}

static void add_bound(struct flow_values *v, uint64_t id, uint64_t n)
{
	unsigned i = v->n_bounds++ % FLOW_N_BOUNDS;

	v->bounds[i].id = id;
	v->bounds[i].n = n;
}

static uint64_t find_bound(const struct flow_values *v, uint64_t id)
{
	unsigned n = v->n_bounds < FLOW_N_BOUNDS ? v->n_bounds : FLOW_N_BOUNDS;

	for (unsigned i = 1; i <= n; i++) {
		unsigned at = (v->n_bounds - i) % FLOW_N_BOUNDS;

		if (v->bounds[at].id == id)
			return v->bounds[at].n;
	}
	return 0;
}

struct flow_value flow_value_extend(struct flow_value a, unsigned n_bytes, bool is_signed)
{
	/* arm64 reads an entry without and widens it with its sign. */
	if (n_bytes < 8 && a.kind == FLOW_LOADED && a.entry_bytes == n_bytes && !a.shift &&
	    !a.addend)
		a.is_signed = is_signed;
	return a;
}

void flow_value_store(struct flow_values *v, struct flow_value address, struct flow_value value)
{
	unsigned i = v->n_slots % FLOW_N_SLOTS;

	if (!is_slot(&address))
		return;
	v->slots[i].id = slot_name(&address);
	v->slots[i].value = value;
	v->n_slots++;
}

struct flow_value flow_value_mask(struct flow_values *v, struct flow_value a, uint64_t mask)
{
	struct flow_value ret = flow_value_fresh(v);

	if (a.kind == FLOW_CONST)
		return flow_value_const(a.addend & mask);
	if (mask < 4096)
		add_bound(v, ret.id, mask + 1);
	return ret;
}

void flow_value_compare(struct flow_values *v, struct flow_value a, uint64_t with)
{
	a = flow_value_named(a);
	v->has_compared = a.kind == FLOW_LINEAR && a.scale == 1 && !a.addend;
	v->compared = a.id;
	v->with = with;
}

void flow_value_at_most(struct flow_values *v, bool less)
{
	if (v->has_compared && v->with < UINT32_MAX)
		add_bound(v, v->compared, v->with + !less);
}

uint64_t flow_table_bound(const struct flow_values *v, const struct flow_value *target)
{
	return find_bound(v, target->id);
}

bool flow_table_entry(const struct flow_code *code, const struct flow_value *target, uint64_t i,
		      uint64_t *ret)
{
	unsigned n = target->entry_bytes;
	uint64_t entry = 0, sign;
	uint8_t bytes[8];

	if (!code->read || !code->read(code->ctx, target->table + i * target->scale, bytes, n))
		return false;
	for (unsigned k = 0; k < n; k++)
		entry |= (uint64_t)bytes[k] << (8 * k);
	if (target->is_signed && n < 8) {
		sign = 1ull << (8 * n - 1);
		entry = (entry ^ sign) - sign;
	}
	*ret = (entry << target->shift) + target->addend;
	return true;
}
