/** Toolsets on the consent page: their selection, and its effect. */
import test from '#test'
import { allowing, asking, decide, exchange, homeOf, signedInServer } from '../consent-requests.ts'

const count = (html: string, pattern: RegExp): number => html.match(pattern)?.length ?? 0

test('toolsets: users exclude toolsets but one; the application list names them', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  const request = asking(server, { resource: `${server.url}/mcp`, scope: 'mcp:read' })
  const { html } = await olga.get(request.path)
  t.is(count(html, /name="toolset" value="[^"]+" checked/g), 15, 'all toolsets by default')
  const { place } = await homeOf(server, server.organizationId)
  const choosing = (...names: readonly string[]): (readonly [string, string])[] => [
    ...allowing(place, 'mcp:read'),
    ['toolsets', 'chosen'],
    ...names.map((name) => ['toolset', name] as const),
  ]
  const none = await decide(olga, request.path, choosing('nonsense'))
  t.deepEqual([none.status, none.location], [400, ''], 'no group')
  t.regex(none.html, /href="#toolset">Select at least one group of tools\./)
  t.is(count(none.html, /name="toolset" value="[^"]+" checked/g), 0)
  const some = await decide(olga, request.path, choosing('webhooks', 'send'))
  const { body } = await exchange(server, request, some.location)
  const bearer = await server.oauth.tokenCheck.bearer(String(body['access_token']), 'mcp')
  t.deepEqual(bearer.toolsets, ['send', 'webhooks'])
  t.regex((await olga.get('/account/applications')).html, /Available groups of tools: Sending and traces, Webhooks\./)
  const all = await decide(olga, request.path, allowing(place, 'mcp:read'))
  const whole = await exchange(server, request, all.location)
  t.is((await server.oauth.tokenCheck.bearer(String(whole.body['access_token']), 'mcp')).toolsets, undefined)
  t.notRegex((await olga.get('/account/applications')).html, /groups of tools/)
})
