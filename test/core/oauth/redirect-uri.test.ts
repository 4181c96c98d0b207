/** The redirect matcher compared with a naive model that parses URLs as browsers do, with mutated URLs. */
import test from '#test'
import {
  isLoopbackRedirect,
  matchesRedirectUri,
  mayRegisterRedirectUri,
  redirectHost,
  withParameters,
} from '#core/oauth/clients/redirect-uri.ts'
import { Seeded } from '../../support/seeded.ts'

const registered = [
  'http://127.0.0.1/callback',
  'http://127.0.0.1:8080/callback?x=1',
  'http://[::1]/cb',
  'http://localhost:3000',
  'http://localhost/',
  'https://client.example/back',
  'https://client.example:8443/back?a=b',
  'com.example.app:/back',
  'cursor://anysphere.cursor-mcp/oauth/callback',
]

/** Pieces of hostile URLs. */
const tricks = [
  ...['/', '\\', '@', ':', '#', '?', '.', '..', '%2e', '%2F', '%40', '%00', ' ', '\t', '\n', '&', ';', '[', ']'],
  ...['0', '80', '65536', ':0', '::1', 'evil.example', 'localhost', 'LOCALHOST', '127.0.0.1', '127.1', '2130706433', '0x7f.1'],
  ...['http:', 'https:', 'HTTP:', 'javascript:', '\u3002', '\u202e', '\u0131'],
]

const hosts = new Set(['127.0.0.1', '[::1]', 'localhost'])

/** Returns the target in a browser, without the port on the loopback interface; undefined if there is no unique target. */
function destination(uri: string): string | undefined {
  const url = URL.parse(uri)
  if (!url || url.username !== '' || url.password !== '' || url.hash !== '') return undefined
  const isLocal = url.protocol === 'http:' && hosts.has(url.hostname)
  return `${url.protocol}//${isLocal ? url.hostname : url.host}${url.pathname}${url.search}`
}

test('matchesRedirectUri() accepts no URL that a browser opens elsewhere', (t) => {
  const random = new Seeded(20261121)
  let taken = 0
  for (let round = 0; round < 300_000; round++) {
    const from = random.pick(registered)
    let presented = random.chance(0.5) ? from : random.pick(registered)
    for (let cuts = random.between(0, 3); cuts > 0; cuts--) {
      const at = random.between(0, presented.length)
      const insert = random.chance(0.8) ? random.pick(tricks) : ''
      presented = presented.slice(0, at) + insert + presented.slice(at + (random.chance(0.3) ? random.between(1, 6) : 0))
    }
    if (!matchesRedirectUri(from, presented)) continue
    taken++
    if (destination(presented) === undefined || destination(presented) !== destination(from)) {
      t.fail(`${JSON.stringify(presented)} was accepted for ${from}`)
      return
    }
  }
  t.true(taken > 10_000, `only ${taken} were accepted, so the comparison covers little`)
})

test('matchesRedirectUri() accepts every port on the loopback interface and no other change', (t) => {
  for (const from of registered) {
    t.true(matchesRedirectUri(from, from))
    const url = new URL(from)
    const isLocal = isLoopbackRedirect(from)
    for (const port of [1, 80, 8080, 33_418, 65_535]) {
      const [scheme = '', rest = ''] = from.split('//')
      const presented = `${scheme}//${rest.replace(/^(\[[^\]]*\]|[^:/?]*)(:\d+)?/, `$1:${port}`)}`
      if (url.protocol === 'http:') t.is(matchesRedirectUri(from, presented), isLocal, presented)
      else if (presented !== from) t.false(matchesRedirectUri(from, presented), presented)
    }
  }
  t.false(matchesRedirectUri('http://localhost/cb', 'http://localhost:65536/cb'))
  t.false(matchesRedirectUri('http://localhost/cb', 'http://127.0.0.1/cb'))
  t.false(matchesRedirectUri('http://localhost/cb', 'http://localhost.evil.example/cb'))
  t.false(matchesRedirectUri('http://localhost/cb', 'http://localhost:80@evil.example/cb'))
  t.false(matchesRedirectUri('http://client.example/cb', 'http://client.example:81/cb'))
})

test('mayRegisterRedirectUri() accepts https, loopback and application schemes', (t) => {
  for (const uri of registered) t.true(mayRegisterRedirectUri(uri), uri)
  const refused = [
    'http://client.example/cb',
    'http://0.0.0.0/cb',
    'http://192.168.1.1/cb',
    'http://user@localhost/cb',
    'https://client.example/cb#x',
    'https://user:secret@client.example/cb',
    'https:client.example/cb',
    'https:///cb',
    'https://*.client.example/cb',
    'https://client.example/\\evil',
    'https://client.example/a b',
    'https://client.exämple/cb',
    'javascript:alert(1)',
    'JavaScript://x/%0aalert(1)',
    'data:text/html,x',
    'blob:https://client.example/x',
    'file:///etc/passwd',
    'mailto:a@client.example',
    'about:blank',
    'urn:ietf:wg:oauth:2.0:oob',
    'client.example/cb',
    '/cb',
    '',
    `https://client.example/${'a'.repeat(2048)}`,
  ]
  for (const uri of refused) t.false(mayRegisterRedirectUri(uri), uri)
})

test('withParameters() keeps the query of the URL; redirectHost() returns the host to show', (t) => {
  t.is(withParameters('https://client.example/back', { code: 'a b', state: undefined }), 'https://client.example/back?code=a+b')
  t.is(withParameters('https://client.example/back?x=1', { code: 'c' }), 'https://client.example/back?x=1&code=c')
  t.is(withParameters('com.example.app:/back', { state: '&=' }), 'com.example.app:/back?state=%26%3D')
  t.deepEqual(['https://client.example:8443/b', 'http://[::1]:80/', 'cursor://x/y'].map(redirectHost), [
    'client.example:8443',
    '[::1]',
    'cursor:',
  ])
})
