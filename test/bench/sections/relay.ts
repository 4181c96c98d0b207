/** Section "relay": from the client to the next server, through the disk. */
import { within } from '../../support/deadline.ts'
import { compare, comparisonLines } from '../comparison.ts'
import { recipient, sender, startPostern, startPostfix, type Contender } from '../contenders.ts'
import { loadBySmtp } from '../load/generators.ts'
import type { SmtpJob } from '../load/load-job.ts'
import type { BenchOptions } from '../options.ts'
import { judge, sampleHead, type Sample, type Section } from '../results.ts'
import { SmtpSink } from '../load/smtp-sink.ts'

const sessions = 50
const drainMs = 180_000

/**
 * Sends for a while and waits until the last message has arrived; the rate is all of them over all of that time, so
 * that a queue that grew must be paid for.
 */
async function relayThrough(contender: Contender, sink: SmtpSink, size: number, options: BenchOptions): Promise<Sample> {
  const job: SmtpJob = {
    port: contender.port,
    sessions,
    warmupSeconds: 0,
    seconds: options.warmupSeconds,
    size,
    from: sender,
    to: recipient,
    perConnection: false,
    ...(contender.login && { login: contender.login }),
  }
  const earlier = sink.count + (await loadBySmtp(job)).acknowledged
  await within(drainMs, `${contender.name} delivers the warm-up`, sink.reached(earlier))
  const cpuBefore = await contender.processorTime()
  const begun = performance.now()
  const { acknowledged, cpu } = await loadBySmtp({ ...job, seconds: options.seconds })
  const ended = await within(drainMs, `${contender.name} delivers everything`, sink.reached(earlier + acknowledged))
  return {
    perSecond: acknowledged / ((ended - begun) / 1000),
    cpuMicros: (((await contender.processorTime()) - cpuBefore) * 1e6) / acknowledged,
    memoryMebibytes: await contender.memory(),
    generatorCpu: cpu,
  }
}

export async function measureRelay(options: BenchOptions): Promise<Section> {
  await using sink = await SmtpSink.start()
  const start = { postfix: () => startPostfix(sink.port), postern: () => startPostern(sink.port) }
  const at = (name: string, size: number) =>
    compare({ name, start, measure: (contender) => relayThrough(contender, sink, size, options) }, options)
  const small = await at('4 KiB', 4096)
  const large = await at('100 KiB', 102_400)
  return {
    name: 'relay',
    lines: [
      `Relay end to end, ${String(sessions)} sessions with reused connections, into smtp-sink.`,
      sampleHead,
      ...[small, large].flatMap(comparisonLines),
    ],
    verdicts: [
      judge('relay end to end 4 KiB: >= 8 x Postfix', small.ratio, '>=', 8, 'x'),
      judge('relay end to end 100 KiB: >= 2.5 x Postfix', large.ratio, '>=', 2.5, 'x'),
    ],
    data: [small, large],
  }
}
