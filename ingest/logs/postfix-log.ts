/** Converts the log of Postfix to feedback events, from lines or from the fields of a grok filter. */
import type { FeedbackEvent } from '#core/feedback/event.ts'
import type { JsonObject } from '../events/json-value.ts'
import { hasNews, type NoNews } from './log-group.ts'
import { deliveryEvent, expiredEvent, idBehindFilter, meaningOf, waitingRecipient } from './postfix-event.ts'
import { isGrokked, readPostfixFields, readPostfixText, type PostfixLine } from './postfix-line.ts'
import { messageIdOf, returnPathOf, SessionLog, type SessionDraft } from './session-log.ts'

/** Number of deferred recipients that are remembered for one message. */
const maxDeferred = 100

export const postfixLog = new SessionLog<PostfixLine>({
  name: 'Postfix',
  readText: (line) => withKnownStatus(readPostfixText(line)),
  readFields: (record: JsonObject) => (isGrokked(record) ? withKnownStatus(readPostfixFields(record)) : undefined),
  idBehindFilter: ({ fact }) => (fact.kind === 'delivery' ? idBehindFilter(fact.delivery) : undefined),
  learn({ fact }, draft) {
    if (fact.kind === 'queued') draft.messageId = messageIdOf(fact.messageId)
    else if (fact.kind === 'active' || fact.kind === 'expired') draft.returnPath = returnPathOf(fact.from)
    else if (fact.kind === 'removed') draft.isGone = true
  },
  eventsOf,
  isDelivery: ({ fact }) => fact.kind === 'delivery',
})

/** Rejects a line with an unknown status, because its recipient may still be deferred. */
function withKnownStatus<None extends undefined>(found: PostfixLine | NoNews | None): PostfixLine | NoNews | None {
  if (!found || !hasNews(found) || found.fact.kind !== 'delivery' || meaningOf(found.fact.delivery.status) !== undefined) return found
  return { rejected: `has the unknown delivery status "${found.fact.delivery.status.slice(0, 40)}"` }
}

function eventsOf(line: PostfixLine, draft: SessionDraft, cameBack: boolean): readonly FeedbackEvent[] {
  const { fact } = line
  const session = { returnPath: draft.returnPath, messageId: draft.messageId, deferred: [] }
  if (fact.kind === 'expired') {
    const waiting = [...draft.deferred.values()]
    draft.deferred.clear()
    return waiting.map((recipient) => expiredEvent(line, recipient, session))
  }
  if (fact.kind !== 'delivery') return []
  const { delivery } = fact
  if (meaningOf(delivery.status) === 'deferred') {
    if (draft.deferred.size < maxDeferred) draft.deferred.set(delivery.to, waitingRecipient(delivery))
  } else draft.deferred.delete(delivery.to)
  const event = cameBack ? undefined : deliveryEvent(line, delivery, session)
  return event ? [event] : []
}
