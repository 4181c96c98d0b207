/**
 * Every operation with the commit of the store delayed beyond every deadline: once a write is in progress, only its outcome is the answer
 * (architecture, promise 2).
 */
import test, { type ExecutionContext } from '#test'
import * as z from 'zod'
import { noBody } from '../../../../admin-api/operation/answer.ts'
import { operation, type Operation } from '../../../../admin-api/operation/operation.ts'
import { waiting } from '../../../support/waits.ts'
import type { RestAnswer, RestClient } from '../../../support/daemon/rest.ts'
import { makeOneOfEach, requestsOf, type Request } from '../fixture/requests.ts'
import { startFixture, type Fixture } from '../fixture/rest-fixture.ts'

const hour = 3_600_000
/** The first waits for mail; the second takes a form instead of JSON. */
const leftOut = new Set(['waitForInboxMessage', 'unsubscribe'])

interface HeldFixture {
  readonly fixture: Fixture
  /** Delays all writes from now on; resolves when the first one has started. */
  hold(): Promise<void>
  release(): void
  /** Lets every deadline pass; resolves when the server has checked all of them. */
  passDeadlines(): Promise<void>
}

/** A read that never returns, so its deadline ends it. */
const endless = (begun: () => void): Operation =>
  operation({
    method: 'GET',
    path: '/endless',
    operationId: 'endless',
    summary: 'Read for ever',
    tags: ['test'],
    scope: 'none',
    deadlineSeconds: 1,
    query: z.strictObject({}),
    response: noBody,
    handle() {
      begun()
      return new Promise<never>(() => {})
    },
  })

async function startHeld(t: ExecutionContext): Promise<HeldFixture> {
  let now = 0
  let gate: { readonly reached: () => void; readonly opened: Promise<void>; readonly open: () => void } | undefined
  const fixture = await startFixture(t, {
    server: {
      monotonic: () => now,
      limits: { deadlineCheckMs: 5, frozenMsMin: Infinity },
    },
    replacements: { operations: [endless(() => void (now += hour))] },
  })
  fixture.kv.beforeWrite = () => {
    gate?.reached()
    return gate?.opened
  }
  t.teardown(() => gate?.open())
  return {
    fixture,
    hold() {
      const reached = Promise.withResolvers<void>()
      const opened = Promise.withResolvers<void>()
      gate = { reached: reached.resolve, opened: opened.promise, open: opened.resolve }
      return reached.promise
    },
    release() {
      gate?.open()
      gate = undefined
    },
    async passDeadlines() {
      const { status } = await waiting('the deadline of a read', fixture.rest.call('GET', '/endless'))
      if (status !== 503) throw new Error(`the endless read was answered ${status}`)
    },
  }
}

function ask(client: RestClient, { method, path }: Operation<never>, { params = {}, query, body, headers }: Request): Promise<RestAnswer> {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? 'missing')
  return client.call(method, query === undefined ? filled : `${filled}?${query}`, body, headers)
}

test('deadline: a request with a delayed write returns the outcome of the write', async (t) => {
  const { fixture, hold, release, passDeadlines } = await startHeld(t)
  const requests = requestsOf(await makeOneOfEach(fixture))
  const names = Object.keys(requests)
  const walk = fixture.operations
    .filter(({ operationId }) => operationId in requests && !leftOut.has(operationId))
    .toSorted((a, b) => names.indexOf(a.operationId) - names.indexOf(b.operationId))
  const writing: string[] = []
  /**
   * A background write can look like the write of a request that only reads. Time then passes too early, so the request is repeated. If the
   * request's own write is delayed and the answer is still 503, each repetition fails too.
   */
  const answerOf = async (one: Operation<never>, tries = 1): Promise<RestAnswer> => {
    const held = hold()
    let early: RestAnswer | undefined
    const answered = ask(one.scope === 'operator' ? fixture.operator : fixture.rest, one, requests[one.operationId] ?? { outsider: 'own' })
    void answered.then((answer) => (early = answer))
    await Promise.race([held, answered])
    if (!early) {
      writing.push(one.operationId)
      await passDeadlines()
    }
    release()
    const answer = await answered
    return answer.status === 503 && tries < 3 ? answerOf(one, tries + 1) : answer
  }
  for (const one of walk) {
    const { status, bytes } = await answerOf(one)
    t.true(status < 400, `${one.operationId} answered ${status}: ${bytes.toString().slice(0, 300)}`)
  }
  for (const name of ['sendMessage', 'ingestStalwart', 'createDestination', 'importSuppressions', 'cancelScheduledSend'])
    t.true(writing.includes(name), `the write of ${name} should have been delayed`)
  t.log(`${writing.length} operations wrote`)
})
