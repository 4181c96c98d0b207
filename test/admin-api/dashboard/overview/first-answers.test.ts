/** The page of the start screen carries the answers of REST to its first reads: for one organization, private, escaped and bounded. */
import test from '#test'
import type { ExecutionContext } from 'ava'
import { observed, type Observed } from '#core/findings/finding.ts'
import { members } from '#core/people/members/member.ts'
import { userByEmail } from '#core/people/users/user.ts'
import { Change } from '#store/change.ts'
import { builtDashboard } from '../../../support/web/built.ts'
import { bootDataOf, type FirstAnswers } from '../../pages/boot-data.ts'
import { PageClient } from '../../pages/page-client.ts'
import { startPageServer, type PageServer } from '../../pages/page-server.ts'
import { openFindings } from '../../rest/insights/finding-requests.ts'

interface Shown {
  readonly html: string
  readonly headers: Headers
  readonly first: FirstAnswers | undefined
}

async function started(t: ExecutionContext) {
  await builtDashboard()
  const server = await startPageServer(t)
  const olga = new PageClient(server)
  await olga.signIn('olga@example.ch')
  return { server, olga, open: async (path = '/') => opened(server, olga.cookie, path) }
}

/** Opens a page of the dashboard and reads its data. */
async function opened({ url }: PageServer, cookie: string, path: string): Promise<Shown> {
  const response = await fetch(url + path, { headers: { accept: 'text/html', cookie } })
  const html = await response.text()
  return { html, headers: response.headers, first: bootDataOf(html).first }
}

const shop = (count = 3): Observed => observed('webhook.failing', 'whk_1', { name: 'Order system', count, by: 'webhook' }, '')

test('first answers: equal to REST, for the project and the organization of the address', async (t) => {
  const { server, open } = await started(t)
  const { rest, organizationId } = server.daemon
  const { id: project } = await rest.must('POST', '/v1/projects', { name: 'Shop' })
  await openFindings(server.daemon, organizationId, [
    shop(),
    observed('login.attacked', 'cred_1', { login: 'x', count: 3 }, String(project)),
  ])
  const { first, headers } = await open()
  t.is(headers.get('cache-control'), 'no-store')
  t.is(first?.organization, organizationId)
  const paths = Object.keys(first?.answers ?? {})
  t.is(paths.length, 7)
  for (const path of paths.filter((one) => one !== '/v1/projects/me')) t.deepEqual(first?.answers[path], await rest.must('GET', path), path)

  const ofProject = (await open(`/?project=${String(project)}`)).first?.answers ?? {}
  t.is(ofProject[`/v1/findings?project=${String(project)}&state=open`]?.data?.length, 2)
  t.true(`/v1/insights/sends?project=${String(project)}&step_seconds=1800` in ofProject)
  t.deepEqual(Object.keys((await open('/?project=prj_unknown')).first?.answers ?? {}), ['/v1/projects', '/v1/projects/me'])
  t.is((await open('/traces')).first, undefined, 'only on the start screen')
})

test('first answers: no other organization, and nothing that the role may not read', async (t) => {
  const { server, open, olga } = await started(t)
  const { database, daemon } = server
  const second = await daemon.rest.must('POST', '/v1/organizations', { name: 'Beta' })
  const [beta, alpha] = [String(second['id']), daemon.organizationId]
  await openFindings(daemon, alpha, [shop(), observed('quota.nearly_used', 'sends_today', { limit: 'sends_today', percent: 90 })])
  await openFindings(daemon, beta, [observed('webhook.failing', 'whk_2', { name: 'Beta system', count: 3, by: 'webhook' }, '')])
  t.is((await open(`/?org=${beta}`)).first, undefined, 'not a member')
  const user = await userByEmail(database, 'olga@example.ch')
  const own = user && (await database.get(members, { organizationId: alpha }, user.record.id))
  if (!own) throw new Error('the owner is missing')
  await database.commit(new Change().insert(members, beta, { ...own.record, organizationId: beta, role: 'viewer' as const }))
  const names = ({ html }: Shown) => ['Order system', 'Beta system'].filter((name) => html.includes(name))
  for (const [path, shown] of [
    [`/?org=${beta}`, 'Beta system'],
    [`/?org=${alpha}`, 'Order system'],
  ] as const)
    t.deepEqual(names(await open(path)), [shown])
  t.is((await open('/?org=org_00000000000000000000000000000000')).first, undefined)

  await database.commit(new Change().replace(members, alpha, own, { ...own.record, role: 'billing' as const }))
  const billed = await opened(server, olga.cookie, `/?org=${alpha}`)
  t.deepEqual(Object.keys(billed.first?.answers ?? {}), ['/v1/findings?state=open'])
  t.deepEqual(
    billed.first?.answers['/v1/findings?state=open']?.data?.map(({ kind }) => kind),
    ['quota.nearly_used'],
  )
})

test('first answers: text of strangers is escaped', async (t) => {
  const { server, open } = await started(t)
  const hostile = `'"></div><script>alert(1)</script><!--&quot;\u2028`
  const reply = observed('destination.resting', 'dst_1', { name: hostile, sinceAt: 0, cause: 'other', code: hostile, fallbacks: 0 }, '')
  await openFindings(server.daemon, server.organizationId, [reply])
  const { html, first } = await open()
  t.notRegex(html, /<script>alert|"><\/div><script/)
  t.like(first?.answers['/v1/findings?state=open']?.data?.[0]?.['params'], { name: hostile, code: hostile })
})

test('first answers: few of 5,000 findings, and none beyond the limit of the page', async (t) => {
  const { server, open } = await started(t)
  const many = Array.from({ length: 5000 }, (_, n) =>
    observed('domain.spf', `d${n}.example`, { domain: `d${n}.example`, state: 'missing' }),
  )
  await openFindings(server.daemon, server.organizationId, many)
  const { html, first } = await open()
  t.is(first?.answers['/v1/findings?state=open']?.data?.length, 20)
  t.true(html.length < 120_000, String(html.length))

  const long = Array.from({ length: 20 }, (_, n) =>
    observed('webhook.failing', `whk_${n}`, { name: 'x'.repeat(1500), count: 3, by: 'webhook' }, ''),
  )
  await openFindings(server.daemon, server.organizationId, long, 'long')
  const cut = await open()
  t.is(cut.first?.answers['/v1/findings?state=open'], undefined)
  t.true('/v1/destinations' in (cut.first?.answers ?? {}), 'shorter answers remain')
  t.true(cut.html.length < 60_000, String(cut.html.length))
})

test('first answers: a failed read leaves its answer out, and the page is served', async (t) => {
  const { server, open } = await started(t)
  const { kv } = server.database
  const range = kv.range.bind(kv)
  kv.range = (one) => {
    if (Buffer.from(one.start).includes('finding')) throw new Error('This table is damaged.')
    return range(one)
  }
  const { first } = await open()
  t.is(first?.answers['/v1/findings?state=open'], undefined)
  t.true('/v1/destinations' in (first?.answers ?? {}))
})
