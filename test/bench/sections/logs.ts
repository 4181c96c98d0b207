/** Section "logs": speed of turning log lines into feedback, and constant memory regardless of the length of the log. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { logSources, type LogSource } from '#ingest/logs/log.ts'
import { measureDoor, requestLines } from '../load/log-intake.ts'
import type { BenchOptions } from '../options.ts'
import type { LogFigures, Way } from '../load/read-logs.ts'
import { figure, judge, median, row, type Section } from '../results.ts'

const run = promisify(execFile)
const program = new URL('../load/read-logs.ts', import.meta.url).pathname

/** Maximum ratio between reading and only splitting and parsing. */
const mostTimes: Readonly<Record<LogSource, number>> = { postfix: 10, exim: 10, stalwart: 10 }
/** Maximum ratio between a line at the entry point, with lookup and storage of its events, and only reading it. */
const mostTimesReading = 20
const names: Readonly<Record<LogSource, string>> = { postfix: 'Postfix', exim: 'Exim', stalwart: 'Stalwart' }

/** Reads in a separate process with the daemon's memory settings. */
async function read(source: LogSource, way: Way, lines: number): Promise<LogFigures> {
  const { stdout } = await run(process.execPath, ['--max-semi-space-size=8', program, source, way, String(lines)])
  return JSON.parse(stdout) as LogFigures
}

export async function measureLogs(options: BenchOptions): Promise<Section> {
  const measured = []
  for (const source of logSources) measured.push(await measureSource(source, options))
  const door = await measureDoor(options.logLines / requestLines)
  const reading = measured.find(({ source }) => source === 'postfix')?.reader.perSecond ?? NaN
  return {
    name: 'logs',
    lines: [
      `Log lines in the JSON of a shipper, ${options.logLines.toLocaleString('en')} each, one processor, without the cost of generating them.`,
      row('', ['lines/s', 'MiB', 'MiB, tenth']),
      ...measured.flatMap(({ source, plain, reader, tenth }) => [
        row(`${names[source]}: split and JSON.parse`, [plain.perSecond, plain.peak, '']),
        row(`${names[source]}: read`, [reader.perSecond, reader.peak, tenth.peak]),
      ]),
      row('Postfix: posted to the daemon', [door.perSecond, door.peak, door.peakOfFirst]),
      `Posted by requests of ${requestLines.toLocaleString('en')} lines: ${figure(door.perSecondOfClock)} lines/s by the clock; the last column is after the first request.`,
    ],
    verdicts: [
      ...measured.flatMap(({ source, plain, reader, tenth }) => {
        const most = mostTimes[source]
        const goal = `a line of ${names[source]}: <= ${String(most)} x splitting and JSON.parse`
        return [
          judge(goal, plain.perSecond / reader.perSecond, '<=', most, 'x'),
          judge(`a log of ${names[source]}: memory <= 1.2 x that of a tenth of it`, reader.peak / tenth.peak, '<=', 1.2, 'x'),
        ]
      }),
      judge(`a line at the door: <= ${String(mostTimesReading)} x reading it`, reading / door.perSecond, '<=', mostTimesReading, 'x'),
      judge('logs at the door: memory <= 1.5 x that after the first request', door.peak / door.peakOfFirst, '<=', 1.5, 'x'),
    ],
    data: { measured, door },
  }
}

async function measureSource(source: LogSource, { rounds, logLines }: BenchOptions) {
  const figures: Record<Way | 'tenth', LogFigures[]> = { plain: [], reader: [], tenth: [] }
  for (let round = 0; round < rounds; round++) {
    figures.plain.push(await read(source, 'plain', logLines))
    figures.reader.push(await read(source, 'reader', logLines))
    figures.tenth.push(await read(source, 'reader', logLines / 10))
  }
  return { source, plain: medianOf(figures.plain), reader: medianOf(figures.reader), tenth: medianOf(figures.tenth) }
}

const medianOf = (list: readonly LogFigures[]): LogFigures => ({
  perSecond: median(list.map(({ perSecond }) => perSecond)),
  events: median(list.map(({ events }) => events)),
  peak: median(list.map(({ peak }) => peak)),
})
