/** API keys: opaque bearer secrets, stored only as SHA-256. */
import { hash } from 'node:crypto'
import { defineRecord } from '#store/record-kind.ts'
import * as z from 'zod'
import { minterSchema, type Minter } from '../scope/minter.ts'
import { rightsInOrder, type Right } from '../scope/scope.ts'

export const apiKeyPrefix = 'svckey_'
/** The prefix and at least 32 random bytes in base64url. */
export const apiKeyPattern = /^svckey_[A-Za-z0-9_-]{43,200}$/

export interface ApiKey {
  readonly id: string
  readonly name: string
  /** SHA-256 of the whole key in hexadecimal. */
  readonly sha256: string
  /** For people: the beginning and the last four characters. */
  readonly preview: string
  readonly scopes: readonly Right[]
  /** Bound to one project, or null for the whole organization. */
  readonly projectId: string | null
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  /** Sends and learns the status of its own sends; `scopes` is empty. */
  readonly sendOnly?: true | undefined
  /** See `Minted`. */
  readonly minter?: Minter | undefined
  readonly keptAt?: number | undefined
  /** Id of the key that it was minted with. */
  readonly mintedWith?: string | undefined
}

export const apiKeys = defineRecord<ApiKey>({
  name: 'api_key',
  noun: 'API key',
  schema: z.strictObject({
    id: z.string(),
    name: z.string(),
    sha256: z.string(),
    preview: z.string(),
    scopes: z.array(z.enum(rightsInOrder)),
    projectId: z.string().nullable(),
    createdAt: z.int(),
    expiresAt: z.int().nullable(),
    revokedAt: z.int().nullable(),
    sendOnly: z.literal(true).optional(),
    minter: minterSchema.optional(),
    keptAt: z.int().optional(),
    mintedWith: z.string().optional(),
  }),
  isSetting: true,
  isTracked: true,
  lookups: { sha256: (key) => [[key.sha256]] },
  // a key of the whole organization is in nobody else's reach
  projectOf: (key) => key.projectId ?? '',
})

export const hashApiKey = (key: string): string => hash('sha256', key)
export const previewApiKey = (key: string): string => `${key.slice(0, apiKeyPrefix.length + 4)}…${key.slice(-4)}`
