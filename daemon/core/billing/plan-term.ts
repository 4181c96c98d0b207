/** History of an organization's plans, with which past months are billed. */
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
  /** Increases with every term of the organization. */
  number: z.int(),
})

/** A plan with its overrides, valid until the next term. The first change of an organization also writes the preceding term. */
export type PlanTerm = Immutable<z.infer<typeof schema>>

export const planTerms = defineRecord<PlanTerm>({
  name: 'plan_term',
  schema,
})

/** Returns the terms that were valid at any time between `from` and `until`, in order of time. */
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

/**
 * Returns the term with the largest fee; a fee by contract counts as larger than any other. Returns the present term if `terms` is empty.
 */
export function dearestTerm(organization: Organization, terms: readonly Term[]): Term {
  const fee = (term: Term): number => limitsOf(term).monthlyFeeRappen ?? Infinity
  return terms.reduce((dearest, term) => (fee(term) > fee(dearest) ? term : dearest), terms[0] ?? organization)
}

/** Returns the term that bills the use of a month: its included quantities and its default prices. */
export const billedTerm = (organization: Organization, terms: readonly PlanTerm[], { from, until }: Period): Term =>
  dearestTerm(organization, termsWithin(organization, terms, from, until))

/** Returns the sends of a day above the plan's limit. A day with several plans has the largest of their limits. */
export function overageOfDay(limits: readonly Plan[], sends: number): number {
  if (!limits.some(({ overageBilled }) => overageBilled)) return 0
  return Math.max(0, sends - Math.max(...limits.map(({ sendsPerDay }) => sendsPerDay ?? Infinity)))
}
