/** Runs the lanes one after another, repeats failures outside the exact lane, and decides which tests are red. */
import type { ModuleFacts } from '../areas.ts'
import { isRepeatedlyUnstable, repeatable } from './gate.ts'
import { processorMs } from '../process/journal.ts'
import { lanes, type TestLane } from '../lanes.ts'
import { repeat, runBatch, type Surroundings } from './lane-run.ts'
import { nameOf, type Test } from '../process/plan.ts'
import type { Failure } from './outcomes.ts'
import { readDurations, shapes, spread } from './shards.ts'

export interface LaneFigures {
  readonly lane: TestLane
  readonly modules: number
  readonly tests: number
  readonly seconds: number
  readonly processorSeconds: number
}

export interface SuiteResult {
  readonly passed: readonly (Test & { readonly lane: TestLane })[]
  readonly failures: readonly (Failure & { readonly lane: TestLane })[]
  /** Tests that failed once and passed when repeated alone. */
  readonly unstable: readonly Failure[]
  readonly skipped: readonly Test[]
  readonly figures: readonly LaneFigures[]
  /** Processor milliseconds by module. */
  readonly costs: ReadonlyMap<string, number>
}

/** Distributes modules over processes. */
export type Spread = (paths: readonly string[], count: number) => readonly (readonly string[])[]

export async function runLanes(
  surroundings: Surroundings,
  modules: readonly Pick<ModuleFacts, 'path' | 'lane'>[],
  processors: number,
  spreading: Spread = (paths, count) => spread(paths, count, readDurations(surroundings.root)),
): Promise<SuiteResult> {
  const suite = new Suite(surroundings)
  for (const lane of lanes) {
    const paths = modules.filter((module) => module.lane === lane).map(({ path }) => path)
    if (paths.length > 0) await suite.run(lane, spreading(paths, shapes[lane].shards), processors)
  }
  await suite.repeat()
  return suite
}

class Suite implements SuiteResult {
  readonly passed: (Test & { lane: TestLane })[] = []
  readonly failures: (Failure & { lane: TestLane })[] = []
  readonly unstable: Failure[] = []
  readonly skipped: Test[] = []
  readonly figures: LaneFigures[] = []
  readonly costs = new Map<string, number>()
  readonly #surroundings: Surroundings

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
  }

  async run(lane: TestLane, parts: readonly (readonly string[])[], processors: number): Promise<void> {
    const shape = shapes[lane]
    const began = { at: performance.now(), processor: processorMs() }
    const outcome = await runBatch(this.#surroundings, { name: lane, shape, atOnce: shape.atOnce(processors), parts })
    this.passed.push(...outcome.passed.map((test) => ({ ...test, lane })))
    this.failures.push(...outcome.failures.map((failure) => ({ ...failure, lane })))
    this.skipped.push(...outcome.skipped.values())
    for (const [path, ms] of outcome.costs) this.costs.set(path, ms)
    this.figures.push({
      ...{ lane, modules: parts.flat().length, tests: outcome.passed.length + outcome.failures.length },
      seconds: (performance.now() - began.at) / 1000,
      processorSeconds: (processorMs() - began.processor) / 1000,
    })
  }

  /** Repeats each failed test once, alone, if the gate allows it. */
  async repeat(): Promise<void> {
    const now = Date.now()
    let count = 0
    for (const lane of lanes) {
      const failures = this.failures.filter((failure) => failure.lane === lane)
      for (const failure of repeatable(lane, failures)) {
        console.log(`Repeating alone: ${nameOf(failure)}`)
        const again = await repeat(this.#surroundings, `repeated-${String((count += 1))}`, shapes[lane], failure)
        if (again.failures.length > 0 || again.passed.length === 0) continue
        this.unstable.push(failure)
        if (isRepeatedlyUnstable(this.#surroundings.unstable, failure, now)) continue
        this.failures.splice(this.failures.indexOf(failure as Failure & { lane: TestLane }), 1)
        this.passed.push({ module: failure.module, title: failure.title, lane })
      }
    }
  }
}
