/** Passkeys: public keys of authenticators by which a user signs in. WebAuthn Level 3 §4. */
import { defineRecord } from '#store/record-kind.ts'
import * as z from 'zod'

/** Lies in the partition of its user. */
export interface Passkey {
  /** The credential id in base64url, as the authenticator chose it. */
  readonly id: string
  readonly userId: string
  readonly name: string
  /** COSE key, base64url. */
  readonly publicKey: string
  /** The authenticator's own count of its signatures; 0 where it does not count. */
  readonly counter: number
  readonly transports: readonly string[]
  /** A copy exists elsewhere, so losing the device does not lose the passkey. */
  readonly isSynced: boolean
  readonly createdAt: number
  readonly usedAt: number | null
}

export const passkeys = defineRecord<Passkey>({
  name: 'passkey',
  schema: z.strictObject({
    id: z.string(),
    userId: z.string(),
    name: z.string(),
    publicKey: z.string(),
    counter: z.int(),
    transports: z.array(z.string()),
    isSynced: z.boolean(),
    createdAt: z.int(),
    usedAt: z.int().nullable(),
  }),
  // an authenticator's key must not stand for two users
  lookups: { id: ({ id }) => [[id]] },
})
