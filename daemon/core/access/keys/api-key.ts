/** Record of an API key: an opaque bearer secret, stored only as its SHA-256. */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { noticeSettings } from '../notice-settings.ts'
import { keyCreatorSchema } from '../principal/key-creator.ts'
import { scopesInOrder } from '../principal/principal.ts'

export const apiKeyPrefix = 'svckey_'
/** The prefix and at least 32 random bytes in base64url. */
export const apiKeyPattern = /^svckey_[A-Za-z0-9_-]{43,200}$/

const schema = z.strictObject({
  id: z.string(),
  name: z.string(),
  /** SHA-256 of the whole key in hexadecimal. */
  sha256: z.string(),
  /** The first and the last four characters of the key, for people. */
  preview: z.string(),
  scopes: z.array(z.enum(scopesInOrder)),
  /** Id of the only project that the key reaches, or null for the whole organization. */
  projectId: z.string().nullable(),
  createdAt: z.int(),
  expiresAt: z.int().nullable(),
  revokedAt: z.int().nullable(),
  /** The key sends and reads the status of messages that it sent; `scopes` is empty. */
  sendOnly: z.literal(true).optional(),
  /** Only for send-only keys. */
  ...noticeSettings,
  /** See `KeyOrigin`. */
  minter: keyCreatorSchema.optional(),
  keptAt: z.int().optional(),
  /** Id of the key that created this key. */
  mintedWith: z.string().optional(),
})

export type ApiKey = Immutable<z.infer<typeof schema>>

export const apiKeys = defineRecord<ApiKey>({
  name: 'api_key',
  noun: 'API key',
  schema,
  isSetting: true,
  isTracked: true,
  lookups: { sha256: (key) => [[key.sha256]] },
  // hides keys of the whole organization from keys bound to a project
  projectOf: (key) => key.projectId ?? '',
})

export const previewApiKey = (key: string): string => `${key.slice(0, apiKeyPrefix.length + 4)}…${key.slice(-4)}`
