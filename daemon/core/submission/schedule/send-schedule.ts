/** Checks the time of a scheduled send. Spec "POST /v1/messages", rule 3. */
import { requireIncluded, type LimitSettings } from '../../plan/limits.ts'
import { invalid, type Refusal } from '../../refusals.ts'

/** Maximum time that a send is scheduled ahead. */
const aheadMaxMs = 3 * 24 * 3600 * 1000

/** Throws `feature_disabled` if the plan excludes scheduled sends, and `validation_failed` for a time in the past or too far ahead. */
export function checkSendAt(sendAt: number, organization: LimitSettings, nowMs: number): void {
  requireIncluded(organization, 'scheduledSends', { lacks: 'does not include scheduled sends', instead: 'leave send_at out to send now' })
  const now = new Date(nowMs).toISOString()
  if (sendAt <= nowMs)
    throw wrong(`must be in the future, and the time of the server is ${now}; give a later time, or leave it out to send now`)
  const latest = nowMs + aheadMaxMs
  if (sendAt > latest) throw wrong(`must be at most 3 days ahead; the latest possible time now is ${new Date(latest).toISOString()}`)
}

const wrong = (message: string): Refusal => invalid([{ path: 'send_at', message }])
