/** Callers above their share of the HTTP side. */
import test, { type ExecutionContext } from '#test'
import type { Principal } from '#core/access/principal/principal.ts'
import { Fairness } from '#core/fairness/fairness.ts'
import type { Charged } from '#core/fairness/thread-meter.ts'
import { bearerAuthentication } from '../../../admin-api/credentials/authentication.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { startDaemon } from '../../support/daemon/start-daemon.ts'
import { call, demoOperations, errorOf, startDemo } from './demo-api.ts'

const reader: Principal = { organizationId: 'o', projectId: 'p', bound: false, scopes: ['api:admin'], credentialId: 'key_1' }

/** The demo API. Each request costs the milliseconds of main-thread time that the test sets. */
async function startCostly(t: ExecutionContext) {
  const time = new FakeClock()
  const passing = {
    monotonic: () => time.monotonic(),
    now: () => time.now(),
    after(ms: number, work: () => void) {
      const timer = setImmediate(() => (time.advance(ms), work()))
      return { cancel: () => clearImmediate(timer) }
    },
  }
  const cost = { ms: 1 }
  const meter = {
    run<T>(work: Charged, next: () => T): T {
      const result = next()
      const { ms } = cost
      void Promise.resolve(result).then(() => work.spend(ms))
      return result
    },
    resume() {},
    settle() {},
  }
  const authenticate = bearerAuthentication(async (key) => ({ ...reader, credentialId: key }))
  const operations = demoOperations.map((each) => (each.operationId === 'echoAddress' ? { ...each, allowsAnyOrigin: true } : each))
  const { port } = await startDemo(t, { authenticate, operations, fairness: new Fairness({ clock: passing, meter }) })
  return { port, cost, time }
}

test('AdminApi refuses a caller above its share with 429 and Retry-After, serves others', async (t) => {
  const { port, cost } = await startCostly(t)
  const read = (key?: 'api:read' | 'api:send') => call(port, 'GET', '/v1/notes/n_1', key && { key })
  t.is((await read('api:send')).status, 200)
  cost.ms = 10_000
  t.is((await read('api:read')).status, 200)
  cost.ms = 1
  const refused = await read('api:read')
  t.is(refused.status, 429)
  t.is(refused.headers['retry-after'], '1')
  t.like(errorOf(refused), { code: 'rate_limit_exceeded', next_action: 'retry_later', details: { share_of: 'credential' } })
  t.is((await read('api:send')).status, 200)
  t.is((await read()).status, 401)
  cost.ms = 10_000
  t.is((await read()).status, 401)
  cost.ms = 1
  t.is((await read()).status, 429, 'invalid requests wait for their turn too')
  t.is((await call(port, 'GET', '/healthz')).status, 200)
})

test('AdminApi charges requests without an operation to their address', async (t) => {
  const { port, cost, time } = await startCostly(t)
  const requests = [
    ['GET', '/nothing', 404],
    ['PUT', '/v1/notes', 405],
    ['GET', '/v1/notes/%ff', 400],
    ['OPTIONS', '/v1/echo-address', 204],
    ['GET', '/metrics', 200],
  ] as const
  for (const [method, path, status] of requests) {
    const send = async (): Promise<number> => (await call(port, method, path)).status
    t.is((await call(port, 'GET', '/v1/notes/n_1', { key: 'api:read' })).status, 200)
    cost.ms = 10_000
    t.is(await send(), status, path)
    cost.ms = 1
    t.is(await send(), 429, path)
    t.is((await call(port, 'GET', '/v1/notes/n_1', { key: 'api:read' })).status, 200, path)
    t.is((await call(port, 'GET', '/readyz')).status, 200)
    time.advance(60_000)
  }
})

test('AdminApi charges anonymous local requests with and without proxy headers separately', async (t) => {
  const { port, cost, time } = await startCostly(t)
  const ask = async (path: string, headers: Record<string, string> = {}): Promise<number> =>
    (await call(port, 'GET', path, { headers })).status
  for (const field of ['X-Forwarded-For', 'Forwarded', 'Via', 'X-Real-IP']) {
    const passedOn = { [field]: '192.0.2.1' }
    t.is((await call(port, 'GET', '/v1/notes/n_1', { key: 'api:read' })).status, 200)
    cost.ms = 10_000
    t.is(await ask('/nothing', passedOn), 404)
    cost.ms = 1
    t.is(await ask('/metrics'), 200, field)
    t.is(await ask('/metrics', passedOn), 429, field)
    time.advance(60_000)
  }
})

test('health probes of the process are charged to no account', async (t) => {
  const { operations } = (await startDaemon(t)).http
  t.deepEqual(
    operations.filter(({ isFree }) => isFree).map(({ operationId }) => operationId),
    ['proveRun'],
  )
})
