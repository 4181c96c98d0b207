/**
 * One attempt at a message with VERP: a copy for each recipient that waits, each with a return path of its own, one after the
 * other. Whoever has a word has it durably before the next copy can be taken, so that a crash leaves one recipient in doubt.
 */
import { keepsEnvelopeFrom } from '#config/mail/presets.ts'
import type { Destination } from '../../routing/destination.ts'
import type { Trace } from '../../trace/trace.ts'
import type { AttemptReport, DeliveryJob, RecipientReport } from '../transport.ts'

/** What a round works with. */
export interface VerpCopyOptions {
  /** Carries out one dialog; `begin` is awaited before the final dot. */
  readonly deliver: (envelope: Pick<DeliveryJob, 'mailFrom' | 'rcptTo'>, begin: () => Promise<unknown>) => Promise<AttemptReport>
  /** Makes durable what has become known of recipients since the call before, in case that the process ends now. */
  readonly record: (recipients: readonly RecipientReport[]) => Promise<unknown>
  /** Resolves when a further copy may begin; false when none may before the service stops. */
  readonly nextCopy: () => Promise<boolean>
}

const stopped = {
  code: 'closed',
  message: 'The service is shutting down; the remaining copies are sent after its next start.',
  phase: 'start',
}

/** Whether the return path that we give reaches the recipients' servers: others put their own, or refuse what is not the login's. */
export const takesReturnPaths = (destination: Destination): boolean =>
  destination.provider === 'smtp' && keepsEnvelopeFrom(destination.preset, destination.host)

/**
 * The round over all recipients that wait. It ends early when a dialog fails, as the next one would fail alike, or when
 * the service stops; recipients without a copy are then put off with the same error.
 */
export async function deliverVerpCopies(trace: Trace, { deliver, record, nextCopy }: VerpCopyOptions): Promise<AttemptReport> {
  const waiting = trace.recipients.filter(({ status }) => status === 'queued')
  const done: RecipientReport[] = []
  const reports: AttemptReport[] = []
  let verpRefusal: AttemptReport['verpRefusal']
  let error: AttemptReport['error']
  let recorded = 0
  for (const { address, verp } of waiting) {
    if (done.length > 0 && !(await nextCopy())) {
      error = stopped
      break
    }
    let begun: Promise<unknown> | undefined
    const begin = (): Promise<unknown> => {
      if (begun) return begun
      const fresh = done.slice(recorded)
      recorded = done.length
      return (begun = record([...fresh, { address, verdict: 'unknown' }]))
    }
    const send = (mailFrom: string): Promise<AttemptReport> =>
      deliver({ mailFrom, rcptTo: [address] }, begin).catch(async (defect: unknown) => {
        await begin() // what is known must outlast the round
        throw defect
      })
    let returnPath = verpRefusal === undefined ? (verp ?? trace.mailFrom) : trace.mailFrom
    let report = await send(returnPath)
    const [first] = report.recipients
    if (first?.ofSender && returnPath !== trace.mailFrom) {
      reports.push(report)
      verpRefusal = first.reply
      returnPath = trace.mailFrom
      report = await send(returnPath)
    }
    reports.push(report)
    done.push({ ...wordFor(address, report), returnPath })
    error = report.error
    if (error) break
  }
  const left = waiting.slice(done.length).map(({ address }): RecipientReport => ({ address, verdict: 'transient' }))
  return { ...together(reports), recipients: [...done, ...left], error, verpRefusal }
}

/** What the dialogs of a round say of the peer, and the time they took in all. */
function together(reports: readonly AttemptReport[]): Omit<AttemptReport, 'recipients'> {
  const milliseconds = new Map<string, number>()
  for (const report of reports)
    for (const [step, spent] of Object.entries(report.milliseconds)) milliseconds.set(step, (milliseconds.get(step) ?? 0) + spent)
  const reused = reports[0]?.reused ?? false
  return { host: '', port: 0, ...reports.at(-1), reused, milliseconds: Object.fromEntries(milliseconds) }
}

/** A copy has one recipient, so that a reply to its content is about this one. */
const wordFor = (address: string, { recipients }: AttemptReport): RecipientReport => {
  const { ofMessage: _, ...word } = recipients[0] ?? { address, verdict: 'transient' }
  return word
}
