/** The query of a webhook address, which often contains a token: sealed in the store, masked in answers, used in deliveries. */
import test, { type ExecutionContext } from '#test'
import { sealQueries } from '#core/administration/seal-queries.ts'
import { inboxes } from '#core/capture/capture.ts'
import { formNotifications } from '#core/forms/notifications/notification.ts'
import { inboundRoutes } from '#core/inbound-routes/route.ts'
import { webhookEndpoints } from '#core/webhooks/endpoint.ts'
import type { RestClient } from '../../../support/daemon/rest.ts'
import { WebhookReceiver } from '../../../support/web/webhook-receiver.ts'
import { graphqlCaller } from '../../graphql/graphql-fixture.ts'
import { startMcp, type McpFixture } from '../../mcp/mcp-fixture.ts'
import { errorOf } from '../fixture/rest-fixture.ts'
import { definition } from '../forms/visitor.ts'

const token = 's3cret-token'
const kinds = [webhookEndpoints, inboundRoutes, formNotifications, inboxes] as const
type KindName = (typeof kinds)[number]['name']

/** A setting with a webhook address; there are four. */
interface Setting {
  readonly kind: KindName
  readonly field: 'target_url' | 'webhook_url' | 'notify_webhook_url'
  readonly path: string
  readonly change: (rest: RestClient, url: string) => Promise<{ readonly status: number; readonly message: string }>
  /** Makes the service post to the address once. */
  readonly deliver: () => Promise<unknown>
}

async function settingsWith(fixture: McpFixture, url: string): Promise<readonly Setting[]> {
  const { rest } = fixture
  const changing =
    (method: 'PATCH' | 'PUT', path: string, field: string, more = {}): Setting['change'] =>
    async (client, given) => {
      const answer = await client.call(method, path, { ...more, [field]: given })
      return { status: answer.status, message: answer.status < 400 ? '' : errorOf(answer).message }
    }
  const webhook = `/v1/webhooks/${String((await rest.must('POST', '/v1/webhooks', { name: 'Shop', target_url: url }))['id'])}`
  const made = await rest.must('POST', '/v1/inbound-routes', { local_part_pattern: 'sales', webhook_url: url })
  const route = `/v1/inbound-routes/${String(made['id'])}`
  const form = `/v1/forms/${String((await rest.must('POST', '/v1/forms', { name: 'Contact', definition }))['id'])}`
  await rest.must('POST', `${form}/publish`)
  await rest.must('PUT', `${form}/notifications`, { webhook_url: url })
  const { id: inboxId } = await rest.must('POST', '/v1/inboxes', { address_pattern: '@seen.example', notify_webhook_url: url })
  const inbox = `/v1/inboxes/${String(inboxId)}`
  const mail = { from: 'a@example.ch', to: 'b@seen.example', text: 'x' }
  return [
    {
      ...{ kind: 'webhook_endpoint', field: 'target_url', path: webhook, change: changing('PATCH', webhook, 'target_url') },
      deliver: () => rest.must('POST', `${webhook}/test`, { event_type: 'bounced' }),
    },
    {
      ...{ kind: 'inbound_route', field: 'webhook_url', path: route, change: changing('PATCH', route, 'webhook_url') },
      deliver: () => rest.must('POST', `${route}/test`),
    },
    {
      ...{ kind: 'form_notifications', field: 'webhook_url', path: `${form}/notifications` },
      change: changing('PUT', `${form}/notifications`, 'webhook_url'),
      deliver: () => rest.must('POST', `${form}/notifications/test`),
    },
    {
      ...{ kind: 'inbox', field: 'notify_webhook_url', path: inbox, change: changing('PATCH', inbox, 'notify_webhook_url') },
      deliver: () => rest.must('POST', '/v1/messages', mail),
    },
  ]
}

