/** Import of suppression and unsubscribe lists from another service. */
import { Readable } from 'node:stream'
import { withCommas } from '#config/texts/formats.ts'
import { maxMovedRows } from '#core/moving/list-import.ts'
import { ListExport } from '#ingest/exports/list-export.ts'
import { streamed } from '../../bodies/body-stream.ts'
import { media, raw } from '../../operation/answer.ts'
import { operation, type Operation } from '../../operation/operation.ts'
import { movedListBody, movedListQuery, reportLines } from '../../wire/feedback/moved-list.ts'
import { unreadableBody } from '../feedback/suppressions.ts'
import type { RestCore } from '../rest-core.ts'

const maxBytes = 256 * 1024 * 1024
const deadlineSeconds = 900
const contentType = 'application/x-ndjson'

export const serviceListOperations: readonly Operation<RestCore>[] = [
  operation({
    method: 'POST',
    path: '/v1/suppressions/service-import',
    operationId: 'importServiceSuppressions',
    summary: 'Import the suppressions of another service',
    description:
      'Accepts a file downloaded from Resend, SendGrid, Postmark, Mailgun, Brevo, MailerSend, SparkPost, Mailjet or Amazon SES, ' +
      `with up to ${withCommas(maxMovedRows)} rows. An unreadable file adds nothing. The report consists of lines of JSON, sent ` +
      `during the import: first a line of the type \`file\` with the service; a \`row\` for each row that was skipped or refused, ` +
      `with the reason; a \`progress\` with the last stored row; and at the end a \`summary\` with the counts. Without a summary, ` +
      `the import was interrupted: continue with \`from_row\`, or import the file again, which adds no duplicates.`,
    tags: ['suppressions'],
    scope: 'api:admin',
    errors: ['not_found', 'conflict', 'storage_full'],
    maxBodyBytes: maxBytes,
    deadlineSeconds,
    query: movedListQuery,
    body: streamed(movedListBody),
    response: media(contentType),
    examples: { body: { Suppressions: [{ EmailAddress: 'ada@example.ch', SuppressionReason: 'HardBounce', Origin: 'Recipient' }] } },
    async handle({ core, principal, query, body: { bytes }, signal, authenticateAgain }) {
      const { service, kind, file_name: fileName, list, project_id: projectId, dry_run: isDryRun, from_row: fromRow = 1 } = query
      const file = new ListExport({ service, kind, fileName })
      const rows = (from: AsyncIterable<Uint8Array>) => file.rows(from)
      const notes = await core.listImport.run(principal, { bytes, rows, isDryRun, projectId, list, fromRow, signal }).catch(unreadableBody)
      return raw(Readable.from(reportLines({ service: file.service ?? null, dry_run: isDryRun }, notes, authenticateAgain)), {
        contentType,
      })
    },
  }),
]
