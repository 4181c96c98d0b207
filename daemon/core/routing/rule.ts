/** Routing rules: which destination takes which From. Spec "Routing rule". */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

/** What a rule looks at: one address, one domain (exactly), all subdomains of one at any depth (`*.` before it), or anything. */
export type RuleMatch = { readonly from: string } | { readonly domain: string } | { readonly any: true }

const schema = z.strictObject({
  id: z.string(),
  projectId: z.string(),
  /** Addresses and domains are kept lower-cased, domains as A-labels. */
  match: z.union([z.strictObject({ from: z.string() }), z.strictObject({ domain: z.string() }), z.strictObject({ any: z.literal(true) })]),
  /** Null where an environment is named in its place. */
  destinationId: z.string().nullable(),
  /** The destination of this environment that takes mail now. */
  environment: z.string().optional(),
  /** Smaller numbers are tried first. */
  priority: z.int(),
  createdAt: z.int(),
})

export type RoutingRule = Immutable<z.infer<typeof schema>>

export const routingRules = defineRecord<RoutingRule>({
  name: 'routing_rule',
  schema,
  isSetting: true,
  isTracked: true,
  indexes: { project: (rule) => [[rule.projectId]], destination: (rule) => (rule.destinationId === null ? [] : [[rule.destinationId]]) },
  projectOf: (rule) => rule.projectId,
})
