/** Claims: a sandbox without an owner, whom it is offered to, and later who took it. One for each sandbox. */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

const schema = z.strictObject({
  /** The organization of the sandbox. */
  id: z.string(),
  projectId: z.string(),
  /** The grant of the agent that asked. */
  grantId: z.string(),
  clientName: z.string(),
  /** Whom it was mailed to, folded. */
  email: z.string(),
  /** What the agent shows to its user, and the page too. */
  userCode: z.string(),
  /** When the sandbox was made. */
  sandboxAt: z.int(),
  startedAt: z.int(),
  /** null: the service had no mail of its own. */
  mailedAt: z.int().nullable(),
  expiresAt: z.int(),
  /** Who took it over, and when; null until then. */
  userId: z.string().nullable(),
  claimedAt: z.int().nullable(),
})

export type Claim = Immutable<z.infer<typeof schema>>

export const claims = defineRecord<Claim>({
  name: 'claim',
  schema,
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
