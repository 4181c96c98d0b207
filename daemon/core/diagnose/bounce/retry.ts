/** Whether sending again can work, and when. Pure. */
import type { RefusalCategory } from '#config/mail/status-codes.ts'
import type { Trace } from '../../trace/trace.ts'
import type { BounceDiagnosis } from '../search/diagnosis.ts'
import type { RefusalSeen } from '../search/refusal.ts'
import { textOf } from '../search/time-window.ts'

type Retry = BounceDiagnosis['retry']

const corrected: Retry = { useful: false, when: 'only once the address is correct' }
const repaired: Retry = { useful: false, when: 'once the configuration is corrected' }
const rewritten: Retry = { useful: false, when: 'with a different message' }
const unblocked: Retry = { useful: false, when: 'once the cause is removed and the block is lifted' }
const anotherDay: Retry = { useful: true, when: 'on another day' }
const later: Retry = { useful: true, when: 'later' }

const retries: Readonly<Record<RefusalCategory, Retry>> = {
  recipient_unknown: corrected,
  recipient_syntax: corrected,
  recipient_moved: corrected,
  recipient: corrected,
  mailbox_disabled: corrected,
  domain: corrected,
  sender: repaired,
  authentication: repaired,
  auth_client: repaired,
  tls: repaired,
  routing: repaired,
  protocol: repaired,
  content: rewritten,
  size: rewritten,
  reputation: unblocked,
  policy: unblocked,
  mailbox_full: anotherDay,
  mailbox: anotherDay,
  rate: { useful: true, when: 'after an hour, and more slowly' },
  greylisting: { useful: true, when: 'after 5 to 15 minutes, from the same address' },
  system: later,
  network: later,
  expired: later,
  success: later,
  undetermined: later,
}

export function retryOf(seen: RefusalSeen | undefined, { nextAttemptAt }: Trace): Retry {
  if (nextAttemptAt !== null) return { useful: true, when: `automatically at ${textOf(nextAttemptAt)}` }
  return seen ? retries[seen.classification.category] : { useful: false, when: null }
}
