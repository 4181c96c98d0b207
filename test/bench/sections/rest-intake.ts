/** Section "rest": `POST /v1/messages` against the SMTP intake of the same run. */
import { portOf } from '../../support/daemon/daemon.ts'
import { recipient, sender, startPostern } from '../contenders.ts'
import { loadByRest } from '../load/generators.ts'
import { loadContender, withCosts } from './intake.ts'
import type { BenchOptions } from '../options.ts'
import { judge, medianSample, sampleHead, sampleRow, type Sample, type Section } from '../results.ts'

const connections = 50

export async function measureRest(options: BenchOptions): Promise<Section> {
  const samples = { smtp: [] as Sample[], rest: [] as Sample[] }
  for (let round = 0; round < options.rounds; round++) {
    {
      await using postern = await startPostern('nowhere')
      samples.smtp.push(await loadContender(postern, { size: 4096, perConnection: false }, options))
    }
    await using postern = await startPostern('nowhere')
    const { daemon } = postern
    const before = await postern.processorTime()
    const { warmupSeconds, seconds } = options
    const target = { port: portOf(daemon.addresses.http), key: daemon.adminKey, from: sender, to: recipient }
    const result = await loadByRest({ ...target, sessions: connections, warmupSeconds, seconds, size: 2048 })
    samples.rest.push(await withCosts(postern, result, before))
  }
  const [smtp, rest] = [medianSample(samples.smtp), medianSample(samples.rest)]
  const ratio = rest.perSecond / smtp.perSecond
  return {
    name: 'rest',
    lines: [
      `POST /v1/messages, 2 KiB, ${String(connections)} connections, acknowledged when durable.`,
      sampleHead,
      sampleRow('SMTP 4 KiB, same run', smtp),
      sampleRow('REST 2 KiB', rest),
    ],
    verdicts: [judge('POST /v1/messages: >= 0.6 x the SMTP intake', ratio, '>=', 0.6, 'x')],
    data: { smtp, rest, ratio, samples },
  }
}
