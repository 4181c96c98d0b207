/**
 * Section "wait": time from the acknowledgement of a send to its delivery to 1,000 waiting requests: only the wake-up inside a process, and
 * the complete way to the first octet of each response at a minimal client.
 */
import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { systemClock } from '#core/clock.ts'
import { WorkerMessageReader } from '#ingest/messages/message-reader.ts'
import { projectId, principal, coreFixture } from '../../core/core-fixture.ts'
import { Daemon, portOf } from '../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { posternOptions } from '../contenders.ts'
import { percentile } from '../load/load-job.ts'
import type { BenchOptions } from '../options.ts'
import { judge, row, type Section } from '../results.ts'

/** Limits of the service: waits of a project, and of a key. */
const projects = 5
const keysOfProject = 10
const waitsOfKey = 20
const maxWakeMs = 50

/** Sends one message in each project simultaneously. Returns the milliseconds from its acknowledgement to each wait in the project. */
type Round = (keys: number, waits: number) => Promise<number[]>

/** Also measures one wait per project, so that one run shows the cost of the number of waits. */
export async function measureWaits(options: BenchOptions): Promise<Section> {
  const wakes = await measured(options, inProcess)
  const answers = await measured(options, overSockets)
  const total = (projects * keysOfProject * waitsOfKey).toLocaleString('en')
  const line = (what: string, took: readonly number[]) =>
    row(what, [percentile([...took], 0.5), percentile([...took], 0.99), Math.max(...took)])
  const p99 = (took: readonly number[]) => percentile([...took], 0.99)
  return {
    name: 'wait',
    lines: [
      `From the acknowledgement of a send; ${projects} projects, one send in each at the same time.`,
      row('', ['p50 ms', 'p99 ms', 'most ms']),
      line(`woken, ${total} waiting`, wakes.many),
      line(`woken, ${projects} waiting`, wakes.few),
      line(`answered, ${total} waiting`, answers.many),
      line(`answered, ${projects} waiting`, answers.few),
      line(`answered, the first ${projects}`, answers.first),
    ],
    verdicts: [
      judge(`waits woken after the capture, ${total} waiting: p99 <= ${maxWakeMs} ms`, p99(wakes.many), '<=', maxWakeMs, 'ms'),
      judge(`waits answered after the capture, ${projects} waiting: p99 <= ${maxWakeMs} ms`, p99(answers.few), '<=', maxWakeMs, 'ms'),
      judge(`waits answered on a daemon that has read nothing yet: p99 <= ${maxWakeMs} ms`, p99(answers.first), '<=', maxWakeMs, 'ms'),
    ],
    data: { wakes, answers },
  }
}

async function measured({ rounds }: BenchOptions, prepare: (cleanup: AsyncDisposableStack) => Promise<Round>) {
  await using cleanup = new AsyncDisposableStack()
  const round = await prepare(cleanup)
  const first = await round(1, 1)
  await round(keysOfProject, waitsOfKey) // warm-up
  const many: number[] = []
  const few: number[] = []
  for (let i = 0; i < rounds; i++) {
    many.push(...(await round(keysOfProject, waitsOfKey)))
    few.push(...(await round(1, 1)))
  }
  return { first, many, few }
}

/** The core with its real store and reader, without HTTP. */
async function inProcess(cleanup: AsyncDisposableStack): Promise<Round> {
  const reader = new WorkerMessageReader(systemClock)
  const fixture = await coreFixture({ teardown: (end) => cleanup.defer(async () => end()) }, { reader })
  cleanup.use(reader)
  cleanup.defer(() => fixture.backgroundRead.stop())
  const ids = Array.from({ length: projects }, (_, i) => `prj_${i + 1}`)
  for (const id of ids) {
    await fixture.project({ id, isDefault: id === projectId })
    await fixture.inbox({ id: `inb_${id}`, projectId: id })
  }
  const { signal } = new AbortController()
  return async (keys, waits) => {
    const took: number[] = []
    const all = ids.map((id) => {
      const acknowledged = Promise.withResolvers<number>()
      const waiting = Array.from({ length: keys * waits }, async (_, i) => {
        const grant = { ...principal, credentialId: `key_${id}_${i % keys}` }
        if (!(await fixture.inboxes.wait(grant, `inb_${id}`, { timeoutMs: 120_000, signal }))) throw new Error('nothing came')
        const woken = performance.now()
        took.push(Math.max(0, woken - (await acknowledged.promise)))
      })
      return { id, acknowledged, waiting }
    })
    await fixture.settled() // all waits are open
    await Promise.all(
      all.map(async ({ id, acknowledged }) => acknowledged.resolve((await fixture.submit({ projectId: id }), performance.now()))),
    )
    await Promise.all(all.flatMap(({ waiting }) => waiting))
    return took
  }
}

