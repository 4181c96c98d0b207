/** Composes the entry points of mail: submission, the MX listener, and polled mailboxes. */
import { join } from 'node:path'
import { InboundDoor } from '#core/inbound/inbound-door.ts'
import { PolledMailboxes } from '#core/feedback/intake/polled-mailboxes.ts'
import { SubmissionDoor } from '#core/submission/doors/smtp-login.ts'
import { Poller } from '../../protocols/imap-dsn/poller.ts'
import { PostmasterBox } from '../../protocols/mx/postmaster-box.ts'
import { MxServer } from '../../protocols/mx/mx-server.ts'
import type { ReportReader } from '#ingest/report/report-reader.ts'
import { SubmissionServer } from '../../protocols/submission/submission-server.ts'
import { authoritiesIn } from '../certificates/authorities.ts'
import { inspectCore } from './inspect-core.ts'
import { MailDoorObserver } from '../observability/mail-door-observer.ts'
import type { MailDoors } from './composed.ts'
import { authorSettings, type Composition } from './parts.ts'

export function submissionDoor({ get, config }: Composition): SubmissionDoor {
  const parts = {
    accept: get('accept'),
    admission: get('admission'),
    fairness: get('fairness'),
    loginGuard: get('loginGuard'),
    resolver: get('resolver'),
    lateCounts: get('lateCounts'),
    uses: get('keyUses'),
  }
  const { maxMessageBytes } = config.submission
  return new SubmissionDoor({ ...get('core'), ...parts, ...authorSettings(config), maxMessageBytes })
}

export function submissionServer({ get, config, certificate, replace }: Composition): SubmissionServer {
  const { submission, smtpHost: hostname } = config
  const door = get('submissionDoor')
  return new SubmissionServer({
    ...{ listen: submission.listen, tlsListen: submission.implicitTlsListen, hostname },
    ...{ door: replace.smtpDoor?.(door) ?? door, clock: get('clock'), events: get('observer'), activity: get('activity') },
    ...(replace.recipients && { recipients: replace.recipients }),
    tls: certificate,
    cleartextAuth: submission.cleartextAuth,
    limits: { ...submission, sessionMs: submission.sessionSeconds * 1000, idleMs: submission.idleSeconds * 1000 },
  })
}

/** Mail servers wait for minutes; RFC 5321 §4.5.3.2.7 requires five. */
const idleMs = 300_000
const sessionMs = 900_000
/** Each return path belongs to one recipient, so reports for many recipients at once are rare. */
const maxRecipients = 100
const imapStepMs = 30_000

/** Throws `ConfigInvalid` if the file of trusted certificates is not readable. */
export function mailDoors(composition: Composition): MailDoors {
  const { get, config, certificate, metrics } = composition
  const { mx, smtpHost, dataDir, inboundDomain } = config
  const events = new MailDoorObserver(get('partLogs'), metrics, get('defectLog'))
  const core = get('core')
  const { clock } = core
  const resolver = get('resolver')
  const { feedback, reports } = get('ingest')
  const readReport: ReportReader['read'] = (mail, turn) => reports.read(mail, turn)
  const inspect = inspectCore(composition, (error, id) => events.defect(error, id))
  const network = { resolver, guard: get('guard'), trusted: authoritiesIn('POSTERN_IMAP_CA_FILE', config.imap.caFile), stepMs: imapStepMs }
  const parts = { ...core, feedback, resolver, inboundDomain, admission: get('admission'), fairness: get('fairness') }
  return {
    inspect,
    mx: new MxServer({
      ...{ listen: mx.listen, hostname: smtpHost, tls: certificate, readReport, events, clock, activity: get('activity') },
      limits: { ...mx, maxRecipients, idleMs, sessionMs },
      door: new InboundDoor({ ...parts, routes: get('inbound').routeIntake, inspectTests: inspect.inspectTests }),
      postmaster: new PostmasterBox(join(dataDir, 'postmaster'), clock),
    }),
    poller: new Poller({ readReport, clock, random: get('random'), events, mailboxes: new PolledMailboxes(parts), network }),
  }
}
