/** The doctor reports services outside that fail for this daemon: captcha providers and the collector of spans. */
import { createServer } from 'node:http'
import test from '#test'
import { captchaDouble } from '../../admin-api/rest/fixture/publishable.ts'
import { codeOf, publishableFixture } from '../../admin-api/rest/fixture/publishable-page.ts'
import { operatorKey } from '../../admin-api/rest/fixture/rest-fixture.ts'
import type { RestClient } from '../../support/daemon/rest.ts'
import { startDaemon } from '../../support/daemon/start-daemon.ts'
import { listenIn } from '../../support/web/listen.ts'

const minute = 60_000

/** Returns [subject, summary] of each open finding of the kind after a look. */
async function foundBy(operator: RestClient, kind: string): Promise<readonly (readonly [string, string])[]> {
  const { findings } = (await operator.must('POST', '/operator/v1/doctor')) as unknown as {
    readonly findings: readonly { readonly id: string; readonly subject: string; readonly summary: string }[]
  }
  return findings.filter(({ id }) => id === kind).map(({ subject, summary }) => [subject, summary])
}

test('captcha.unreachable: opens after three failed verifications, ends with an answer or after an hour', async (t) => {
  const double = await captchaDouble(t)
  const captcha = { captcha_provider: 'turnstile', captcha_secret: 'right' }
  const { send, operator, clock } = await publishableFixture(t, captcha, { captcha: double.urls })
  const solved = (token: string) => send({}, { 'x-service-captcha-token': token })
  const fail = async (): Promise<boolean> => t.is(codeOf(await solved('solved')), '503 captcha_unavailable')
  double.say = () => 'hang up'
  await fail()
  double.say = () => ({ text: '{"success":false,"error-codes":["internal-error"]}' })
  await fail()
  t.deepEqual(await foundBy(operator, 'captcha.unreachable'), [])
  await fail()
  const [[subject, summary] = ['', '']] = await foundBy(operator, 'captcha.unreachable')
  t.is(subject, 'turnstile')
  t.regex(summary, /^Turnstile has not answered since .+\. 3 submissions and sends with a captcha were refused\.$/)
  double.say = undefined
  t.is(codeOf(await solved('wrong')), '400 captcha_failed', 'also a refusal is an answer')
  t.deepEqual(await foundBy(operator, 'captcha.unreachable'), [])
  double.say = () => 'hang up'
  for (let n = 0; n < 3; n++) await fail()
  t.is((await foundBy(operator, 'captcha.unreachable')).length, 1)
  clock.advance(61 * minute)
  t.deepEqual(await foundBy(operator, 'captcha.unreachable'), [], 'the state is unknown without verifications')
})

test('spans.not_exported: opens five minutes after the collector refuses spans, ends when it accepts them', async (t) => {
  let status = 500
  const collector = createServer((request, response) => void request.resume().on('end', () => response.writeHead(status).end('{}')))
  const daemon = await startDaemon(t, {
    env: { POSTERN_OTLP_ENDPOINT: `http://127.0.0.1:${await listenIn(t, collector)}`, POSTERN_OPERATOR_KEY: operatorKey },
  })
  const operator = daemon.client(operatorKey)
  const exported = async (): Promise<void> => {
    await daemon.rest.must('POST', '/v1/messages', { from: 'a@site.test', to: ['ann@inbox.test'], subject: 'x', text: 'y' })
    await daemon.pass(minute)
  }
  await exported()
  t.deepEqual(await foundBy(operator, 'spans.not_exported'), [])
  await daemon.pass(5 * minute)
  const [[, summary] = ['', '']] = await foundBy(operator, 'spans.not_exported')
  t.regex(summary, /^The collector has accepted no spans since .+\. They are dropped; mail is not affected\.$/)
  status = 200
  await exported()
  t.deepEqual(await foundBy(operator, 'spans.not_exported'), [])
})
