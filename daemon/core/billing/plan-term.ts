/** Since when an organization has been on which plan, so that past months are billed as they were. */
import { planNames, type Plan } from '#config/plans/plans.ts'
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { limitsOf } from '../plan/limits.ts'
import { planOverridesSchema, type Organization } from '../tenancy/organization.ts'
import type { Period } from './period.ts'

const schema = z.strictObject({
  id: z.string(),
  plan: z.enum(planNames),
  overrides: planOverridesSchema.optional(),
  from: z.int(),
  /** Counts up with every term of the organization. */
  number: z.int(),
})

/** A plan with its overrides, from a time to the next term's. The first change of an organization writes the term before it too. */
export type PlanTerm = Immutable<z.infer<typeof schema>>

export const planTerms = defineRecord<PlanTerm>({
  name: 'plan_term',
  schema,
})

/** What the organization was on in the whole or a part of the time from `from` until `until`, in order of time. */
export function termsWithin(
  organization: Organization,
  terms: readonly PlanTerm[],
  from: number,
  until: number,
): readonly Pick<PlanTerm, 'plan' | 'overrides'>[] {
  if (terms.length === 0) return [organization]
  const ordered = terms.toSorted((a, b) => a.number - b.number)
  return ordered.filter((term, i) => {
    const end = ordered[i + 1]?.from ?? Infinity
    return term.from < until && end > from && end > term.from
  })
}

/** The term that a month is billed on: the one with the largest fee; a fee by contract counts as larger than any. */
export function billedTerm(
  organization: Organization,
  terms: readonly PlanTerm[],
  { from, until }: Period,
): Pick<PlanTerm, 'plan' | 'overrides'> {
  const within = termsWithin(organization, terms, from, until)
  const fee = (term: Pick<PlanTerm, 'plan' | 'overrides'>): number => limitsOf(term).monthlyFeeRappen ?? Infinity
  return within.reduce((dearest, term) => (fee(term) > fee(dearest) ? term : dearest), within[0] ?? organization)
}

/** Sends beyond what the plan included on one day. A day on several plans has the largest of their numbers. */
export function overageOfDay(limits: readonly Plan[], sends: number): number {
  if (!limits.some(({ overageBilled }) => overageBilled)) return 0
  return Math.max(0, sends - Math.max(...limits.map(({ sendsPerDay }) => sendsPerDay ?? Infinity)))
}
