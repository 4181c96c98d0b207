/** Record of a session: a browser with a signed-in user. */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

/** Method of the user's proof of identity. */
export const signInMethods = ['link', 'passkey'] as const
export type SignInMethod = (typeof signInMethods)[number]

const schema = z.strictObject({
  /** `ses_` and the SHA-256 of the secret in the cookie. */
  id: z.string(),
  userId: z.string(),
  method: z.enum(signInMethods),
  /** The browser's User-Agent, truncated. */
  userAgent: z.string(),
  createdAt: z.int(),
  /** Time of the user's last proof of identity in this session. */
  provedAt: z.int(),
  /** Time of the last request, to the hour. */
  seenAt: z.int(),
  expiresAt: z.int(),
})

/** Stored in the partition of its user; expires automatically. */
export type Session = Immutable<z.infer<typeof schema>>

export const sessions = defineRecord<Session>({
  name: 'session',
  schema,
})
