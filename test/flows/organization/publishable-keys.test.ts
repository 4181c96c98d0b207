/** Publishable keys with a real daemon that is killed and restarted, without a proxy. */
import test from '#test'
import { captchaDouble } from '../../admin-api/rest/fixture/publishable.ts'
import { Daemon, newAdminKey, runCommand } from '../../support/daemon/daemon.ts'
import { RestClient } from '../../support/daemon/rest.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { assertVerified } from '../../support/problems.ts'

const origin = 'https://shop.example.ch'
const page = { allowed_origins: [origin], allowed_to: ['ada@example.ch'], locked_from: 'form@example.ch' }

test('publishable keys: limits, captchas and links survive a kill and forged addresses', async (t) => {
  await using folder = await temporaryFolder('publishable')
  const double = await captchaDouble(t)
  double.say = () => ({ text: '{"success": true}' })
  const env = {
    POSTERN_TURNSTILE_VERIFY_URL: double.urls.turnstileVerifyUrl,
    POSTERN_HCAPTCHA_VERIFY_URL: double.urls.hcaptchaVerifyUrl,
    POSTERN_BASE_URL: 'https://post.example.ch',
    POSTERN_LOG_LEVEL: 'debug',
  }
  const options = { folder: folder.path, env }
  const admin = newAdminKey()
  /** Statuses of sends with a solved captcha each, from forged client addresses. */
  const sends = async (daemon: Daemon, token: string, captchas: readonly string[]): Promise<number[]> => {
    using client = new RestClient(daemon.addresses.http, token)
    const answers = captchas.map((captcha, i) => {
      const headers = { origin, 'x-service-captcha-token': captcha, 'x-forwarded-for': `192.0.2.${i}` }
      return client.call('POST', '/v1/messages', { to: 'ada@example.ch', text: 'Hello' }, headers)
    })
    return (await Promise.all(answers)).map(({ status }) => status).toSorted((a, b) => a - b)
  }
  let token = ''
  let link = ''
  {
    await using daemon = await Daemon.start(options, admin)
    const key = { ...page, captcha_provider: 'turnstile', captcha_secret: 'right', rates: { per_ip_hour: 3 } }
    token = String((await daemon.rest.must('POST', '/v1/publishable-keys', key))['raw_token'])
    link = String((await daemon.rest.must('POST', '/v1/publishable-keys', { ...page, reveal: true }))['reveal_url'])
    t.deepEqual(await sends(daemon, token, ['a', 'b']), [200, 200])
    await daemon.kill()
  }
  await using daemon = await Daemon.start(options, admin)
  t.deepEqual(await sends(daemon, token, ['a']), [400], 'a captcha that was used before')
  t.deepEqual(await sends(daemon, token, ['c', 'd', 'e']), [200, 429, 429])
  t.deepEqual(double.asked.map(({ path }) => path).includes('/hcaptcha'), false)
  const path = link.replace(env.POSTERN_BASE_URL, '')
  const asked = { accept: 'application/json', host: 'post.example.ch' }
  t.deepEqual(
    await Promise.all(Array.from({ length: 3 }, async () => (await daemon.rest.call('POST', path, undefined, asked)).status)).then(
      (statuses) => statuses.toSorted((a, b) => a - b),
    ),
    [200, 410, 410],
  )
  t.is((await daemon.rest.call('GET', '/v1/traces', undefined, { authorization: `Bearer ${token}` })).status, 401)
  await daemon.stop()
  t.true(daemon.log.includes('"operationId":"reveal"'), 'the log contains every request')
  for (const secret of [token, link.split('.').at(-1) ?? '']) t.false(daemon.log.includes(secret), secret)
  assertVerified(t, await runCommand(options, 'verify'))
})

test('publishable keys: a flood with a kill stays within the limit and is counted', async (t) => {
  await using folder = await temporaryFolder('publishable')
  const options = { folder: folder.path }
  const admin = newAdminKey()
  const rates = { per_ip_hour: 0, per_recipient_hour: 0, per_key_hour: 30, per_key_day: 0 }
  /** Returns the number of 200 responses for 60 sends. Calls `each` for every response. */
  const flood = async (daemon: Daemon, token: string, each: (status: number) => void = () => undefined): Promise<number> => {
    using client = new RestClient(daemon.addresses.http, token)
    const send = () => client.call('POST', '/v1/messages', { to: 'ada@example.ch', text: 'Hello' }, { origin })
    const answers = await Promise.allSettled(Array.from({ length: 60 }, () => send().then(({ status }) => (each(status), status))))
    return answers.filter((answer) => answer.status === 'fulfilled' && answer.value === 200).length
  }
  let token = ''
  let before = 0
  {
    await using daemon = await Daemon.start(options, admin)
    token = String((await daemon.rest.must('POST', '/v1/publishable-keys', { ...page, rates }))['raw_token'])
    let answered = 0
    let killed: Promise<unknown> | undefined
    before = await flood(daemon, token, () => {
      if (++answered === 3) killed = daemon.kill()
    })
    await killed
  }
  await using daemon = await Daemon.start(options, admin)
  const after = await flood(daemon, token)
  const { data } = (await daemon.rest.must('GET', '/v1/traces?limit=200')) as { data: unknown[] }
  t.is(data.length, 30, `${before} were answered before, ${after} after`)
  t.true(before + after <= 30)
  await daemon.stop()
})
