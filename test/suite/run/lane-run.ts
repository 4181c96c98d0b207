/** Runs shards through AVA, prints AVA's output about failures, and repeats modules that a dead process did not run. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { Progress } from './progress.ts'
import type { Unstable } from './gate.ts'
import { Outcome } from './outcomes.ts'
import type { Test } from '../process/plan.ts'
import type { ProcessShape, Shard, ShardWriter } from './shards.ts'

/** Values that all shards of a run share. */
export interface Surroundings {
  readonly root: string
  readonly writer: ShardWriter
  readonly progress: Progress
  /** The lines of `unstable.txt`. */
  readonly unstable: readonly Unstable[]
  /** Environment variables of the test processes. */
  readonly environment: Readonly<Record<string, string>>
  /** Aborts the run. */
  readonly interrupted: AbortSignal
}

/** A group of test processes. */
export interface Batch {
  readonly name: string
  readonly shape: ProcessShape
  readonly atOnce: number
  /** The modules of each process. */
  readonly parts: readonly (readonly string[])[]
}

/** Runs all modules of the batch. Modules that a dead process did not start run alone. */
export async function runBatch(surroundings: Surroundings, { name, shape, atOnce, parts }: Batch): Promise<Outcome> {
  const outcome = new Outcome()
  const { writer } = surroundings
  const shards = parts.map((modules, index) => writer.write(`${name}-${String(index + 1)}`, shape, modules))
  await runShards(surroundings, shards, atOnce, outcome)
  const missed = outcome.missed.splice(0)
  const alone = missed.map((path, index) => writer.write(`${name}-left-${String(index + 1)}`, shape, [path]))
  if (alone.length > 0) await runShards(surroundings, alone, atOnce, outcome)
  return outcome
}

/** Runs one test in a separate process. */
export async function repeat(surroundings: Surroundings, name: string, shape: ProcessShape, test: Test): Promise<Outcome> {
  const outcome = new Outcome()
  const shard = surroundings.writer.write(name, shape, [test.module], [test.title])
  await runShards(surroundings, [shard], 1, outcome)
  return outcome
}

async function runShards(surroundings: Surroundings, shards: readonly Shard[], atOnce: number, outcome: Outcome): Promise<void> {
  const { code, lines } = await runAva(surroundings, shards, atOnce).finally(() => {
    for (const { temporary } of shards) rmSync(temporary, { recursive: true, force: true })
  })
  const before = outcome.failures.length
  for (const shard of shards) outcome.read(surroundings.root, shard, lines)
  if (code !== 0 && outcome.failures.length === before)
    outcome.failures.push({ module: shards[0]?.file ?? '', title: '', reason: 'AVA failed outside of a test, see above' })
}

async function runAva(
  surroundings: Surroundings,
  shards: readonly Shard[],
  atOnce: number,
): Promise<{ code: number | null; lines: readonly string[] }> {
  const { root, progress, environment, interrupted } = surroundings
  interrupted.throwIfAborted()
  const colors = process.stdout.isTTY && process.env['NO_COLOR'] === undefined ? { FORCE_COLOR: '1' } : {}
  const args = ['--config', 'test/suite/process/ava.shards.js', `--concurrency=${String(atOnce)}`, ...shards.map(({ file }) => file)]
  const child = spawn(process.execPath, [join(root, 'node_modules/.bin/ava'), ...args], {
    cwd: root,
    env: { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/postern'), ...process.env, ...colors, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  const lines: string[] = []
  progress.begin((line) => lines.push(stripVTControlCharacters(line)))
  child.stdout.on('data', (text: Buffer) => progress.read(text))
  const kill = (): void => killGroup(child)
  interrupted.addEventListener('abort', kill)
  const closed = once(child, 'close').finally(() => {
    interrupted.removeEventListener('abort', kill)
    kill()
    progress.end()
  })
  const [code] = (await closed) as [number | null]
  interrupted.throwIfAborted()
  return { code, lines }
}

/** Kills AVA, its test processes, and processes that a dead test process left. */
function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
