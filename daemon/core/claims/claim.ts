/** Claims: a sandbox of nobody in particular that somebody is asked to take over, and later who did. One for each sandbox. */
import { defineRecord } from '#store/record-kind.ts'
import * as z from 'zod'

export interface Claim {
  /** The organization of the sandbox. */
  readonly id: string
  readonly projectId: string
  /** The grant of the agent that asked. */
  readonly grantId: string
  readonly clientName: string
  /** Whom it was mailed to, folded. */
  readonly email: string
  /** What the agent shows to its user, and the page too. */
  readonly userCode: string
  /** When the sandbox was made. */
  readonly sandboxAt: number
  readonly startedAt: number
  /** null: the service had no mail of its own. */
  readonly mailedAt: number | null
  readonly expiresAt: number
  /** Who took it over, and when; null until then. */
  readonly userId: string | null
  readonly claimedAt: number | null
}

export const claims = defineRecord<Claim>({
  name: 'claim',
  schema: z.strictObject({
    id: z.string(),
    projectId: z.string(),
    grantId: z.string(),
    clientName: z.string(),
    email: z.string(),
    userCode: z.string(),
    sandboxAt: z.int(),
    startedAt: z.int(),
    mailedAt: z.int().nullable(),
    expiresAt: z.int(),
    userId: z.string().nullable(),
    claimedAt: z.int().nullable(),
  }),
  // found only while it is open
  lookups: {
    code: ({ userCode, userId }) => (userId === null ? [[userCode]] : []),
    email: ({ email, id, userId }) => (userId === null ? [[email, id]] : []),
  },
})

/** How far a claim is, as agents see it. Spec "Routing rule, failover policy, project state". */
export interface ClaimProgress {
  readonly isClaimed: boolean
  readonly userId: string | null
  readonly email: string | null
  readonly linkSentAt: number | null
  readonly linkExpiresAt: number | null
  readonly isLinkPending: boolean
}

/** `holderId` is the user who asks, if one does. */
export function claimProgress(isClaimed: boolean, claim: Claim | undefined, holderId: string | null, now: number): ClaimProgress {
  const linkSentAt = claim?.mailedAt ?? null
  const linkExpiresAt = claim === undefined || linkSentAt === null ? null : claim.expiresAt
  return {
    isClaimed,
    userId: isClaimed ? (claim?.userId ?? holderId) : null,
    email: claim?.email ?? null,
    ...{ linkSentAt, linkExpiresAt },
    isLinkPending: !isClaimed && linkExpiresAt !== null && now < linkExpiresAt,
  }
}
