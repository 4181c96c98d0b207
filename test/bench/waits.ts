/** Section "wait": how long after a send is acknowledged those hear of it who wait for it, with 1,000 of them waiting at a time. */
import { Daemon } from '../support/daemon.ts'
import { RestClient } from '../support/rest.ts'
import { temporaryFolder } from '../support/workspace.ts'
import { posternOptions } from './contenders.ts'
import { percentile } from './load-job.ts'
import type { BenchOptions } from './options.ts'
import { figure, judge, row, type Section } from './results.ts'

/** The limits of the service: so many waits of a project, so many of a key. */
const projects = 5
const keysOfProject = 10
const waitsOfKey = 20

interface Waiter {
  readonly client: RestClient
  readonly path: string
}

/** The same with one waiter for each project, so that what the number of waiters costs shows within one run. */
export async function measureWaits(options: BenchOptions): Promise<Section> {
  await using folder = await temporaryFolder('bench-wait')
  await using daemon = await Daemon.start(posternOptions(folder.path, { POSTERN_LOG_LEVEL: 'warn' }))
  const made = await Promise.all(Array.from({ length: projects }, (_, i) => makeProject(daemon, i)))
  await round(daemon, made, keysOfProject, waitsOfKey) // warms it up
  const rounds = Array.from({ length: options.rounds })
  const many: number[] = []
  const few: number[] = []
  for (const _ of rounds) {
    many.push(...(await round(daemon, made, keysOfProject, waitsOfKey)))
    few.push(...(await round(daemon, made, 1, 1)))
  }
  for (const { waiters } of made) for (const { client } of waiters) client[Symbol.dispose]()
  const of = (took: readonly number[]) => ({ p50: percentile([...took], 0.5), p99: percentile([...took], 0.99), most: Math.max(...took) })
  const [crowd, alone] = [of(many), of(few)]
  const total = projects * keysOfProject * waitsOfKey
  return {
    name: 'wait',
    lines: [
      `From the acknowledgement of a send to the whole answer of each wait; ${projects} projects, one send in each at the same time.`,
      row('', ['p50 ms', 'p99 ms', 'most ms']),
      row(`${total.toLocaleString('en')} waiting`, [crowd.p50, crowd.p99, crowd.most]),
      row(`${projects} waiting`, [alone.p50, alone.p99, alone.most]),
      `  a crowd takes ${figure(crowd.p50 / alone.p50)} times as long at the median`,
    ],
    verdicts: [judge(`waits answered after the capture, ${projects} waiting: p99 <= 50 ms`, alone.p99, '<=', 50, 'ms')],
    data: { crowd, alone, many, few },
  }
}

async function makeProject(daemon: Daemon, i: number) {
  const { id } = await daemon.rest.must('POST', '/v1/projects', { name: `Waits ${i}` })
  const project_id = String(id)
  const { inbox } = await daemon.rest.must('GET', `/v1/inboxes/lookup?address=*&project=${project_id}`)
  const path = `/v1/inboxes/${String((inbox as { id: string }).id)}/wait?timeout=120`
  const waiters: Waiter[] = []
  for (let key = 0; key < keysOfProject; key++) {
    const minted = await daemon.rest.must('POST', '/v1/api-keys', { name: `w${key}`, scopes: ['api:read'], project_id })
    waiters.push({ client: new RestClient((await daemon.ready).http, String(minted['key'])), path })
  }
  return { project_id, waiters }
}

/** Milliseconds from the acknowledgement of the project's send to each answer. */
async function round(
  daemon: Daemon,
  made: readonly Awaited<ReturnType<typeof makeProject>>[],
  keys: number,
  waits: number,
): Promise<number[]> {
  const took: number[] = []
  const all = made.map(async ({ project_id, waiters }) => {
    const acknowledged = Promise.withResolvers<number>()
    const using = waiters.slice(0, keys)
    const waiting = using.flatMap(({ client, path }) =>
      Array.from({ length: waits }, async () => {
        await client.must('POST', path)
        const answered = performance.now()
        took.push(Math.max(0, answered - (await acknowledged.promise)))
      }),
    )
    await allWait(using, waits)
    return { project_id, acknowledged, waiting }
  })
  const ready = await Promise.all(all)
  await Promise.all(
    ready.map(async ({ project_id, acknowledged, waiting }) => {
      await daemon.rest.must('POST', '/v1/messages', { from: 'shop@example.com', to: 'ada@example.net', text: 'x', project_id })
      acknowledged.resolve(performance.now())
      await Promise.all(waiting)
    }),
  )
  return took
}

/** The service tells of a key's waits only by refusing one too many, so a full key is asked until it refuses; others get a moment. */
async function allWait(waiters: readonly Waiter[], waits: number): Promise<void> {
  for (const { client, path } of waiters) {
    if (waits < waitsOfKey) {
      await client.must('GET', path.replace(/\/wait.*/, ''))
      continue
    }
    while ((await client.call('POST', path.replace('timeout=120', 'timeout=0'))).status !== 429);
  }
}
