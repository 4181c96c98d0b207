/** Record of a passkey: the public key of an authenticator for signing in. WebAuthn Level 3 §4. */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

const schema = z.strictObject({
  /** Credential id in base64url, chosen by the authenticator. */
  id: z.string(),
  userId: z.string(),
  name: z.string(),
  /** COSE key in base64url. */
  publicKey: z.string(),
  /** The authenticator's signature counter; 0 if it does not count. */
  counter: z.int(),
  transports: z.array(z.string()),
  /** The passkey is backed up, so that it survives the loss of the device. */
  isSynced: z.boolean(),
  createdAt: z.int(),
  usedAt: z.int().nullable(),
})

/** Stored in the partition of its user. */
export type Passkey = Immutable<z.infer<typeof schema>>

export const passkeys = defineRecord<Passkey>({
  name: 'passkey',
  schema,
  // prevents two users from registering the same credential
  lookups: { id: ({ id }) => [[id]] },
})
