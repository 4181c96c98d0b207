/** Callers beyond their share, at the door of HTTP. */
import test from '#test'
import type { Principal } from '#core/access/principal/principal.ts'
import { Fairness } from '#core/fairness/fairness.ts'
import type { Charged } from '#core/fairness/thread-meter.ts'
import { bearerAuthentication } from '../../../admin-api/credentials/authentication.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { call, errorOf, startDemo } from './demo-api.ts'

const reader: Principal = { organizationId: 'o', projectId: 'p', bound: false, scopes: ['api:admin'], credentialId: 'key_1' }

test('AdminApi refuses a caller beyond its share with 429 and Retry-After, and serves the others', async (t) => {
  const time = new FakeClock()
  const passing = {
    monotonic: () => time.monotonic(),
    now: () => time.now(),
    after(ms: number, work: () => void) {
      const timer = setImmediate(() => (time.advance(ms), work()))
      return { cancel: () => clearImmediate(timer) }
    },
  }
  let costMs = 1
  const meter = {
    run<T>(work: Charged, next: () => T): T {
      const result = next()
      const ms = costMs
      void Promise.resolve(result).then(() => work.spend(ms))
      return result
    },
    resume() {},
    settle() {},
  }
  const authenticate = bearerAuthentication(async (key) => ({ ...reader, credentialId: key }))
  const { port } = await startDemo(t, { authenticate, fairness: new Fairness({ clock: passing, meter }) })
  const read = (key?: 'api:read' | 'api:send') => call(port, 'GET', '/v1/notes/n_1', key && { key })
  t.is((await read('api:send')).status, 200)
  costMs = 10_000
  t.is((await read('api:read')).status, 200)
  costMs = 1
  const refused = await read('api:read')
  t.is(refused.status, 429)
  t.is(refused.headers['retry-after'], '1')
  t.like(errorOf(refused), { code: 'rate_limit_exceeded', next_action: 'retry_later', details: { share_of: 'credential' } })
  t.is((await read('api:send')).status, 200)
  t.is((await read()).status, 401)
  costMs = 10_000
  t.is((await read()).status, 401)
  costMs = 1
  t.is((await read()).status, 429, 'wrong requests wait for their turn too')
  t.is((await call(port, 'GET', '/healthz')).status, 200)
})
