/** Reads the journals of shards: outcomes of all declared tests, modules that never started in a dead process, and costs. */
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { readJournal, type Entry } from '../process/journal.ts'
import { isLedger, nameOf, type Test } from '../process/plan.ts'
import type { Shard } from './shards.ts'

export interface Failure extends Test {
  /** The first line of the error; if a ledger failed, its line. */
  readonly reason: string
  /** Set if the test is not repeated: its process died, or its error is unknown. */
  readonly isFinal?: true
}

export class Outcome {
  readonly passed: Test[] = []
  readonly failures: Failure[] = []
  /** Skipped tests by name. */
  readonly skipped = new Map<string, Test>()
  /** Modules whose process died before they began. */
  readonly missed: string[] = []
  /** Processor milliseconds by module. */
  readonly costs = new Map<string, number>()

  /** Adds the events of a shard's journal; `lines` are AVA's lines about failures. */
  read(root: string, shard: Shard, lines: readonly string[]): void {
    const entries = readJournal(join(root, shard.journal))
    const waiting = new Map<string, Test>()
    const names = entries.map(nameOf)
    for (const { event, module, title, reason, processorMs = 0 } of entries) {
      const test = { module, title }
      const name = nameOf(test)
      if (event === 'declared') waiting.set(name, test)
      if (event === 'skipped') this.skipped.set(name, test)
      if (event !== 'passed' && event !== 'failed') continue
      waiting.delete(name)
      this.costs.set(module, (this.costs.get(module) ?? 0) + processorMs)
      if (event === 'passed') this.passed.push(test)
      else this.failures.push({ ...test, ...errorOf(reason ?? printed(lines, name, names)) })
    }
    if (waiting.size > 0 || entries.at(-1)?.event !== 'ended') this.#died(shard, entries, waiting)
  }

  /** Adds failures for the death of the process and for the tests of the modules that it had started. Other modules are missed. */
  #died({ modules, file }: Shard, entries: readonly Entry[], waiting: Map<string, Test>): void {
    const last = entries.findLast(({ event }) => event !== 'declared' && event !== 'skipped')
    const module = last?.module || (modules[0] ?? file)
    const [title, when] = whenOf(last)
    this.failures.push({ module, title, reason: `the process died ${when}`, isFinal: true })
    waiting.delete(nameOf({ module, title }))
    const begun = new Set(entries.filter(({ event }) => event === 'begun' || event === 'failed').map((entry) => entry.module)).add(module)
    for (const test of waiting.values())
      if (begun.has(test.module)) this.failures.push({ ...test, reason: 'the process died before the test ran', isFinal: true })
    this.missed.push(...modules.filter((path) => !begun.has(path)))
  }
}

/** Returns the title of the test in progress and a phrase for the time of the death. */
function whenOf(last: Entry | undefined): readonly [string, string] {
  if (last?.event === 'begun') return [last.title, 'while the test ran']
  if (last?.event === 'loading') return ['', 'while the module loaded']
  return ['', last ? 'outside of a test' : 'before it loaded a module']
}

function errorOf(text: string | undefined): Pick<Failure, 'reason' | 'isFinal'> {
  if (text === undefined) return { reason: 'AVA printed no error', isFinal: true }
  const lines = text.trim().split('\n')
  return { reason: (lines.find(isLedger) ?? lines[0]) || 'an assertion failed' }
}

/** Returns the message of an assertion, which AVA prints after the title; undefined if no line has the title. */
function printed(lines: readonly string[], name: string, names: readonly string[]): string | undefined {
  const title = stripVTControlCharacters(name)
  const longer = names.map(stripVTControlCharacters).filter((other) => other !== title && other.startsWith(title))
  const line = lines.find((one) => one.includes(title) && !longer.some((other) => one.includes(other)))
  return line?.slice(line.indexOf(title) + title.length)
}
