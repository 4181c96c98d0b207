/** The stream of changed lists of a running daemon: its events, access, limits and end. */
import test, { type ExecutionContext } from '#test'
import { waiting } from '../../support/waits.ts'
import { adminKey, startDaemon, type StartedDaemon } from '../../support/daemon/start-daemon.ts'

interface Event {
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
}

class Events {
  readonly seen: Event[] = []
  readonly status: number
  readonly headers: Headers
  hasEnded = false
  readonly #aborter: AbortController
  #news = Promise.withResolvers<void>()

  private constructor(response: Response, aborter: AbortController) {
    this.status = response.status
    this.headers = response.headers
    this.#aborter = aborter
    void this.#read(response)
  }

  static async open(t: ExecutionContext, daemon: StartedDaemon, key = adminKey, query = '', headers = {}): Promise<Events> {
    const aborter = new AbortController()
    t.teardown(() => aborter.abort())
    const address = `http://${daemon.addresses.http}/v1/events?${query}`
    return new Events(await fetch(address, { headers: { authorization: `Bearer ${key}`, ...headers }, signal: aborter.signal }), aborter)
  }

  close(): void {
    this.#aborter.abort()
  }

  /** Resolves when the condition is true. Checks it after each piece of the stream and at its end. */
  until(what: string, holds: (events: Events) => boolean): Promise<void> {
    return waiting(what, this.#until(holds))
  }

  /** Counts of added entries in the changes of a list. */
  added(list: string): number[] {
    return this.seen.flatMap(({ event, data }) => (event === 'change' && data['list'] === list ? [Number(data['added'])] : []))
  }

  async #until(holds: (events: Events) => boolean): Promise<void> {
    while (!holds(this)) await this.#news.promise
  }

  #notify(): void {
    this.#news.resolve()
    this.#news = Promise.withResolvers()
  }

  async #read({ body }: Response): Promise<void> {
    let text = ''
    try {
      for await (const chunk of body ?? []) {
        text += Buffer.from(chunk as Uint8Array).toString()
        const blocks = text.split('\n\n')
        text = blocks.pop() ?? ''
        for (const block of blocks) {
          const event = /^event: (.*)$/m.exec(block)?.[1]
          const data = /^data: (.*)$/m.exec(block)?.[1]
          if (event !== undefined) this.seen.push({ event, data: JSON.parse(data ?? '{}') as Event['data'] })
          else if (block.startsWith(':')) this.seen.push({ event: 'comment', data: {} })
        }
        this.#notify()
      }
    } catch {
      // closed by the test, or lost
    }
    this.hasEnded = true
    this.#notify()
  }
}

const mail = { from: 'shop@site.test', to: ['anna@peer.test'], subject: 'Hi', text: 'Hi' }

/** Collection time of changes, and the interval of comments. */
const [gatherMs, beatMs] = [250, 15_000]

/** Opens a stream and waits for its start. */
async function begun(t: ExecutionContext, daemon: StartedDaemon, ...more: readonly [key?: string, query?: string]): Promise<Events> {
  const events = await Events.open(t, daemon, ...more)
  await events.until('the stream begins', ({ seen }) => seen[0]?.event === 'open')
  return events
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)
const isAlive = ({ seen }: Events): boolean => seen.some(({ event }) => event === 'comment')

test('events: the stream names changed lists of one project or of all', async (t) => {
  const daemon = await startDaemon(t)
  const second = String((await daemon.rest.must('POST', '/v1/projects', { name: 'Second' }))['id'])
  const [all, one] = [await begun(t, daemon), await begun(t, daemon, adminKey, `project=${second}`)]
  t.is(all.headers.get('content-type'), 'text/event-stream')
  t.regex(String(all.headers.get('cache-control')), /no-store/)
  await daemon.rest.must('POST', '/v1/messages', mail)
  await daemon.rest.must('POST', '/v1/messages', mail)
  await daemon.rest.must('POST', '/v1/suppressions', { email: 'gone@peer.test' })
  await daemon.pass(gatherMs)
  await all.until('the change of suppressions', () => all.added('suppressions').length > 0)
  t.deepEqual(
    ['traces', 'captures', 'suppressions'].map((list) => sum(all.added(list))),
    [2, 2, 1],
  )
  await daemon.rest.must('POST', '/v1/messages', { ...mail, project_id: second })
  await daemon.pass(gatherMs)
  await daemon.pass(beatMs)
  for (const each of [all, one]) await each.until('a sign of life', isAlive)
  const changes = one.seen.filter(({ event }) => event === 'change')
  t.true(changes.length > 0)
  t.true(changes.every(({ data }) => data['project_id'] === second))
  const again = await Events.open(t, daemon, adminKey, '', { 'last-event-id': '7' })
  await again.until('the stream begins with a reset', ({ seen }) => seen[0]?.event === 'reset')
})

