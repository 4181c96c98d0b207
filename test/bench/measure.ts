/** Effects of load on a server: rates and latencies by the generator, and costs per message. */
import type { Contender } from './contenders.ts'
import { monotonicMs, type LoadResult } from './load/load-job.ts'
import type { Sample } from './results.ts'

export interface Measured {
  readonly sample: Sample
  /** Start and end of the measured load, by `monotonicMs()`. */
  readonly from: number
  readonly until: number
}

/** Runs the load and adds the server's costs. */
export async function measure(contender: Contender, load: () => Promise<LoadResult>): Promise<Measured> {
  const { inside } = contender
  const writtenBefore = await inside?.written()
  const threadsBefore = await inside?.threads()
  const before = await contender.processorTime()
  const from = monotonicMs()
  const { perSecond, p50, p99, dotP50, dotP99, cpu, acknowledged } = await load()
  const until = monotonicMs()
  const after = await contender.processorTime()
  const threads = await inside?.threads()
  const written = await inside?.written()
  const sample: Sample = {
    ...{ perSecond, p50, p99, dotP50, dotP99, generatorCpu: cpu },
    cpuMicros: ((after - before) * 1e6) / acknowledged,
    memoryMebibytes: await contender.memory(),
    ...(threads && threadsBefore && inMicros(perMessage(threads, threadsBefore, acknowledged))),
    ...(written && writtenBefore && perMessage(written, writtenBefore, acknowledged)),
  }
  return { sample, from, until }
}

/** One measurement with several kinds of traffic to compare. */
const turns = 4

/**
 * Runs several kinds of traffic in turns after a warm-up of all, each with its share of the messages. A process becomes faster during its
 * life and the machine changes, so turns spread these effects evenly.
 */
export async function inTurns(
  contender: Contender,
  kinds: ReadonlyMap<string, (count: number) => Promise<LoadResult>>,
  { warm, messages }: { readonly warm: number; readonly messages: number },
): Promise<ReadonlyMap<string, readonly Measured[]>> {
  for (const load of kinds.values()) await load(warm)
  const measured = new Map([...kinds.keys()].map((name) => [name, [] as Measured[]]))
  for (let turn = 0; turn < turns; turn++)
    for (const [name, load] of kinds) measured.get(name)?.push(await measure(contender, () => load(Math.ceil(messages / turns))))
  return measured
}

/** The last turn of each kind. */
export const lastTurns = (measured: ReadonlyMap<string, readonly Measured[]>): ReadonlyMap<string, Measured> =>
  new Map([...measured].flatMap(([name, all]) => all.slice(-1).map((last) => [name, last] as const)))

/** Divides the growth of each figure by the number of messages. */
function perMessage<Name extends string>(
  after: Readonly<Record<Name, number>>,
  before: Readonly<Record<Name, number>>,
  messages: number,
): Record<Name, number> {
  const names = Object.keys(after) as Name[]
  return Object.fromEntries(names.map((name) => [name, (after[name] - before[name]) / messages])) as Record<Name, number>
}

const inMicros = (times: { readonly main: number; readonly libuv: number; readonly v8: number; readonly workers: number }) => ({
  mainMicros: times.main,
  libuvMicros: times.libuv,
  v8Micros: times.v8,
  workerMicros: times.workers,
})
