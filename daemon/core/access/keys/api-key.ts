/** API keys: opaque bearer secrets, stored only as SHA-256. */
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
  /** For people: the beginning and the last four characters. */
  preview: z.string(),
  scopes: z.array(z.enum(scopesInOrder)),
  /** Bound to one project, or null for the whole organization. */
  projectId: z.string().nullable(),
  createdAt: z.int(),
  expiresAt: z.int().nullable(),
  revokedAt: z.int().nullable(),
  /** Sends and learns the status of its own sends; `scopes` is empty. */
  sendOnly: z.literal(true).optional(),
  /** Of a send-only key. */
  ...noticeSettings,
  /** See `KeyOrigin`. */
  minter: keyCreatorSchema.optional(),
  keptAt: z.int().optional(),
  /** Id of the key that it was created with. */
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
  // a key of the whole organization is hidden from keys bound to a project
  projectOf: (key) => key.projectId ?? '',
})

export const previewApiKey = (key: string): string => `${key.slice(0, apiKeyPrefix.length + 4)}…${key.slice(-4)}`
