/** Pages of members and invitations over HTTP. */
import test from '#test'
import { startPageServer } from '../page-server.ts'
import { PageClient } from '../page-client.ts'
import { foreignText } from '../../../support/foreign-text.ts'

const userIdOf = (html: string): string => /id="role-(usr_[0-9a-f]{32})"/.exec(html)?.[1] ?? ''

test('invitations: from the mail through sign-in to membership', async (t) => {
  const server = await startPageServer(t)
  const members = `/organizations/${server.organizationId}/members`
  const [olga, ben, eve] = [new PageClient(server), new PageClient(server), new PageClient(server)]
  await olga.signIn('olga@example.ch')
  t.is((await olga.send(members, `${members}/invite`, { email: 'ben@example.ch', role: 'viewer' })).location, `${members}?done=invited`)
  const invitation = new URL((await server.mailTo('ben@example.ch')).link).pathname

  // another user may read the link, but cannot sign in or accept with it
  await eve.signIn('eve@example.ch')
  const shown = await eve.get(invitation)
  t.regex(shown.html, /You are signed in as <b>eve@example\.ch<\/b>/)
  const [, organization = ''] = /(org_[0-9a-f]{32})/.exec(members) ?? []
  const id = (await server.people.invitations.forAddress('ben@example.ch'))[0]?.invitation.id ?? ''
  t.is((await eve.send('/account/applications', '/invitations/accept', { organization, invitation: id })).status, 404)

  t.regex((await ben.get(invitation)).html, /Email me a sign-in link/)
  await ben.post('/sign-in', { email: 'ben@example.ch', next: invitation })
  t.is((await ben.post(new URL((await server.mailTo('ben@example.ch')).link).pathname)).location, invitation)
  t.is((await ben.send(invitation, '/invitations/accept', { organization, invitation: id })).location, '/organizations?done=accepted')
  t.regex((await ben.get('/organizations')).html, /Viewer/)
  t.is((await ben.get(invitation)).status, 404)
})

test('members: a foreign page is not found', async (t) => {
  const server = await startPageServer(t)
  const [olga, eve] = [new PageClient(server), new PageClient(server)]
  await olga.signIn('olga@example.ch')
  await eve.signIn('eve@example.ch')
  const [own, missing] = [
    await eve.get(`/organizations/${server.organizationId}/members`),
    await eve.get('/organizations/org_none/members'),
  ]
  t.deepEqual([own.status, missing.status], [404, 404])
  t.is(own.html, missing.html)
})

test('members: changes of roles, owner and members require a recent sign-in', async (t) => {
  const server = await startPageServer(t)
  const members = `/organizations/${server.organizationId}/members`
  const [olga, ben] = [new PageClient(server), new PageClient(server)]
  await olga.signIn('olga@example.ch')
  await olga.send(members, `${members}/invite`, { email: 'ben@example.ch', role: 'viewer' })
  await ben.signIn('ben@example.ch')
  const invitation = (await server.people.invitations.forAddress('ben@example.ch'))[0]?.invitation.id ?? ''
  await ben.send('/organizations', '/invitations/accept', { organization: server.organizationId, invitation })
  const member = userIdOf((await olga.get(members)).html)
  t.is((await olga.send(members, `${members}/role`, { member, role: 'admin' })).location, `${members}?done=role`)
  t.is((await olga.send(members, `${members}/role`, { member, role: 'emperor' })).status, 400)

  server.clock.advance(10 * 60_000)
  const again = `/sign-in?again=1&next=${encodeURIComponent(members)}`
  const csrf = await olga.csrf('/account/applications')
  for (const [act, form] of [
    ['role', { member, role: 'viewer' }],
    ['remove', { member }],
    ['transfer', { member }],
    ['invite', { email: 'x@example.ch', role: 'viewer' }],
  ] as const)
    t.is((await olga.post(`${members}/${act}`, { ...form, csrf })).location, again, act)
  t.notRegex((await olga.get(members)).html, /Transfer ownership|name="role"/)
  t.regex((await olga.get(again)).html, /Confirm your identity/)

  await olga.signIn('olga@example.ch')
  t.is((await olga.send(members, `${members}/transfer`, { member })).location, `${members}?done=transferred`)
  t.is((await olga.send(members, `${members}/remove`, { member })).status, 403)
  t.is((await ben.get('/organizations')).status, 200)
  await ben.signIn('ben@example.ch')
  t.is((await ben.send(members, `/organizations/${server.organizationId}/leave`)).status, 400)
  const olgaId = userIdOf((await ben.get(members)).html)
  t.is((await ben.send(members, `${members}/remove`, { member: olgaId })).location, `${members}?done=removed`)
  t.is((await olga.get(members)).status, 404)
})

test('sign-up: if open, a visitor creates an account and one organization', async (t) => {
  const server = await startPageServer(t, { signUp: 'open' })
  const pageClient = new PageClient(server)
  await new PageClient(server).signIn('olga@example.ch')
  await pageClient.post('/sign-in', { email: 'new@example.ch' })
  await pageClient.post(new URL((await server.mailTo('new@example.ch')).link).pathname)
  t.regex((await pageClient.get('/organizations')).html, /Create an organization/)
  t.is((await pageClient.send('/organizations', '/organizations', { organization: ' ' })).status, 400)
  const made = await pageClient.send('/organizations', '/organizations', { organization: 'Nova' })
  t.regex(made.location, /^\/organizations\/org_[0-9a-f]{32}\/members\?done=founded$/)
  t.regex((await pageClient.get(made.location)).html, /Nova/)
  t.is((await pageClient.send('/organizations', '/organizations', { organization: 'Second' })).status, 403)
})

