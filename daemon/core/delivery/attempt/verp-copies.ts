/**
 * One attempt of a message with VERP: sends a copy to each waiting recipient, one after the other, with separate return paths. Each result
 * is durable before the next copy can be accepted, so that a crash leaves at most one recipient with an unknown outcome.
 */
import { keepsEnvelopeFrom } from '#config/mail/presets.ts'
import type { Destination } from '../../routing/destination.ts'
import type { Trace } from '../../trace/trace.ts'
import type { AttemptReport, DeliveryJob, RecipientReport } from '../transport.ts'

/** Functions of a round. */
export interface VerpCopyOptions {
  /** Runs one dialog; awaits `begin` before the final dot. */
  readonly deliver: (envelope: Pick<DeliveryJob, 'mailFrom' | 'rcptTo'>, begin: () => Promise<unknown>) => Promise<AttemptReport>
  /** Stores the results since the previous call, in case the process ends. */
  readonly record: (recipients: readonly RecipientReport[]) => Promise<unknown>
  /** Resolves with true when a further copy may begin, or false if the service stops first. */
  readonly nextCopy: () => Promise<boolean>
}

const stopped = {
  code: 'closed',
  message: 'The service is shutting down; the remaining copies are sent after its next start.',
  phase: 'start',
}

/** Returns true if the provider preserves our return path. Other providers replace it, or refuse paths that do not belong to the login. */
export const takesReturnPaths = (destination: Destination): boolean =>
  destination.provider === 'smtp' && keepsEnvelopeFrom(destination.preset, destination.host)

/**
 * Sends copies to all waiting recipients. Ends early if a dialog fails, since the next dialog would probably fail too, or if the service
 * stops. The remaining recipients get the same error.
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
        await begin() // stores the results of earlier copies, which an internal error must not lose
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
    done.push({ ...reportFor(address, report), returnPath })
    error = report.error
    if (error) break
  }
  const left = waiting.slice(done.length).map(({ address }): RecipientReport => ({ address, verdict: 'transient' }))
  return { ...together(reports), recipients: [...done, ...left], error, verpRefusal }
}

/** Combines the dialogs of a round: the last peer and the total time. */
function together(reports: readonly AttemptReport[]): Omit<AttemptReport, 'recipients'> {
  const milliseconds = new Map<string, number>()
  for (const report of reports)
    for (const [step, spent] of Object.entries(report.milliseconds)) milliseconds.set(step, (milliseconds.get(step) ?? 0) + spent)
  const reused = reports[0]?.reused ?? false
  return { host: '', port: 0, ...reports.at(-1), reused, milliseconds: Object.fromEntries(milliseconds) }
}

/** Returns the result of a copy. With one recipient, a reply to the content concerns this recipient. */
const reportFor = (address: string, { recipients }: AttemptReport): RecipientReport => {
  const { ofMessage: _, ...report } = recipients[0] ?? { address, verdict: 'transient' }
  return report
}
