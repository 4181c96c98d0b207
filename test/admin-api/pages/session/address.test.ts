/** Addresses of pages: host names, unknown paths, and pages that an application may open in a window. */
import { request } from 'node:http'
import test from '#test'
import { asking, signedInServer } from '../consent-requests.ts'
import { startPageServer } from '../page-server.ts'

interface Shown {
  readonly status: number
  readonly text: string
}

const form = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' }

/** Sends a request with the given host. */
const ask = (url: string, host: string, method = 'GET'): Promise<Shown> =>
  new Promise((resolve, reject) => {
    const asked = request(url, { method, setHost: false, headers: { host, ...form } }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    asked.on('error', reject).end()
  })

test('address: pages are served only under the address of the service', async (t) => {
  const server = await startPageServer(t, { publicUrl: 'https://auth.example.ch' })
  const authorize = asking(server).path
  for (const [method, path] of [
    ['GET', '/sign-in'],
    ['POST', '/sign-in'],
    ['GET', '/account/applications'],
    ['GET', authorize],
    ['POST', authorize],
    ['GET', '/integrations'],
  ] as const) {
    const { status, text } = await ask(server.url + path, 'rebound.example.net', method)
    t.is(status, 421, `${method} ${path}`)
    t.regex(text, /Open it at https:\/\/auth\.example\.ch\b/)
    t.notRegex(text, /rebound/)
  }
  for (const host of ['example.ch', 'auth.example.ch.evil.example', 'api.auth.example.ch', 'auth.example.ch@evil.example'])
    t.is((await ask(`${server.url}/sign-in`, host)).status, 421, host)
  for (const host of [
    'auth.example.ch',
    'AUTH.example.ch:8443',
    'auth.example.ch.',
    'localhost:1',
    '127.0.0.1',
    '[::1]:80',
    'postern:8080',
  ])
    t.is((await ask(`${server.url}/sign-in`, host)).status, 200, host)
})

test('address: unknown paths get a page in browsers and JSON in programs', async (t) => {
  const server = await startPageServer(t)
  const browser = await fetch(`${server.url}/nothing`, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } })
  t.is(browser.status, 404)
  t.is(browser.headers.get('content-type'), 'text/html; charset=utf-8')
  t.regex(await browser.text(), /<h1>Nothing here<\/h1>/)
  for (const accept of ['*/*', 'application/json', 'application/json, text/html;q=0.5']) {
    const program = await fetch(`${server.url}/nothing`, { headers: { accept } })
    t.is(program.status, 404)
    t.is(((await program.json()) as { error: { code: string } }).error.code, 'not_found')
  }
})

test('address: only sign-in and consent pages have no Cross-Origin-Opener-Policy', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  const policy = async (path: string): Promise<string | null> => (await olga.get(path)).headers.get('cross-origin-opener-policy')
  for (const path of [asking(server).path, '/sign-in?again=1', new URL(await server.operatorLink('olga@example.ch')).pathname])
    t.is(await policy(path), null, path)
  for (const path of ['/organizations', `/organizations/${server.organizationId}/members`, '/account/applications'])
    t.is(await policy(path), 'same-origin', path)
})

test('address: browsers at a loopback number are redirected to the name', async (t) => {
  const server = await startPageServer(t)
  const { port } = new URL(server.url)
  const page = 'text/html,*/*;q=0.8'
  const led = await asNamed(port, `127.0.0.1:${port}`, page)
  t.deepEqual(led, [307, `http://localhost:${port}/sign-in?next=%2Forganizations`])
  t.deepEqual(await asNamed(port, `[::1]:${port}`, page), led)
  t.deepEqual(await asNamed(port, `127.0.0.1:${port}`, '*/*'), [200, undefined])
  t.deepEqual(await asNamed(port, `127.0.0.1:1`, page), [200, undefined], 'another port may be a tunnel with an unknown address')
  t.deepEqual(await asNamed(port, `localhost:${port}`, page), [200, undefined])
})

/** Sends a request with a given host name. */
const asNamed = (port: string, host: string, accept: string) =>
  new Promise<[number | undefined, string | undefined]>((resolve, reject) => {
    const options = { host: 'localhost', port, path: '/sign-in?next=%2Forganizations', headers: { host, accept } }
    const asked = request(options, (answer) => resolve([answer.resume().statusCode, answer.headers.location]))
    asked.on('error', reject).end()
  })

test('account: says whether passkeys are available at the address of the service', async (t) => {
  for (const [publicUrl, areAvailable] of [
    ['http://192.0.2.7:8080', false],
    ['https://post.example.ch', true],
  ] as const) {
    const { server, pageClient } = await signedInServer(t, 'olga@example.ch', { publicUrl })
    const headers = { cookie: pageClient.cookie, 'sec-fetch-site': 'same-origin' }
    const account = (await (await fetch(`${server.url}/v1/account`, { headers })).json()) as Record<string, unknown>
    t.is(account['passkeys_available'], areAvailable, publicUrl)
  }
})
