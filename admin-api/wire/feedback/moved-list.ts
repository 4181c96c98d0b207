/** Lists imported from other services, on the wire: the import request, and its report in lines. */
import * as z from 'zod'
import { movedKinds } from '#core/moving/moved-row.ts'
import type { MovedNote } from '#core/moving/list-import.ts'
import { services } from '#ingest/exports/export-shapes.ts'
import { id, line } from '../fields/text.ts'
import { withBooleanForm, withNumberForm } from '../fields/text-form.ts'

export const service = z
  .enum(services)
  .meta({ description: 'The service that the data comes from. Defaults to the service recognized from the fields.' })

const maxList = 128
const firstRow = withNumberForm(
  z.int().min(1).max(9_999_999).optional().meta({ description: 'Skips the rows before this row.' }),
  /^[1-9]\d{0,6}$/,
  'must be the number of a row, such as 1',
)

/** The query field of imports that only check a file. */
export const dryRun = withBooleanForm(z.boolean().default(false))

export const movedListQuery = z.strictObject({
  service: service.optional(),
  kind: z
    .enum(movedKinds)
    .optional()
    .meta({ description: 'The kind of list. Required if neither the fields nor the file name identify it.' }),
  file_name: line(200)
    .optional()
    .meta({ description: 'Name of the file. It identifies the kind of list if several lists of a service have the same columns.' }),
  list: line(maxList).optional().meta({
    description:
      'The list for all unsubscribes in the file; `*` is every list. By default, they apply to all mail unless the service names a list.',
  }),
  project_id: id.optional().meta({ description: 'Defaults to the project of the key.' }),
  dry_run: dryRun,
  from_row: firstRow,
})

/** The content is parsed even if its type is `application/octet-stream`. */
const file = z.string().meta({ description: 'The file as downloaded: CSV or JSON, in UTF-8 or UTF-16.' })
export const movedListBody = {
  ...{
    'text/csv': file,
    'application/json': z.unknown().meta({ description: 'The response of the service.' }),
    'application/x-ndjson': file,
  },
  ...{ 'text/plain': file, 'application/octet-stream': file },
}

const linesInPiece = 200

export interface MovedListHead {
  readonly service: string | null
  readonly dry_run: boolean
}

/**
 * Returns the report as lines of JSON, in pieces. `mayGoOn` runs before each piece and throws to stop. Ending the iterator also ends the
 * notes. Implemented by hand, since ending a generator that never started would not end its source.
 */
export function reportLines(
  head: MovedListHead,
  notes: AsyncGenerator<MovedNote>,
  mayGoOn: () => Promise<void>,
): AsyncIterableIterator<string> {
  let text = `${JSON.stringify({ type: 'file', ...head })}\n`
  const next = async (): Promise<IteratorResult<string>> => {
    if (text === '') await mayGoOn()
    for (let lines = 0; lines < linesInPiece; lines++) {
      const { value, done } = await notes.next()
      if (done) break
      text += `${JSON.stringify(value)}\n`
      if (value.type !== 'row') break
    }
    const piece = text
    text = ''
    return piece === '' ? { done: true, value: undefined } : { done: false, value: piece }
  }
  return {
    next,
    async return() {
      await notes.return(undefined)
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
