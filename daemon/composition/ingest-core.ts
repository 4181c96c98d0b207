/** The taking in of feedback, composed: sources, what they sign, and where it goes. */
import type { SecretBox } from '#core/access/secret-box.ts'
import type { Clock } from '#core/clock.ts'
import { Feedback } from '#core/feedback/intake/feedback.ts'
import { LogIntake } from '#core/feedback/intake/log-intake.ts'
import { MailEnableIntake } from '#core/feedback/intake/mailenable-intake.ts'
import { PendingReports } from '#core/feedback/intake/pending-reports.ts'
import { WaitingRoom } from '#core/feedback/intake/waiting-room.ts'
import { IngestSources } from '#core/ingest-sources/ingest-sources.ts'
import { PostofficeMappings } from '#core/ingest-sources/postoffice-mappings.ts'
import { SignedSources } from '#core/ingest-sources/signed-source.ts'
import { KeyedMutex } from '#core/ingest-sources/keyed-mutex.ts'
import type { AddressGuard } from '#core/outbound/address-guard.ts'
import type { Resolver } from '#core/outbound/resolver.ts'
import type { Policies } from '#core/routing/policy/policy.ts'
import type { SettingWrites } from '#core/writes/setting-writes.ts'
import { ReportReader } from '#ingest/report/report-reader.ts'
import type { Database } from '#store/database.ts'
import type { IngestCore } from '../../admin-api/rest/ingest-core.ts'

export interface IngestParts {
  readonly database: Database
  readonly policies: Policies
  readonly secrets: SecretBox
  readonly clock: Clock
  readonly writes: SettingWrites
  readonly guard: AddressGuard
  readonly resolver: Resolver
  readonly onError: (error: unknown) => void
}

export interface Ingest extends IngestCore {
  readonly feedback: Feedback
  /** Tries reports again that came too early; to be started and stopped. */
  readonly pendingReports: PendingReports
  /** To be closed. */
  readonly reports: ReportReader
}

export function ingestCore(parts: IngestParts): Ingest {
  const room = new WaitingRoom()
  const feedback = new Feedback({ ...parts, room, onPending: () => pendingReports.wake() })
  const pendingReports: PendingReports = new PendingReports({ ...parts, room, feedback })
  const mutex = new KeyedMutex()
  return {
    sources: new IngestSources(parts),
    mappings: new PostofficeMappings(parts),
    signed: new SignedSources(parts),
    feedback,
    logs: new LogIntake({ ...parts, feedback, mutex }),
    mailEnable: new MailEnableIntake({ ...parts, feedback, mutex }),
    pendingReports,
    reports: new ReportReader(parts.clock),
  }
}
