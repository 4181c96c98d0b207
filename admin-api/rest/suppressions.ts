/** Suppressions: the list, its entries, import and export. Spec "Traces, inspect, suppressions". */
import { Readable } from 'node:stream'
import * as z from 'zod'
import { importRowsMax } from '#core/feedback/suppression-import.ts'
import { invalid } from '#core/refusals.ts'
import { readCsvRows } from '#ingest/csv-rows.ts'
import { readJsonRows } from '#ingest/json-rows.ts'
import { UnreadableRows } from '#ingest/rows-text.ts'
import { answer, media, noBody, raw } from '../answer.ts'
import { streamed } from '../body-stream.ts'
import { operation, type Operation } from '../operation.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import {
  exportedCsv,
  importedCsv,
  importedRows,
  importReportShape,
  newSuppressionBody,
  reportJson,
  RowFields,
  source,
  suppressionChangesBody,
  suppressionShape,
  toNewSuppression,
  toSuppressionChanges,
  toWireSuppression,
} from '../wire/suppression.ts'
import { id, idParams, line } from '../wire/text.ts'
import { timeInput } from '../wire/time.ts'
import { projectFilter, type RestCore } from './core.ts'

const tags = ['suppressions']
const importBytesMax = 32 * 1024 * 1024
const importDeadlineSeconds = 300

const filters = {
  source: source.optional(),
  project_id: id.optional().meta({ description: 'Only entries that came from this project. All entries hold for the whole organization.' }),
  q: line(320, 'A part of the address, in any case.').optional(),
  created_after: timeInput.optional().meta({ description: 'Added after this time.' }),
}

export const suppressionOperations = (core: RestCore): readonly Operation[] => [...list(core), ...entry(core), ...bulk(core)]

const list = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/suppressions',
    operationId: 'listSuppressions',
    summary: 'List the addresses that get no mail, the newest first',
    description:
      'They follow from bounces, complaints and entries by hand; opt-outs of lists stand under `/v1/unsubscribes`. Expired entries are listed until they are deleted or added again. A page can hold fewer entries than asked for, even none, and still have a next one.',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    query: z.strictObject({ limit: pagingFields.limit, cursor: pagingFields.cursor, ...filters }),
    response: pageOf(suppressionShape),
    async handle({ scope, query: { limit, cursor, project_id, created_after, ...filter } }) {
      const projectId = project_id && (await projectFilter(core, scope, project_id))
      const page = await core.suppressions.list(scope, { ...filter, projectId, createdAfter: created_after }, limit, cursor)
      return { data: page.rows.map(toWireSuppression), next_cursor: page.nextCursor ?? null }
    },
  }),
  operation({
    method: 'POST',
    path: '/v1/suppressions',
    operationId: 'addSuppression',
    summary: 'Send no more mail to an address',
    description: 'An address that is there already is answered as it stands; it never ends earlier than asked for here.',
    tags,
    right: 'api:admin',
    status: 201,
    otherResponses: { 200: 'The address was there already.' },
    errors: ['not_found', 'conflict'],
    body: newSuppressionBody,
    response: suppressionShape,
    examples: { body: { email: 'ada@example.ch', reason: 'asked on the telephone' } },
    async handle({ scope, body }) {
      const { suppression, added } = await core.suppressions.add(scope, toNewSuppression(body))
      return answer(toWireSuppression(suppression), { status: added ? 201 : 200 })
    },
  }),
]

const entry = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/suppressions/{id}',
    operationId: 'readSuppression',
    summary: 'Read a suppression',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: idParams,
    response: suppressionShape,
    handle: async ({ scope, params }) => toWireSuppression(await core.suppressions.get(scope, params.id)),
  }),
  operation({
    method: 'PATCH',
    path: '/v1/suppressions/{id}',
    operationId: 'updateSuppression',
    summary: 'Change the reason or the end of a suppression',
    tags,
    right: 'api:admin',
    errors: ['not_found'],
    params: idParams,
    body: suppressionChangesBody,
    response: suppressionShape,
    async handle({ scope, params, body }) {
      return toWireSuppression(await core.suppressions.update(scope, params.id, toSuppressionChanges(body)))
    },
  }),
  operation({
    method: 'DELETE',
    path: '/v1/suppressions/{id}',
    operationId: 'deleteSuppression',
    summary: 'Let mail go to an address again; twice is the same as once',
    tags,
    right: 'api:admin',
    status: 204,
    params: idParams,
    response: noBody,
    handle: ({ scope, params }) => core.suppressions.remove(scope, params.id),
  }),
]

const bulk = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'POST',
    path: '/v1/suppressions/bulk-import',
    operationId: 'importSuppressions',
    summary: `Add up to ${importRowsMax.toLocaleString('en')} addresses at once`,
    description:
      'JSON rows or CSV with a header row. A row that is refused stops no other, and the report tells what came of each. When the whole ' +
      'is refused (too many rows, no readable file), nothing was added. Repeating an import does no harm.',
    tags,
    right: 'api:admin',
    errors: ['conflict', 'storage_full'],
    maxBodyBytes: importBytesMax,
    deadlineSeconds: importDeadlineSeconds,
    body: streamed({ 'application/json': importedRows, 'text/csv': importedCsv }),
    response: importReportShape,
    examples: { body: { rows: [{ email: 'ada@example.ch', reason: 'hard bounce' }] } },
    async handle({ scope, body: { mediaType, bytes }, signal }) {
      const rows = mediaType === 'text/csv' ? (from: AsyncIterable<Uint8Array>) => readCsvRows(from, 'email') : readJsonRows
      const fields = new RowFields()
      const report = await core.suppressionImport.run(scope, { bytes, rows, toEntry: fields.toEntry, signal }).catch(toRefusal)
      return raw(Readable.from(reportJson(report, fields.ignored)), { contentType: 'application/json' })
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/suppressions/export',
    operationId: 'exportSuppressions',
    summary: 'Download the list as CSV, oldest first',
    description: 'A cell that a spreadsheet would take for a formula begins with an apostrophe, which an import takes away again.',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    query: z.strictObject(filters),
    response: media('text/csv'),
    async handle({ scope, query: { project_id, created_after, ...filter } }) {
      const projectId = project_id && (await projectFilter(core, scope, project_id))
      const entries = core.suppressions.all(scope, { ...filter, projectId, createdAfter: created_after })
      return raw(Readable.from(exportedCsv(entries)), {
        contentType: 'text/csv; charset=utf-8; header=present',
        headers: { 'content-disposition': 'attachment; filename="suppressions.csv"' },
      })
    },
  }),
]

function toRefusal(error: unknown): never {
  if (error instanceof UnreadableRows) throw invalid([{ path: 'body', message: error.message }])
  throw error
}
