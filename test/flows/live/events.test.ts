/** The stream of changed lists at the door of a running daemon: what it says, to whom, how many there may be, and when it ends. */
import test, { type ExecutionContext } from '#test'
import { waitFor } from '../../support/waits.ts'
import { FakeClock } from '../../support/fake-clock.ts'
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
      }
    } catch {
      // closed by the test, or broken off
    }
    this.hasEnded = true
  }
}

const mail = { from: 'shop@site.test', to: ['anna@peer.test'], subject: 'Hi', text: 'Hi' }

/** Lets time pass until something holds: the pause in which changes are gathered, and beats. */
const passing = (clock: FakeClock, what: string, holds: () => boolean, stepMs = 250): Promise<unknown> =>
  waitFor(what, async () => {
    clock.advance(stepMs)
    return holds() || undefined
  })

test('the stream says which lists have changed, of one project or of all', async (t) => {
  const clock = new FakeClock(Date.now())
  const daemon = await startDaemon(t, { replacements: { clock } })
  const second = String((await daemon.rest.must('POST', '/v1/projects', { name: 'Second' }))['id'])
  const [all, one] = [await Events.open(t, daemon), await Events.open(t, daemon, adminKey, `project=${second}`)]
  t.is(all.headers.get('content-type'), 'text/event-stream')
  t.regex(String(all.headers.get('cache-control')), /no-store/)
  await waitFor('it has begun', async () => all.seen[0]?.event === 'open' && one.seen[0]?.event === 'open')
  await daemon.rest.must('POST', '/v1/messages', mail)
  await daemon.rest.must('POST', '/v1/messages', mail)
  await daemon.rest.must('POST', '/v1/suppressions', { email: 'gone@peer.test' })
  const changes = ({ seen }: Events): Event[] => seen.filter(({ event }) => event === 'change')
  await passing(clock, 'the change of captures came', () => changes(all).some(({ data }) => data['list'] === 'suppressions'))
  const added = (list: string): number =>
    changes(all).reduce((sum, { data }) => sum + (data['list'] === list ? Number(data['added']) : 0), 0)
  t.deepEqual([added('traces'), added('captures'), added('suppressions')], [2, 2, 1])
  await daemon.rest.must('POST', '/v1/messages', { ...mail, project_id: second })
  await passing(clock, 'the other project has a change', () => changes(one).length > 0)
  t.deepEqual(
    changes(one).filter(({ data }) => data['project_id'] !== second),
    [],
  )
  await passing(clock, 'a sign of life', () => all.seen.some(({ event }) => event === 'comment'), 5000)
  const again = await Events.open(t, daemon, adminKey, '', { 'last-event-id': '7' })
  await waitFor('it begins with a reset', async () => again.seen[0]?.event === 'reset')
})

test('a scheduled send that is captured is new in the captures at its time, and not before', async (t) => {
  const clock = new FakeClock(Date.now())
  const daemon = await startDaemon(t, { replacements: { clock } })
  const events = await Events.open(t, daemon)
  await waitFor('it has begun', async () => events.seen[0]?.event === 'open')
  const added = (list: string): number =>
    events.seen.reduce((sum, { event, data }) => sum + (event === 'change' && data['list'] === list ? Number(data['added']) : 0), 0)
  await daemon.rest.must('POST', '/v1/messages', { ...mail, send_at: new Date(clock.now() + 60_000).toISOString() })
  await passing(clock, 'the trace is new', () => added('traces') === 1)
  t.is(added('captures'), 0)
  await passing(clock, 'the capture is new', () => added('captures') === 1, 1000)
  t.is(added('traces'), 1)
})

test('forms and what comes in by them are lists of their own', async (t) => {
  const clock = new FakeClock(Date.now())
  const daemon = await startDaemon(t, { replacements: { clock } })
  const { rest } = daemon
  const events = await Events.open(t, daemon)
  await waitFor('it has begun', async () => events.seen[0]?.event === 'open')
  const added = (list: string): number[] =>
    events.seen.flatMap(({ event, data }) => (event === 'change' && data['list'] === list ? [Number(data['added'])] : []))
  const { id, public_id } = await rest.must('POST', '/v1/forms', { name: 'Contact', template: 'contact' })
  await passing(clock, 'the form is new', () => added('forms').includes(1))
  await rest.must('POST', `/v1/forms/${String(id)}/publish`)
  await passing(clock, 'it has changed', () => added('forms').includes(0))
  const open = `/v1/public/forms/${String(public_id)}`
  const { fill_time_token } = await rest.must('GET', open)
  const data = { name: 'Ada', email: 'ada@peer.test', message: 'Hello.' }
  const { id: submission } = await rest.must('POST', `${open}/submissions`, { data, _mnx_ft: fill_time_token })
  await passing(clock, 'the submission is new', () => added('form_submissions').includes(1))
  await rest.must('PATCH', `/v1/forms/${String(id)}/submissions/${String(submission)}`, { status: 'read' })
  await passing(clock, 'it has changed', () => added('form_submissions').includes(0))
  t.deepEqual([added('traces'), added('webhook_deliveries')], [[], []])
})

test('no other organization and no other project is seen; the stream ends with the key, and with the service', async (t) => {
  const clock = new FakeClock(Date.now())
  const daemon = await startDaemon(t, { replacements: { clock } })
  const { rest } = daemon
  const project = String((await rest.must('POST', '/v1/projects', { name: 'Second' }))['id'])
  const key = await rest.must('POST', '/v1/api-keys', { name: 'second', scopes: ['api:read'], project_id: project })
  const team = await rest.must('POST', '/v1/organizations', { name: 'Team' })
  const bound = await Events.open(t, daemon, String(key['key']))
  const foreign = await Events.open(t, daemon, String(team['api_key']))
  const own = await Events.open(t, daemon)
  await rest.must('POST', '/v1/messages', mail)
  await passing(clock, 'the own stream has it', () => own.seen.some(({ event }) => event === 'change'))
  t.false([...bound.seen, ...foreign.seen].some(({ event }) => event === 'change'))
  t.is((await Events.open(t, daemon, String(key['key']), 'project=prj_unknown')).status, 404)
  await rest.must('DELETE', `/v1/api-keys/${String(key['id'])}`)
  await passing(clock, 'the stream of the revoked key has ended', () => bound.hasEnded, 5000)
  t.false(own.hasEnded)
  await daemon.stop()
  await waitFor('all have ended', async () => own.hasEnded && foreign.hasEnded)
})

test('a caller has ten streams at most, and one that is closed makes room', async (t) => {
  const daemon = await startDaemon(t)
  const open = await Promise.all(Array.from({ length: 10 }, () => Events.open(t, daemon)))
  t.true(open.every(({ status }) => status === 200))
  const more = await Events.open(t, daemon)
  t.is(more.status, 429)
  t.is(more.headers.get('retry-after'), '30')
  open[0]?.close()
  await waitFor('there is room again', async () => (await Events.open(t, daemon)).status === 200)
})
