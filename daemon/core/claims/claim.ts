/** Record of a claim: a sandbox without owner, the address that can claim it, and later its owner. One claim for each sandbox. */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

const schema = z.strictObject({
  /** Id of the sandbox's organization. */
  id: z.string(),
  projectId: z.string(),
  /** Grant of the agent that started the claim. */
  grantId: z.string(),
  clientName: z.string(),
  /** Address that the claim was sent to, folded to lower case. */
  email: z.string(),
  /** Code that both the agent and the page show to the user. */
  userCode: z.string(),
  /** Creation time of the sandbox. */
  sandboxAt: z.int(),
  startedAt: z.int(),
  /** Null if the service could not send mail. */
  mailedAt: z.int().nullable(),
  expiresAt: z.int(),
  /** The user who claimed the sandbox, and the time; null until then. */
  userId: z.string().nullable(),
  claimedAt: z.int().nullable(),
})

export type Claim = Immutable<z.infer<typeof schema>>

export const claims = defineRecord<Claim>({
  name: 'claim',
  schema,
  // indexed only while the claim is open
  lookups: {
    code: ({ userCode, userId }) => (userId === null ? [[userCode]] : []),
    email: ({ email, id, userId }) => (userId === null ? [[email, id]] : []),
  },
})

/** Progress of a claim, as agents see it. Spec "Routing rule, failover policy, project state". */
export interface ClaimProgress {
  readonly isClaimed: boolean
  readonly userId: string | null
  readonly email: string | null
  readonly linkSentAt: number | null
  readonly linkExpiresAt: number | null
  readonly isLinkPending: boolean
}

/** `holderId` is the requesting user; null for anonymous callers. */
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
