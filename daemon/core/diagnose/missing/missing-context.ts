/** Options and facts shared by the parts of a missing-message diagnosis. */
import type { Principal } from '../../access/principal/principal.ts'
import type { Suppression } from '../../feedback/suppression/suppression.ts'
import type { Policy } from '../../routing/policy/policy.ts'
import type { TimelineEntry } from '../../trace/timeline/send-timeline.ts'
import type { Trace } from '../../trace/trace.ts'
import type { BounceOptions } from '../bounce/bounce.ts'
import type { DomainFinding } from '../search/look-ups.ts'
import type { RetainedWindow } from '../search/time-window.ts'

export interface MissingOptions extends BounceOptions {
  /** Returns why the destination delays a queued message, or undefined. */
  readonly waiting: (organizationId: string, trace: Trace) => Promise<TimelineEntry | undefined>
}

export interface MissingContext {
  readonly options: MissingOptions
  readonly principal: Principal
  readonly policy: Policy
  readonly address: string
  readonly window: RetainedWindow
  /** The suppression in force now, if the caller may read it. */
  readonly entry: Suppression | undefined
  /** A suppression is in force that the caller may not read. */
  readonly isEntryOutside: boolean
  readonly domain: DomainFinding
  readonly nowMs: number
}
