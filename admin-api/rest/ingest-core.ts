/** The core of the operations that accept reports. */
import type { FeedbackTaker } from '#core/feedback/feedback-origin.ts'
import type { LogIntake } from '#core/feedback/intake/log-intake.ts'
import type { MailEnableIntake } from '#core/feedback/intake/mailenable-intake.ts'
import type { IngestSources } from '#core/ingest-sources/ingest-sources.ts'
import type { PostofficeMappings } from '#core/ingest-sources/postoffice-mappings.ts'
import type { SignedSource, SignedSources } from '#core/ingest-sources/signed-source.ts'
import type { IngestProvider } from '#core/ingest-sources/ingest-source.ts'
import { invalid } from '#core/refusals.ts'
import type { ReportReader } from '#ingest/report/report-reader.ts'

export interface IngestCore {
  readonly sources: IngestSources
  readonly mappings: PostofficeMappings
  readonly signed: SignedSources
  readonly feedback: FeedbackTaker
  readonly logs: LogIntake
  readonly mailEnable: MailEnableIntake
  readonly reports: Pick<ReportReader, 'read'>
}

/** Throws `validation_failed` for a source of another provider. */
export function requireProvider({ source }: SignedSource, provider: IngestProvider): void {
  if (source.provider === provider) return
  const message = `is the id of a ${source.provider} source; this URL accepts ${provider}. Post to the webhook_url of the source.`
  throw invalid([{ path: 'source_id', message }])
}
