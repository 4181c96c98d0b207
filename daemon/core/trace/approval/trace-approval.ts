/** Approval of a message by a person, as stored in the trace. */
import type { Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

/** `withdrawn`: by the submitter. */
export const approvalDecisions = ['approved', 'refused', 'expired', 'withdrawn'] as const
export type ApprovalDecision = (typeof approvalDecisions)[number]

export const traceApproval = z.strictObject({
  /** Digest of the approved properties; see `held-trace.ts`. */
  digest: z.string(),
  /** Digest of the request. */
  orderDigest: z.string().optional(),
  /** Server or provider of the destination at the time of the request. Absent in approvals of older versions. */
  through: z.string().optional(),
  /** Failover destinations shown to the person. Absent in approvals of older versions. */
  fallbacks: z.array(z.strictObject({ id: z.string(), through: z.string() })).optional(),
  expiresAt: z.int(),
  decision: z
    .strictObject({
      as: z.enum(approvalDecisions),
      at: z.int(),
      /** Id of the person, or of the credential that withdrew it; empty for the service itself. */
      by: z.string(),
      /** Sign-in address of the person at that time. */
      email: z.string().optional(),
    })
    .optional(),
})
export type TraceApproval = Immutable<z.infer<typeof traceApproval>>

/** A fallback destination with its server or provider. */
export type ApprovedFallback = NonNullable<TraceApproval['fallbacks']>[number]

/** Returns true if a message in this state waits for approval. */
export const isAwaited = ({ status, approval }: { readonly status: string; readonly approval?: TraceApproval | undefined }): boolean =>
  status === 'pending' && approval !== undefined && approval.decision === undefined
