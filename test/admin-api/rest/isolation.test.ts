/** Nobody reaches what is not theirs: other organizations, other projects, and secrets. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { RestClient } from '../../support/rest.ts'
import { addDestination, adminKey, errorOf, loopback, objectOf, startRig, type Rig } from './rig.ts'

const plain = { from: 'shop@example.ch', to: 'ada@example.ch', text: 'Thank you.' }

/** One of everything, made with this key; the paths to them, and the body that changes each. */
async function makeOneOfEach(rest: RestClient) {
  const destination_id = await addDestination(rest)
  const rule = await rest.must('POST', '/v1/routing/rules', { match: 'b.ch', destination_id })
  const credential = await rest.must('POST', '/v1/smtp-credentials', { default_destination_id: destination_id })
  const template = await rest.must('POST', '/v1/templates', { slug: 'welcome', name: 'Welcome', subject_tmpl: 'Welcome' })
  const key = await rest.must('POST', '/v1/api-keys', { name: 'x', scopes: ['api:read'] })
  const { trace_id } = await rest.must('POST', '/v1/messages', plain)
  const replay = await rest.must('POST', '/v1/replays', { filter: {} })
  const spare = await addDestination(rest)
  await rest.must('POST', '/v1/failover/policy', { primary_id: spare, fallback_ids: [destination_id], conditions: { on: ['transient'] } })
  const { project_id } = await rest.must('GET', '/v1/projects/me')
  const [inbox] = (await rest.must('GET', `/v1/inboxes?project=${String(project_id)}`))['data'] as { id: string }[]
  const [message] = (await rest.must('GET', `/v1/inboxes/${inbox?.id ?? ''}/messages`))['data'] as { id: string }[]
  const inboxPath = `/v1/inboxes/${inbox?.id ?? ''}`
  const messagePath = `${inboxPath}/messages/${message?.id ?? ''}`
  const destinationPath = `/v1/destinations/${destination_id}`
  const rulePath = `/v1/routing/rules/${String(rule['id'])}`
  const templatePath = `/v1/templates/${String(template['id'])}`
  const credentialPath = `/v1/smtp-credentials/${String(credential['id'])}`
  return [
    ['GET', destinationPath],
    ['PATCH', destinationPath, { name: 'Mine' }],
    ['PATCH', `${destinationPath}/mode`, { mode: 'live' }],
    ['POST', `${destinationPath}/promote-to-live`],
    ['DELETE', destinationPath],
    ['POST', `${destinationPath}/test`],
    ['GET', `${destinationPath}/health`],
    ['GET', rulePath],
    ['PATCH', rulePath, { priority: 1 }],
    ['DELETE', rulePath],
    ['GET', credentialPath],
    ['PATCH', credentialPath, { label: 'Mine' }],
    ['POST', `${credentialPath}/rotate`],
    ['POST', `${credentialPath}/test-connection`],
    ['GET', templatePath],
    ['PUT', templatePath, { subject_tmpl: 'Mine' }],
    ['GET', `${templatePath}/versions`],
    ['GET', `${templatePath}/versions/1`],
    ['POST', `${templatePath}/preview`, {}],
    ['DELETE', templatePath],
    ['POST', `/v1/api-keys/${String(key['id'])}/rotate`],
    ['DELETE', `/v1/api-keys/${String(key['id'])}`],
    ['DELETE', `/v1/failover/policy/${spare}`],
    ['GET', `/v1/replays/${String(replay['job_id'])}`],
    ['POST', `/v1/replays/${String(replay['job_id'])}/stop`],
    ['GET', `/v1/traces/${String(trace_id)}`],
    ['DELETE', `/v1/messages/scheduled/${String(trace_id)}`],
    ['GET', inboxPath],
    ['GET', `${inboxPath}/messages`],
    ['GET', messagePath],
    ['GET', `${messagePath}/raw`],
    ['GET', `${messagePath}/attachments/0`],
    ['POST', `${inboxPath}/wait?timeout=0&since=2000-01-01T00:00:00Z`],
  ] as const
}

