/** Consent that continues after a new sign-in, with the choices of its form. */
import test from '#test'
import { parseCommandLine } from '../../../../daemon/commands/command-line.ts'
import { operatorToken } from '../../../support/daemon/start-daemon.ts'
import {
  allowing,
  asking,
  decide,
  exchange,
  homeOf,
  join,
  loopbackRedirect,
  registered,
  signedIn,
  signedInServer,
  ticked,
} from '../consent-requests.ts'
import type { PageClient } from '../page-client.ts'

const path = (link: string): string => new URL(link).pathname
const count = (html: string, pattern: RegExp): number => html.match(pattern)?.length ?? 0

/** Returns the command that the page shows, as arguments of the program. */
function commandIn(html: string): string[] {
  const [, shown = ''] = /<code tabindex="0">([^<]*)<\/code>/.exec(html) ?? []
  const text = shown.replaceAll('&amp;', '&').replaceAll('&#39;', "'")
  return [...text.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word)
}

test('consent: without mail and passkey, it continues with its choices after login-link --next', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch', { hasMail: false })
  const { place } = await homeOf(server, server.organizationId)
  const client_id = await registered(server, loopbackRedirect)
  const all = ['mcp:read', 'mcp:send-sandbox', 'mcp:send', 'mcp:admin']
  const request = asking(server, { client_id, redirect_uri: loopbackRedirect, resource: `${server.url}/mcp`, scope: all.join(' ') })
  server.clock.advance(11 * 60_000)
  const chosen = [...allowing(place, ...all), ['toolsets', 'chosen'], ['toolset', 'send']] as const
  const confirm = await olga.get((await decide(olga, request.path, chosen)).location)
  t.regex(confirm.html, /<h1>Confirm your identity<\/h1>[^]*olga@example\.ch[^]*Connect an application/)
  const [npx, program, ...words] = commandIn(confirm.html)
  t.deepEqual([npx, program], ['npx', 'postern'])
  const { name, ...link } = parseCommandLine(words)
  t.is(name, 'login-link')
  const made = await fetch(`${server.url}/operator/login-links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(link),
  })
  const back = await olga.post(path(((await made.json()) as { url: string }).url))
  t.true(back.location.startsWith(`${request.path}&choices=`))
  const shown = await olga.get(back.location)
  t.deepEqual(ticked(shown.html), all)
  t.regex(shown.html, new RegExp(`<option value="${RegExp.escape(place)}" selected>`))
  t.is(count(shown.html, /name="toolset" value="[^"]+" checked/g), 1)
  const { status, body } = await exchange(server, request, (await decide(olga, back.location, chosen)).location)
  t.is(status, 200)
  t.is(body['scope'], all.join(' '))
})

test('consent: choices in a link count only for their user and request, for an hour', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  const eve = await signedIn(server, 'eve@example.ch')
  const home = await homeOf(server, server.organizationId)
  await join(server, 'eve@example.ch', 'owner', server.organizationId)
  const request = asking(server, { scope: 'api:admin', prompt: 'consent' })
  server.clock.advance(10 * 60_000)
  const { location } = await decide(olga, request.path, allowing(home.place, 'api:read', 'api:send', 'api:admin'))
  const next = new URL(location, server.url).searchParams.get('next') ?? ''
  const [, choices = ''] = next.split('&choices=')
  const tickedAt = async (pageClient: PageClient, address: string): Promise<string> =>
    ticked((await pageClient.get(address)).html).join(' ')
  t.is(await tickedAt(olga, next), 'api:read api:send api:admin')
  t.is(await tickedAt(eve, next), 'api:read')
  const other = asking(server, { scope: 'api:admin', prompt: 'consent', state: 'other' })
  t.is(await tickedAt(olga, `${other.path}&choices=${choices}`), 'api:read')
  const forged = choices.replace(/^(\d+)\./, (_, until: string) => `${Number(until) + 1}.`)
  for (const wrong of [forged, 'x', '', `${choices}x`]) t.is(await tickedAt(olga, `${request.path}&choices=${wrong}`), 'api:read', wrong)
  server.clock.advance(3_600_000)
  t.is(await tickedAt(olga, next), 'api:read')
})

test('consent: a request that leaves no room for choices continues without them', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  const { place } = await homeOf(server, server.organizationId)
  const request = asking(server, { scope: 'api:admin', prompt: 'consent', state: 's'.repeat(3500) })
  server.clock.advance(10 * 60_000)
  const { location } = await decide(olga, request.path, allowing(place, 'api:read', 'api:send', 'api:admin'))
  t.is(new URL(location, server.url).searchParams.get('next'), request.path)
})

test('consent: prompt=login requires a sign-in unless it is recent', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  const { path: asked } = asking(server, { prompt: 'login' })
  t.is((await olga.get(asked)).status, 200)
  server.clock.advance(10 * 60_000)
  t.regex((await olga.get(asked)).location, /^\/sign-in\?again=1&next=/)
  await olga.signIn('olga@example.ch')
  t.is((await olga.get(asked)).status, 200)
})
