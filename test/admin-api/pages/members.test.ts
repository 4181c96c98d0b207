/** Members and invitations on their pages, as the wire sees them. */
import test from 'ava'
import { startSite } from './site.ts'
import { Visitor } from './visit.ts'

const userIdOf = (html: string): string => /id="role-(usr_[0-9a-f]{32})"/.exec(html)?.[1] ?? ''

test('an invitation leads from the mail over a sign-in to the membership', async (t) => {
  const site = await startSite(t)
  const members = `/organizations/${site.organizationId}/members`
  const [olga, ben, eve] = [new Visitor(site), new Visitor(site), new Visitor(site)]
  await olga.signIn('olga@example.ch')
  t.is((await olga.send(members, `${members}/invite`, { email: 'ben@example.ch', role: 'viewer' })).location, `${members}?done=invited`)
  const invitation = new URL((await site.mailTo('ben@example.ch')).link).pathname

  // somebody else may read the link: nothing of it signs in or accepts
  await eve.signIn('eve@example.ch')
  const shown = await eve.get(invitation)
  t.regex(shown.html, /You are signed in as <b>eve@example\.ch<\/b>/)
  const [, organization = ''] = /(org_[0-9a-f]{32})/.exec(members) ?? []
  const id = (await site.people.invitations.forAddress('ben@example.ch'))[0]?.invitation.id ?? ''
  t.is((await eve.send('/account', '/invitations/accept', { organization, invitation: id })).status, 404)

  t.regex((await ben.get(invitation)).html, /Mail me a sign-in link/)
  await ben.post('/sign-in', { email: 'ben@example.ch', next: invitation })
  t.is((await ben.post(new URL((await site.mailTo('ben@example.ch')).link).pathname)).location, invitation)
  t.is((await ben.send(invitation, '/invitations/accept', { organization, invitation: id })).location, '/organizations?done=accepted')
  t.regex((await ben.get('/organizations')).html, /Viewer/)
  t.is((await ben.get(invitation)).status, 404)
})

test('a page that is not the reader’s is not there', async (t) => {
  const site = await startSite(t)
  const [olga, eve] = [new Visitor(site), new Visitor(site)]
  await olga.signIn('olga@example.ch')
  await eve.signIn('eve@example.ch')
  const [own, missing] = [await eve.get(`/organizations/${site.organizationId}/members`), await eve.get('/organizations/org_none/members')]
  t.deepEqual([own.status, missing.status], [404, 404])
  t.is(own.html, missing.html)
})

test('roles are changed, ownership handed on and members removed, after a fresh sign-in only', async (t) => {
  const site = await startSite(t)
  const members = `/organizations/${site.organizationId}/members`
  const [olga, ben] = [new Visitor(site), new Visitor(site)]
  await olga.signIn('olga@example.ch')
  await olga.send(members, `${members}/invite`, { email: 'ben@example.ch', role: 'viewer' })
  await ben.signIn('ben@example.ch')
  const invitation = (await site.people.invitations.forAddress('ben@example.ch'))[0]?.invitation.id ?? ''
  await ben.send('/organizations', '/invitations/accept', { organization: site.organizationId, invitation })
  const member = userIdOf((await olga.get(members)).html)
  t.is((await olga.send(members, `${members}/role`, { member, role: 'admin' })).location, `${members}?done=role`)
  t.is((await olga.send(members, `${members}/role`, { member, role: 'emperor' })).status, 400)

  site.clock.advance(10 * 60_000)
  const again = `/sign-in?again=1&next=${encodeURIComponent(members)}`
  const csrf = await olga.csrf('/account')
  for (const [act, form] of [
    ['role', { member, role: 'viewer' }],
    ['remove', { member }],
    ['transfer', { member }],
    ['invite', { email: 'x@example.ch', role: 'viewer' }],
  ] as const)
    t.is((await olga.post(`${members}/${act}`, { ...form, csrf })).location, again, act)
  t.notRegex((await olga.get(members)).html, /Hand on ownership|name="role"/)
  t.regex((await olga.get(again)).html, /Confirm that it is you/)

  await olga.signIn('olga@example.ch')
  t.is((await olga.send(members, `${members}/transfer`, { member })).location, `${members}?done=transferred`)
  t.is((await olga.send(members, `${members}/remove`, { member })).status, 403)
  t.is((await ben.get('/organizations')).status, 200)
  await ben.signIn('ben@example.ch')
  t.is((await ben.send(members, `/organizations/${site.organizationId}/leave`)).status, 400)
  const olgaId = userIdOf((await ben.get(members)).html)
  t.is((await ben.send(members, `${members}/remove`, { member: olgaId })).location, `${members}?done=removed`)
  t.is((await olga.get(members)).status, 404)
})

test('with open sign-up somebody makes an account and one organization of their own', async (t) => {
  const site = await startSite(t, { signUp: 'open' })
  const visitor = new Visitor(site)
  await new Visitor(site).signIn('olga@example.ch')
  await visitor.post('/sign-in', { email: 'new@example.ch' })
  await visitor.post(new URL((await site.mailTo('new@example.ch')).link).pathname)
  t.regex((await visitor.get('/organizations')).html, /Make an organization/)
  t.is((await visitor.send('/organizations', '/organizations', { organization: ' ' })).status, 400)
  const made = await visitor.send('/organizations', '/organizations', { organization: 'Nova' })
  t.regex(made.location, /^\/organizations\/org_[0-9a-f]{32}\/members\?done=founded$/)
  t.regex((await visitor.get(made.location)).html, /Nova/)
  t.is((await visitor.send('/organizations', '/organizations', { organization: 'Second' })).status, 403)
})
