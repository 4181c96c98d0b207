/** `postern import`: imports suppressions or templates of another service through the REST API. */
import { createReadStream } from 'node:fs'
import { open, readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Config } from '#config/settings/load.ts'
import { cleanJson, cleanText } from '../observability/clean-text.ts'
import type { ImportArguments } from './command-line.ts'
import { chosenDaemon, postToDaemon, refusedBy, uploadToDaemon, withOption } from './daemon-client.ts'
import { exitCodes, type ExitCode } from '../process/lifecycle.ts'
import { StartRefused } from '../process/start-refused.ts'

interface Surroundings {
  readonly env: NodeJS.ProcessEnv
  readonly stdout: { write(text: string): unknown }
}

/** Prints refused rows and the counts. Throws `StartRefused` with the daemon's message if it refuses the file. */
export async function importFile(config: Config, args: ImportArguments, surroundings: Surroundings): Promise<ExitCode> {
  const { size } = await stat(args.file)
  if (size === 0) throw new StartRefused(`${cleanText(args.file)} is empty.`, exitCodes.failed)
  return args.what === 'templates' ? importTemplates(config, args, surroundings) : importList(config, args, surroundings)
}

/** A line of the report. */
interface Note {
  readonly type: 'file' | 'row' | 'progress' | 'summary'
  readonly service?: string | null
  readonly row?: number
  readonly line?: number
  readonly result?: string
  readonly email?: string | null
  readonly message?: string
  readonly added?: number
  readonly already_there?: number
  readonly skipped?: number
  readonly refused?: number
}

async function importList(config: Config, args: ImportArguments, { env, stdout }: Surroundings): Promise<ExitCode> {
  const access = await chosenDaemon(config, args, env)
  const { service, kind, list, project_id, from_row } = args.options
  const asked = { service, kind, list, project_id, from_row, file_name: basename(args.file), dry_run: String(args.isDryRun) }
  const query = new URLSearchParams(
    Object.entries(asked).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] satisfies [string, string]])),
  )
  const handle = await open(args.file) // reports an unreadable file before anything is sent
  const stream = createReadStream('', { fd: handle })
  const response = await uploadToDaemon(access, `/v1/suppressions/service-import?${query.toString()}`, stream)
  if (!response.ok || !response.body) throw refusedBy(response.status, await response.text(), withOption(args.file))
  let reached = 0
  let summary: Note | undefined
  let cause: unknown
  try {
    for await (const line of linesOf(response.body)) {
      const note = JSON.parse(line) as Note
      stdout.write(args.asJson ? `${cleanJson(line)}\n` : sentence(note, args.isDryRun))
      if (note.type === 'progress') reached = note.row ?? reached
      if (note.type === 'summary') summary = note
    }
  } catch (error) {
    cause = error // a missing summary is reported below
  }
  if (summary) return (summary.refused ?? 0) > 0 ? exitCodes.failed : exitCodes.ok
  const next = `--from-row ${String(Math.max(reached + 1, Number(from_row ?? 1)))}`
  throw new StartRefused(
    `The import stopped after row ${reached}${reasonOf(cause)}. Run it again with ${next}, or from the start: existing entries are not added twice.`,
    exitCodes.failed,
    { cause },
  )
}

/** Returns the reason in parentheses; empty if the answer ended without an error. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if (error instanceof SyntaxError) return ' (a line of the answer is not JSON)'
  return ` (${error.cause instanceof Error ? error.cause.message : error.message})` // fetch says only "terminated" itself
}

/** Throws if the connection breaks. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

function sentence({ type, service, row, line, result, email, message, ...counts }: Note, isDryRun: boolean): string {
  if (type === 'file') return service == null ? '' : `Format: ${cleanText(service)}.\n`
  if (type === 'row') {
    const who = email == null ? '' : ` ${email}`
    return `line ${String(line)}, row ${String(row)}: ${String(result)}${cleanText(`${who}: ${String(message)}`)}\n`
  }
  if (type === 'progress') return ''
  const { added, already_there: there, skipped, refused } = counts
  const verb = isDryRun ? 'would be added' : 'added'
  return `${String(added)} ${verb}, ${String(there)} already present, ${String(skipped)} skipped, ${String(refused)} refused.\n`
}

interface TemplateReport {
  readonly created: number
  readonly updated: number
  readonly unchanged: number
  readonly refused: number
  readonly templates: readonly {
    readonly slug: string
    readonly result: string
    readonly findings: readonly { readonly part: string; readonly message: string; readonly line?: number; readonly column?: number }[]
  }[]
}

/** The daemon's limit for a document. */
const maxTemplateBytes = 16 * 1024 * 1024

async function importTemplates(config: Config, args: ImportArguments, { env, stdout }: Surroundings): Promise<ExitCode> {
  const { size } = await stat(args.file)
  if (size > maxTemplateBytes) throw new StartRefused(`${cleanText(args.file)} is larger than 16 MiB; split it.`, exitCodes.failed)
  const document = documentOf(args.file, await readFile(args.file, 'utf8'), args.options.subject)
  const { service, project_id } = args.options
  const access = await chosenDaemon(config, args, env)
  const body = {
    document,
    dry_run: args.isDryRun,
    replace: args.replaces,
    ...(service && { service }),
    ...(project_id && { project_id }),
  }
  const report = (await postToDaemon(access, '/v1/templates/service-import', body, args.file)) as TemplateReport
  if (args.asJson) stdout.write(`${cleanJson(JSON.stringify(report))}\n`)
  else stdout.write(templateLines(report, args.isDryRun))
  return report.refused > 0 ? exitCodes.failed : exitCodes.ok
}

function templateLines({ templates, created, updated, unchanged, refused }: TemplateReport, isDryRun: boolean): string {
  const lines = templates.flatMap(({ slug, result, findings }) => [
    cleanText(`${slug}: ${result}`),
    ...findings.map(({ part, message, line, column }) => {
      const place = line === undefined ? part : `${part}, line ${String(line)}, column ${String(column)}`
      return cleanText(`  ${place}: ${message}`)
    }),
  ])
  const made = isDryRun ? 'would be created' : 'created'
  return `${[...lines, `${created} ${made}, ${updated} updated, ${unchanged} unchanged, ${refused} refused.`].join('\n')}\n`
}

/** Returns JSON unchanged. Other content is the HTML or the text of one template, named after its file. */
function documentOf(file: string, given: string, subject: string | undefined): unknown {
  const text = given.replace(/^\ufeff/, '')
  if (/^\s*[{[]/.test(text) && file.toLowerCase().endsWith('.json')) {
    try {
      return JSON.parse(text)
    } catch (error) {
      throw new StartRefused(`${cleanText(file)} is not JSON.`, exitCodes.failed, { cause: error })
    }
  }
  const name = basename(file).replace(/\.\w+$/, '')
  return { id: name, name, ...(subject !== undefined && { subject }), [/\.txt$/i.test(file) ? 'text' : 'html']: text }
}
