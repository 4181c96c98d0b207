/** What load does to a server: rates and waiting times as the generator saw them, and what each message cost. */
import type { Contender } from './contenders.ts'
import { monotonicMs, type LoadResult } from './load/load-job.ts'
import type { Sample } from './results.ts'

export interface Measured {
  readonly sample: Sample
  /** Between these moments, by `monotonicMs()`, the server was under the load that counts. */
  readonly from: number
  readonly until: number
}

/** Runs the load and adds what it cost the server. */
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

/** Figure by figure, what came to be in between for each message. */
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
