/** Lists of other services on the wire: what an import of one is asked, and its report in lines. */
import * as z from 'zod'
import { movedKinds } from '#core/moving/moved-row.ts'
import type { MovedNote } from '#core/moving/list-import.ts'
import { services } from '#ingest/exports/export-shapes.ts'
import { id, line } from '../fields/text.ts'

export const service = z
  .enum(services)
  .meta({ description: 'The service that the data comes from. By default it is recognized by the fields.' })

const maxList = 128
const row = z
  .string()
  .regex(/^[1-9]\d{0,6}$/, 'must be the number of a row, such as 1')
  .transform(Number)

export const movedListQuery = z.strictObject({
  service: service.optional(),
  kind: z.enum(movedKinds).optional().meta({ description: 'What the file has, where neither its fields nor its name say so.' }),
  file_name: line(200)
    .optional()
    .meta({ description: 'Name of the file, which says what is in it where lists of a service look the same.' }),
  list: line(maxList).optional().meta({
    description:
      'Unsubscribes are from this list; `*` is every list. By default, they are from all mail unless the service says otherwise.',
  }),
  project_id: id.optional().meta({ description: 'Defaults to the project of the key.' }),
  dry_run: z.enum(['true', 'false']).default('false'),
  from_row: row.optional().meta({ description: 'Passes over the rows before this one.' }),
})

/** An octet stream is looked into all the same. */
const file = z.string().meta({ description: 'The file as it was downloaded: CSV or JSON, in UTF-8 or UTF-16.' })
export const movedListBody = {
  ...{
    'text/csv': file,
    'application/json': z.unknown().meta({ description: 'The answer of the service.' }),
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
 * The report as lines of JSON, some at a time, as long as `mayGoOn` does not throw; the notes are ended with it. An iterator by
 * hand, since a generator that was never begun would not end what it reads.
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
