/** Receivers that fail in every way, and nothing in alerts, attempts, findings, log or metrics that belongs to a mail or opens a chat. */
import test from '#test'
import { AlertedDaemon, chatKinds, markers, minute, ownerAddress, second, type ChatKind } from './alerted-daemon.ts'
import type { Answering } from '../../support/web/webhook-receiver.ts'

/** Repeats the whole request, as some receivers do in errors. */
const repeating =
  (status: number): Answering =>
  (response, request) => {
    const { authorization = '' } = request.headers
    response.writeHead(status, { location: `http://127.0.0.1:1/${markers.path}` })
    response.end(JSON.stringify({ description: `bad ${request.url} ${authorization}`, parameters: { retry_after: 60 } }))
  }

const answers: Readonly<Record<Exclude<ChatKind, 'webhook'>, Answering>> = {
  slack: repeating(200),
  discord: repeating(400),
  teams: repeating(404),
  telegram: repeating(429),
  ntfy: repeating(500),
}

test('receivers that fail or repeat the token: no secret and nothing of a mail is shown', async (t) => {
  let fails = false
  const answer =
    (kind: ChatKind): Answering =>
    (response, request, nth) => {
      if (!fails) response.writeHead(204).end()
      else if (kind === 'webhook')
        setImmediate(() => here.clock.advance(10 * second)) // no answer until the deadline
      else answers[kind](response, request, nth)
    }
  const recipient = (address: string): string | undefined => (address === ownerAddress ? undefined : `550 5.1.1 ${markers.reply}`)
  const here = await AlertedDaemon.start(t, { answer, system: { recipient } })
  fails = true
  here.setPassword('changed at the provider')
  await here.submit(3)
  await here.daemon.pass(90 * second)
  for (const kind of chatKinds) t.true(here.alerts(kind).length > 0, kind)
  await here.daemon.pass(50 * minute)
  here.setPassword('right')
  here.provider.script = { recipient: () => `550 5.7.1 ${markers.reply}` }
  await here.submit(20)
  await here.daemon.pass(20 * minute)
  const statuses = new Map<string, string>()
  for (const [kind, id] of here.channelIds) {
    const { data } = (await here.daemon.rest.must('GET', `/v1/alert-channels/${id}/attempts`)) as { data: { status: string }[] }
    statuses.set(kind, data.at(-1)?.status ?? '')
  }
  const parked = Object.fromEntries(chatKinds.slice(1).map((kind) => [kind, 'parked']))
  t.deepEqual(Object.fromEntries(statuses), { slack: 'succeeded', ...parked })
  const shown = await here.shown()
  const { reply, ...never } = markers
  for (const marker of Object.values(never)) t.deepEqual(linesWith(shown, marker), [], marker)
  // the log of attempts has the reply, without addresses, for the operator
  const attempts = new RegExp(`"reason":"[^"]*${reply}[^"]*","msg":"delivery attempt failed"`, 'g')
  t.deepEqual(linesWith(shown.replaceAll(attempts, ''), reply), [])
  t.true(linesWith(shown, 'webhook attempt failed').length > 0)
  t.regex(shown, /postern_alerts_total\{kind="slack",result="written"\} [1-9]/)
  await here.assertSound(t)
})

/** Returns the surroundings of a text. */
const linesWith = (shown: string, text: string): readonly string[] =>
  [...shown.matchAll(new RegExp(`.{0,120}${text}.{0,60}`, 'g'))].map(([found]) => found)
