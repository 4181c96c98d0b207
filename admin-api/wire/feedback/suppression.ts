/** Suppressions on the wire: entries, rows of an import and its report, and the exported CSV. Spec "Suppression". */
import * as z from 'zod'
import { rowResults, type ImportReport } from '#core/feedback/suppression/suppression-import.ts'
import { suppressionSources, type Suppression } from '#core/feedback/suppression/suppression.ts'
import type { SuppressionMatch } from '#core/feedback/suppression/suppressed-recipients.ts'
import type { NewSuppression } from '#core/feedback/suppression/suppressions.ts'
import { csvLine } from '#ingest/rows/csv-cells.ts'
import { check } from '../../bodies/validation.ts'
import { decoder, encoder } from '../fields/codec.ts'
import { filledLine, id, line } from '../fields/text.ts'
import { timeInput, wireTime } from '../fields/time.ts'

const maxReason = 500
const source = z.enum(suppressionSources)

const suppressionShape = z
  .object({
    id: z.string(),
    email: z.string().meta({ description: 'In lower case, with the domain as A-labels.' }),
    reason: z.string().nullable(),
    project_id: z
      .string()
      .nullable()
      .meta({ description: 'The project that created the entry. The entry applies to the whole organization.' }),
    source,
    expires_at: wireTime.nullable(),
    created_at: wireTime,
  })
  .meta({ id: 'Suppression' })

const reason = line(maxReason).nullable().optional()
const expiresAt = timeInput
  .nullable()
  .optional()
  .meta({ description: 'When the suppression ends: an RFC 3339 time in the future. If null or omitted, it never ends.' })

const newFields = {
  email: filledLine(320, 'One address without a display name.'),
  reason,
  project_id: id.nullable().optional(),
  expires_at: expiresAt,
}
export const newSuppression = z.strictObject(newFields)
export const suppressionChanges = z.strictObject({ reason, expires_at: expiresAt })

/** Filters of lists and of the export. */
export const suppressionFilter = {
  source: source.optional(),
  project_id: id
    .optional()
    .meta({ description: 'Lists only entries created by this project. Every entry applies to the whole organization.' }),
  q: line(320, 'Part of the address. Case-insensitive.').optional(),
  created_after: timeInput.optional().meta({ description: 'Lists only entries added after this time.' }),
}

export const suppression = encoder(suppressionShape).from<Suppression>()

const matchShape = z
  .object({
    address: z.string().meta({ description: 'The address as stored in the list.' }),
    match: z.boolean().meta({ description: 'Whether mail to the address is suppressed now.' }),
    entry: suppressionShape.nullable().meta({
      description:
        'The entry that applies. Null without a match. Also null for keys of one project if the entry does not belong to that project.',
    }),
  })
  .meta({ id: 'SuppressionMatch' })

export const suppressionMatch = encoder(matchShape).from<SuppressionMatch>({
  address: ({ email }) => email,
  match: ({ isMatch }) => isMatch,
  entry: ({ entry }) => (entry ? suppression.encode(entry) : null),
})

export const addressInput = filledLine(320, 'One address without a display name.')

const importedRow = z.looseObject(newFields)
/** The JSON forms of an import; rows are validated one at a time. */
export const importedRows = z.union([z.array(importedRow), z.strictObject({ rows: z.array(importedRow) })])
export const importedCsv = z.string().meta({
  description:
    'CSV (RFC 4180) with commas, in UTF-8. The first row contains the column names: email, and optionally reason, project_id and ' +
    'expires_at.',
})

const maxIgnored = 20
const toNewSuppression = decoder(newSuppression)

/** Parses rows with the fields of a new entry, and collects the names of unknown fields. */
export class RowFields {
  readonly #ignored = new Set<string>()

  /** Throws `validation_failed`, naming the field. */
  readonly toEntry = (fields: Readonly<Record<string, unknown>>): NewSuppression => {
    const known: Record<string, unknown> = {}
    for (const name of Object.keys(fields)) {
      if (Object.hasOwn(newFields, name)) known[name] = fields[name]
      else if (this.#ignored.size < maxIgnored) this.#ignored.add(name.slice(0, 40).toWellFormed())
    }
    return toNewSuppression(check(newSuppression, known, 'body'))
  }

  get ignored(): readonly string[] {
    return [...this.#ignored]
  }
}

export const importReportShape = z
  .object({
    total: z.int(),
    added: z.int(),
    already_there: z.int(),
    refused: z.int(),
    ignored_fields: z.array(z.string()).meta({ description: `The first ${maxIgnored} unknown fields or columns, which were ignored.` }),
    rows: z
      .array(
        z.object({
          row: z.int(),
          result: z.enum(rowResults),
          email: z.string().nullable().optional(),
          message: z.string().optional(),
        }),
      )
      .meta({ description: 'Every row in order, numbered from 1 without the header row. Refused rows state what to change.' }),
  })
  .meta({ id: 'SuppressionImportReport' })

const rowsInPiece = 500

/** Yields the report as JSON text in pieces. */
export function* reportJson({ counts, results, refused }: ImportReport, ignored: readonly string[]): Generator<string> {
  const summary = { total: results.length, ...counts, ignored_fields: ignored }
  yield `${JSON.stringify(summary).slice(0, -1)},"rows":[`
  for (let from = 0; from < results.length; from += rowsInPiece) {
    const rows = results.slice(from, from + rowsInPiece).map((result, i) => {
      const row = from + i + 1
      return JSON.stringify({ row, result, ...refused.get(row) })
    })
    yield (from === 0 ? '' : ',') + rows.join(',')
  }
  yield ']}'
}

const exportPiece = 200

/** Yields the entries as CSV in pieces, starting with the header row. The result can be imported again. */
export async function* exportedCsv(entries: AsyncIterable<Suppression>): AsyncGenerator<string> {
  let piece = csvLine(['email', 'reason', 'source', 'project_id', 'expires_at', 'created_at', 'id'])
  let lines = 1
  for await (const entry of entries) {
    const { email, reason: why, source: how, project_id, expires_at, created_at, id: entryId } = suppression.encode(entry)
    piece += csvLine([email, why, how, project_id, expires_at, created_at, entryId])
    if (++lines % exportPiece > 0) continue
    yield piece
    piece = ''
  }
  yield piece
}
