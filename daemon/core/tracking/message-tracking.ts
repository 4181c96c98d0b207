/** Click and open tracking of a message during its acceptance: decides whether it is tracked, and rewrites it. */
import type { Feature } from '#config/plans/features.ts'
import type { Draft } from '#store/content.ts'
import type { SecretBox } from '../access/secret-box.ts'
import { featureBar, type FeatureBar, type FeatureSettings } from '../plan/features.ts'
import type { TraceTracking, UntrackedReason } from '../trace/trace-tracking.ts'
import { traceToken } from '../trace/trace-token.ts'
import { clickToken } from './click-token.ts'
import type { MessageRewriter, MessageSource, TrackingAddresses } from './rewriter.ts'

/** Tracking that the submitter requests. */
export interface TrackingWish {
  readonly clicks: boolean
  readonly opens: boolean
}

export interface TrackingOptions {
  readonly secrets: SecretBox
  readonly rewriter: MessageRewriter
  /** Public address of the service, without a trailing slash; undefined if it is not configured. */
  readonly publicUrl: string | undefined
}

/** A message whose outcome is decided, but which is not stored yet. */
export interface TrackedSubmission {
  readonly traceId: string
  readonly organizationId: string
  readonly organization: FeatureSettings
  readonly isRelayed: boolean
  readonly draft: Pick<Draft, 'size' | 'read' | 'replace'>
}

export const openPurpose = 'open.v1'

export class Tracking {
  readonly #options: TrackingOptions

  constructor(options: TrackingOptions) {
    this.#options = options
  }

  /**
   * Rewrites the draft within the allowed tracking, and returns its tracking for the trace. Returns undefined without a request for
   * tracking. A message that cannot be tracked is sent unchanged and never refused.
   */
  async apply(wish: TrackingWish, submission: TrackedSubmission): Promise<TraceTracking | undefined> {
    if (!wish.clicks && !wish.opens) return undefined
    const { organization, isRelayed, draft } = submission
    const { publicUrl, rewriter } = this.#options
    const barred = (asked: boolean, feature: Feature): FeatureBar | undefined => (asked ? featureBar(organization, feature) : undefined)
    const bars = { clicks: barred(wish.clicks, 'click_tracking'), opens: barred(wish.opens, 'open_tracking') }
    const off = bars.clicks ?? bars.opens
    const clicks = wish.clicks && !bars.clicks
    const opens = wish.opens && !bars.opens
    if (off && !clicks && !opens) return untracked(off)
    if (!isRelayed) return untracked('captured')
    if (publicUrl === undefined) return untracked('no_public_url')
    const rewritten = await rewriter.rewrite(
      sourceOf(submission.organizationId, draft),
      this.#addresses(submission.traceId, publicUrl, { clicks, opens }),
    )
    if (!rewritten.ok) return untracked(rewritten.reason)
    if (opens || rewritten.links > 0) await draft.replace(rewritten.content)
    return { clicks, links: rewritten.links, opens, ...(off && { off }) }
  }

  #addresses(traceId: string, publicUrl: string, { clicks, opens }: TrackingWish): TrackingAddresses {
    const { secrets } = this.#options
    const linkFor = (link: number, target: string): string => `${publicUrl}/t/c/${clickToken(secrets, { traceId, link, target })}`
    return {
      ownUrl: publicUrl,
      linkFor: clicks ? linkFor : undefined,
      pixel: opens ? `${publicUrl}/t/o/${traceToken(secrets, openPurpose, traceId)}` : undefined,
    }
  }
}

const untracked = (off: UntrackedReason): TraceTracking => ({ clicks: false, links: 0, opens: false, off })

const sourceOf = (organizationId: string, draft: TrackedSubmission['draft']): MessageSource => ({
  organizationId,
  size: draft.size,
  read: () => wholeOf(draft),
})

async function wholeOf(draft: TrackedSubmission['draft']): Promise<Uint8Array<ArrayBuffer>> {
  const whole = new Uint8Array(draft.size)
  let at = 0
  for await (const piece of draft.read()) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