test('events: a refused send is a new trace only if it has one', async (t) => {
  const daemon = await startDaemon(t)
  const { rest } = daemon
  const refusal = async (message: object): Promise<string | undefined> => {
    const { body } = await rest.call('POST', '/v1/messages', message)
    return (body as { readonly error?: { readonly code: string } }).error?.code
  }
  await rest.must('PATCH', '/v1/projects/me/no-route-policy', { no_route_policy: 'reject' })
  const events = await begun(t, daemon)
  t.is(await refusal(mail), 'no_route')
  await daemon.pass(2000) // such refusals are counted a second later
  await daemon.pass(beatMs)
  await events.until('a sign of life', isAlive)
  t.deepEqual(events.added('traces'), [])
  t.is(await refusal({ from: mail.from, to: mail.to }), 'validation_failed')
  await daemon.pass(gatherMs)
  await events.until('the trace is new', () => sum(events.added('traces')) > 0)
  const { data } = await rest.must('GET', '/v1/traces')
  t.deepEqual([sum(events.added('traces')), (data as readonly unknown[]).length], [1, 1])
})

test('events: a captured scheduled send appears at its time and not earlier', async (t) => {
  const daemon = await startDaemon(t)
  const events = await begun(t, daemon)
  await daemon.rest.must('POST', '/v1/messages', { ...mail, send_at: new Date(daemon.clock.now() + 60_000).toISOString() })
  await daemon.pass(59_000)
  await events.until('a sign of life', isAlive)
  t.deepEqual([sum(events.added('traces')), sum(events.added('captures'))], [1, 0])
  await daemon.pass(2000)
  await events.until('the capture is new', () => sum(events.added('captures')) > 0)
  t.deepEqual([sum(events.added('traces')), sum(events.added('captures'))], [1, 1])
})

test('events: forms and submissions are separate lists', async (t) => {
  const daemon = await startDaemon(t)
  const { rest } = daemon
  const events = await begun(t, daemon)
  const changed = async (list: string, added: number): Promise<void> => {
    await daemon.pass(gatherMs)
    await events.until(`a change of ${list}`, () => events.added(list).includes(added))
  }
  const { id, public_id } = await rest.must('POST', '/v1/forms', { name: 'Contact', template: 'contact' })
  await changed('forms', 1)
  await rest.must('POST', `/v1/forms/${String(id)}/publish`)
  await changed('forms', 0)
  const open = `/v1/public/forms/${String(public_id)}`
  const { fill_time_token } = await rest.must('GET', open)
  const data = { name: 'Ada', email: 'ada@peer.test', message: 'Hello.' }
  const { id: submission } = await rest.must('POST', `${open}/submissions`, { data, _mnx_ft: fill_time_token })
  await changed('form_submissions', 1)
  await rest.must('PATCH', `/v1/forms/${String(id)}/submissions/${String(submission)}`, { status: 'read' })
  await changed('form_submissions', 0)
  t.deepEqual([events.added('traces'), events.added('webhook_deliveries')], [[], []])
})

test('events: hide other tenants; the stream ends with its key and with the service', async (t) => {
  const daemon = await startDaemon(t)
  const { rest } = daemon
  const project = String((await rest.must('POST', '/v1/projects', { name: 'Second' }))['id'])
  const key = await rest.must('POST', '/v1/api-keys', { name: 'second', scopes: ['api:read'], project_id: project })
  const team = await rest.must('POST', '/v1/organizations', { name: 'Team' })
  const bound = await begun(t, daemon, String(key['key']))
  const foreign = await begun(t, daemon, String(team['api_key']))
  const own = await begun(t, daemon)
  await rest.must('POST', '/v1/messages', mail)
  await daemon.pass(beatMs)
  for (const each of [own, bound, foreign]) await each.until('a sign of life', isAlive)
  t.true(own.seen.some(({ event }) => event === 'change'))
  t.false([...bound.seen, ...foreign.seen].some(({ event }) => event === 'change'))
  t.is((await Events.open(t, daemon, String(key['key']), 'project=prj_unknown')).status, 404)
  await rest.must('DELETE', `/v1/api-keys/${String(key['id'])}`)
  await daemon.pass(beatMs)
  await bound.until('the stream of the revoked key ends', ({ hasEnded }) => hasEnded)
  t.false(own.hasEnded)
  await daemon.stop()
  for (const each of [own, foreign]) await each.until('the stream ends with the service', ({ hasEnded }) => hasEnded)
})

test('events: at most ten streams per caller; a closed one frees its place', async (t) => {
  const daemon = await startDaemon(t)
  const database = daemon.part('database')
  const left = Promise.withResolvers<void>()
  const follow = database.follow.bind(database)
  database.follow = (organizationId) => {
    const unfollow = follow(organizationId)
    return () => {
      unfollow()
      left.resolve()
    }
  }
  const open = await Promise.all(Array.from({ length: 10 }, () => Events.open(t, daemon)))
  t.true(open.every(({ status }) => status === 200))
  const more = await Events.open(t, daemon)
  t.is(more.status, 429)
  t.is(more.headers.get('retry-after'), '30')
  open[0]?.close()
  await waiting('the daemon notices the end of a stream', left.promise)
  t.is((await Events.open(t, daemon)).status, 200)
})
