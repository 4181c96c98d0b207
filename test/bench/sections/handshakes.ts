/**
 * Section "handshakes": duration of a REST send while clients storm the TLS listener, which runs on the same thread. A site sends
 * occasionally, so its connections pause between two sends.
 */
import { portOf } from '../../support/daemon/daemon.ts'
import { recipient, sender, startPostern } from '../contenders.ts'
import { beginStorm, loadByRest } from '../load/generators.ts'
import { sessions, type LoadResult } from '../load/load-job.ts'
import type { BenchOptions } from '../options.ts'
import { median, row, type Section } from '../results.ts'

const size = 2048
const sites = 8
const restMs = 20
/** A usual number of clients, and the daemon's limit for one address. */
const storms = [50, 200]
/** Fractions of the requested messages: in each storm, and before the storms. */
const share = 0.5
const quietShare = 0.15

interface Stormed {
  readonly load: LoadResult
  /** Handshakes per second, and the processor load of their generator. */
  readonly handshakes: number
  readonly stormCpu: number
}

interface Life {
  readonly quiet: LoadResult
  /** Results in the order of `storms`. */
  readonly stormed: readonly Stormed[]
}

export async function measureHandshakes(options: BenchOptions): Promise<Section> {
  const lives: Life[] = []
  for (let round = 0; round < options.rounds; round++) lives.push(await measureLife(options))
  const of = (figure: (life: Life) => number): number => median(lives.map(figure))
  const stormed = storms.map((clients, i) => {
    const at = (figure: (found: Stormed) => number): number => of((life) => figure(life.stormed[i] as Stormed))
    const times = [at(({ load }) => load.p50), at(({ load }) => load.p99)]
    return row(`${clients} clients`, [...times, at(({ handshakes }) => handshakes), at(({ stormCpu }) => stormCpu)])
  })
  return {
    name: 'handshakes',
    lines: [
      `POST /v1/messages, ${size} octets, ${sites} connections that rest ${restMs} ms between two sends, while clients say hello to the`,
      'listener inside TLS and leave once they have its part of the handshake, again and again.',
      row('', ['p50 ms', 'p99 ms', 'TLS/s', 'storm CPU']),
      row('quiet', [of(({ quiet }) => quiet.p50), of(({ quiet }) => quiet.p99), '', '']),
      ...stormed,
    ],
    verdicts: [],
    data: lives,
  }
}

async function measureLife({ warm, messages, seconds }: BenchOptions): Promise<Life> {
  await using postern = await startPostern('nowhere')
  const { addresses, adminKey } = postern.daemon
  const target = { port: portOf(addresses.http), key: adminKey, from: sender, to: recipient, size, mostSeconds: seconds }
  const send = (of: number) => loadByRest({ ...target, sessions: sites, count: Math.ceil(messages * of), restMs })
  const storm = (clients: number) => beginStorm({ port: portOf(addresses.submissions[0]), sessions: clients })
  await loadByRest({ ...target, sessions, count: Math.ceil(warm / 4) })
  await using warmUp = await storm(sessions)
  await send(quietShare)
  await warmUp.end()
  const quiet = await send(quietShare)
  const stormed: Stormed[] = []
  for (const clients of storms) {
    await using raging = await storm(clients)
    const load = await send(share)
    const { handshakes, seconds: took, cpu } = await raging.end()
    stormed.push({ load, handshakes: handshakes / took, stormCpu: cpu })
  }
  return { quiet, stormed }
}
