/** Passkeys: public keys of authenticators by which a user signs in. WebAuthn Level 3 §4. */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

const schema = z.strictObject({
  /** The credential id in base64url, as the authenticator chose it. */
  id: z.string(),
  userId: z.string(),
  name: z.string(),
  /** COSE key, base64url. */
  publicKey: z.string(),
  /** The authenticator's own count of its signatures; 0 where it does not count. */
  counter: z.int(),
  transports: z.array(z.string()),
  /** A copy exists elsewhere, so losing the device does not lose the passkey. */
  isSynced: z.boolean(),
  createdAt: z.int(),
  usedAt: z.int().nullable(),
})

/** Lies in the partition of its user. */
export type Passkey = Immutable<z.infer<typeof schema>>

export const passkeys = defineRecord<Passkey>({
  name: 'passkey',
  schema,
  // an authenticator's key must not stand for two users
  lookups: { id: ({ id }) => [[id]] },
})
