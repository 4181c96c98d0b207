/** Creates a resource of every kind, with names that attack a page which interprets them as markup. */
import { waitFor } from '../../../support/waits.ts'
import { makeInvoice } from '../../rest/organization/billing-requests.ts'
import { addApplication, addOptOut } from '../../rest/fixture/stored-rows.ts'
import type { ExecutionContext } from 'ava'
import type { DashboardServer } from '../dashboard-server.ts'
import { zipOf } from '../../../support/web/zip-file.ts'
import { receiveMail } from '../mail/receive-mail.ts'
import { seedForm } from '../forms/seed-submissions.ts'
import { seed } from '../seed.ts'

/** Each part would run a script if it were interpreted as markup. */
const hostileName = `<img src=x onerror=alert(1)>"'><script>alert(2)</script><svg onload=alert(3)>`

/** A syntactically valid address that is also markup. */
const hostileAddress = '"<img src=x onerror=alert(8)>"@example.org'

/** Invisible characters that are valid in a header line. */
const hidden = '\u202Etxt.exe\u200B'

/** Creates all resources. The walk finds their ids in the links of the lists. */
export async function seedHostile(t: ExecutionContext, server: DashboardServer, hostile = hostileName): Promise<void> {
  const { rest } = server.daemon
  const { live, sandbox, traces } = await seed(t, server)
  const make = async (path: string, body: object): Promise<string> => String((await rest.must('POST', path, body))['id'])
  const destination = await make('/v1/destinations', {
    ...{ name: hostile, provider: 'smtp' },
    credentials: { host: '127.0.0.1', port: 9, security: 'none', username: hostile, password: 'x' },
  })
  const message = {
    from: `"${hostile.replaceAll('"', '')}" <shop@alpenblick.example>`,
    to: 'hallo@example.test',
    subject: hostile + hidden,
    text: hostile,
    html: `<p onclick="alert(4)">Hello</p><script>alert(5)</script><iframe src="https://evil.example"></iframe><a href="javascript:alert(6)">x</a>`,
    headers: { 'X-Odd': hostile },
    tags: [hostile],
    metadata: { [hostile.slice(0, 64)]: hostile },
    attachments: [{ filename: `${hidden}<img src=x onerror=alert(7)>.html`, content: 'eA==', content_type: 'text/html' }],
  }
  // a walk opens one destination of each mode, and their order is not known
  await rest.must('PATCH', `/v1/destinations/${sandbox}`, { name: `${hostile} 2` })
  await rest.must('POST', '/v1/messages', { ...message, destination_id: sandbox })
  await rest.must('POST', '/v1/messages', { ...message, to: 'gone@example.org', destination_id: live })
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString()
  await rest.must('POST', '/v1/messages', { ...message, destination_id: live, send_at: tomorrow })
  await rest.must('POST', '/v1/routing/rules', { match: 'shop@alpenblick.example', destination_id: destination })
  await rest.must('POST', '/v1/failover/policy', { primary_id: live, fallback_ids: [destination], conditions: { on: ['transient'] } })
  await make('/v1/inboxes', { address_pattern: '@example.test', name: hostile })
  await make('/v1/smtp-credentials', { label: hostile, default_destination_id: live })
  await make('/v1/api-keys', { name: hostile, scopes: ['api:read'] })
  await make('/v1/templates', { slug: 'welcome', name: hostile, subject_tmpl: hostile, text_tmpl: hostile, html_tmpl: '<p>Hello</p>' })
  await make('/v1/webhooks', { name: hostile, target_url: `http://127.0.0.1:9/${encodeURIComponent(hostile)}` })
  const target = { url: `http://127.0.0.1:9/${encodeURIComponent(hostile)}` }
  await make('/v1/alert-channels', { kind: 'slack', name: hostile.slice(0, 100), target })
  await makeHostileForm(server, hostile)
  await makeHostileSite(server, hostile)
  await billHostile(server, hostile)
  const source = await make('/v1/ingest-sources', { provider: 'mailenable', label: hostile.slice(0, 100) })
  await make('/v1/mailenable/postoffice-mappings', { bounce_source_config_id: source, postoffice_name: hostile })
  await make('/v1/suppressions', { email: 'blocked@example.org', reason: hostile })
  await submitHostile(server, hostile)
  await receiveHostile(server, hostile)
  await replayHostile(server)
  await holdHostile(server, traces.deferred, hostile)
  await make('/v1/projects', { name: hostile.slice(0, 100) })
  await make('/v1/domains', { domain: 'alpenblick.example' })
  await make('/v1/inspect/tests', {})
  await make('/v1/invitations', { email: 'invited@alpenblick.example', role: 'viewer' })
  await rest.must('POST', '/v1/publishable-keys', {
    ...{ name: hostile.slice(0, 100), allowed_origins: ['https://www.alpenblick.example'] },
    ...{ allowed_to: ['office@alpenblick.example'], locked_from: 'form@alpenblick.example' },
  })
}

/** Creates a published form with a rule, a step and a newer draft. */
async function makeHostileForm({ daemon: { rest } }: DashboardServer, hostile: string): Promise<void> {
  const options = [{ value: 'a', label: hostile }]
  const fields = [
    { key: 'topic', type: 'radio', label: hostile, help: hostile, options },
    { key: 'about', type: 'paragraph', text: hostile },
    { key: 'step', type: 'page_break', title: hostile.slice(0, 100) },
    { key: 'email', type: 'email', label: hostile, placeholder: hostile, required: true, prefill: true },
    { key: 'campaign', type: 'hidden', label: hostile, source: 'url_param', param: 'c', signed: true },
  ]
  const when = { field: 'topic', op: 'eq', value: 'a' }
  const definition = {
    ...{ name: hostile, schema: { version: 1, fields } },
    logic: { version: 1, rules: [{ id: 'r1', when, then: [{ action: 'show', target: 'email' }] }] },
    thank_you: { title: hostile, body: hostile },
  }
  const { id } = await rest.must('POST', '/v1/forms', { name: hostile, definition })
  await rest.must('POST', `/v1/forms/${String(id)}/publish`, { note: hostile })
  await rest.must('PUT', `/v1/forms/${String(id)}/draft`, { ...definition, theme: { colors: { text: '#fefefe' } } })
}

