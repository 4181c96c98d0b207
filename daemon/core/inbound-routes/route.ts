/** An inbound route: maps local parts of the inbound domain to a webhook. Spec "Inbound route". */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import type { TargetSource } from '../webhooks/sending/target.ts'
import { nameOf } from './route-pattern.ts'

const schema = z.strictObject({
  id: z.string(),
  projectId: z.string(),
  /** Lower case: `sales`, `sales+*` or `*`. */
  localPartPattern: z.string(),
  webhookUrl: z.string(),
  sealedSecret: z.string(),
  createdAt: z.int(),
  updatedAt: z.int(),
})

export type InboundRoute = Immutable<z.infer<typeof schema>>

export const inboundRoutes = defineRecord<InboundRoute>({
  name: 'inbound_route',
  schema,
  isTracked: true,
  lookups: { pattern: ({ localPartPattern }) => [patternKey(localPartPattern)] },
  projectOf: ({ projectId }) => projectId,
})

/** See `SecretBox.seal`. */
export const routeSecretContext = (id: string): string => `${inboundRoutes.name}/${id}/secret`

/** Returns the values of the pattern's look-up in the whole store. */
export const patternKey = (pattern: string): readonly [string, string] => [nameOf(pattern), pattern]

const whileOff = 'Inbound routing is turned off for this organization.'

/** Finds the webhook of a route by the id of the route. */
export const routeTarget: TargetSource = async (database, reach, id) => {
  const stored = await database.get(inboundRoutes, reach, id)
  if (!stored) return undefined
  const { projectId, webhookUrl, sealedSecret } = stored.record
  const secretContext = routeSecretContext(id)
  return { projectId, targetUrl: webhookUrl, sealedSecret, secretContext, feature: 'inbound_routes', whileOff }
}
