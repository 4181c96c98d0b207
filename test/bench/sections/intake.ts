/** Section "intake": how fast mail is accepted onto the disk when nothing leaves. */
import { compare, comparisonLines, type Comparison, type Work } from '../comparison.ts'
import { recipient, sender, startPostern, startPostfix, type Contender } from '../contenders.ts'
import { loadBySmtp } from '../load/generators.ts'
import type { LoadResult } from '../load/load-job.ts'
import type { BenchOptions } from '../options.ts'
import { judge, sampleHead, type Sample, type Section } from '../results.ts'

interface Intake {
  readonly size: number
  readonly perConnection: boolean
}

const sessions = 50

/** Loads one server and adds what the load cost it. Postern's sessions authenticate; Postfix's need not. */
export async function loadContender(contender: Contender, { size, perConnection }: Intake, options: BenchOptions): Promise<Sample> {
  const before = await contender.processorTime()
  const result = await loadBySmtp({
    port: contender.port,
    sessions,
    warmupSeconds: options.warmupSeconds,
    seconds: options.seconds,
    size,
    from: sender,
    to: recipient,
    perConnection,
    ...(contender.login && { login: contender.login }),
  })
  return withCosts(contender, result, before)
}

/** The figures of a generator together with processor time and memory of the server. */
export async function withCosts(contender: Contender, result: LoadResult, cpuBefore: number): Promise<Sample> {
  const { perSecond, p50, p99, dotP50, dotP99, cpu, acknowledged } = result
  const cpuMicros = (((await contender.processorTime()) - cpuBefore) * 1e6) / acknowledged
  return { perSecond, p50, p99, dotP50, dotP99, cpuMicros, memoryMebibytes: await contender.memory(), generatorCpu: cpu }
}

const work = (name: string, intake: Intake, options: BenchOptions): Work => ({
  name,
  start: { postfix: () => startPostfix('nowhere'), postern: () => startPostern('nowhere') },
  measure: (contender) => loadContender(contender, intake, options),
})

export async function measureIntake(options: BenchOptions): Promise<Section> {
  const reused = await compare(work('4 KiB, reused connections', { size: 4096, perConnection: false }, options), options)
  const single = await compare(work('4 KiB, one per connection', { size: 4096, perConnection: true }, options), options)
  const large = await compare(work('100 KiB, reused connections', { size: 102_400, perConnection: false }, options), options)
  const all: readonly Comparison[] = [reused, single, large]
  return {
    name: 'intake',
    lines: [
      `SMTP intake, ${String(sessions)} sessions, nothing leaves. Postern with AUTH, Postfix without: that favours Postfix, most where`,
      'every message has a connection of its own.',
      sampleHead,
      ...all.flatMap(comparisonLines),
    ],
    verdicts: [
      judge('intake 4 KiB, reused: >= 5 x Postfix', reused.ratio, '>=', 5, 'x'),
      judge("intake 4 KiB, reused: p99 <= Postfix's p50", (reused.postern.p99 ?? NaN) / (reused.postfix.p50 ?? NaN), '<=', 1, 'of it'),
      judge('intake 4 KiB, one per connection with AUTH: >= 2.5 x Postfix', single.ratio, '>=', 2.5, 'x'),
      judge('intake 100 KiB: >= 2.5 x Postfix', large.ratio, '>=', 2.5, 'x'),
      judge('memory at steady load: <= 350 MiB', Math.max(...all.map(({ postern }) => postern.memoryMebibytes ?? NaN)), '<=', 350, 'MiB'),
    ],
    data: all,
  }
}
