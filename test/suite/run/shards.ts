/** Distributes test modules over processes by their earlier processor time, and writes the file of each process. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { TestLane } from '../lanes.ts'
import type { ShardPlan } from '../process/plan.ts'
import { temporaryRoot } from './temporary-root.ts'

/** Folder of the shards and journals of `npm test`, relative to the repository. */
export const built = 'build/test'

/** How the processes of a lane run. */
export interface LaneShape {
  readonly shards: number
  /** Returns the number of processes at the same time, for this number of processors. */
  readonly atOnce: (processors: number) => number
  /** Seconds that a test may take. */
  readonly seconds: number
  /** Whether the temporary files of its tests must be on a disk. */
  readonly needsDisk: boolean
}

/** The part of a shape that concerns a single process. */
export type ProcessShape = Pick<LaneShape, 'seconds' | 'needsDisk'>

/** Seconds that a test of the exact lane may take. `test/on-postgresql.ts` gives more, because each read is a round trip there. */
const exactSeconds = Number(process.env['POSTERN_TEST_SECONDS'] ?? 60)

export const shapes: Readonly<Record<TestLane, LaneShape>> = {
  exact: { shards: 12, atOnce: (processors) => processors + 1, seconds: exactSeconds, needsDisk: false },
  real: { shards: 12, atOnce: (processors) => processors + 2, seconds: 180, needsDisk: true },
  browser: { shards: 8, atOnce: (processors) => processors + 1, seconds: 180, needsDisk: false },
  measured: { shards: 1, atOnce: () => 1, seconds: 180, needsDisk: true },
}

/** Processor milliseconds of each module, by path. */
export type Durations = Readonly<Record<string, number>>

export const durationsPath = 'test/suite/durations.json'

export const readDurations = (root: string): Durations => JSON.parse(readFileSync(join(root, durationsPath), 'utf8')) as Durations

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? 1
}

/** Assigns each module, longest first, to the process with the least time. Modules without a duration count as the median. */
export function spread(modules: readonly string[], count: number, durations: Durations): readonly (readonly string[])[] {
  const usual = median(modules.flatMap((path) => durations[path] ?? []))
  // With a cost of 0, two modules could share a process while another one stays empty.
  const cost = (path: string): number => Math.max(1, durations[path] ?? usual)
  const parts = Array.from({ length: Math.min(count, modules.length) }, () => ({ cost: 0, modules: [] as string[] }))
  for (const path of modules.toSorted((one, other) => cost(other) - cost(one))) {
    const least = parts.reduce((found, part) => (part.cost < found.cost ? part : found))
    least.cost += cost(path)
    least.modules.push(path)
  }
  return parts.map(({ modules: own }) => own)
}

/** One process of tests. */
export interface Shard {
  readonly file: string
  readonly journal: string
  readonly temporary: string
  readonly modules: readonly string[]
}

/** Writes files of shards and gives each its journal and its folder. */
export class ShardWriter {
  readonly #root: string
  readonly #folder: string

  /** Empties the folder, which must be below `build/`. */
  constructor(root: string, folder = built) {
    this.#root = root
    this.#folder = folder
    rmSync(join(root, folder), { recursive: true, force: true })
    mkdirSync(join(root, folder), { recursive: true })
  }

  /** Writes the file of one process. */
  write(name: string, { seconds, needsDisk }: ProcessShape, modules: readonly string[], titles?: readonly string[]): Shard {
    const journal = `${this.#folder}/${name}.jsonl`
    const file = `${this.#folder}/${name}.test.ts`
    const temporary = join(temporaryRoot(needsDisk), `postern-shard-${String(process.pid)}-${basename(this.#folder)}-${name}`)
    const plan: ShardPlan = { modules, journal, temporary, seconds, ...(titles && { titles }) }
    const lines = [
      "import { shard } from '../../test/suite/process/shard.ts'",
      `await shard(${JSON.stringify(plan)}, ${JSON.stringify(this.#root)})`,
    ]
    writeFileSync(join(this.#root, file), `${lines.join('\n')}\n`)
    return { file, journal, temporary, modules }
  }
}
