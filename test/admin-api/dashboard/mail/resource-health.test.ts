/** Health of webhooks, inbound routes, domains, bounce sources and websites in Chromium: a healthy and a failing resource of each kind. */
import type { ExecutionContext } from 'ava'
import { observed, type Observed } from '#core/findings/finding.ts'
import { writeSeen } from '#core/ingest-sources/source-status.ts'
import { sites } from '#core/sites/site.ts'
import { Change } from '#store/change.ts'
import { makeDestination } from '../../../support/daemon/provision.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { Sink } from '../../../support/smtp/sink.ts'
import { waitFor } from '../../../support/waits.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { receiverOf } from '../../../support/web/webhook-receiver.ts'
import { openFindings } from '../../rest/insights/finding-requests.ts'
import { FakeNames } from '../../rest/fixture/fake-providers.ts'
import { siteSettings } from '../../sites/site-client.ts'
import { startDashboard, type DashboardServer } from '../dashboard-server.ts'
import { receiveMail } from './receive-mail.ts'

const test = testWith('chromium')
const browser = browserOf(test)

type Row = Readonly<Record<string, unknown>>

/** A kind of resource with two resources: the last reply or check of `good` was good, and a finding about `bad` is open. */
interface Pair {
  readonly finding: Observed
  /** API path of the list. */
  readonly api: string
  readonly bad: string
}

/** Paths of the resource's REST API and its screen. */
const kinds = {
  webhooks: { path: '/settings/webhooks', good: 'Good shop', bad: 'Old bot', badge: 'Answers 500 since', line: 'Failing since' },
  routes: { path: '/incoming/routes', good: 'orders', bad: 'returns', badge: 'failing · 500', line: 'Failing since' },
  sources: { path: '/incoming/sources', good: 'mx1', bad: 'mx2', badge: 'needs attention', line: 'Needs attention since' },
  domains: { path: '/domains', good: 'alpenblick.example', bad: 'bellevue.example', badge: 'verified · failing', line: 'Failing since' },
  websites: { path: '/websites', good: 'alpenblick', bad: 'bellevue', badge: 'needs attention', line: 'Needs attention since' },
} as const

type Kind = keyof typeof kinds

const receivers = async (t: ExecutionContext) => [
  (await receiverOf(t)).url,
  (await receiverOf(t, { answer: (response) => response.writeHead(500).end() })).url,
]

const project = async ({ daemon }: DashboardServer): Promise<string> =>
  String((await daemon.rest.must('GET', '/v1/projects/me'))['project_id'])

/** Waits until the last reply is in the health of the resource. */
async function replied({ daemon: { rest } }: DashboardServer, path: string, reply: string): Promise<void> {
  await waitFor(`the reply ${reply} at ${path}`, async () => {
    const { health } = (await rest.must('GET', path)) as { readonly health: Row }
    return health['last_reply'] === reply ? true : undefined
  })
}

