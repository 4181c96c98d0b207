/** Composes the intake of feedback: sources, signed reports, logs and their processing. */
import { reported } from '#core/activity.ts'
import { Feedback } from '#core/feedback/intake/feedback.ts'
import { LogIntake } from '#core/feedback/intake/log-intake.ts'
import { MailEnableIntake } from '#core/feedback/intake/mailenable-intake.ts'
import { PendingReports } from '#core/feedback/intake/pending-reports.ts'
import { WaitingRoom } from '#core/feedback/intake/waiting-room.ts'
import { IngestSources } from '#core/ingest-sources/ingest-sources.ts'
import { PostofficeMappings } from '#core/ingest-sources/postoffice-mappings.ts'
import { SignedSources } from '#core/ingest-sources/signed-source.ts'
import { KeyedMutex } from '#core/keyed-mutex.ts'
import { ReportReader } from '#ingest/report/report-reader.ts'
import type { Ingest } from './composed.ts'
import { broke, type Composition } from './parts.ts'
import { workNames } from './works/work-names.ts'

export function ingestCore(composition: Composition): Ingest {
  const { get } = composition
  const parts = { ...get('core'), guard: get('guard'), resolver: get('resolver'), onError: broke(composition, 'feedback') }
  const room = new WaitingRoom()
  const feedback = new Feedback({
    ...parts,
    room,
    onPending: () => parts.database.daemons.wake(workNames.earlyReports, () => pendingReports.wake()),
  })
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
    reports: reported(get('activity'), new ReportReader(parts.clock), { read: 'reading of a report' }),
  }
}
