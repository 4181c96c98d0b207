/** Sign-in without mail: the link of the first start, and `postern login-link` with and without a running daemon. */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import test from '#test'
import { waitFor } from '../../support/waits.ts'
import { Daemon, runCommand } from '../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { programPort } from '../../support/network/program-port.ts'
import { assertVerified } from '../../support/problems.ts'

const linkIn = (text: string): string => /http:\/\/localhost:\d+\/sign-in\/link\/[\w-]{43}/.exec(text)?.[0] ?? ''

/** Opens the link and presses the button of its page. */
async function follow(
  link: string,
  email?: string,
): Promise<{ readonly status: number; readonly next: string | null; readonly text: string }> {
  const body = new URLSearchParams(email === undefined ? {} : { email })
  const response = await fetch(link, { method: 'POST', body, redirect: 'manual', headers: { origin: new URL(link).origin } })
  const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
  const page = await fetch(new URL('/organizations', link), { headers: { cookie } })
  return { status: response.status, next: response.headers.get('location'), text: await page.text() }
}

test('sign-in links: the first start prints one; login-link creates others', async (t) => {
  await using folder = await temporaryFolder('login-link')
  const options = { folder: folder.path, env: { POSTERN_HTTP_LISTEN: `127.0.0.1:${await programPort()}` } }
  t.regex((await runCommand(options, 'login-link', 'ada@example.ch')).output, /There is no data in .*; start the daemon once/)
  await using first = await Daemon.start(options)
  await waitFor('the link of the owner is printed', () => linkIn(first.log) !== '')
  const owner = await follow(linkIn(first.log), 'olga@example.ch')
  t.is(owner.status, 303)
  t.regex(owner.text, /Default[^]*Owner/)

  const file = join(folder.path, 'data', 'operator.json')
  t.is((await stat(file)).mode & 0o777, 0o600)
  const running = await runCommand(options, 'login-link', 'ben@example.ch')
  t.is(running.code, 0)
  const page = '/oauth/authorize?client_id=x&state=%2F'
  t.is((await follow(linkIn((await runCommand(options, 'login-link', '--next', page, 'eve@example.ch')).output))).next, page)
  const foreign = await runCommand(options, 'login-link', 'eve@example.ch', '--next', '//evil.example')
  t.is((await follow(linkIn(foreign.output))).next, '/')
  t.regex((await follow(linkIn(running.output))).text, /You are not a member of an organization yet/)
  t.regex(
    (await runCommand(options, 'login-link', 'nonsense')).output,
    /^login-link needs a mail address such as ada@example\.com; got "nonsense"\. Try postern login-link --help\.$/m,
  )
  const { origin } = JSON.parse(await readFile(file, 'utf8')) as { origin: string }
  const ask = (authorization: string) =>
    fetch(`${origin}/operator/login-links`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: '{"email":"eve@example.ch"}',
    })
  for (const wrong of ['', 'Bearer x', `Bearer ${first.adminKey}`]) t.is((await ask(wrong)).status, 401)
  t.is((await first.stop()).code, 0)
  await t.throwsAsync(stat(file), { code: 'ENOENT' })

  const stopped = await runCommand(options, 'login-link', 'ben@example.ch', '--next=/traces')
  t.is(stopped.code, 0)
  await using second = await Daemon.start(options, first.adminKey)
  t.is(linkIn(second.log), '')
  t.like(await follow(linkIn(stopped.output)), { status: 303, next: '/traces' })
  await second.kill() // the operator file remains; the command notices that the address does not respond
  t.is((await runCommand(options, 'login-link', 'ben@example.ch')).code, 0)
  assertVerified(t, await runCommand(options, 'verify'))
})

test('sign-in links: use the separate address of the authorization server', async (t) => {
  await using folder = await temporaryFolder('auth-url')
  const port = await programPort()
  const authUrl = `http://localhost:${port}`
  const env = { POSTERN_HTTP_LISTEN: `127.0.0.1:${port}`, POSTERN_BASE_URL: `http://127.0.0.1:${port}`, POSTERN_AUTH_URL: authUrl }
  const options = { folder: folder.path, env }
  await using first = await Daemon.start(options)
  await waitFor('the link of the owner is printed', () => first.log.includes('/sign-in/link/'))
  t.regex(first.log, new RegExp(`${authUrl}/sign-in/link/`))
  t.regex((await runCommand(options, 'login-link', 'ben@example.ch')).output, new RegExp(`^${authUrl}/sign-in/link/`))
  const bootstrap = { grant_type: 'client_credentials', client_id: 'anonymous-bootstrap', resource: `${env.POSTERN_BASE_URL}/v1` }
  const token = await fetch(`${authUrl}/oauth/token`, { method: 'POST', body: new URLSearchParams(bootstrap) })
  const { access_token: bearer } = (await token.json()) as { access_token: string }
  const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' }
  const claim = await fetch(`${env.POSTERN_BASE_URL}/v1/account/claim`, { method: 'POST', headers, body: '{"email":"ben@example.ch"}' })
  t.is(((await claim.json()) as { integrations_url: string }).integrations_url, `${authUrl}/integrations`)
  t.is((await first.stop()).code, 0)
  t.regex((await runCommand(options, 'login-link', 'ben@example.ch')).output, new RegExp(`^${authUrl}/sign-in/link/`))
})
