/** Submissions as files: CSV for spreadsheets, JSON, and JSON lines; written in pieces. */
import * as z from 'zod'
import { referenceOf, submissionStatuses, type FormSubmission } from '#core/forms/submissions/submission.ts'
import type { SubmissionExport } from '#core/forms/submissions/export.ts'
import { namedAnswers } from '#core/forms/uploads/submission-file.ts'
import { csvLine } from '#ingest/rows/csv-cells.ts'
import { submission } from './submission.ts'

const timeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, 'must be a time zone such as Europe/Zurich')
  .default('UTC')
  .meta({ description: 'The time zone of `created_at` in CSV.' })

export const exportQuery = z.strictObject({
  format: z.enum(['csv', 'json', 'jsonl']).default('csv'),
  columns: z
    .string()
    .max(6500)
    .regex(/^\w+(?:,\w+)*$/, 'must be comma-separated keys of fields')
    .transform((text) => text.split(','))
    .optional()
    .meta({ description: 'Keys of fields, in the order of the columns. Defaults to all fields in all versions of the form.' }),
  status: z.enum(submissionStatuses).optional().meta({ description: 'Defaults to all submissions except spam.' }),
  tz: timeZone,
})

export type ExportFormat = z.output<typeof exportQuery>['format']

export const exportTypes: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  json: 'application/json',
  jsonl: 'application/jsonl; charset=utf-8',
}

const rowsOfPiece = 200
/** Makes spreadsheets detect UTF-8. */
const byteOrderMark = '\ufeff'

export async function* exportPieces({ columns, rows }: SubmissionExport, format: ExportFormat, tz: string): AsyncGenerator<string> {
  const [begin, between, end] = {
    csv: [byteOrderMark + csvLine(['id', 'created_at', 'status', '_version', '_reference', ...columns]), '', ''],
    json: ['{"data":[', ',', ']}'],
    jsonl: ['', '', ''],
  }[format] as [string, string, string]
  const write = writerOf(format, columns, tz)
  let piece = begin
  let written = 0
  for await (const row of rows) {
    piece += (written > 0 ? between : '') + write(row)
    if (++written % rowsOfPiece > 0) continue
    yield piece
    piece = ''
  }
  yield piece + end
}

function writerOf(format: ExportFormat, columns: readonly string[], tz: string): (row: FormSubmission) => string {
  const chosen = (row: FormSubmission) => {
    const answers = Object.fromEntries(columns.flatMap((key) => (Object.hasOwn(row.answers, key) ? [[key, row.answers[key]]] : [])))
    return JSON.stringify({ ...submission.encode(row), answers })
  }
  if (format === 'json') return chosen
  if (format === 'jsonl') return (row) => `${chosen(row)}\n`
  const time = localTime(tz)
  return (row) => {
    const answers = namedAnswers(row)
    return csvLine([
      row.id,
      time(row.createdAt),
      row.status,
      row.version,
      referenceOf(row),
      ...columns.map((key) => cellOf(Object.hasOwn(answers, key) ? answers[key] : undefined)),
    ])
  }
}

function cellOf(answer: FormSubmission['answers'][string] | undefined): string | number | null {
  if (answer === undefined) return null
  if (typeof answer === 'number') return answer
  return typeof answer === 'object' ? answer.join('; ') : String(answer)
}

/** Formats a time as `2026-11-23 17:30:00`, which spreadsheets parse. */
function localTime(timeZone: string): (ms: number) => string {
  const parts = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  return (ms) => parts.format(ms)
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) instanceof Intl.DateTimeFormat
  } catch {
    return false
  }
}
