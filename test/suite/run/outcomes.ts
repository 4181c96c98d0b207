/** What the journals of shards say: which tests passed, which failed, which modules never began, and what each cost. */
import { join } from 'node:path'
import { readJournal } from '../process/journal.ts'
import { nameOf, type Test } from '../process/plan.ts'
import type { Shard } from './shards.ts'

export interface Failure extends Test {
  /** The first line of the first error. */
  readonly reason: string
}

export class Outcome {
  readonly passed: Test[] = []
  readonly failures: Failure[] = []
  /** Modules whose process died before they began. */
  readonly missed: string[] = []
  /** Processor milliseconds by module. */
  readonly costs = new Map<string, number>()

  /** Adds what the journal of a shard says; `lines` are AVA's lines about failures. */
  read(root: string, shard: Shard, lines: readonly string[]): void {
    const running = new Map<string, Test>()
    let ended = false
    for (const { event, module, title, processorMs = 0, reason } of readJournal(join(root, shard.journal))) {
      ended ||= event === 'ended'
      if (event === 'ended') continue
      const test = { module, title }
      const name = nameOf(test)
      this.costs.set(module, (this.costs.get(module) ?? 0) + processorMs)
      if (event === 'begun') running.set(name, test)
      else running.delete(name)
      if (event === 'passed') this.passed.push(test)
      if (event === 'failed') this.failures.push({ ...test, reason: firstLine(reason ?? printed(lines, name)) })
    }
    for (const test of running.values()) this.failures.push({ ...test, reason: 'the process died while the test ran' })
    if (!ended) this.#missed(shard)
  }

  #missed({ modules }: Shard): void {
    const missed = modules.filter((path) => !this.costs.has(path))
    if (modules.length === 1) for (const module of missed) this.failures.push({ module, title: '', reason: 'the module did not load' })
    else this.missed.push(...missed)
  }
}

const firstLine = (text: string): string => text.trim().split('\n')[0] ?? ''

/** AVA prints the message of an assertion after the title. */
function printed(lines: readonly string[], name: string): string {
  for (const line of lines) {
    const at = line.indexOf(name)
    if (at >= 0) return line.slice(at + name.length) || 'an assertion failed'
  }
  return 'an assertion failed'
}