const make: Readonly<Record<Kind, (t: ExecutionContext, server: DashboardServer, names: FakeNames) => Promise<Pair>>> = {
  async webhooks(t, server) {
    const { rest } = server.daemon
    const sink = await Sink.listen({ script: { recipient: () => '550 5.1.1 User unknown' } })
    t.teardown(() => sink[Symbol.asyncDispose]())
    const live = await makeDestination(rest, { name: 'Infomaniak', port: sink.port, mode: 'live' })
    const [goodUrl, badUrl] = await receivers(t)
    const good = await rest.must('POST', '/v1/webhooks', { name: kinds.webhooks.good, target_url: goodUrl })
    const bad = String((await rest.must('POST', '/v1/webhooks', { name: kinds.webhooks.bad, target_url: badUrl }))['id'])
    const letter = { from: 'shop@alpenblick.example', to: 'gone@example.org', subject: 'Order', text: 'Hi', destination_id: live }
    await rest.must('POST', '/v1/messages', letter)
    await replied(server, `/v1/webhooks/${String(good['id'])}`, '204')
    await replied(server, `/v1/webhooks/${bad}`, '500')
    const params = { name: kinds.webhooks.bad, count: 3, by: 'webhook' }
    return { api: '/v1/webhooks', bad, finding: observed('webhook.failing', bad, params, await project(server)) }
  },
  async routes(t, server) {
    const { rest } = server.daemon
    const ids = []
    for (const [at, url] of (await receivers(t)).entries()) {
      const local = at === 0 ? kinds.routes.good : kinds.routes.bad
      const id = String((await rest.must('POST', '/v1/inbound-routes', { local_part_pattern: local, webhook_url: url }))['id'])
      await receiveMail(server, id, { to: local, content: 'From: eve@example.net\r\nSubject: Hi\r\n\r\nHello\r\n' })
      await replied(server, `/v1/inbound-routes/${id}`, at === 0 ? '204' : '500')
      ids.push(id)
    }
    const bad = ids[1] ?? ''
    const finding = observed('inbound.failing', bad, { name: kinds.routes.bad, count: 3 }, await project(server))
    return { api: '/v1/inbound-routes', bad, finding }
  },
  async sources(_t, { daemon: { rest, database, organizationId } }) {
    const add = async (label: string): Promise<string> =>
      String((await rest.must('POST', '/v1/ingest-sources', { provider: 'stalwart', label }))['id'])
    const [good, bad] = [await add(kinds.sources.good), await add(kinds.sources.bad)]
    for (const id of [good, bad]) await database.commit(writeSeen(new Change(), organizationId, id, { at: Date.now(), agent: null }))
    const finding = observed('source.silent', bad, { name: kinds.sources.bad, provider: 'stalwart', days: 3 })
    return { api: '/v1/ingest-sources', bad, finding }
  },
  async domains(_t, { daemon: { rest } }, names) {
    const ids = []
    for (const domain of [kinds.domains.good, kinds.domains.bad]) {
      const { id, records } = await rest.must('POST', '/v1/domains', { domain })
      for (const { type, name, expected } of records as readonly Readonly<Record<string, string>>[])
        if (type === 'MX') names.mx.set(name ?? '', [{ priority: 10, exchange: expected?.split(' ')[1] ?? '' }])
        else names.txt.set(name ?? '', [expected?.replace('include:<your provider>', 'mx') ?? ''])
      await rest.must('POST', `/v1/domains/${String(id)}/verify`)
      ids.push(String(id))
    }
    const lost = { domain: kinds.domains.bad, name: `postern._domainkey.${kinds.domains.bad}`, state: 'missing', type: 'TXT', record: '' }
    return { api: '/v1/domains', bad: ids[1] ?? '', finding: observed('domain.dkim', lost.name, lost) }
  },
  async websites(_t, { daemon: { rest, database, organizationId } }) {
    const ids = []
    for (const slug of [kinds.websites.good, kinds.websites.bad]) {
      const id = String((await rest.must('POST', '/v1/sites', { slug }))['id'])
      const stored = await database.get(sites, { organizationId }, id)
      if (!stored) throw new Error('no site')
      const at = Date.now()
      const domain = { name: `www.${slug}.example`, token: 't', verifiedAt: at, checkedAt: at, problem: null, createdAt: at }
      await database.commit(
        new Change().replace(sites, organizationId, stored, { ...stored.record, domains: [domain], activeDeployId: 'dep_1' }),
      )
      ids.push(id)
    }
    const name = `www.${kinds.websites.bad}.example`
    const params = { domain: name, slug: kinds.websites.bad, cause: 'address' }
    const stored = await database.get(sites, { organizationId }, ids[1] ?? '')
    return { api: '/v1/sites', bad: ids[1] ?? '', finding: observed('site.domain', name, params, stored?.record.projectId) }
  },
}

for (const kind of Object.keys(kinds) as Kind[])
  test(`health of ${kind}: the badge of a healthy and of a failing one, and the line of its page`, async (t) => {
    const { path, good, bad: badName, badge, line } = kinds[kind]
    const names = new FakeNames()
    const server = await startDashboard(t, browser, { ...siteSettings, POSTERN_PLAN: 'basic' }, { resolver: names })
    const { bad, finding } = await make[kind](t, server, names)
    await openFindings(server.daemon, server.daemon.organizationId, [finding])
    const tab = await server.open({ colorScheme: 'both' })
    const { page } = tab
    await tab.go(path)
    const rowOf = (name: string): string => `tbody tr:has-text("${name}")`
    await page.waitForSelector(`${rowOf(badName)} >> .status:has-text("${badge}")`)
    const healthy = await page.innerText(`${rowOf(good)} >> .status`)
    t.regex(healthy, /^(?:working|verified|live|Answers 204)$/)
    await tab.check(t)
    await tab.go(`${path}/${bad}`)
    await page.waitForSelector(`.note.health >> text=${line}`)
    await tab.check(t)
    await page.click('.note.health a:text-is("Show findings")')
    await page.waitForSelector('.look li')
  })
