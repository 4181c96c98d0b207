/** API keys on the wire. */
import * as z from 'zod'
import type { ApiKey } from '#core/access/api-key.ts'
import { statusOf, type NewApiKey } from '#core/access/api-keys.ts'
import { rightsInOrder } from '#core/access/scope.ts'
import { id, filledLine } from './text.ts'
import { timeInput, toWireTime, wireTime } from './time.ts'

const scopes = z.array(z.enum(rightsInOrder))

const fields = {
  id: z.string(),
  name: z.string(),
  preview: z.string().meta({ description: 'The beginning and the last four characters.' }),
  scopes,
  project_id: z.string().nullable().meta({ description: 'The only project of the key; null for all of them.' }),
  status: z.enum(['active', 'expired', 'revoked']),
  created_at: wireTime,
  expires_at: wireTime.nullable(),
  revoked_at: wireTime.nullable(),
}

export const apiKeyShape = z.object(fields).meta({ id: 'ApiKey' })
export const mintedKeyShape = z
  .object({ ...fields, key: z.string().meta({ description: 'The key itself, shown this once.' }) })
  .meta({ id: 'MintedApiKey' })

export const newApiKeyBody = z.strictObject({
  name: filledLine(100, 'For people: what the key is for.'),
  scopes: scopes.min(1).max(3).meta({ description: 'Each scope includes those before it: api:read, api:send, api:admin.' }),
  project_id: id.optional().meta({ description: 'Binds the key to one project.' }),
  expires_at: timeInput.nullable().optional(),
})

export const toNewApiKey = ({ name, scopes: rights, project_id, expires_at }: z.output<typeof newApiKeyBody>): NewApiKey => ({
  name,
  scopes: rights,
  projectId: project_id,
  expiresAt: expires_at ?? undefined,
})

export const toWireApiKey = (key: ApiKey, nowMs: number): z.input<typeof apiKeyShape> => ({
  id: key.id,
  name: key.name,
  preview: key.preview,
  scopes: [...key.scopes],
  project_id: key.projectId,
  status: statusOf(key, nowMs),
  created_at: toWireTime(key.createdAt),
  expires_at: key.expiresAt === null ? null : toWireTime(key.expiresAt),
  revoked_at: key.revokedAt === null ? null : toWireTime(key.revokedAt),
})
