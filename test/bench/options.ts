/** What the benchmark is asked to do on its command line. */
import { parseArgs } from 'node:util'

export const sectionNames = ['intake', 'relay', 'rest', 'backlog', 'lookup', 'idle', 'logs', 'wait'] as const
export type SectionName = (typeof sectionNames)[number]

export interface BenchOptions {
  readonly only: readonly SectionName[]
  /** Counted time of each single measurement. */
  readonly seconds: number
  readonly warmupSeconds: number
  /** How often each server is measured; the median counts. */
  readonly rounds: number
  /** Queue lengths of the backlog section. */
  readonly backlogs: readonly number[]
  /** Rows in the store when look-ups are timed. */
  readonly rows: number
  /** Lines of each log that is read. */
  readonly logLines: number
  readonly output: string
  readonly verbose: boolean
}

const usage = `npm run bench -- [options]
  --only intake,relay,rest,backlog,lookup,idle,logs,wait   sections to run (all)
  --seconds N    counted seconds of each measurement (5)
  --rounds N     measurements of each server (3)
  --quick        2 seconds, 1 round, small backlogs: does it work?
  --full         adds the backlog of 1 million and look-ups among as many rows
  --output FILE  where the JSON goes (bench-results.json)
  --verbose      every single measurement`

/** Reads the command line; prints the usage and ends the process when it makes no sense. */
export function readOptions(args: readonly string[]): BenchOptions {
  try {
    return interpret(args)
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${usage}`)
    process.exit(2)
  }
}

function interpret(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: sectionNames.join(',') },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      full: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
      output: { type: 'string', default: 'bench-results.json' },
    },
  })
  const { quick, full } = values
  return {
    only: values.only.split(',').map(section),
    seconds: positive('seconds', values.seconds ?? (quick ? '2' : '5')),
    warmupSeconds: quick ? 1 : 5,
    rounds: positive('rounds', values.rounds ?? (quick ? '1' : '3')),
    backlogs: quick ? [1_000, 10_000] : full ? [10_000, 100_000, 1_000_000] : [10_000, 100_000],
    rows: quick ? 10_000 : full ? 1_000_000 : 100_000,
    logLines: quick ? 100_000 : 1_000_000,
    output: values.output,
    verbose: values.verbose,
  }
}

function section(name: string): SectionName {
  const found = sectionNames.find((known) => known === name)
  if (!found) throw new Error(`--only: there is no section ${name}`)
  return found
}

function positive(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name}: ${text} is not a whole number above 0`)
  return value
}
