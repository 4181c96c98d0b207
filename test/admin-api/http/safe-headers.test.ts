/** Security headers on every kind of answer of the whole daemon. */
import test from '#test'
import { anyOrigin } from '#core/visitors/web-origin.ts'
import { media, raw } from '../../../admin-api/operation/answer.ts'
import { operation } from '../../../admin-api/operation/operation.ts'
import { startDaemon } from '../../support/daemon/start-daemon.ts'
import { call, startDemo } from './demo-api.ts'

const paths = [
  ...[
    '/',
    '/sign-in',
    '/sign-up',
    '/organizations',
    '/docs',
    '/docs/configuration',
    '/docs/api',
    '/f/none',
    '/nowhere',
    '/u/none',
    '/c/none',
  ],
  ...['/healthz', '/readyz', '/metrics', '/openapi.json', '/v1/traces', '/v1/nowhere', '/operator/v1/organizations', '/graphql', '/mcp'],
  ...['/embed.js', '/favicon.ico', '/llms.txt', '/.well-known/oauth-authorization-server', '/.well-known/oauth-protected-resource/v1'],
]

test('every answer has HSTS, nosniff, Referrer-Policy and a content security policy', async (t) => {
  const { addresses } = await startDaemon(t, { env: { POSTERN_BASE_URL: 'https://mail.example.org' } })
  const kinds = new Set<string>()
  for (const accept of ['text/html', 'application/json'])
    for (const path of paths) {
      const answer = await fetch(`http://${addresses.http}${path}`, { headers: { accept, host: 'mail.example.org' }, redirect: 'manual' })
      const header = (name: string): string => answer.headers.get(name) ?? ''
      const where = `${accept} ${path} ${answer.status}`
      const type = header('content-type').split(';')[0] ?? ''
      await answer.arrayBuffer()
      kinds.add(`${type} ${Math.floor(answer.status / 100)}`)
      t.is(header('strict-transport-security'), 'max-age=31536000', where)
      t.is(header('x-content-type-options'), 'nosniff', where)
      t.regex(header('referrer-policy'), /^(no-referrer|same-origin|strict-origin-when-cross-origin)$/, where)
      t.regex(header('content-security-policy'), /default-src 'none'/, where)
      t.regex(header('content-security-policy'), /frame-ancestors|sandbox/, where)
      if (type === 'text/html' && answer.status !== 303) t.not(header('cache-control'), '', where)
    }
  for (const kind of ['text/html 2', 'text/html 4', 'application/json 2', 'application/json 4', 'text/plain 2'])
    t.true(kinds.has(kind), `${kind} in ${[...kinds].join(', ')}`)
})

test('answers that depend on the Origin header have Vary: Origin', async (t) => {
  const { addresses } = await startDaemon(t)
  const origin = 'https://a.example'
  const named = new Set<string>()
  for (const accept of ['text/html', 'application/json'])
    for (const method of ['GET', 'POST', 'OPTIONS'])
      for (const path of [...paths, '/f/none/fragment', '/v1/messages', '/v1/public/forms/none']) {
        const asked = { accept, 'accept-language': 'de', ...(method === 'OPTIONS' && { 'access-control-request-method': 'POST' }) }
        const of = async (headers: Readonly<Record<string, string>>) => {
          const answer = await fetch(`http://${addresses.http}${path}`, { method, headers: { ...asked, ...headers }, redirect: 'manual' })
          await answer.arrayBuffer()
          return { allowed: answer.headers.get('access-control-allow-origin'), vary: (answer.headers.get('vary') ?? '').toLowerCase() }
        }
        const where = `${method} ${path} as ${accept}`
        const [there, elsewhere] = [await of({ origin }), await of({})]
        if (there.allowed === elsewhere.allowed) continue
        named.add(`${method} ${path}`)
        for (const { vary } of [there, elsewhere]) t.true(vary.split(/\s*,\s*/).includes('origin'), `${where} varies by ${vary}`)
      }
  for (const answer of ['POST /f/none', 'GET /f/none/fragment', 'POST /v1/messages', 'GET /v1/public/forms/none', 'OPTIONS /f/none'])
    t.true(named.has(answer), `${answer} in ${[...named].join(', ')}`)
})

test('without an https base URL no answer has HSTS', async (t) => {
  const { port } = await startDemo(t, { baseUrl: 'http://127.0.0.1:8080' })
  t.is((await call(port, 'GET', '/healthz')).headers['strict-transport-security'], undefined)
  const secured = await startDemo(t)
  t.is((await call(secured.port, 'GET', '/nowhere')).headers['strict-transport-security'], 'max-age=31536000')
})

test('Vary of an operation is added to the default; its other headers replace defaults', async (t) => {
  const operations = [
    operation({
      ...{ method: 'GET', path: '/v1/page', operationId: 'readPage', summary: 'Read a page', tags: ['pages'], scope: 'none' },
      cors: { allowedOrigin: anyOrigin, requestHeaders: [] },
      response: media('text/plain'),
      handle: () => raw('page', { contentType: 'text/plain', headers: { vary: 'Accept-Encoding', 'referrer-policy': 'same-origin' } }),
    }),
  ]
  const { port } = await startDemo(t, { operations })
  const { headers } = await call(port, 'GET', '/v1/page', { headers: { origin: 'https://a.example' } })
  t.is(headers['vary'], 'Origin, Accept-Encoding')
  t.is(headers['access-control-allow-origin'], 'https://a.example')
  t.is(headers['referrer-policy'], 'same-origin')
})
