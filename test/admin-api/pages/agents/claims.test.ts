/** Claims over HTTP: access, effects of links, and foreign forms. */
import test from '#test'
import { askedBy } from '../sandbox.ts'
import { startPageServer } from '../page-server.ts'
import { PageClient } from '../page-client.ts'

const path = (url: string): string => new URL(url).pathname

test('claims: the mailed link signs in and shows the claim; only the form claims', async (t) => {
  const server = await startPageServer(t, { signUp: 'open' })
  const { code, organizationId } = await askedBy(server, 'ada@example.ch')
  const link = path((await server.mailTo('ada@example.ch')).link)
  const ada = new PageClient(server)
  const commits = server.database.commits
  for (let i = 0; i < 3; i++) t.is((await ada.get(link)).status, 200)
  t.is(server.database.commits, commits)
  t.is((await ada.post(link)).location, `/claims/${code}`)
  const shown = await ada.get(`/claims/${code}`)
  t.is(shown.status, 200)
  t.regex(shown.html, /name="send_sandbox"\s+checked/)
  t.notRegex(shown.html, /name="(send_live|admin)"\s+checked/)
  t.regex(shown.html, /first organization/)
  const before = server.database.commits
  await ada.get(`/claims/${code}`)
  t.is(server.database.commits, before)
  const done = await ada.send(`/claims/${code}`, `/claims/${code}`, { send_sandbox: 'on' })
  t.is(done.location, `/organizations/${organizationId}/members?done=claimed`)
  t.regex((await ada.get(done.location)).html, /The sandbox is now yours/)
  t.is((await ada.send('/organizations', `/claims/${code}`)).status, 404, 'a replay')
  t.is((await ada.get(`/claims/${code}`)).status, 404)

  const undo = path((await server.mailTo('ada@example.ch')).link)
  t.is(undo, `/claims/${organizationId}/undo`)
  const eve = new PageClient(server)
  t.regex((await eve.get(undo)).location, /^\/sign-in\?next=/)
  await eve.signIn('eve@example.ch')
  t.is((await eve.get(undo)).status, 404)
  t.is((await eve.send('/organizations', undo)).status, 404)
  t.is((await ada.get(undo)).status, 200)
  t.is((await ada.send(undo, undo)).location, '/integrations?done=undone')
})

test('claims: a code alone gives no access, and foreign forms are refused', async (t) => {
  const server = await startPageServer(t, { signUp: 'open' })
  const { code } = await askedBy(server, 'ada@example.ch')
  const outsider = new PageClient(server)
  for (const page of [`/claims/${code}`, '/integrations']) t.regex((await outsider.get(page)).location, /^\/sign-in\?next=/)
  t.regex((await outsider.post(`/claims/${code}`)).location, /^\/sign-in/)
  await outsider.signIn('ada@example.ch')
  t.is((await outsider.post(`/claims/${code}`, { admin: 'on' })).status, 403, 'without the token of the session')
  const csrf = await outsider.csrf()
  for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }])
    t.is((await outsider.post(`/claims/${code}`, { csrf }, headers)).status, 403)
  t.regex((await outsider.get('/integrations')).html, new RegExp(code))
  t.is((await outsider.send('/integrations', '/integrations/code', { code: 'KITE-42' })).status, 400)
})

test('claims: wrong codes get the same error and are limited', async (t) => {
  const server = await startPageServer(t, { signUp: 'open' })
  const { code } = await askedBy(server, 'ada@example.ch')
  const eve = new PageClient(server)
  await eve.signIn('eve@example.ch')
  t.notRegex((await eve.get('/integrations')).html, new RegExp(code), 'the claim is for another user')
  const csrf = await eve.csrf()
  const told = []
  for (let i = 0; i < 15; i++) told.push((await eve.post('/integrations/code', { csrf, code: 'KITE-0000' })).html)
  t.is(new Set(told).size, 1)
  const refused = await eve.post('/integrations/code', { csrf, code })
  t.is(refused.status, 429)
  t.truthy(refused.headers.get('retry-after'))
})

test('claims: a user with the code of the agent can claim the sandbox', async (t) => {
  const server = await startPageServer(t, { signUp: 'open', hasMail: false })
  const { code, organizationId } = await askedBy(server, 'typo@example.ch')
  const bea = new PageClient(server)
  await bea.signIn('bea@example.ch')
  const found = await bea.send('/integrations', '/integrations/code', { code: ` ${code.toLowerCase().replace('-', ' ')}` })
  t.is(found.location, `/claims/${code}`)
  t.notRegex((await bea.get(found.location)).html, /typo@example\.ch/)
  t.regex((await bea.send(found.location, found.location)).location, new RegExp(organizationId))
})