test('handed link: an unverified address gives no further access', async (t) => {
  const server = await startPageServer(t, { hasMail: false, signUp: 'open' })
  const { organizationId, people } = server
  const scope = { organizationId, projectId: '', bound: false, scopes: ['api:admin'], credentialId: 'key_1' } as const
  const invite = async (into: string) =>
    people.invitations.create({ ...scope, organizationId: into }, { email: 'ben@example.ch', role: 'admin' })
  await new PageClient(server).signIn('owner@example.ch')
  const olga = new PageClient(server)
  await olga.signIn('olga@example.ch')
  const name = foreignText(t)
  const made = await olga.send('/organizations', '/organizations', { organization: name })
  t.is(made.status, 303)
  const nova = /org_[0-9a-f]{32}/.exec(made.location)?.[0] ?? ''
  // an administrator of one organization can invite any address and use the link
  const mallory = new PageClient(server)
  t.is((await mallory.post(new URL((await invite(organizationId)).link ?? '').pathname)).status, 303)
  const { id } = await invite(nova)
  t.notRegex((await mallory.get('/organizations')).html, new RegExp(name))
  const stolen = { organization: nova, invitation: id }
  t.is((await mallory.send('/organizations', '/invitations/accept', stolen)).status, 404)
  t.is((await mallory.send('/organizations', '/invitations/accept', { ...stolen, link: 'A'.repeat(43) })).status, 404)
  t.deepEqual(await membersOf(nova), ['olga@example.ch'])
  // a sign-in link verifies the address; the earlier account did not
  const ben = new PageClient(server)
  await ben.signIn('ben@example.ch')
  t.is((await mallory.get('/organizations')).status, 303)
  t.regex((await ben.get('/organizations')).html, new RegExp(name))
  t.is((await ben.send('/organizations', '/invitations/accept', stolen)).location, '/organizations?done=accepted')
  // a user may accept through the link of a later invitation
  const third = await invitedTwice()
  t.is((await third.pageClient.send(third.path, '/invitations/accept', third.form)).location, '/organizations?done=accepted')
  // a link opened in the browser of the session that it ends
  await third.pageClient.signIn('cleo@example.ch')
  t.is((await third.pageClient.get('/organizations')).status, 200)

  async function membersOf(of: string): Promise<string[]> {
    const listed = await people.members.list({ ...scope, organizationId: of, scopes: ['api:read'] })
    return listed.map(({ user }) => user.email)
  }

  async function invitedTwice() {
    const request = { email: 'cleo@example.ch', role: 'viewer' } as const
    const first = await people.invitations.create(scope, request)
    const pageClient = new PageClient(server)
    t.is((await pageClient.post(new URL(first.link ?? '').pathname)).status, 303)
    const second = await people.invitations.create({ ...scope, organizationId: nova }, request)
    const path = new URL(second.link ?? '').pathname
    t.true((await pageClient.get(path)).html.includes(path.replace('/invitations/', '')))
    return { pageClient, path, form: { organization: nova, invitation: second.id, link: path.replace('/invitations/', '') } }
  }
})

test('handed link: creates only new accounts, and only if sign-up is not closed', async (t) => {
  const server = await startPageServer(t, { hasMail: false })
  const olga = new PageClient(server)
  await olga.signIn('olga@example.ch')
  await new PageClient(server).signIn('known@example.ch')
  const { organizationId } = server
  const scope = { organizationId, projectId: '', bound: false, scopes: ['api:admin'], credentialId: 'key_1' } as const
  const linkFor = async (email: string): Promise<string> =>
    new URL((await server.people.invitations.create(scope, { email, role: 'viewer' })).link ?? '').pathname
  const known = await linkFor('known@example.ch')
  const mallory = new PageClient(server)
  const shown = (await mallory.get(known)).html
  t.regex(shown, /postern login-link/)
  t.notRegex(shown, />Join</)
  t.is((await mallory.post(known)).status, 409)
  t.is(mallory.cookie, '')
  const ben = await linkFor('ben@example.ch')
  t.is((await mallory.post(ben, {}, { origin: 'https://evil.example' })).status, 403)
  t.is((await mallory.post(ben, {}, {})).status, 403)
  const [one, two] = await Promise.all([new PageClient(server).post(ben), new PageClient(server).post(ben)])
  t.deepEqual(
    [one.status, two.status].toSorted((a, b) => a - b),
    [303, 404],
  )
  t.is(
    (await server.people.members.list({ ...scope, scopes: ['api:read'] })).filter(({ user }) => user.email === 'ben@example.ch').length,
    1,
  )

  const closed = await startPageServer(t, { hasMail: false, signUp: 'closed' })
  const { link = '' } = await closed.people.invitations.create(
    { ...scope, organizationId: closed.organizationId },
    { email: 'ada@example.ch', role: 'viewer' },
  )
  t.is((await new PageClient(closed).post(new URL(link).pathname)).status, 409)

  const mailed = await startPageServer(t)
  const made = await mailed.people.invitations.create(
    { ...scope, organizationId: mailed.organizationId },
    { email: 'ada@example.ch', role: 'viewer' },
  )
  t.false('link' in made)
  const path = new URL((await mailed.mailTo('ada@example.ch')).link).pathname
  t.is((await new PageClient(mailed).post(path)).status, 409, 'if mail is configured, the address is verified by mail')
})
