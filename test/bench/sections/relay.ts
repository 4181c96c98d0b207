/** Section "relay": from the client to the next server, over the disk. */
import { waiting } from '../../support/waits.ts'
import {
  coldName,
  compare,
  comparisonLines,
  generatorLines,
  memoryAtLoad,
  costLine,
  profileWork,
  type Send,
  type Work,
} from '../comparison.ts'
import { startPostern, startPostfix } from '../contenders.ts'
import { monotonicMs, sessions } from '../load/load-job.ts'
import type { BenchOptions } from '../options.ts'
import { shareLines } from '../profile.ts'
import { costHead, judgeAll, sampleHead, shareOf, type Section } from '../results.ts'
import { SmtpSink } from '../load/smtp-sink.ts'
import { accept, large, pipelined, usual } from './intake.ts'

/**
 * Ends when the last message has arrived. The rate includes this time, so a grown queue lowers it. The latencies are those of the
 * acknowledgements.
 */
const relayInto =
  (sink: SmtpSink): Send =>
  async (contender, traffic, count, mostSeconds) => {
    const earlier = sink.count
    const result = await accept(contender, traffic, count, mostSeconds)
    await waiting(`${contender.name} delivers everything`, sink.reached(earlier + result.acknowledged))
    return { ...result, perSecond: result.acknowledged / ((monotonicMs() - result.begunAt) / 1000) }
  }

export async function measureRelay(options: BenchOptions): Promise<Section> {
  await using sink = await SmtpSink.start()
  const work: Work = {
    start: { postfix: () => startPostfix(sink.port), postern: (env) => startPostern(sink.port, env) },
    send: relayInto(sink),
    traffic: [
      { ...usual, share: 0.5 },
      { ...pipelined, share: 0.3 },
      { ...large, share: 0.2 },
    ],
  }
  const found = await compare(work, options)
  const all = [...found.values()]
  const profile = await profileWork(work, options)
  const cold = found.get(coldName)
  const reused = found.get(usual.name)
  return {
    name: 'relay',
    lines: [
      `Relay end to end, ${String(sessions)} sessions with reused connections, into smtp-sink, until the last message has arrived there.`,
      sampleHead,
      ...all.flatMap(comparisonLines),
      ...generatorLines(all),
      'Cost of one message for Postern:',
      costHead,
      ...all.map(costLine),
      ...shareLines(profile),
    ],
    verdicts: [
      ...judgeAll(reused, [['relay end to end 4 KiB, reused: >= 5 x Postfix', ({ ratio }) => ratio, '>=', 5, 'x']]),
      ...judgeAll(cold && reused && { cold, reused }, [
        [
          'relay end to end: cold >= 0.7 of warm',
          (both) => shareOf(both.cold.postern.perSecond, both.reused.postern.perSecond),
          '>=',
          0.7,
          'of it',
        ],
      ]),
      ...judgeAll(found.get(large.name), [['relay end to end 100 KiB: >= 2.5 x Postfix', ({ ratio }) => ratio, '>=', 2.5, 'x']]),
      ...memoryAtLoad('relay', all),
    ],
    data: { compared: all, profile: Object.fromEntries(profile) },
  }
}
