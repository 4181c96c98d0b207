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

type Term = Pick<PlanTerm, 'plan' | 'overrides'>

/** The one with the largest fee; a fee by contract counts as larger than any. The present one where there is none. */
export function dearestTerm(organization: Organization, terms: readonly Term[]): Term {
  const fee = (term: Term): number => limitsOf(term).monthlyFeeRappen ?? Infinity
  return terms.reduce((dearest, term) => (fee(term) > fee(dearest) ? term : dearest), terms[0] ?? organization)
}

/** The term that the use of a month is billed on: what it includes, and its default prices. */
export const billedTerm = (organization: Organization, terms: readonly PlanTerm[], { from, until }: Period): Term =>
  dearestTerm(organization, termsWithin(organization, terms, from, until))

/** Sends beyond what the plan included on one day. A day on several plans has the largest of their numbers. */
export function overageOfDay(limits: readonly Plan[], sends: number): number {
  if (!limits.some(({ overageBilled }) => overageBilled)) return 0
  return Math.max(0, sends - Math.max(...limits.map(({ sendsPerDay }) => sendsPerDay ?? Infinity)))
}
