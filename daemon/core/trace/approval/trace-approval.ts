/** That a person decides about a message before it goes, as it is kept in the trace. */
import type { Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

/** `withdrawn`: by who submitted it. */
export const approvalDecisions = ['approved', 'refused', 'expired', 'withdrawn'] as const
export type ApprovalDecision = (typeof approvalDecisions)[number]

export const traceApproval = z.strictObject({
  /** Of what is to be approved; see `held-trace.ts`. */
  digest: z.string(),
  /** Of the request that it was composed from. */
  orderDigest: z.string().optional(),
  /** Where the mail of the destination went when it was asked for; approvals of versions before it was kept have none. */
  through: z.string().optional(),
  /** Where a failover may move the message, as the person saw it; approvals of versions before it was kept have none. */
  fallbacks: z.array(z.strictObject({ id: z.string(), through: z.string() })).optional(),
  expiresAt: z.int(),
  decision: z
    .strictObject({
      as: z.enum(approvalDecisions),
      at: z.int(),
      /** Id of the person, or of the grant that withdrew it; empty for the service itself. */
      by: z.string(),
      /** The address by which the person signed in then. */
      email: z.string().optional(),
    })
    .optional(),
})
export type TraceApproval = Immutable<z.infer<typeof traceApproval>>

/** A destination behind the one that routing chose, with the server or provider to which its mail goes. */
export type ApprovedFallback = NonNullable<TraceApproval['fallbacks']>[number]

/** Whether a message in this state waits for a person. */
export const isAwaited = ({ status, approval }: { readonly status: string; readonly approval?: TraceApproval | undefined }): boolean =>
  status === 'pending' && approval !== undefined && approval.decision === undefined
