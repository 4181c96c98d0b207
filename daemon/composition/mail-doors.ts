/** The doors of mail: submission, the MX listener, and mailboxes that are looked into for reports. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigInvalid, type Config } from '#config/settings/load.ts'
import type { LoginGuard } from '#core/visitors/login-guard.ts'
import type { SecretBox } from '#core/access/secret-box.ts'
import type { Clock } from '#core/clock.ts'
import type { FeedbackTaker } from '#core/feedback/feedback-origin.ts'
import type { RouteIntake } from '#core/inbound-routes/route-intake.ts'
import { InboundDoor } from '#core/inbound/inbound-door.ts'
import { PolledMailboxes } from '#core/feedback/intake/polled-mailboxes.ts'
import type { InspectScorer } from '#core/inspect/report.ts'
import type { AddressGuard } from '#core/outbound/address-guard.ts'
import type { LookUp, Resolver } from '#core/outbound/resolver.ts'
import type { Policies } from '#core/routing/policy/policy.ts'
import type { Accept } from '#core/submission/accept/accept.ts'
import { SubmissionDoor } from '#core/submission/doors/smtp-login.ts'
import type { ReportReader, ReportResult } from '#ingest/report/report-reader.ts'
import type { Database } from '#store/database.ts'
import { Poller } from '../../protocols/imap-dsn/poller.ts'
import { PostmasterBox } from '../../protocols/mx/postmaster-box.ts'
import { MxServer } from '../../protocols/mx/server.ts'
import { SubmissionServer } from '../../protocols/submission/server.ts'
import type { SubmissionEvents } from '../../protocols/submission/submission-settings.ts'
import { inspectCore, type Inspect } from './inspect-core.ts'
import { MailDoorObserver } from '../observability/mail-door-observer.ts'
import type { Logger } from '../observability/logging.ts'
import type { Metrics } from '../observability/metrics.ts'

interface Surroundings {
  readonly config: Config
  readonly certificate: { readonly cert: string; readonly key: string }
  readonly log: Logger
  readonly metrics: Metrics
}

interface DoorParts {
  readonly database: Database
  readonly policies: Policies
  readonly secrets: SecretBox
  readonly clock: Clock
  readonly admission: { check(): void }
}

export interface MailDoorParts extends DoorParts {
  readonly feedback: FeedbackTaker
  readonly routes: RouteIntake
  readonly reports: Pick<ReportReader, 'read'>
  readonly resolver: Resolver
  readonly guard: AddressGuard
  readonly random: () => number
  readonly lookUp?: LookUp | undefined
  /** In place of the threads that score. */
  readonly scorer?: (InspectScorer & AsyncDisposable) | undefined
}

export interface MailDoors {
  readonly mx: MxServer
  readonly poller: Poller
  readonly inspect: Inspect
}

interface SubmissionParts {
  readonly door: SubmissionDoor
  readonly clock: Clock
  readonly events: SubmissionEvents
}

export const submissionDoor = (
  { submission, smtpHost: hostname }: Config,
  core: DoorParts & { readonly accept: Accept; readonly loginGuard: LoginGuard; readonly resolver: Resolver },
): SubmissionDoor => new SubmissionDoor({ ...core, hostname, maxMessageBytes: submission.maxMessageBytes })

export function submissionServer({ config, certificate }: Surroundings, parts: SubmissionParts): SubmissionServer {
  const { submission, smtpHost: hostname } = config
  return new SubmissionServer({
    ...{ listen: submission.listen, tlsListen: submission.implicitTlsListen, hostname, ...parts },
    tls: { ...certificate, isSelfMade: config.tls.certificateFile === null },
    cleartextAuth: submission.cleartextAuth,
    limits: { ...submission, sessionMs: submission.sessionSeconds * 1000, idleMs: submission.idleSeconds * 1000 },
  })
}

/** Servers wait minutes for each other; RFC 5321 §4.5.3.2.7 asks for five. */
const idleMs = 300_000
const sessionMs = 900_000
/** Return paths stand for one recipient each, so that a report for many at once is rare. */
const maxRecipients = 100
const imapStepMs = 30_000

/** Throws `ConfigInvalid` when the file of trusted certificates cannot be read. */
export function mailDoors({ config, certificate, log, metrics }: Surroundings, parts: MailDoorParts): MailDoors {
  const events = new MailDoorObserver(log, metrics)
  const { mx, smtpHost, dataDir, inboundDomain } = config
  const { clock, resolver, guard, lookUp, reports, random } = parts
  const readReport = (mail: Uint8Array, turn: string): Promise<ReportResult> => reports.read(mail, turn)
  const inspect = inspectCore({ ...parts, config, lookUp, onError: (error, id) => events.defect(error, id) })
  return {
    inspect,
    mx: new MxServer({
      ...{ listen: mx.listen, hostname: smtpHost, tls: certificate, readReport, events, clock },
      limits: { ...mx, maxRecipients, idleMs, sessionMs },
      door: new InboundDoor({ ...parts, inboundDomain, inspectTests: inspect.inspectTests }),
      postmaster: new PostmasterBox(join(dataDir, 'postmaster'), clock),
    }),
    poller: new Poller({
      ...{ readReport, clock, random, events },
      mailboxes: new PolledMailboxes(parts),
      network: { resolver, guard, trusted: trustedBy(config), stepMs: imapStepMs },
    }),
  }
}

function trustedBy({ imap: { caFile } }: Config): string | null {
  if (caFile === null) return null
  try {
    const text = readFileSync(caFile, 'utf8')
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    throw new ConfigInvalid([`POSTERN_IMAP_CA_FILE: ${caFile} cannot be read (${code}); check the path and its permissions.`])
  }
  throw new ConfigInvalid([`POSTERN_IMAP_CA_FILE: ${caFile} must hold certificates in PEM form.`])
}
