/**
 * Section "fairness": duration of a tenant's sends while 40 connections of another key repeat one of the ten most expensive operations. A
 * walk over all operations at their limits finds these ten.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MeasuredDaemon } from '../bounds/daemon.ts'
import { HostileClient, hostileRequests, operatorKey, prepare, type Hostile } from '../bounds/requests.ts'
import { walkEnvironment } from '../bounds/walk.ts'
import { portOf } from '../support/daemon/daemon.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'
import { NameServer } from '../support/web/name-server.ts'
import { recipient, sender } from './contenders.ts'
import { beginAttack, loadByRest } from './load/generators.ts'
import type { AttackResult, LoadResult } from './load/load-job.ts'
import type { BenchOptions } from './options.ts'
import { judge, row, type Section, type Verdict } from './results.ts'

const extent = { bodyBytes: 131_072, texts: 1 }
const attackers = 40
const dearest = 10
const bound = 5
/** A tenant that sends occasionally. */
const tenant = { sessions: 2, restMs: 40, size: 2048 }
const share = 0.05

interface Dear {
  readonly hostile: Hostile
  /** Processor time of one request in milliseconds. */
  readonly cost: number
}

interface Attacked extends Dear {
  /** p99 in milliseconds without an attack: mean of the measurements before and after it, because the machine changes its speed. */
  readonly calmP99: number
  readonly load: LoadResult
  readonly attack: AttackResult
}

export async function measureFairness({ messages, seconds }: BenchOptions): Promise<Section> {
  await using folder = await temporaryFolder('bench-fairness')
  await using names = await NameServer.start({})
  await using measured = await MeasuredDaemon.start(folder.path, walkEnvironment(operatorKey, names))
  const dear = await findDearest(measured)
  const { addresses, rest } = measured.daemon
  const { key } = await rest.must('POST', '/v1/api-keys', { name: 'tenant', scopes: ['api:send'] })
  const target = { port: portOf(addresses.http), key: String(key), from: sender, to: recipient, mostSeconds: seconds }
  const send = () => loadByRest({ ...target, ...tenant, count: Math.ceil(messages * share) })
  await send()
  let calm = await send()
  const attacked: Attacked[] = []
  for (const each of dear) {
    const request = join(folder.path, 'request')
    await writeFile(request, bytesOf(each.hostile))
    await using attack = await beginAttack({ port: target.port, sessions: attackers, request })
    const load = await send()
    const ended = await attack.end()
    await measured.settled()
    const after = await send()
    attacked.push({ ...each, calmP99: (calm.p99 + after.p99) / 2, load, attack: ended })
    calm = after
  }
  return {
    name: 'fairness',
    lines: [
      `POST /v1/messages of a tenant while ${attackers} connections of another key repeat one request as fast as they are answered.`,
      row('', ['calm p99 ms', 'p50 ms', 'p99 ms', 'cost ms', 'served/s', 'refused/s']),
      ...attacked.map(({ hostile, cost, calmP99, load, attack: { served, refused, seconds: took } }) =>
        row(hostile.operation, [calmP99, load.p50, load.p99, cost, served / took, refused / took]),
      ),
    ],
    verdicts: attacked.map(({ hostile, calmP99, load }): Verdict => {
      const goal = `p99 of a tenant under ${hostile.operation}: <= ${bound} x calm`
      return judge(goal, load.p99 / calmP99, '<=', bound, 'x')
    }),
    data: { attacked: attacked.map(({ hostile: { operation, title }, ...figures }) => ({ operation, title, ...figures })) },
  }
}

/** Finds the most expensive request of each operation, then the most expensive of these. */
async function findDearest(measured: MeasuredDaemon): Promise<readonly Dear[]> {
  using client = new HostileClient(measured.daemon.addresses.http)
  const ground = await prepare(measured, client)
  await measured.settled()
  const found = new Map<string, Dear>()
  for (const hostile of hostileRequests(ground, extent)) {
    const { operation, method, path, headers } = hostile
    const { all: cost } = await measured.cost(async () => {
      await client.send(method, path, headers, hostile.bytes())
      return false
    })
    if (cost > (found.get(operation)?.cost ?? 0)) found.set(operation, { hostile, cost })
  }
  return [...found.values()].toSorted((a, b) => b.cost - a.cost).slice(0, dearest)
}

function bytesOf({ method, path, headers, bytes }: Hostile): Buffer {
  const body = method === 'GET' ? Buffer.alloc(0) : bytes()
  const length = method === 'GET' ? {} : { 'Content-Length': String(body.length) }
  const lines = Object.entries({ Host: '127.0.0.1', ...headers, ...length }).map(([name, value]) => `${name}: ${value}`)
  return Buffer.concat([Buffer.from([`${method} ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n')), body])
}
