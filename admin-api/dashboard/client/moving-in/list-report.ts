/** Import of an address list. The service streams the report as lines of JSON. */
import { ApiFault, read, showCall } from '../app/api.ts'
import { organization } from '../app/location.ts'
import { addressOf, type Input } from '../wire/route.ts'

export const importRoute = 'POST /v1/suppressions/service-import'

export type ListQuery = NonNullable<Input<typeof importRoute>['query']>

interface ListCounts {
  readonly added: number
  readonly already_there: number
  readonly skipped: number
  readonly refused: number
}

/** A skipped or refused row. */
export interface LeftRow {
  readonly row: number
  readonly line: number
  readonly result: 'skipped' | 'refused'
  readonly email: string | null
  /** English text of the service. */
  readonly message: string
}

type Note =
  | { readonly type: 'file'; readonly service: string | null }
  | ({ readonly type: 'row' } & LeftRow)
  | { readonly type: 'progress'; readonly row: number }
  | ({ readonly type: 'summary' } & ListCounts)

export interface ListReport {
  readonly service: string | null
  /** The first skipped or refused rows. */
  readonly left: readonly LeftRow[]
  readonly leftCount: number
  /** All rows up to this one are stored. */
  readonly reached: number
  /** Undefined until the import is complete. */
  readonly counts?: ListCounts
}

const maxLeft = 300

const typeOf = (name: string): string =>
  /\.json$/i.test(name) ? 'application/json' : /\.(?:ndjson|jsonl)$/i.test(name) ? 'application/x-ndjson' : 'text/csv'

interface Importing {
  readonly file: File
  readonly query: ListQuery
  readonly signal: AbortSignal
  readonly onReport: (report: ListReport) => void
}

/**
 * Resolves with the report at the end of the response. After an interruption, the report has no counts. Throws `ApiFault` if the service
 * rejects the file, or an `AbortError` after `signal` aborts.
 */
export async function importList({ file, query, signal, onReport }: Importing): Promise<ListReport> {
  const type = typeOf(file.name)
  const input = { query: { ...query, file_name: file.name.slice(0, 200) } }
  showCall(importRoute, { ...input, file: { name: file.name, type } })
  const response = await ask(addressOf(importRoute, input), file, type, signal)
  if (!response.ok || !response.body) {
    await read(response)
    throw new ApiFault({ code: 'internal_error', message: response.statusText, status: response.status })
  }
  let report: ListReport = { service: null, left: [], leftCount: 0, reached: 0 }
  try {
    for await (const notes of notesOf(response.body)) onReport((report = notes.reduce(noted, report)))
  } catch (error) {
    if (signal.aborted) throw error // an interrupted response only lacks the summary
  }
  return report
}

async function ask(address: string, file: File, type: string, signal: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = { accept: 'application/x-ndjson, application/json;q=0.9', 'content-type': type }
  if (organization.value) headers['x-organization-id'] = organization.value.id
  try {
    return await fetch(address, { method: 'POST', headers, credentials: 'same-origin', body: file, signal })
  } catch (error) {
    if (signal.aborted) throw error
    throw new ApiFault({ code: 'unreachable', message: 'The service could not be reached.' })
  }
}

/** Yields the lines of each received chunk together. */
async function* notesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<readonly Note[]> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield lines.map((line) => JSON.parse(line) as Note)
  }
}

function noted(report: ListReport, note: Note): ListReport {
  if (note.type === 'file') return { ...report, service: note.service }
  if (note.type === 'progress') return { ...report, reached: note.row }
  if (note.type === 'summary') return { ...report, counts: note }
  const left = report.leftCount < maxLeft ? [...report.left, note] : report.left
  return { ...report, left, leftCount: report.leftCount + 1 }
}
