/** Suppressions: the list, its entries, import and export. Spec "Traces, inspect, suppressions". */
import { withCommas } from '#config/texts/formats.ts'
import { Readable } from 'node:stream'
import * as z from 'zod'
import { maxImportRows } from '#core/feedback/suppression/suppression-import.ts'
import type { AddedSuppression } from '#core/feedback/suppression/add-suppressions.ts'
import { invalid } from '#core/refusals.ts'
import { readCsvRows } from '#ingest/rows/csv-rows.ts'
import { readJsonRows } from '#ingest/rows/json-rows.ts'
import { UnreadableRows } from '#ingest/rows/rows-text.ts'
import { action, type Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { media, raw } from '../../operation/answer.ts'
import { streamed } from '../../bodies/body-stream.ts'
import { operation, type Operation } from '../../operation/operation.ts'
import { dryRun } from '../../wire/feedback/moved-list.ts'
import { decoder } from '../../wire/fields/codec.ts'
import {
  addressInput,
  exportedCsv,
  importedCsv,
  importedRows,
  importReportShape,
  newSuppression,
  reportJson,
  RowFields,
  suppression,
  suppressionChanges,
  suppressionFilter,
  suppressionMatch,
} from '../../wire/feedback/suppression.ts'
import type { RestCore } from '../rest-core.ts'

const tags = ['suppressions']
const suppressions = resource('/v1/suppressions', { name: 'Suppression', tags, graphql: true })
const maxImportBytes = 32 * 1024 * 1024
const importDeadlineSeconds = 300

/** Text of others: the address, and often the reply of the server that refused it. */
export const entryFields = ['email', 'reason']

const entries: readonly Action<RestCore>[] = [
  suppressions.list({
    summary: 'List suppressions, newest first',
    description:
      'Suppressions are created by bounces, by complaints and manually; unsubscribes from lists are under `/v1/unsubscribes`. ' +
      'Expired entries stay in the list until they are deleted or added again. A key of one project lists only entries created ' +
      'by the project. A page can contain fewer entries than `limit`, even zero, and still have a next page.',
    filter: suppressionFilter,
    item: suppression,
    run: ({ core, principal }, page) => core.suppressions.list(principal, page),
  }),
  suppressions.create({
    summary: 'Create a suppression',
    description:
      'Stops all mail to the address. For an address that is already suppressed, returns the existing entry, which never expires ' +
      'earlier than requested here. A key bound to one project creates the entry for that project. If an entry outside the ' +
      'project already suppresses the address, such a key receives an entry with the id `outside_project` and no further details.',
    input: newSuppression,
    tool: {
      name: 'email_suppression_add',
      toolset: 'operate',
      description:
        'Stop all mail of the organization to one address, permanently or until expires_at. An existing entry stays. For many ' +
        'addresses use email_suppression_bulk_import; to undo use email_suppression_remove.',
      untrusted: entryFields,
      reachesOrganization: true,
      hints: { idempotent: true },
    },
    output: suppression.via(({ suppression: placed }: AddedSuppression) => placed),
    examples: { input: { email: 'ada@example.ch', reason: 'Requested by phone' } },
    http: {
      otherResponses: { 200: 'The address was already suppressed.' },
      statusOf: ({ added }) => (added ? undefined : 200),
    },
    run: ({ core, principal }, entry) => core.suppressions.add(principal, entry),
  }),
  action({
    id: 'matchSuppression',
    summary: 'Check whether an address is suppressed',
    description:
      'A key limited to one project receives the entry only if it belongs to that project; otherwise it receives only the match.',
    tags,
    scope: 'api:read',
    input: z.strictObject({ address: addressInput }),
    output: suppressionMatch,
    http: { method: 'GET', path: '/v1/suppressions/match' },
    graphql: { field: 'suppressionMatch', root: 'query' },
    run: ({ core, principal }, { address }) => core.suppressions.match(principal, address),
  }),
  suppressions.read({
    summary: 'Get a suppression',
    output: suppression,
    tool: {
      name: 'email_suppression_get',
      toolset: 'operate',
      description:
        'Get one entry of the suppression list by its id: address, reason, source and times. To find it by address use ' +
        'email_suppression_list with q.',
      untrusted: entryFields,
      reachesOrganization: true,
    },
    run: ({ core, principal }, { id }) => core.suppressions.get(principal, id),
  }),
  suppressions.change({
    summary: 'Update a suppression',
    description: 'Omitted fields keep their values.',
    errors: ['not_found'],
    input: suppressionChanges,
    output: suppression,
    run: ({ core, principal }, { id, ...changes }) => core.suppressions.update(principal, id, changes),
  }),
  suppressions.remove({
    summary: 'Delete a suppression',
    tool: {
      name: 'email_suppression_remove',
      toolset: 'operate',
      description:
        'Delete an address from the suppression list, so that mail to it is sent again. Ask the user: bounces and complaints ' +
        'create entries, and mail to such addresses harms the reputation of the sender.',
      reachesOrganization: true,
      hints: { destructive: true, idempotent: true },
    },
    description: 'Idempotent. Mail is sent to the address again.',
    errors: [],
    run: ({ core, principal }, { id }) => core.suppressions.remove(principal, id),
  }),
]

const decodedFilter = decoder(z.strictObject(suppressionFilter))

/** Operations with streamed rows; the input and result of an action are single values. */
const bulk: readonly Operation<RestCore>[] = [
  operation({
    method: 'POST',
    path: '/v1/suppressions/bulk-import',
    operationId: 'importSuppressions',
    summary: `Import up to ${withCommas(maxImportRows)} suppressions`,
    description:
      'Accepts JSON rows or CSV with a header row. A refused row does not stop the others; the report lists the result of each. ' +
      'If the whole import is refused (too many rows, unreadable file), no row is added. Idempotent. With `dry_run=true`, no row ' +
      'is added, and the report states the expected results. Requires a key of the whole organization.',
    tags,
    scope: 'api:admin',
    errors: ['conflict', 'storage_full'],
    maxBodyBytes: maxImportBytes,
    deadlineSeconds: importDeadlineSeconds,
    query: z.strictObject({ dry_run: dryRun }),
    body: streamed({ 'application/json': importedRows, 'text/csv': importedCsv }),
    response: importReportShape,
    examples: { body: { rows: [{ email: 'ada@example.ch', reason: 'hard bounce' }] } },
    async handle({ core, principal, query: { dry_run: isDryRun }, body: { mediaType, bytes }, signal }) {
      const rows = mediaType === 'text/csv' ? (from: AsyncIterable<Uint8Array>) => readCsvRows(from, 'email') : readJsonRows
      const fields = new RowFields()
      const report = await core.suppressionImport
        .run(principal, {
          ...{ bytes, rows, toEntry: fields.toEntry, signal },
          isDryRun,
        })
        .catch(unreadableBody)
      return raw(Readable.from(reportJson(report, fields.ignored)), { contentType: 'application/json' })
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/suppressions/export',
    operationId: 'exportSuppressions',
    summary: 'Export suppressions as CSV, oldest first',
    description:
      'A cell that a spreadsheet would evaluate as a formula is prefixed with an apostrophe; an import removes it again. A key ' +
      'of one project exports only entries created by the project.',
    tags,
    scope: 'api:read',
    errors: ['not_found'],
    query: z.strictObject(suppressionFilter),
    response: media('text/csv'),
    async handle({ core, principal, query }) {
      return raw(Readable.from(exportedCsv(await core.suppressions.all(principal, decodedFilter(query)))), {
        contentType: 'text/csv; charset=utf-8; header=present',
        headers: { 'content-disposition': 'attachment; filename="suppressions.csv"' },
      })
    },
  }),
]

export const suppressionActions: readonly (Action<RestCore> | Operation<RestCore>)[] = [...entries, ...bulk]

/** Throws `validation_failed` if the body is unreadable; rethrows other errors. */
export function unreadableBody(error: unknown): never {
  if (error instanceof UnreadableRows) throw invalid([{ path: 'body', message: error.message }])
  throw error
}
