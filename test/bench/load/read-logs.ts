/** Generates and reads a log in a separate process: `node read-logs.ts SOURCE WAY LINES` prints figures as JSON. */
import type { LogSession } from '#ingest/logs/log-group.ts'
import { readLog, type LogSource } from '#ingest/logs/log.ts'
import { memoryOf } from '../resources.ts'
import { shippedLog } from './shipped-log.ts'

/** `plain` splits the lines and parses their JSON, the minimum for every reader. */
export type Way = 'plain' | 'reader'

export interface LogFigures {
  /** Processor time of one processor. */
  readonly perSecond: number
  readonly events: number
  /** Peak memory of the process, in MiB. */
  readonly peak: number
}

async function readPlain(chunks: AsyncIterable<Uint8Array>): Promise<number> {
  let events = 0
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + Buffer.from(chunk).toString()).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if ((JSON.parse(line) as { readonly message?: string }).message !== undefined) events++
  }
  return events
}

async function readEvents(source: LogSource, chunks: AsyncIterable<Uint8Array>): Promise<number> {
  let events = 0
  const memory = new Map<string, LogSession>()
  for await (const group of readLog(source, chunks)) {
    const known = new Map<string, LogSession>()
    for (const name of group.needs) {
      const session = memory.get(name)
      if (session) known.set(name, session)
    }
    const reading = group.read(known)
    for (const [name, session] of reading.remember) memory.set(name, session)
    for (const name of reading.forget) memory.delete(name)
    events += reading.events.length
  }
  return events
}

async function only(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of chunks) if (chunk.length === 0) throw new Error('an empty piece')
}

const [source, way, count] = process.argv.slice(2) as [LogSource, Way, string]
const lines = Number(count)
const read = (n: number): Promise<number> =>
  way === 'plain' ? readPlain(shippedLog(source, n)) : readEvents(source, shippedLog(source, n))
await read(20_000) // warm
// excludes the cost of generating the log
const cpu = async (work: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}
let events = 0
const whole = await cpu(async () => {
  events = await read(lines)
})
const making = await cpu(() => only(shippedLog(source, lines)))
const figures: LogFigures = { perSecond: lines / (whole - making), events, peak: await memoryOf(process.pid, 'VmHWM') }
console.log(JSON.stringify(figures))
