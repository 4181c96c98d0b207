/** The final audit of a crash test, through the API: every acknowledged message has its trace and, if captured, its place in the inbox. */
import type { RestClient } from '../support/daemon/rest.ts'
import { catchAllInbox } from '../support/daemon/provision.ts'
import { waitFor } from '../support/waits.ts'
import { isRefusedForGood, type Entry, type Ledger } from './ledger.ts'
import { carriesText, isWholeLetter, letterOf, textOf } from './letters.ts'

/** Number of captured messages that are fetched and compared octet by octet. */
const contentsCompared = 60

/** Resolves when all recipients of acknowledged messages have a copy, or one is lost: its trace is missing or `sent`. */
export async function arrivals(ledger: Ledger, rest: RestClient): Promise<void> {
  await waitFor(`delivery of the last ${String(ledger.awaited)} recipients`, async () => {
    const entry = ledger.oneAwaited()
    if (!entry) return true
    const { status, body } = await rest.call('GET', `/v1/traces/${String(entry.traceId)}`)
    const isOver = status === 404 || (body as { readonly status?: string }).status === 'sent'
    return isOver && entry === ledger.oneAwaited()
  })
}

/** Reads every acknowledged trace and compares its status with the fate of the message. */
export async function auditTraces(ledger: Ledger, rest: RestClient): Promise<void> {
  const [duplicated, postponed] = [new Set(ledger.duplicated()), new Set(ledger.postponed())]
  await inParallel(8, ledger.acked(), async (entry) => {
    const { status, body, bytes } = await rest.call('GET', `/v1/traces/${String(entry.traceId)}`)
    if (status !== 200) {
      ledger.problem(`${entry.marker}: its trace ${String(entry.traceId)} answers ${String(status)}`)
      return
    }
    const trace = body as { readonly status?: string; readonly timeline?: unknown }
    const wanted = finalStatuses(entry, { postponed: postponed.has(entry), served: ledger.isServed(entry) })
    if (!wanted.includes(String(trace.status))) {
      ledger.problem(`${entry.marker}: trace says ${String(trace.status)}, expected ${wanted.join(' or ')}`)
    }
    if (!Array.isArray(trace.timeline) || trace.timeline.length === 0) ledger.problem(`${entry.marker}: trace without a timeline`)
    const mayBeThere = duplicated.has(entry) || postponed.has(entry)
    if (mayBeThere && !bytes.includes('unknown')) ledger.problem(`${entry.marker}: its trace shows no unknown outcome, but there was one`)
  })
}

/**
 * A trace has the status of its worst recipient. After a connection lost after the final dot, a recipient may wait for the next attempt.
 */
function finalStatuses({ fate, to }: Entry, { postponed, served }: { postponed: boolean; served: boolean }): readonly string[] {
  if (fate === 'capture') return ['captured']
  if (to.some(isRefusedForGood)) return postponed ? ['failed', 'queued'] : ['failed']
  return [...(served ? ['sent'] : []), ...(postponed ? ['queued'] : [])]
}

/** Lists the catch-all inbox: every acknowledged capture is there once, and no refused one. */
export async function auditCaptures(ledger: Ledger, rest: RestClient): Promise<void> {
  const inbox = await catchAllInbox(rest)
  const idsByTrace = new Map<string, string[]>()
  for await (const row of rest.rows(`/v1/inboxes/${inbox}/messages`)) {
    const traceId = String(row['trace_id'])
    idsByTrace.set(traceId, [...(idsByTrace.get(traceId) ?? []), String(row['id'])])
    auditSubject(ledger, String(row['subject']))
  }
  const captures = ledger.acked('capture')
  for (const { marker, traceId } of captures) {
    const copies = idsByTrace.get(String(traceId))?.length ?? 0
    if (copies !== 1) ledger.problem(`${marker}: captured ${String(copies)} times`)
  }
  const step = Math.max(1, Math.floor(captures.length / contentsCompared))
  const sample = captures.filter((entry, i) => i % step === 0 && idsByTrace.has(String(entry.traceId)))
  await inParallel(4, sample, (entry) =>
    auditContent(ledger, rest, `/v1/inboxes/${inbox}/messages/${String(idsByTrace.get(String(entry.traceId))?.[0])}`, entry),
  )
}

function auditSubject(ledger: Ledger, subject: string): void {
  const entry = ledger.entries.get(subject)
  if (!entry) ledger.problem(`captured, but never sent: ${subject}`)
  else if (entry.status === 'refused') ledger.problem(`${subject}: refused or never finished, yet captured`)
  else if (entry.fate === 'relay') ledger.problem(`${subject}: meant for relay, yet captured`)
}

async function auditContent(ledger: Ledger, rest: RestClient, path: string, entry: Entry): Promise<void> {
  const message = await rest.must('GET', path)
  const { bytes } = await rest.call('GET', new URL(String(message['raw_url']), 'http://daemon.test').pathname)
  const whole = entry.door === 'smtp' ? isWholeLetter(bytes, letterOf(entry, entry.from, entry.to)) : carriesText(bytes, textOf(entry))
  if (!whole) ledger.problem(`${entry.marker}: captured with other content (${String(bytes.length)} octets)`)
}

async function inParallel<T>(width: number, list: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = list.values()
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (const item of rest) await work(item)
    }),
  )
}
