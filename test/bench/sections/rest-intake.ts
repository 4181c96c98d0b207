/** Section "rest": `POST /v1/messages` compared with SMTP intake in the same runs. */
import { portOf } from '../../support/daemon/daemon.ts'
import { recipient, sender, startPostern, type Postern } from '../contenders.ts'
import { loadByRest } from '../load/generators.ts'
import { sessions } from '../load/load-job.ts'
import { measure, type Measured } from '../measure.ts'
import type { BenchOptions } from '../options.ts'
import { profiled, shareLines } from '../profile.ts'
import { costHead, costRow, judge, medianSample, sampleHead, sampleRow, type Sample, type Section } from '../results.ts'
import { accept, usual } from './intake.ts'

const size = 2048
const warmUpShare = 0.3

export async function measureRest(options: BenchOptions): Promise<Section> {
  const samples = { smtp: [] as Sample[], rest: [] as Sample[] }
  for (let round = 0; round < options.rounds; round++) {
    await using postern = await startPostern('nowhere')
    const life = await measureLife(postern, options)
    for (const name of ['smtp', 'rest'] as const) samples[name].push(...[life.get(name)?.sample ?? []].flat())
  }
  const [smtp, rest] = [medianSample(samples.smtp), medianSample(samples.rest)]
  const start = (env: Readonly<Record<string, string>>) => startPostern('nowhere', env)
  const profile = options.profile ? await profiled(start, (postern) => measureLife(postern, options)) : new Map()
  const ratio = rest.perSecond / smtp.perSecond
  return {
    name: 'rest',
    lines: [
      `POST /v1/messages, 2 KiB, ${String(sessions)} connections, acknowledged when durable; SMTP is the usual client, 4 KiB.`,
      sampleHead,
      sampleRow('SMTP 4 KiB, reused', smtp),
      sampleRow('REST 2 KiB', rest),
      'Cost of one message for Postern:',
      costHead,
      costRow('SMTP 4 KiB, reused', smtp),
      costRow('REST 2 KiB', rest),
      ...shareLines(profile),
    ],
    verdicts: [judge('POST /v1/messages: >= 0.8 x the SMTP intake', ratio, '>=', 0.8, 'x')],
    data: { smtp, rest, ratio, samples, profile: Object.fromEntries(profile) },
  }
}

/** Measures one daemon after a warm-up of both entry points. */
async function measureLife(postern: Postern, { warm, messages, seconds }: BenchOptions): Promise<ReadonlyMap<string, Measured>> {
  const { daemon } = postern
  const target = { port: portOf(daemon.addresses.http), key: daemon.adminKey, from: sender, to: recipient, sessions, size }
  const byRest = (count: number) => loadByRest({ ...target, count, mostSeconds: seconds })
  await accept(postern, usual, warm, seconds)
  const smtp = await measure(postern, () => accept(postern, usual, messages, seconds))
  await byRest(Math.ceil(messages * warmUpShare))
  const rest = await measure(postern, () => byRest(messages))
  return new Map([
    ['smtp', smtp],
    ['rest', rest],
  ])
}
