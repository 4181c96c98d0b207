/** Routing rules: From address and its destination. Spec "Routing rule". */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

/** Match of a rule: one address, one exact domain, all subdomains of a domain at any depth (with `*.`), or any sender. */
export type RuleMatch = { readonly from: string } | { readonly domain: string } | { readonly any: true }

const schema = z.strictObject({
  id: z.string(),
  projectId: z.string(),
  /** Addresses and domains are stored in lower case, domains as A-labels. */
  match: z.union([z.strictObject({ from: z.string() }), z.strictObject({ domain: z.string() }), z.strictObject({ any: z.literal(true) })]),
  /** Null if the rule names an environment. */
  destinationId: z.string().nullable(),
  /** Selects the active destination of this environment. */
  environment: z.string().optional(),
  /** Smaller numbers are evaluated first. */
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