interface Crowd {
  readonly project_id: string
  readonly inbox: string
  readonly keys: readonly string[]
  readonly sockets: readonly Socket[]
}

/** Starts a separate daemon, and connections that only record the time of the first octet of a response. */
async function overSockets(cleanup: AsyncDisposableStack): Promise<Round> {
  const folder = cleanup.use(await temporaryFolder('bench-wait'))
  const daemon = cleanup.use(await Daemon.start(posternOptions(folder.path, { POSTERN_LOG_LEVEL: 'warn' })))
  const crowds: Crowd[] = []
  for (let i = 0; i < projects; i++) crowds.push(await makeCrowd(daemon, i))
  cleanup.defer(() => crowds.forEach(({ sockets }) => sockets.forEach((socket) => socket.destroy())))
  return async (keys, waits) => {
    const took: number[] = []
    const all = crowds.map((crowd) => {
      const acknowledged = Promise.withResolvers<number>()
      const waiting = crowd.sockets.slice(0, keys * waits).map(async (socket, i) => {
        const head = [`Host: ${daemon.addresses.http}`, `Authorization: Bearer ${crowd.keys[i % keys] ?? ''}`, 'Content-Length: 0']
        socket.write(`POST /v1/inboxes/${crowd.inbox}/wait?timeout=120 HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`)
        const [answer] = (await once(socket, 'data')) as [Buffer]
        const answered = performance.now()
        if (!answer.toString('latin1').startsWith('HTTP/1.1 200')) throw new Error(answer.toString('latin1').slice(0, 500))
        took.push(Math.max(0, answered - (await acknowledged.promise)))
      })
      return { crowd, acknowledged, waiting }
    })
    await Promise.all(crowds.map((crowd) => allWait(daemon, crowd, keys, waits)))
    await Promise.all(
      all.map(async ({ crowd: { project_id }, acknowledged }) => {
        await daemon.rest.must('POST', '/v1/messages', { from: 'shop@example.com', to: 'ada@example.net', text: 'x', project_id })
        acknowledged.resolve(performance.now())
      }),
    )
    await Promise.all(all.flatMap(({ waiting }) => waiting))
    return took
  }
}

async function makeCrowd(daemon: Daemon, i: number): Promise<Crowd> {
  const { id } = await daemon.rest.must('POST', '/v1/projects', { name: `Waits ${i}` })
  const project_id = String(id)
  const { inbox } = await daemon.rest.must('GET', `/v1/inboxes/lookup?address=*&project=${project_id}`)
  const keys: string[] = []
  for (let key = 0; key < keysOfProject; key++) {
    const minted = await daemon.rest.must('POST', '/v1/api-keys', { name: `w${key}`, scopes: ['api:read'], project_id })
    keys.push(String(minted['key']))
  }
  const sockets = Array.from({ length: keysOfProject * waitsOfKey }, () => connect(portOf(daemon.addresses.http), '127.0.0.1'))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  return { project_id, inbox: (inbox as { id: string }).id, keys, sockets }
}

/** The service reveals a full key only by refusing another wait. So full keys are tested until they refuse; other keys get one second. */
async function allWait(daemon: Daemon, { inbox, keys }: Crowd, keysUsed: number, waits: number): Promise<void> {
  if (waits < waitsOfKey) return void (await new Promise((resolve) => setTimeout(resolve, 1000)))
  for (const key of keys.slice(0, keysUsed)) {
    const authorization = `Bearer ${key}`
    while ((await daemon.rest.call('POST', `/v1/inboxes/${inbox}/wait?timeout=0`, undefined, { authorization })).status !== 429);
  }
}
