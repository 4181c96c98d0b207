/** Creates the reports of SMTP delivery attempts: replies for each recipient, the peer, and the time of each stage. */
import type { AttemptReport, RecipientReport } from '#core/delivery/transport.ts'
import type { Delivery } from './transaction/delivery.ts'
import type { Failure } from '../attempt-failure.ts'
import type { Peer } from './connection/handshake.ts'
import type { Transaction } from './transaction/transaction.ts'

/** Creates the report of an attempt that failed before any recipient had a reply. All recipients are `transient`, so they are retried. */
export function reportFailure(delivery: Delivery, failure: Failure, now: number): AttemptReport {
  const { target, job } = delivery
  return {
    recipients: job.rcptTo.map((address) => ({ address, verdict: 'transient', reply: failure.reply })),
    host: target.host,
    port: target.port,
    address: failure.address,
    reused: false,
    error: failure.toAttemptError(),
    milliseconds: { total: now - delivery.submittedAt },
  }
}

/** Creates the report of an attempt that sent no MAIL command, because this peer can accept none of the recipients. */
export function reportUnsent(
  delivery: Delivery,
  peer: Peer,
  reports: readonly (RecipientReport | undefined)[],
  reused: boolean,
  now: number,
): AttemptReport {
  return {
    recipients: complete(delivery, reports),
    host: delivery.target.host,
    port: delivery.target.port,
    address: peer.address,
    tls: peer.tls,
    reused,
    milliseconds: { ...(!reused && peer.milliseconds), total: now - delivery.submittedAt },
  }
}

/** Creates the report of an attempt that sent MAIL, with the replies and the time of each stage that it reached. */
export function reportTransaction(transaction: Transaction, peer: Peer, now: number): AttemptReport {
  const { delivery, times, reused } = transaction
  const spent: Record<string, number> = reused ? {} : { ...peer.milliseconds }
  spent['wait'] = times.begun - delivery.submittedAt
  let since = times.begun
  for (const [stage, end] of [
    ['mail', times.mail],
    ['rcpt', times.rcpt],
    ['data', times.data],
    ['body', times.body],
  ] as const) {
    if (end === 0) break
    spent[stage] = end - since
    since = end
  }
  if (times.body > 0) spent['final'] = now - since
  spent['total'] = now - delivery.submittedAt
  return {
    recipients: complete(delivery, transaction.envelope.reports),
    host: delivery.target.host,
    port: delivery.target.port,
    address: peer.address,
    tls: peer.tls,
    reused,
    error: transaction.error?.toAttemptError(),
    milliseconds: spent,
  }
}

function complete(delivery: Delivery, reports: readonly (RecipientReport | undefined)[]): readonly RecipientReport[] {
  return delivery.job.rcptTo.map((address, place) => reports[place] ?? { address, verdict: 'transient' })
}
