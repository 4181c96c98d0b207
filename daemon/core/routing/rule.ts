/** Routing rules: which destination takes which From. Spec "Routing rule". */
import { defineRecord } from '#store/record-kind.ts'
import * as z from 'zod'

/** What a rule looks at: one address, one domain (exactly), all subdomains of one at any depth (`*.` before it), or anything. */
export type RuleMatch = { readonly from: string } | { readonly domain: string } | { readonly any: true }

export interface RoutingRule {
  readonly id: string
  readonly projectId: string
  /** Addresses and domains are kept lower-cased, domains as A-labels. */
  readonly match: RuleMatch
  readonly destinationId: string
  /** Smaller numbers are tried first. */
  readonly priority: number
  readonly createdAt: number
}

export const routingRules = defineRecord<RoutingRule>({
  name: 'routing_rule',
  schema: z.strictObject({
    id: z.string(),
    projectId: z.string(),
    match: z.union([
      z.strictObject({ from: z.string() }),
      z.strictObject({ domain: z.string() }),
      z.strictObject({ any: z.literal(true) }),
    ]),
    destinationId: z.string(),
    priority: z.int(),
    createdAt: z.int(),
  }),
  isSetting: true,
  isTracked: true,
  indexes: { project: (rule) => [[rule.projectId]], destination: (rule) => [[rule.destinationId]] },
  projectOf: (rule) => rule.projectId,
})
