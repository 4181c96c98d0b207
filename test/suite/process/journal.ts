/** The events of a shard, one line of JSON each, written immediately, so that they show the running test after a death. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'

export interface Entry {
  /** Empty for `ended`. */
  readonly module: string
  /** The title within the module; empty for events of the module. */
  readonly title: string
  readonly event: 'loading' | 'declared' | 'skipped' | 'begun' | 'passed' | 'failed' | 'ended'
  /** The first error, unless it is an assertion of AVA. */
  readonly reason?: string
  readonly ms?: number
  /** Processor time of the process and of its children that have ended. */
  readonly processorMs?: number
}

export class Journal {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  write(entry: Entry): void {
    appendFileSync(this.#path, `${JSON.stringify(entry)}\n`)
  }
}

/** Reads the events of a shard; empty if its process never started. */
export function readJournal(path: string): readonly Entry[] {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Entry]))
}

/** Milliseconds per clock tick of `/proc`: Linux reports 100 ticks per second to programs. */
const msPerTick = 10

/** Returns the processor time of this process and its ended children; without `/proc`, of this process alone. */
export function processorMs(): number {
  if (existsSync('/proc/self/stat')) {
    const fields = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * msPerTick, 0)
  }
  const { user, system } = process.cpuUsage()
  return Math.round((user + system) / 1000)
}
