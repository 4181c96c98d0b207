/** `postern logs`: prints the log lines of one message, from the running daemon, a file or a journal. */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { Readable } from 'node:stream'
import type { Config } from '#config/settings/load.ts'
import { logPath } from '../../../admin-api/operator/operator-log.ts'
import { cleanJson, cleanText } from '../../observability/clean-text.ts'
import { exitCodes, type ExitCode } from '../../process/lifecycle.ts'
import type { LogsArguments } from '../command-line.ts'
import { callDaemon, localDaemon } from '../daemon-client.ts'

interface Surroundings {
  readonly stdin: Readable
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** Returns 1 if no line matches. Throws `StartRefused` if no daemon runs and no file is named. */
export async function logs(
  readConfig: () => Config,
  { traceId, file, asJson }: LogsArguments,
  { stdin, stdout, stderr }: Surroundings,
): Promise<ExitCode> {
  let found = 0
  for await (const line of linesOf(readConfig, { traceId, file }, stdin)) {
    const entry = line.includes(traceId) ? entryIn(line) : undefined
    if (!entry || !isAbout(entry, traceId)) continue
    found += 1
    stdout.write(`${asJson ? cleanJson(JSON.stringify(entry)) : logLine(entry, traceId)}\n`)
  }
  if (found > 0) return exitCodes.ok
  const older =
    file === undefined ? ' The daemon keeps only its latest lines. Name the log file, or use - and pipe the journal into the command.' : ''
  stderr.write(`No log line contains ${traceId}.${older}\n`)
  return exitCodes.failed
}

async function* linesOf(
  readConfig: () => Config,
  { traceId, file }: Pick<LogsArguments, 'traceId' | 'file'>,
  stdin: Readable,
): AsyncIterable<string> {
  if (file !== undefined) return yield* createInterface({ input: file === '-' ? stdin : createReadStream(file), crlfDelay: Infinity })
  const { body } = await callDaemon(await localDaemon(readConfig()), 'GET', `${logPath}?trace_id=${traceId}`)
  if (body) yield* createInterface({ input: Readable.fromWeb(body) })
}

type Entry = Readonly<Record<string, unknown>>

/** Parses a line: plain JSON, JSON after the prefix of a journal, or the output of `journalctl -o json`. */
function entryIn(line: string): Entry | undefined {
  const entry = objectOf(line.slice(line.indexOf('{')))
  const message = entry?.['MESSAGE']
  return typeof message === 'string' ? objectOf(message) : entry
}

function objectOf(text: string): Entry | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Entry) : undefined
  } catch {
    return undefined
  }
}

/** Returns true if any field contains the trace id. */
const isAbout = (entry: Entry, traceId: string): boolean => Object.values(entry).some((value) => value === traceId)

/** Formats a line for people: time, level, message, then the other fields as name=value. */
function logLine({ time, level, msg, ...fields }: Entry, traceId: string): string {
  const shown = Object.entries(fields).filter(([, value]) => value !== traceId && value !== undefined && value !== null)
  const rest = shown.map(([name, value]) => `${cleanText(name)}=${textOf(value)}`)
  return [textOf(time).slice(0, 23).replace('T', ' '), textOf(level).toUpperCase().padEnd(5), textOf(msg), ...rest].join(' ')
}

const textOf = (value: unknown): string => cleanText(typeof value === 'object' ? JSON.stringify(value) : value)
