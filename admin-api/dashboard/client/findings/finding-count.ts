/** The number of messages, events or other things that a finding is about. Pure. */
import type { Finding } from '../wire/api.d.ts'

export interface FindingCount {
  readonly label:
    | 'waiting'
    | 'failed'
    | 'captured'
    | 'refused'
    | 'undelivered'
    | 'parked'
    | 'bounced'
    | 'complaints'
    | 'deferred'
    | 'held'
    | 'signIns'
    | 'sent'
  readonly unit: 'messages' | 'attempts' | 'events' | 'recipients' | 'requests' | 'files' | 'submissions' | 'times'
  readonly count: number
}

type CountOf = (params: Finding['params']) => FindingCount | undefined

const counted =
  (label: FindingCount['label'], unit: FindingCount['unit'], name = 'count'): CountOf =>
  ({ [name]: value }) =>
    value === undefined ? undefined : { label, unit, count: Number(value) }

/** A count that some checks leave out. */
const ifCounted =
  (count: CountOf): CountOf =>
  (params) =>
    params['counted'] === 'yes' ? count(params) : undefined

const undelivered = (unit: FindingCount['unit']): CountOf => ifCounted(counted('undelivered', unit, 'undelivered'))

const unrouted: CountOf = (params) => {
  const { captured, refused } = params
  return Number(refused ?? 0) > 0
    ? { label: 'refused', unit: 'messages', count: Number(refused) }
    : { label: 'captured', unit: 'messages', count: Number(captured ?? 0) }
}

const counts: Readonly<Record<string, CountOf>> = {
  'destination.resting': ifCounted(counted('waiting', 'messages', 'waiting')),
  'destination.failing': counted('failed', 'attempts', 'failed'),
  'mail.all_failing': counted('failed', 'attempts'),
  'route.missing': unrouted,
  'webhook.failing': undelivered('events'),
  'inbound.failing': undelivered('messages'),
  'form.notification_failing': undelivered('submissions'),
  'webhook.parked': counted('parked', 'events'),
  'mail.bounced': counted('bounced', 'recipients', 'some'),
  'mail.failed': counted('failed', 'recipients', 'some'),
  'mail.complained': counted('complaints', 'recipients', 'some'),
  'mail.deferred': counted('deferred', 'recipients', 'some'),
  'mail.refused': counted('refused', 'requests', 'some'),
  'scanner.unreachable': counted('waiting', 'files'),
  'queue.late': counted('waiting', 'messages'),
  'queue.held': counted('held', 'messages'),
  'approval.waiting': counted('waiting', 'messages'),
  'login.attacked': counted('signIns', 'times'),
  'domain.unknown': counted('sent', 'messages'),
}

/** Returns undefined if the finding is not about a number. */
export const countOf = ({ kind, params }: Pick<Finding, 'kind' | 'params'>): FindingCount | undefined =>
  Object.hasOwn(counts, kind) ? counts[kind]?.(params) : undefined
