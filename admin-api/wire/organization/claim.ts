/** Claims on the wire. Spec "Routing rule, failover policy, project state". */
import * as z from 'zod'
import type { Claim, ClaimProgress } from '#core/claims/claim.ts'
import type { StartedClaim } from '#core/claims/claims.ts'
import { encoder } from '../fields/codec.ts'
import { pageEncoder } from '../fields/paging.ts'
import { orNull, wireTime } from '../fields/time.ts'

const claimProgressShape = z.object({
  claimed: z.boolean(),
  user_id: z.string().nullable(),
  claim_email: z.string().nullable(),
  magic_link_sent_at: z.string().nullable(),
  magic_link_expires_at: z.string().nullable(),
  magic_link_pending: z.boolean(),
})

export const newClaim = z.strictObject({
  email: z.string().min(1).max(254).meta({ description: 'Address of the person who will claim the project.' }),
})

const startedClaimShape = z
  .object({
    claim_progress: claimProgressShape,
    user_code: z.string().nullable().meta({ description: 'The code for the user; null if the project is already claimed.' }),
    integrations_url: z.string().meta({ description: 'The page where the user claims the project with the code.' }),
    expires_at: z.string().nullable(),
    message: z.string().meta({ description: 'A message for the user.' }),
  })
  .meta({ id: 'StartedClaim' })

export const claimProgress = encoder(claimProgressShape).from<ClaimProgress>({
  claimed: ({ isClaimed }) => isClaimed,
  claim_email: ({ email }) => email,
  magic_link_sent_at: ({ linkSentAt }) => orNull(linkSentAt),
  magic_link_expires_at: ({ linkExpiresAt }) => orNull(linkExpiresAt),
  magic_link_pending: ({ isLinkPending }) => isLinkPending,
})

export const startedClaim = encoder(startedClaimShape).from<StartedClaim>({
  claim_progress: ({ progress }) => claimProgress.encode(progress),
  user_code: ({ open }) => open?.userCode ?? null,
  expires_at: ({ open }) => orNull(open?.expiresAt),
  message: ({ progress, open }) => messageOf(progress, open?.userCode),
})

const openClaimShape = z
  .object({
    user_code: z.string().meta({ description: 'The code that the agent shows. Compare both codes before you take over its project.' }),
    client_name: z.string(),
    started_at: wireTime,
    expires_at: wireTime,
    path: z.string().meta({ description: 'URL path of the page for taking over the project; requires sign-in.' }),
  })
  .meta({ id: 'OpenClaim' })

export const openClaim = encoder(openClaimShape).from<Claim>({ path: ({ userCode }) => `/claims/${encodeURIComponent(userCode)}` })
export const openClaims = pageEncoder(openClaim).via((all: Claim[]) => ({ rows: all, nextCursor: undefined }))

function messageOf({ isLinkPending }: ClaimProgress, code: string | undefined): string {
  if (code === undefined) return 'This project is already claimed.'
  return isLinkPending
    ? `Show the code ${code} to the user. If the address can sign in here, the user receives a mail with a link and the same code. ` +
        'The code also works under integrations_url after signing in.'
    : `Show the code ${code} to the user. This service is not configured to send system mail, so no mail was sent. The user signs ` +
        'in and claims the project with the code under integrations_url.'
}