/** Returns the settings as shown to a key with read access, over GraphQL and to an agent. */
async function shown(fixture: McpFixture, settings: readonly Setting[]): Promise<string> {
  const reader = await fixture.withKey(['api:read'])
  const paths = [...settings.map(({ path }) => path), '/v1/webhooks', '/v1/inbound-routes', '/v1/inboxes', '/v1/webhooks/attempts']
  const texts = await Promise.all(paths.map(async (path) => (await reader.call('GET', path)).bytes.toString()))
  texts.push((await fixture.rest.call('GET', '/v1/audit?limit=200')).bytes.toString())
  const { must } = graphqlCaller(fixture)
  texts.push(JSON.stringify(await must('query { webhookEndpoints { nodes { targetUrl } } inboundRoutes { nodes { webhookUrl } } }')))
  texts.push(JSON.stringify(await must('query { virtualInboxes { nodes { notifyWebhookUrl } } }')))
  const agent = await fixture.agent()
  for (const name of ['webhook_endpoint_list', 'virtual_inbox_list', 'webhook_attempts_list'])
    texts.push(JSON.stringify(await agent.must(name)))
  return texts.join('\n')
}

async function stored({ database, organizationId }: McpFixture): Promise<string> {
  const all = await Promise.all(kinds.map((kind) => database.all<{ readonly id: string }>(kind as never, { organizationId })))
  return JSON.stringify(all.flat().map(({ record }) => record))
}

async function arrives(t: ExecutionContext, receiver: WebhookReceiver, setting: Setting, path: string): Promise<void> {
  const count = receiver.received.length + 1
  await setting.deliver()
  const got = (await receiver.hasReceived(count)).at(-1)
  t.is(got?.path, path, setting.kind)
}

test('webhook query: sealed in the store, masked in responses, sent with deliveries', async (t) => {
  await using receiver = await new WebhookReceiver().listen()
  const fixture = await startMcp(t)
  const { rest } = fixture
  const url = `${receiver.url}?token=${token}&b=1`
  const masked = `${receiver.url}?***`
  const settings = await settingsWith(fixture, url)
  for (const setting of settings) {
    t.is((await rest.must('GET', setting.path))[setting.field], masked, setting.kind)
    await arrives(t, receiver, setting, `/hook?token=${token}&b=1`)
  }
  t.false((await stored(fixture)).includes(token), 'the store')
  t.false((await shown(fixture, settings)).includes(token), 'the answers')

  for (const setting of settings) {
    const { kind, change } = setting
    t.like(await change(rest, masked), { status: 200 }, `${kind}: the masked address keeps the stored one`)
    await arrives(t, receiver, setting, `/hook?token=${token}&b=1`)
    const other = await change(rest, masked.replace('/hook', '/other'))
    t.like(other, { status: 400 }, kind)
    t.regex(other.message, /: contains \*\*\* in place of its query; give the whole address$/)
    t.like(await change(rest, `${receiver.url}?token=second`), { status: 200 }, kind)
    await arrives(t, receiver, setting, '/hook?token=second')
    t.like(await change(rest, receiver.url), { status: 200 }, kind)
    await arrives(t, receiver, setting, '/hook')
    t.is((await rest.must('GET', setting.path))[setting.field], receiver.url, kind)
  }
})

test('webhook query: a plaintext one of an earlier release is masked and later sealed', async (t) => {
  await using receiver = await new WebhookReceiver().listen()
  const fixture = await startMcp(t)
  const { database, organizationId, rest } = fixture
  const settings = await settingsWith(fixture, receiver.url)
  const clear = `${receiver.url}?token=${token}`
  for (const kind of kinds)
    for (const before of await database.all<{ readonly id: string }>(kind as never, { organizationId })) {
      const text = JSON.stringify(before.record).replaceAll(`"${receiver.url}"`, JSON.stringify(clear))
      await fixture.daemon.part('core').writes.run(organizationId, async (change) => {
        change.replace(kind as never, organizationId, before as never, JSON.parse(text) as never)
      })
    }
  t.false((await shown(fixture, settings)).includes(token))
  for (const setting of settings) {
    await arrives(t, receiver, setting, `/hook?token=${token}`)
    t.like(await setting.change(rest, `${receiver.url}?***`), { status: 200 }, setting.kind)
    await arrives(t, receiver, setting, `/hook?token=${token}`)
  }
  t.true((await stored(fixture)).includes(token))
  const secrets = fixture.daemon.part('core').secrets
  t.is(await sealQueries(database, secrets), kinds.length)
  t.is(await sealQueries(database, secrets), 0)
  t.false((await stored(fixture)).includes(token))
  for (const setting of settings) await arrives(t, receiver, setting, `/hook?token=${token}`)
})