/** What belongs to the whole organization, made and told likewise. */
async function makeOneOfEachShared(rest: RestClient) {
  const domain = await rest.must('POST', '/v1/domains', { domain: 'sender.example.ch' })
  const suppression = await rest.must('POST', '/v1/suppressions', { email: 'gone@example.ch' })
  const domainPath = `/v1/domains/${String(domain['id'])}`
  const suppressionPath = `/v1/suppressions/${String(suppression['id'])}`
  return [
    ['GET', domainPath],
    ['GET', `${domainPath}/records`],
    ['POST', `${domainPath}/verify`],
    ['POST', `${domainPath}/rotate-dkim`],
    ['DELETE', domainPath],
    ['GET', suppressionPath],
    ['PATCH', suppressionPath, { reason: 'Mine' }],
  ] as const
}

const projectLists = [
  'destinations',
  'routing/rules',
  'failover/policy',
  'smtp-credentials',
  'templates',
  'traces',
  'messages/scheduled',
  'inboxes',
]

/** Everything that lists show. */
async function everything(rest: RestClient): Promise<string> {
  const lists = [...projectLists, 'api-keys', 'replays', 'domains', 'suppressions']
  return (await Promise.all(lists.map(async (list) => (await rest.call('GET', `/v1/${list}?limit=200`)).bytes.toString('utf8')))).join('\n')
}

type Requests = readonly (readonly [method: Parameters<RestClient['call']>[0], path: string, body?: object])[]

async function assertOutOfReach(t: ExecutionContext, rest: RestClient, owner: RestClient, requests: Requests): Promise<void> {
  const before = await everything(owner)
  for (const [method, path, body] of requests) {
    const { status, body: answer } = await rest.call(method, path, body)
    t.is(status, 404, `${method} ${path}`)
    t.is((answer as { error: { code: string } }).error.code, 'not_found')
  }
  t.is(await everything(owner), before)
}

/** Deleting these tells nobody whether they were there. */
async function assertIdempotentDeletes(t: ExecutionContext, rest: RestClient, owner: RestClient, requests: Requests): Promise<void> {
  const before = await everything(owner)
  for (const [, path] of requests)
    if (/^\/v1\/(smtp-credentials|suppressions)\/\w+$/.test(path)) t.is((await rest.call('DELETE', path)).status, 204, path)
  t.is(await everything(owner), before)
}

test('the requests of these tests name every route that leads to one thing', async (t) => {
  const { rest } = await startRig(t)
  const made = [...(await makeOneOfEach(rest)), ...(await makeOneOfEachShared(rest))]
  const { paths } = (await rest.must('GET', '/openapi.json')) as unknown as { readonly paths: Record<string, object> }
  for (const [path, item] of Object.entries(paths)) {
    if (!path.includes('{') || path.startsWith('/share/') || path.startsWith('/unsubscribe/')) continue
    if (path.startsWith('/operator/')) continue // no key of an organization opens these: operator.test.ts
    const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/?]+')}(\\?|$)`)
    for (const method of Object.keys(item)) {
      const isIdempotentDelete = method === 'delete' && /^\/v1\/(smtp-credentials|suppressions)\//.test(path)
      const isAsked = made.some((request) => request[0] === method.toUpperCase() && pattern.test(request[1]))
      t.true(isAsked || isIdempotentDelete, `${method} ${path}`)
    }
  }
})

test('another organization neither reads, changes nor sees anything', async (t) => {
  const { rest, addOrganization } = await startRig(t)
  const other = await addOrganization()
  const requests = [...(await makeOneOfEach(rest)), ...(await makeOneOfEachShared(rest))]
  await assertOutOfReach(t, other.rest, rest, requests)
  await assertIdempotentDeletes(t, other.rest, rest, requests)
  const seen = await everything(other.rest)
  for (const word of ['dst_', 'rul_', 'smc_', 'tpl_', 'shop@', 'sender.', 'gone@']) t.false(seen.includes(word), word)
  const { project_id } = await rest.must('GET', '/v1/projects/me')
  for (const list of projectLists) {
    t.is((await other.rest.call('GET', `/v1/${list}?project=${String(project_id)}`)).status, 404, list)
  }
  t.is((await other.rest.call('POST', '/v1/messages', { ...plain, project_id })).status, 404)
  const destination_id = await addDestination(rest)
  for (const [path, body] of [
    ['/v1/routing/rules', { match: '*', destination_id }],
    ['/v1/smtp-credentials', { default_destination_id: destination_id }],
    ['/v1/messages', { ...plain, destination_id }],
  ] as const)
    t.regex(errorOf(await other.rest.call('POST', path, body)).message, /destination_id: no destination of this project has this id/, path)
})

