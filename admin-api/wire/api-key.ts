/** API keys on the wire. */
import * as z from 'zod'
import type { ApiKey } from '#core/access/api-key.ts'
import { statusOf, type ApiKeyChanges, type NewApiKey, type ShownKey } from '#core/access/api-keys.ts'
import type { KeyFates } from '#core/access/minted-keys.ts'
import { followsMinter } from '#core/access/minter.ts'
import { roles } from '#core/access/role.ts'
import { rightsInOrder } from '#core/access/scope.ts'
import { id, filledLine } from './text.ts'
import { timeInput, toWireTime, wireTime } from './time.ts'

const scopes = z.array(z.enum(rightsInOrder))

const mintedBy = z
  .object({
    user_id: z.string().nullable().meta({ description: 'The member; null when a key of the organization minted it.' }),
    role: z.enum(roles).nullable().meta({
      description: 'The ceiling of the key: the lower of the role that the member had and the role they have now. Null without a ceiling.',
    }),
    application: z
      .object({ client_id: z.string(), name: z.string() })
      .nullable()
      .meta({ description: 'The application that minted it for the member. Revoking the application ends the key.' }),
    api_key_id: z.string().nullable().meta({ description: 'The key that it was minted with.' }),
  })
  .meta({ id: 'ApiKeyMinter' })

const fields = {
  id: z.string(),
  name: z.string(),
  preview: z.string().meta({ description: 'The beginning and the last four characters.' }),
  scopes: scopes.meta({ description: 'Empty for a send-only key.' }),
  send_only: z.boolean(),
  project_id: z.string().nullable().meta({ description: 'The only project of the key; null for all of them.' }),
  status: z.enum(['active', 'expired', 'revoked']),
  created_at: wireTime,
  expires_at: wireTime.nullable(),
  revoked_at: wireTime.nullable(),
  last_used_at: wireTime.nullable().meta({ description: 'To within five minutes; null for a key that was never used.' }),
  minted_by: mintedBy.nullable().meta({
    description: 'Null for the first key of an organization, for that of POSTERN_ADMIN_KEY, and for keys minted before this was recorded.',
  }),
  ends_with: z.enum(['member', 'application', 'nothing']).meta({
    description:
      'Whose removal ends the key: that of the member who minted it, of the application or the member, or of neither. ' +
      'PATCH with kept makes it outlive both.',
  }),
  kept_at: wireTime.nullable().meta({ description: 'When an administrator kept the key. Its ceiling stays.' }),
}

export const apiKeyShape = z.object(fields).meta({ id: 'ApiKey' })
export const mintedKeyShape = z
  .object({ ...fields, key: z.string().meta({ description: 'The key itself, shown this once.' }) })
  .meta({ id: 'MintedApiKey' })

export const newApiKeyBody = z
  .strictObject({
    name: filledLine(100, 'For people: what the key is for.'),
    scopes: scopes.min(1).max(3).optional().meta({
      description: 'Each scope includes those before it: api:read, api:send, api:admin. Required unless send_only is true.',
    }),
    send_only: z
      .boolean()
      .optional()
      .meta({
        description:
          'The key calls POST /v1/messages, and GET /v1/traces/{trace_id} for the status of what it sent itself. It reads nothing else. ' +
          'For sites and other places that need not read mail.',
      }),
    project_id: id.optional().meta({
      description: 'Binds the key to one project. A send-only key is always bound: by default to the project of the key that mints it.',
    }),
    expires_at: timeInput.nullable().optional(),
  })
  .superRefine(({ scopes: given, send_only }, context) => {
    if (send_only && given) context.addIssue({ code: 'custom', path: ['scopes'], message: 'must be left out of a send-only key' })
    if (!send_only && !given) context.addIssue({ code: 'custom', path: ['scopes'], message: 'is required' })
  })

export const apiKeyChangesBody = z.strictObject({
  name: filledLine(100, 'For people: what the key is for.').optional(),
  expires_at: timeInput.nullable().optional().meta({ description: 'Null for a key that does not expire.' }),
  kept: z
    .literal(true)
    .optional()
    .meta({
      description:
        'The key outlives the member or application that minted it and keeps its ceiling. Needs api:admin for the whole organization. ' +
        'Who had the secret still has it: rotate the key too.',
    }),
})

const namedKeyShape = z
  .object({ id: z.string(), name: z.string(), preview: z.string(), project_id: z.string().nullable() })
  .meta({ id: 'NamedApiKey' })

/** Keys that ended with what was removed, and those that were kept. */
export const keyFatesShape = z.object({ ended_keys: z.array(namedKeyShape), kept_keys: z.array(namedKeyShape) }).meta({ id: 'KeyFates' })

export const toNewApiKey = ({ name, scopes: rights, send_only, project_id, expires_at }: z.output<typeof newApiKeyBody>): NewApiKey => ({
  name,
  scopes: rights ?? [],
  sendOnly: send_only,
  projectId: project_id,
  expiresAt: expires_at ?? undefined,
})

export const toApiKeyChanges = ({ name, expires_at, kept }: z.output<typeof apiKeyChangesBody>): ApiKeyChanges => ({
  name,
  expiresAt: expires_at,
  kept,
})

export const toWireApiKey = ({ record: key, ceiling, usedAt }: ShownKey, nowMs: number): z.input<typeof apiKeyShape> => ({
  id: key.id,
  name: key.name,
  preview: key.preview,
  scopes: [...key.scopes],
  send_only: key.sendOnly ?? false,
  project_id: key.projectId,
  status: statusOf(key, nowMs),
  created_at: toWireTime(key.createdAt),
  expires_at: orNull(key.expiresAt),
  revoked_at: orNull(key.revokedAt),
  last_used_at: orNull(usedAt),
  minted_by: toWireMinter(key, ceiling),
  ends_with: endsWith(key),
  kept_at: orNull(key.keptAt ?? null),
})

function toWireMinter({ minter, mintedWith }: ApiKey, ceiling: ShownKey['ceiling']): z.input<typeof mintedBy> | null {
  if (!minter && mintedWith === undefined) return null
  const { application } = minter ?? {}
  return {
    user_id: minter?.userId ?? null,
    role: ceiling === 'none' || ceiling === 'ended' ? (minter?.role ?? null) : ceiling,
    application: application ? { client_id: application.clientId, name: application.clientName } : null,
    api_key_id: mintedWith ?? null,
  }
}

function endsWith(key: ApiKey): 'member' | 'application' | 'nothing' {
  if (!followsMinter(key)) return 'nothing'
  return key.minter?.application ? 'application' : 'member'
}

export const toWireKeyFates = ({ ended, kept }: KeyFates): z.input<typeof keyFatesShape> => ({
  ended_keys: ended.map(toNamedKey),
  kept_keys: kept.map(toNamedKey),
})

const toNamedKey = ({ id: keyId, name, preview, projectId }: ApiKey) => ({ id: keyId, name, preview, project_id: projectId })

const orNull = (at: number | null): string | null => (at === null ? null : toWireTime(at))
