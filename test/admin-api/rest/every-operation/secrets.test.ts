/** Secrets appear once in an answer, and no file contains them in clear. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from '#test'
import type { RestClient } from '../../../support/daemon/rest.ts'
import { adminKey, loopback, startFixture, type Fixture } from '../fixture/rest-fixture.ts'

/** Returns every list as one text. */
async function everything(rest: RestClient): Promise<string> {
  const lists = [
    'destinations',
    'routing/rules',
    'failover/policy',
    'smtp-credentials',
    'templates',
    'traces',
    'inboxes',
    'api-keys',
    'replays',
  ]
  lists.push('publishable-keys', 'domains', 'suppressions', 'audit', 'projects', 'organizations', 'webhooks')
  return (await Promise.all(lists.map(async (list) => (await rest.call('GET', `/v1/${list}?limit=200`)).bytes.toString('utf8')))).join('\n')
}

test('secrets appear in no later answer and in no file of the store', async (t) => {
  const fixture = await startFixture(t)
  const { rest } = fixture
  const password = 'provider-password-correct-horse'
  const credentials = { ...loopback.credentials, username: 'provider-user', password }
  const destination = await rest.call('POST', '/v1/destinations', { name: 'x', provider: 'smtp', credentials })
  const credential = await rest.must('POST', '/v1/smtp-credentials', {})
  const rotated = await rest.must('POST', `/v1/smtp-credentials/${String(credential['id'])}/rotate`)
  const key = await rest.must('POST', '/v1/api-keys', { name: 'x', scopes: ['api:read'] })
  const webhook = await rest.must('POST', '/v1/webhooks', { name: 'x', target_url: 'https://hooks.example.ch/' })
  const rotatedWebhook = await rest.must('POST', `/v1/webhooks/${String(webhook['id'])}/rotate-secret`)
  const team = await rest.must('POST', '/v1/organizations', { name: 'x' })
  const page = { allowed_origins: ['https://shop.example.ch'], allowed_to: ['ada@example.ch'], locked_from: 'form@example.ch' }
  const captcha = { captcha_provider: 'turnstile', captcha_secret: 'captcha-secret-battery-staple' }
  const publishable = await rest.must('POST', '/v1/publishable-keys', { ...page, ...captcha })
  const revealed = await rest.must('POST', '/v1/publishable-keys', { ...page, reveal: true })
  const secrets = [
    captcha.captcha_secret,
    String(publishable['raw_token']),
    String(revealed['reveal_url']).split('.').at(-1) ?? '',
    password,
    String(credential['password']),
    String(rotated['password']),
    String(key['key']),
    String(webhook['hmac_secret']),
    String(rotatedWebhook['hmac_secret']),
    String(team['api_key']),
    adminKey,
  ]
  const shown = `${destination.bytes.toString('utf8')}${await everything(rest)}`
  for (const secret of secrets) t.false(shown.includes(secret))
  t.true(shown.includes('provider-user'))
  await fixture.closeStore()
  const stored = await storeBytes(fixture)
  t.true(stored.includes('provider-user'), 'the search finds values that are stored in clear')
  for (const secret of secrets) t.false(stored.includes(secret))
})

async function storeBytes({ folder }: Fixture): Promise<Buffer> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => readFile(join(entry.parentPath, entry.name)))
  return Buffer.concat(await Promise.all(files))
}