test('a bound key neither reads, changes nor sees anything of other projects', async (t) => {
  const { rest, addProject, withKey } = await startRig(t)
  const project = await addProject()
  const bound = await withKey(['api:admin'], project)
  const requests = await makeOneOfEach(rest)
  await assertOutOfReach(t, bound, rest, requests)
  await assertIdempotentDeletes(t, bound, rest, requests)
  const { project_id } = await rest.must('GET', '/v1/projects/me')
  t.false((await everything(bound)).includes(String(project_id)))
  for (const list of projectLists) t.is((await bound.call('GET', `/v1/${list}?project=${String(project_id)}`)).status, 404, list)
  for (const path of ['/v1/destinations', '/v1/smtp-credentials', '/v1/messages'] as const) {
    const bodies = { '/v1/destinations': { name: 'x', ...loopback }, '/v1/smtp-credentials': {}, '/v1/messages': plain }
    t.is((await bound.call('POST', path, { ...bodies[path], project_id })).status, 404, path)
  }
  t.is(objectOf(await bound.call('POST', '/v1/destinations', { name: 'x', ...loopback }))['project_id'], project)
})

test('every write needs api:admin, every read api:read, and nothing but the share link goes without a key', async (t) => {
  const { rest, withKey, client } = await startRig(t)
  const sender = await withKey(['api:send'])
  const requests = [...(await makeOneOfEach(rest)), ...(await makeOneOfEachShared(rest))]
  for (const [method, path, body] of requests) {
    t.is((await client('').call(method, path, body)).status, 401, path)
    const forReaders = method === 'GET' || /wait|test-connection|scheduled|preview|replays/.test(path)
    const { status } = await sender.call(method, path, body)
    t.is(status === 403, !forReaders, `${method} ${path} answered ${status}`)
  }
  for (const path of ['/v1/destinations', '/v1/routing/rules', '/v1/smtp-credentials', '/v1/templates', '/v1/api-keys'])
    t.is((await sender.call('POST', path, {})).status, 403, path)
  t.is((await sender.call('PATCH', '/v1/projects/me/no-route-policy', { value: 'reject' })).status, 403)
})

test('no secret is in an answer after the first, nor in the files of the store', async (t) => {
  const rig = await startRig(t)
  const { rest } = rig
  const password = 'provider-password-correct-horse'
  const credentials = { ...loopback.credentials, username: 'provider-user', password }
  const destination = await rest.call('POST', '/v1/destinations', { name: 'x', provider: 'smtp', credentials })
  const credential = await rest.must('POST', '/v1/smtp-credentials', {})
  const rotated = await rest.must('POST', `/v1/smtp-credentials/${String(credential['id'])}/rotate`)
  const key = await rest.must('POST', '/v1/api-keys', { name: 'x', scopes: ['api:read'] })
  const secrets = [password, String(credential['password']), String(rotated['password']), String(key['key']), adminKey]
  const shown = `${destination.bytes.toString('utf8')}${await everything(rest)}`
  for (const secret of secrets) t.false(shown.includes(secret))
  t.true(shown.includes('provider-user'))
  await rig.closeStore()
  const stored = await storeBytes(rig)
  t.true(stored.includes('provider-user'), 'the search can find what is stored in clear')
  for (const secret of secrets) t.false(stored.includes(secret))
})

async function storeBytes({ folder }: Rig): Promise<Buffer> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => readFile(join(entry.parentPath, entry.name)))
  return Buffer.concat(await Promise.all(files))
}
