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
  /** Null where an environment is named in its place. */
  readonly destinationId: string | null
  /** The destination of this environment that takes mail now. */
  readonly environment?: string | undefined
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
    destinationId: z.string().nullable(),
    environment: z.string().optional(),
    priority: z.int(),
    createdAt: z.int(),
  }),
  isSetting: true,
  isTracked: true,
  indexes: { project: (rule) => [[rule.projectId]], destination: (rule) => (rule.destinationId === null ? [] : [[rule.destinationId]]) },
  projectOf: (rule) => rule.projectId,
})