/**
 * Creates an invoice with a hostile recipient and cancels it by a credit note with a hostile reason. Grants credits with a hostile note.
 */
async function billHostile({ daemon }: DashboardServer, hostile: string): Promise<void> {
  const { organizationId } = daemon
  const { register, profiles, credits } = daemon.part('rest').billing
  await profiles.change(organizationId, { recipient: [hostile, hidden], reference: hostile.slice(0, 100) })
  const { invoice } = await makeInvoice(daemon)
  await register.mark(invoice, 'paid', hostile)
  await register.void(invoice, hostile + hidden, true)
  await credits.give(organizationId, { kind: 'operator', amountUcr: 12_500_000, note: hostile, expiresAt: null })
}

/** Creates a website with a live and another deploy, and a domain with unpublished records. */
async function makeHostileSite({ daemon: { rest } }: DashboardServer, hostile: string): Promise<void> {
  const { id } = await rest.must('POST', '/v1/sites', { slug: 'alpenblick' })
  const escaped = hostile.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  const page = `<!doctype html><a href="/${escaped}">x</a><img src="/${escaped}"><div data-svc-form="Abc123"></div>`
  const archive = zipOf([
    { path: 'index.html', content: page },
    { path: '_redirects', content: `${hostile}\n` },
  ])
  const deploy = (query: string) =>
    rest.call('POST', `/v1/sites/${String(id)}/deploys${query}`, archive, { 'content-type': 'application/zip' })
  await deploy('?activate=true')
  await deploy('')
  await rest.must('POST', `/v1/sites/${String(id)}/domains`, { domain: 'www.alpenblick.example' })
}

/** Creates a submission with tags, a note and a reply draft. */
async function submitHostile(server: DashboardServer, hostile: string): Promise<void> {
  const { rest } = server.daemon
  const answers = { name: hostile, email: 'eve@example.net', bike: `javascript:alert(9)`, message: hostile + hidden }
  const { form, submissions } = await seedForm(server, hostile.slice(0, 100), [answers])
  const one = `/v1/forms/${form}/submissions/${String(submissions[0])}`
  await rest.must('PATCH', one, { tags: ['<b>hot</b>'], note: hostile })
  await rest.must('POST', `${one}/reply-drafts`, { from: 'shop@alpenblick.example', subject: hostile, text: hostile })
}

/** Creates an inbound route with an unreachable webhook and a received message, and an unsubscribe from a list. */
async function receiveHostile(server: DashboardServer, hostile: string): Promise<void> {
  const { rest, database, organizationId } = server.daemon
  const webhook_url = `http://127.0.0.1:9/${encodeURIComponent(hostile)}`
  const { id, project_id: projectId } = await rest.must('POST', '/v1/inbound-routes', { local_part_pattern: 'tickets+*', webhook_url })
  const word = (text: string): string => `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`
  const content = [
    `From: ${word(hostile)} <eve@example.net>`,
    `Subject: ${word(hostile + hidden)}`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/html; charset=utf-8',
    '',
    `<p onclick="alert(4)">Hello</p><script>alert(5)</script><iframe src="https://evil.example"></iframe>`,
    '--b',
    'Content-Type: text/html',
    `Content-Disposition: attachment; filename*=utf-8''${encodeURIComponent(`${hidden}<img src=x onerror=alert(7)>.html`)}`,
    '',
    'x',
    '--b--',
    '',
  ]
  await receiveMail(server, String(id), { to: 'tickets+1', content: content.join('\r\n') })
  await addOptOut(database, organizationId, String(projectId), { list: hostile, email: hostileAddress })
}

/** Runs a replay for an address without messages. */
async function replayHostile({ daemon: { rest } }: DashboardServer): Promise<void> {
  const { job_id: id } = await rest.must('POST', '/v1/replays', { filter: { to: hostileAddress, from: hostileAddress } })
  await waitFor('the replay is done', async () => {
    const { status } = await rest.must('GET', `/v1/replays/${String(id)}`)
    return status === 'finished' || undefined
  })
}

/** Holds a message with a reason, and creates a standing hold without matching mail. */
async function holdHostile({ daemon: { rest } }: DashboardServer, trace: string, reason: string): Promise<void> {
  await rest.must('POST', '/v1/queue/holds', { filter: { to_domain: 'held.example' }, reason: reason.slice(0, 400) })
  const body = { act: 'hold', filter: { trace_ids: [trace] }, reason, expected: 1 }
  const { id } = await rest.must('POST', '/v1/queue/acts', body)
  await waitFor('the hold has finished', async () => {
    const { status } = await rest.must('GET', `/v1/queue/acts/${String(id)}`)
    return status === 'finished' || undefined
  })
}

/** Authorizes an application by the signed-in owner. */
export async function letInHostile({ daemon: { rest, database, organizationId } }: DashboardServer, name = hostileName): Promise<void> {
  const { data: projects } = (await rest.must('GET', '/v1/projects')) as { data: readonly { id: string }[] }
  const { data: members } = (await rest.must('GET', '/v1/members')) as { data: readonly { user_id: string }[] }
  await addApplication(database, organizationId, projects[0]?.id ?? '', members[0]?.user_id ?? '', name)
}
