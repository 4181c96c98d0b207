/** API keys on the wire. */
import * as z from 'zod'
import type { ApiKey } from '#core/access/keys/api-key.ts'
import { statusOf, type KeyWithSecret, type ShownKey } from '#core/access/keys/api-keys.ts'
import type { KeyFates } from '#core/access/keys/dependent-keys.ts'
import { followsCreator } from '#core/access/principal/key-creator.ts'
import { roles } from '#core/access/principal/role.ts'
import { scopesInOrder } from '#core/access/principal/principal.ts'
import type { Timed } from '#core/clock.ts'
import { encoder } from '../fields/codec.ts'
import { id, nameLine, nullAsAbsent } from '../fields/text.ts'
import { noticeCode, noticeFields, noticeInput } from './failure-notices.ts'
import { orNull, timeInput, wireTime } from '../fields/time.ts'

const scopes = z.array(z.enum(scopesInOrder))

const keyCreatorShape = z
  .object({
    user_id: z.string().nullable().meta({ description: 'The member; null if a key of the organization created it.' }),
    role: z.enum(roles).nullable().meta({
      description: 'The maximum role of the key: the lower of the member’s role at creation and their role now. Null without a maximum.',
    }),
    application: z
      .object({ client_id: z.string(), name: z.string() })
      .nullable()
      .meta({ description: 'The application that created it for the member. Revoking the application revokes the key.' }),
    api_key_id: z.string().nullable().meta({ description: 'The key that created it.' }),
  })
  .meta({ id: 'ApiKeyMinter' })

const fields = {
  id: z.string(),
  name: z.string(),
  preview: z.string().meta({ description: 'The first and the last four characters.' }),
  scopes: scopes.meta({ description: 'Empty for a send-only key.' }),
  send_only: z.boolean(),
  project_id: z.string().nullable().meta({ description: 'The only project of the key; null for all projects.' }),
  status: z.enum(['active', 'expired', 'revoked']),
  created_at: wireTime,
  expires_at: wireTime.nullable(),
  revoked_at: wireTime.nullable(),
  last_used_at: wireTime.nullable().meta({ description: 'Accurate to five minutes; null for an unused key.' }),
  minted_by: keyCreatorShape.nullable().meta({
    description:
      'Null for the first key of an organization, for the key from POSTERN_ADMIN_KEY, and for keys created before this field existed.',
  }),
  ends_with: z.enum(['member', 'application', 'nothing']).meta({
    description:
      'Whose removal revokes the key. member: the member who created it. application: the application or its member. nothing: ' +
      'the key outlasts both, for example after an update with `kept`.',
  }),
  kept_at: wireTime.nullable().meta({ description: 'When an administrator kept the key. Its maximum role does not change.' }),
  ...noticeFields,
}

const apiKeyShape = z.object(fields).meta({ id: 'ApiKey' })
const keyWithSecretShape = z
  .object({ ...fields, key: z.string().meta({ description: 'The key itself. Shown only once.' }) })
  .meta({ id: 'MintedApiKey' })

export const newApiKey = z
  .strictObject({
    name: nameLine(100, 'A label that states the purpose of the key.'),
    scopes: scopes.min(1).max(3).optional().meta({
      description: 'Each scope includes the previous ones: api:read, api:send, api:admin. Required unless send_only is true.',
    }),
    send_only: z
      .boolean()
      .optional()
      .meta({
        description:
          'Restricts the key to `POST /v1/messages`, and to `GET /v1/traces/{trace_id}` for the status of its sends. Intended ' +
          'for sites and other callers that do not need to read mail.',
      }),
    project_id: id.optional().meta({
      description:
        'Binds the key to one project. A send-only key is always bound; its project defaults to the project of the creating key.',
    }),
    expires_at: nullAsAbsent(timeInput),
    ...noticeInput,
  })
  .superRefine(({ scopes: given, send_only }, context) => {
    if (send_only && given) context.addIssue({ code: 'custom', path: ['scopes'], message: 'must be omitted for a send-only key' })
    if (!send_only && !given) context.addIssue({ code: 'custom', path: ['scopes'], message: 'is required' })
  })

export const apiKeyChanges = z.strictObject({
  name: nameLine(100, 'A label that states the purpose of the key.').optional(),
  expires_at: timeInput.nullable().optional().meta({ description: 'Null for a key without expiry.' }),
  ...noticeInput,
  kept: z
    .literal(true)
    .optional()
    .meta({
      description:
        'Keeps the key when the member or application that created it is removed. Its maximum role does not change. Requires ' +
        '`api:admin` for the whole organization. Anyone who knows the secret still has access: rotate the key too.',
    }),
})

const namedKeyShape = z
  .object({ id: z.string(), name: z.string(), preview: z.string(), project_id: z.string().nullable() })
  .meta({ id: 'NamedApiKey' })

/** Keys revoked by a removal, and keys kept in spite of it. */
const keyFatesShape = z.object({ ended_keys: z.array(namedKeyShape), kept_keys: z.array(namedKeyShape) }).meta({ id: 'KeyFates' })

type KeyFields = ApiKey & Omit<ShownKey, 'record'>
const fieldsOf = <S extends ShownKey>({ record, ...rest }: S) => ({ ...record, ...rest })

const code = {
  ...noticeCode,
  send_only: ({ sendOnly }: ApiKey) => sendOnly ?? false,
  status: (key: ApiKey, { clock }: Timed) => statusOf(key, clock.now()),
  last_used_at: ({ usedAt }: KeyFields) => orNull(usedAt),
  minted_by: toWireCreator,
  ends_with: endsWith,
}

export const apiKey = encoder(apiKeyShape)
  .from<KeyFields, Timed>(code)
  .via(fieldsOf<ShownKey>)
export const apiKeyWithSecret = encoder(keyWithSecretShape)
  .from<KeyFields & { readonly key: string }, Timed>(code)
  .via(fieldsOf<KeyWithSecret>)

function toWireCreator({ minter, mintedWith, ceiling }: KeyFields): z.input<typeof keyCreatorShape> | null {
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
  if (!followsCreator(key)) return 'nothing'
  return key.minter?.application ? 'application' : 'member'
}

export const keyFates = encoder(keyFatesShape)
  .from<{ readonly endedKeys: readonly ApiKey[]; readonly keptKeys: readonly ApiKey[] }>()
  .via(({ ended, kept }: KeyFates) => ({ endedKeys: ended, keptKeys: kept }))
