/** The doors by which reports come back as mail. */
import { join } from 'node:path'
import type { Config } from '#config/load.ts'
import type { SecretBox } from '#core/access/secret-box.ts'
import type { Clock } from '#core/clock.ts'
import type { ReportReading } from '#core/feedback/event.ts'
import type { FeedbackTaker } from '#core/feedback/origin.ts'
import { InboundDoor } from '#core/inbound/inbound-door.ts'
import type { Database } from '#store/database.ts'
import { PostmasterBox } from '../protocols/mx/postmaster-box.ts'
import { MxServer } from '../protocols/mx/server.ts'
import type { MxEvents } from '../protocols/mx/settings.ts'

export interface MailDoorParts {
  readonly config: Config
  readonly secrets: SecretBox
  readonly certificate: { readonly cert: string; readonly key: string }
  readonly database: Database
  readonly clock: Clock
  readonly feedback: FeedbackTaker
  readonly readReport: (mail: Uint8Array) => ReportReading
  readonly admission: { check(): void }
  readonly mxEvents: MxEvents
}

/** Servers wait minutes for each other; RFC 5321 §4.5.3.2.7 asks for five. */
const idleMs = 300_000
const sessionMs = 900_000
/** Return paths stand for one recipient each, so that a report for many at once is rare. */
const maxRecipients = 100

export function mxServer({ config, certificate, readReport, mxEvents, ...core }: MailDoorParts): MxServer {
  const { mx, smtpHost, dataDir, inboundDomain } = config
  return new MxServer({
    listen: mx.listen,
    hostname: smtpHost,
    tls: certificate,
    limits: { ...mx, maxRecipients, idleMs, sessionMs },
    door: new InboundDoor({ ...core, inboundDomain }),
    readReport,
    postmaster: new PostmasterBox(join(dataDir, 'postmaster'), core.clock),
    events: mxEvents,
    clock: core.clock,
  })
}
