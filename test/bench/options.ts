/** Command-line options of the benchmark. */
import { parseArgs } from 'node:util'

export const sectionNames = [
  'intake',
  'relay',
  'rest',
  'backlog',
  'lookup',
  'idle',
  'memory',
  'logs',
  'wait',
  'handshakes',
  'mcp',
  'dashboard',
  'forms',
  'aliases',
  'scale',
  'websites',
  'fairness',
] as const
/** `cold` is the usual traffic, `reused`, before the warm-up. */
const trafficNames = ['cold', 'reused', 'pipelined', 'single', 'starttls', 'large']
export type SectionName = (typeof sectionNames)[number]

export interface BenchOptions {
  readonly only: readonly SectionName[]
  /** Kinds of traffic for the sections intake and relay; undefined measures all. */
  readonly traffic: readonly string[] | undefined
  /** Messages of the warm-up before the cold and the warm measurement. */
  readonly cold: number
  readonly warm: number
  /** Measured messages of the usual traffic; other kinds take a share. */
  readonly messages: number
  /** Maximum duration of one measurement, regardless of its progress. */
  readonly seconds: number
  /** Measurements of each server; the result is their median. */
  readonly rounds: number
  /** Queue lengths of the backlog section. */
  readonly backlogs: readonly number[]
  /** Numbers of captures in the store for the measurement of their intake. Lookups are measured with the last number. */
  readonly stored: readonly number[]
  /** Number of lines in each log. */
  readonly logLines: number
  /** True to profile Postern in a further run. */
  readonly profile: boolean
  readonly output: string
  readonly verbose: boolean
}

const usage = `npm run bench -- [options]
  --only intake,relay,rest,backlog,lookup,idle,memory,logs,wait,handshakes,mcp,dashboard,forms,aliases,scale,websites,fairness   sections to run (all)
  --traffic cold,reused,pipelined,single,starttls,large    rows of intake and relay (all)
  --messages N   counted messages of each measurement; rows that take longer count fewer (8000)
  --seconds N    no measurement counts longer than this (20)
  --rounds N     lives of each server (3)
  --quick        2,000 messages, 1 round, small backlogs: does it work?
  --full         adds a backlog of 1 million, as many captures in the store, and longer logs
  --no-profile   without the lives under the profiler
  --output FILE  where the JSON goes (bench-results.json)
  --verbose      every single measurement`

/** Parses the command line. Prints the usage and exits on errors. */
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
    allowNegative: true,
    options: {
      only: { type: 'string', default: sectionNames.join(',') },
      traffic: { type: 'string' },
      messages: { type: 'string' },
      seconds: { type: 'string', default: '20' },
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      full: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: true },
      verbose: { type: 'boolean', default: false },
      output: { type: 'string', default: 'bench-results.json' },
    },
  })
  const { quick, full } = values
  const sizes = quick ? [1_000, 10_000] : full ? [10_000, 100_000, 1_000_000] : [10_000, 100_000]
  return {
    only: values.only.split(',').map(section),
    traffic: values.traffic?.split(',').map(traffic),
    cold: quick ? 200 : 1000,
    warm: quick ? 2000 : 20_000,
    messages: positive('messages', values.messages ?? (quick ? '2000' : '8000')),
    seconds: positive('seconds', values.seconds),
    rounds: positive('rounds', values.rounds ?? (quick ? '1' : '3')),
    backlogs: sizes,
    stored: sizes,
    logLines: quick ? 100_000 : full ? 1_000_000 : 300_000,
    profile: values.profile,
    output: values.output,
    verbose: values.verbose,
  }
}

function section(name: string): SectionName {
  const found = sectionNames.find((known) => known === name)
  if (!found) throw new Error(`--only: there is no section ${name}`)
  return found
}

function traffic(name: string): string {
  if (!trafficNames.includes(name)) throw new Error(`--traffic: there is no row ${name}`)
  return name
}

function positive(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name}: ${text} is not a whole number above 0`)
  return value
}
