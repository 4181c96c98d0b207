/** Sessions: browsers in which a user is signed in. */
import { defineRecord } from '#store/record-kind.ts'
import * as z from 'zod'

/** How the user proved who they are. */
export const signInMethods = ['link', 'passkey'] as const
export type SignInMethod = (typeof signInMethods)[number]

/** Lies in the partition of its user, and expires there by itself. */
export interface Session {
  /** `ses_` and the SHA-256 of the secret in the cookie. */
  readonly id: string
  readonly userId: string
  readonly method: SignInMethod
  /** As the browser names itself, cut short. */
  readonly userAgent: string
  readonly createdAt: number
  /** When the user last proved who they are, in this session. */
  readonly provedAt: number
  /** To the hour. */
  readonly seenAt: number
  readonly expiresAt: number
}

export const sessions = defineRecord<Session>({
  name: 'session',
  schema: z.strictObject({
    id: z.string(),
    userId: z.string(),
    method: z.enum(signInMethods),
    userAgent: z.string(),
    createdAt: z.int(),
    provedAt: z.int(),
    seenAt: z.int(),
    expiresAt: z.int(),
  }),
})
