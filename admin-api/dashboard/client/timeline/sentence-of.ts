/** Text of a timeline entry in the current language, built from codes and numbers only. */
import { bytes, longTime } from '../parts/time.ts'
import { plain } from '../parts/safe-text.tsx'
import { failoverReason, refusalReason } from '../reasons/reasons.ts'
import type { Trace } from '../wire/api.d.ts'
import { texts } from './timeline-texts.ts'

export type Entry = Trace['timeline'][number]

/** Returns the current name of a destination, or its id if the name is unknown. */
export type NameOf = (destinationId: string) => string

type Sentence = (given: Given) => string | undefined

interface Given {
  readonly trace: Trace
  readonly entry: Entry
  readonly nameOf: NameOf
  /** Returns a detail as safe text. Empty if it is missing. */
  readonly text: (name: string) => string
  readonly count: (name: string) => number
  readonly at: (name: string) => string
}

/** Returns undefined for an entry with unknown codes. */
export function sentenceOf(entry: Entry, trace: Trace, nameOf: NameOf): string | undefined {
  const { event, detail } = entry
  const text = (name: string): string => {
    const value = detail[name]
    return typeof value === 'string' || typeof value === 'number' ? plain(String(value)) : ''
  }
  const given = {
    trace,
    entry,
    nameOf,
    text,
    count: (name: string) => Number(detail[name] ?? 0),
    at: (name: string) => longTime(text(name)),
  }
  return Object.hasOwn(sentences, event) ? sentences[event]?.(given) : undefined
}

const known = (sayings: Readonly<Record<string, string>>, code: string): string | undefined =>
  Object.hasOwn(sayings, code) ? sayings[code] : undefined

const sentences: Readonly<Record<string, Sentence>> = {
  accepted: ({ trace, text }) => {
    const w = texts()
    const { template } = trace
    const made = template ? w.templated({ slug: plain(template.slug), version: template.version }) : ''
    const from = text('released_from') === '' ? '' : w.ofCaptured
    return [w.accepted({ size: bytes(trace.size), n: trace.recipients.length }), made, from].filter(Boolean).join(' ')
  },
  scheduled: (given) => scheduledSentence(given),
  retry_scheduled: ({ at }) => texts().nextAttemptAt({ at: at('next_attempt_at') }),
  replayed: ({ count }) => texts().replayed({ n: count('recipients') }),
  retried: ({ count }) => texts().retried({ n: count('recipients') }),
  failover: ({ text, nameOf }) => failoverReason(text('cause'), nameOf(text('to'))),
  waiting: ({ text, at, nameOf }) => texts().waiting({ destination: nameOf(text('destination_id')), at: at('next_trial_at') }),
  approval_requested: ({ at }) => texts().approvalUntil({ at: at('expires_at') }),
  approved: ({ text }) => texts().approvedBy({ who: decider(text) }),
  refused: ({ text }) => texts().refusedBy({ who: decider(text) }),
  withdrawn: ({ text }) => texts().withdrawnBy({ who: decider(text) }),
  expired: () => texts().notApproved,
  canceled: ({ text }) => texts().canceledBy({ who: text('canceled_by') }),
  held: (given) => actSentence(given, texts().heldBy),
  hold_released: (given) => actSentence(given, texts().holdReleasedBy),
  expedited: (given) => actSentence(given, texts().expeditedBy),
  dropped: (given) => actSentence(given, texts().droppedBy),
  sent: () => texts().takenForAll,
  partly_sent: ({ trace }) => {
    const left = trace.recipients.filter(({ status }) => /^(sent|delivered|bounced|complained)$/.test(status)).length
    return texts().takenForSome({ n: left, all: trace.recipients.length })
  },
  failed: () => texts().abandoned,
  released: () => texts().releasedAsOwn,
  validation_failed: ({ text }) => refusalReason(text('code')),
  dialect: ({ entry, text }) => {
    const ignored = entry.detail['ignored_fields']
    const fields = Array.isArray(ignored) ? ignored.map((one) => plain(String(one))).join(', ') : ''
    return fields === '' ? texts().dialect({ api: text('api') }) : texts().dialectIgnored({ api: text('api'), fields })
  },
  verp: ({ text }) => {
    if (text('bounce_domain') !== '') return texts().verp({ domain: text('bounce_domain') })
    const why = known(texts().verpOffs, text('off'))
    return why && texts().verpOff({ why })
  },
  suppressed: ({ trace, entry }) => {
    const held = entry.detail['recipients']
    if (!Array.isArray(held)) return undefined
    const isOfList = held.some((one: { readonly source?: string }) => one.source === 'unsubscribe')
    return (isOfList ? texts().unsubscribed : texts().suppressed)({ n: held.length, all: trace.recipients.length })
  },
  auto_suppressed: ({ text }) => texts().autoSuppressed({ who: text('recipient') || texts().aRecipient }),
  tracking: (given) => trackingSentence(given),
  opened: ({ text }) => texts().opened({ who: text('recipient') || texts().aRecipient }),
  clicked: ({ count, text }) => texts().clicked({ link: count('link'), who: text('recipient') || texts().aRecipient }),
  delivered: (given) => reportSentence(given),
  bounced: (given) => reportSentence(given),
  complained: (given) => reportSentence(given),
  deferred: (given) => reportSentence(given),
  bounce_unparsed: (given) => reportSentence(given),
}

/** Returns the email address of the decider, else the id of the decider. */
const decider = (text: Given['text']): string => text('email') || text('decided_by')

/** Returns the text of a queue action by a person, with its reason. */
function actSentence({ text, entry }: Given, say: ReturnType<typeof texts>['heldBy']): string {
  const why = text('reason').replace(/[.\s]+$/, '')
  const done = say({ who: text('by'), hasWhy: why !== '', why })
  return entry.detail['attempt_under_way'] === true ? `${done} ${texts().endsFirst}` : done
}

function scheduledSentence({ trace, text, at }: Given): string {
  const w = texts()
  if (text('brought_forward_by') !== '') return w.broughtForward({ by: text('brought_forward_by'), planned: at('planned') })
  if (text('rescheduled_by') !== '') return w.rescheduled({ by: text('rescheduled_by'), at: at('send_at'), planned: at('planned') })
  if (trace.outcome !== 'relayed') return w.capturedAt({ at: at('send_at') })
  const isApproved = trace.timeline.some(({ event }) => event === 'approval_requested')
  return (isApproved ? w.leavesIfApproved : w.leavesAt)({ at: at('send_at') })
}

function trackingSentence({ entry, text, count }: Given): string {
  const w = texts()
  const { clicks, opens } = entry.detail
  const links = count('links')
  const what =
    clicks === true
      ? opens === true
        ? w.trackedBoth({ n: links })
        : w.trackedClicks({ n: links })
      : opens === true
        ? w.trackedOpens
        : w.trackedNone
  return [what, known(w.untracked, text('untracked_reason'))].filter(Boolean).join(' ')
}

function reportSentence({ entry, text }: Given): string {
  const { reports, aRecipient } = texts()
  return reports[entry.event as keyof typeof reports]({ who: text('recipient') || aRecipient })
}
