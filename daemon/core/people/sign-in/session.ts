/** Sessions: browsers in which a user is signed in. */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

/** How the user proved who they are. */
export const signInMethods = ['link', 'passkey'] as const
export type SignInMethod = (typeof signInMethods)[number]

const schema = z.strictObject({
  /** `ses_` and the SHA-256 of the secret in the cookie. */
  id: z.string(),
  userId: z.string(),
  method: z.enum(signInMethods),
  /** As the browser names itself, cut short. */
  userAgent: z.string(),
  createdAt: z.int(),
  /** When the user last proved who they are, in this session. */
  provedAt: z.int(),
  /** To the hour. */
  seenAt: z.int(),
  expiresAt: z.int(),
})

/** Lies in the partition of its user, and expires there by itself. */
export type Session = Immutable<z.infer<typeof schema>>

export const sessions = defineRecord<Session>({
  name: 'session',
  schema,
})
