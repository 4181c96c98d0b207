/** Tools that an agent needs after its first mail. Each is called for its purpose, on a daemon with real peers. */
import assert from 'node:assert'
import type { ExecutionContext } from 'ava'
import type { RestClient } from '../../support/daemon/rest.ts'
import { waitFor } from '../../support/waits.ts'
import type { Sink } from '../../support/smtp/sink.ts'
import { toolCalls, type ToolCalls } from '../../support/web/tool-calls.ts'
import type { WebhookReceiver } from '../../support/web/webhook-receiver.ts'
import type { AllowedClient } from './allowed-client.ts'

type Json = Readonly<Record<string, unknown>>

/** Tools that returned a result, and tools that refused. */
export class CalledTools {
  readonly good = new Set<string>()
  readonly refused = new Set<string>()

  /** Asserts that each listed tool did both. */
  assertAll(t: ExecutionContext, tools: readonly { readonly name: string }[]): void {
    const names = tools.map(({ name }) => name).toSorted()
    t.deepEqual([...this.good].toSorted(), names, 'every tool gave its result')
    t.deepEqual([...this.refused].toSorted(), names, 'every tool refused')
  }

  /** Returns the same client with a record of its calls. */
  of(agent: AllowedClient): ToolCalls {
    return toolCalls(async (name, given) => {
      const called = await agent.call(name, given)
      const kept = called.isError ? this.refused : this.good
      kept.add(name)
      return called
    })
  }
}

export interface Ground {
  readonly agent: ToolCalls
  readonly rest: RestClient
  readonly origin: string
  /** A live destination that accepts mail, and a destination without a listener. */
  readonly live: string
  readonly dead: string
  /** Final server for mail of the live destination. */
  readonly sink: Sink
  readonly receiver: WebhookReceiver
  /** A source with a polled mailbox. */
  readonly polled: string
}

const mail = { from: 'web@site.test', subject: 'Your order', text: 'It is on its way.' }

const idsOf = ({ data }: Json): readonly unknown[] => (data as readonly Json[]).map(({ id }) => id)

/** Calls every tool except those for a first mail. */
export async function callOtherTools(t: ExecutionContext, ground: Ground): Promise<void> {
  await look(t, ground)
  await route(t, ground)
  await schedule(t, ground)
  await suppress(t, ground)
  await readBounces(t, ground)
  await letIn(t, ground)
  await capture(t, ground)
  await reply(t, ground)
  await divide(t, ground)
}

async function look(t: ExecutionContext, { agent, live }: Ground): Promise<void> {
  t.like(await agent.must('account_status'), { status: 'claimed' })
  t.like(await agent.must('account_claim', { email: 'olga@example.ch' }), { claim_progress: { claimed: true } })
  t.regex(JSON.stringify(await agent.must('email_provider_list_presets')), /infomaniak/)
  t.true(idsOf(await agent.must('email_provider_list')).includes(live))
  t.deepEqual(idsOf(await agent.must('findings_list', { state: 'over' })), [])
  const { data } = await agent.must('email_traces_search', { filter: { destination_id: live, status: 'failed' } })
  t.like((data as readonly Json[])[0], { untrusted_subject: mail.subject })
}

/** Mail with a rule for its domain: first to a closed destination, then to its fallback. */
async function route(t: ExecutionContext, { agent, live, dead, sink }: Ground): Promise<void> {
  t.like(await agent.must('destination_set_mode', { destination_id: dead, mode: 'live' }), { mode: 'live' })
  await agent.must('email_failover_policy_set', { primary_id: dead, fallback_ids: [live], conditions: { on: ['transient'] } })
  await agent.must('email_routing_rule_create', { match: { domain: 'routed.test' }, destination_id: dead, priority: 5 })
  await agent.must('email_routing_rule_create', { match: { any: true }, destination_id: live, priority: 9 })
  t.like(await agent.must('email_send_test', { ...mail, to: 'cem@routed.test' }), { outcome: 'relayed' })
  const { text } = await sink.delivered(({ to }) => to.includes('cem@routed.test'))
  t.regex(text, /It is on its way/)
}

async function schedule(t: ExecutionContext, { agent, sink }: Ground): Promise<void> {
  const { id } = await agent.must('email_template_create', {
    ...{ slug: 'order', name: 'Order', subject_tmpl: 'For {{name}}', text_tmpl: 'Dear {{name}}' },
    schema_json: { type: 'object', properties: { name: { type: 'string' } } },
  })
  t.true(idsOf(await agent.must('email_template_list')).includes(id))
  t.is(((await agent.must('email_template_versions_list', { template_id: id }))['data'] as readonly unknown[]).length, 1)
  t.like(await agent.must('email_template_render_preview', { template_id: id, variables: { name: 'Ada' } }), { subject: 'For Ada' })
  const from = { from: mail.from, template_id: id, template_vars: { name: 'Dora' } }
  await agent.must('email_send_test', { ...from, to: 'dora@shop.test' })
  t.regex((await sink.delivered(({ to }) => to.includes('dora@shop.test'))).text, /Subject: For Dora/)
  t.like(await agent.must('email_template_delete', { id }), { done: true })

  const { trace_id } = await agent.must('email_send_test', {
    ...mail,
    to: 'eve@shop.test',
    send_at: new Date(Date.now() + 3_600_000).toISOString(),
  })
  t.regex(JSON.stringify(await agent.must('email_scheduled_list', { status: 'queued' })), new RegExp(String(trace_id)))
  t.like(await agent.must('email_scheduled_cancel', { trace_id }), { status: 'canceled' })
}

async function suppress(t: ExecutionContext, { agent }: Ground): Promise<void> {
  const { id } = await agent.must('email_suppression_add', { email: 'stop@shop.test', reason: 'asked for it' })
  t.like(await agent.must('email_send_test', { ...mail, to: 'stop@shop.test' }), { status: 'suppressed' })
  t.like(await agent.must('email_suppression_get', { id }), { untrusted_email: 'stop@shop.test' })
  t.like(await agent.must('email_suppression_bulk_import', { rows: [{ email: 'never@shop.test' }] }), { total: 1, added: 1 })
  t.is(idsOf(await agent.must('email_suppression_list', { limit: 5 })).length, 2)
  t.like(await agent.must('email_suppression_remove', { id }), { done: true })
}

/** Reports of mail servers: a polled Dovecot mailbox, and posted reports. */
async function readBounces(t: ExecutionContext, { agent, live, polled }: Ground): Promise<void> {
  const { imap } = (await waitFor('the mailbox was polled', async () => {
    const found = await agent.must('bounce_source_get', { id: polled })
    return (found['imap'] as Json)['last_polled_at'] === null ? undefined : found
  })) as { readonly imap: Json }
  t.is(imap['untrusted_last_error'] ?? null, null)
  t.is(imap['username'], 'web')
  const { id } = await agent.must('bounce_source_create', { provider: 'mailenable', label: 'mx1' })
  t.true(idsOf(await agent.must('bounce_source_list')).includes(id))
  const named = { bounce_source_config_id: id, postoffice_name: 'Customer', default_destination_id: live }
  const { id: mapping } = await agent.must('mailenable_postoffice_map_create', named)
  t.deepEqual(idsOf(await agent.must('mailenable_postoffice_map_list', { bounce_source_config_id: id })), [mapping])
  await agent.must('mailenable_postoffice_map_delete', { id: mapping })
  await agent.must('bounce_source_revoke', { id })
}

/** SMTP logins, publishable keys and webhook endpoints. */
async function letIn(t: ExecutionContext, { agent, live, receiver }: Ground): Promise<void> {
  const { id: login } = await agent.must('smtp_credential_create', { label: 'Printer' })
  t.true(idsOf(await agent.must('smtp_credential_list')).includes(login))
  t.like(await agent.must('smtp_credential_update', { id: login, default_destination_id: live }), { default_destination_id: live })
  t.is(typeof (await agent.must('smtp_credential_rotate', { id: login }))['password'], 'string')
  await agent.must('smtp_credential_revoke', { id: login })

  const page = { allowed_origins: ['https://site.test'], allowed_to: ['ada@shop.test'], locked_from: 'web@site.test' }
  const { id: key, reveal_url } = await agent.must('publishable_key_create', page)
  const form = { reveal_url, to_address: 'ada@shop.test', from_address: 'web@site.test' }
  t.regex(String((await agent.must('email_html_snippet_generate', form))['html']), /<form/)
  t.true(idsOf(await agent.must('publishable_key_list')).includes(key))
  const rotated = await agent.must('publishable_key_rotate', { id: key, reason: 'test' })
  await agent.must('publishable_key_revoke', { id: rotated['id'] ?? key })

  const { id: hook } = await agent.must('webhook_endpoint_create', { name: 'Second', target_url: receiver.url })
  t.true(idsOf(await agent.must('webhook_endpoint_list')).includes(hook))
  await agent.must('webhook_endpoint_rotate_secret', { id: hook })
  await agent.must('webhook_endpoint_delete', { id: hook })
}

/** Mail that stays in a sandbox, as seen by a wait and by a webhook receiver. */
async function capture(t: ExecutionContext, { agent, dead, receiver }: Ground): Promise<void> {
  const { inbox_id } = await agent.must('email_sandbox_inbox_open')
  const { id, address_pattern } = await agent.must('virtual_inbox_create', { address_pattern: '@box.test', name: 'Box' })
  t.true(idsOf(await agent.must('virtual_inbox_list')).includes(id))
  t.like(await agent.must('virtual_inbox_get', { id_or_address: address_pattern }), { found: true, inbox: { id } })
  await agent.must('virtual_inbox_update', { id, notify_webhook_url: receiver.url })
  await agent.must('destination_set_mode', { destination_id: dead, mode: 'sandbox' })
  const caught = { ...mail, to: 'fay@box.test', destination_id: dead }
  const waiting = agent.must('virtual_inbox_message_wait', { id_or_address: id, timeout_seconds: 60 })
  await waitFor('the wait has begun', async () => {
    t.like(await agent.must('email_send_test', caught), { outcome: 'captured.sandbox_destination' })
    return Promise.race([waiting.then(() => true), new Promise((resolve) => setImmediate(() => resolve(undefined)))])
  })
  const { message } = (await waiting) as { readonly message: { readonly id: string } }
  t.true(idsOf(await agent.must('virtual_inbox_messages_list', { id_or_address: id, limit: 5 })).length > 0)
  t.true(idsOf(await agent.must('email_sandbox_inbox_messages_list', { inbox_id, limit: 5 })).length > 0)
  t.like(await agent.must('virtual_inbox_message_get', { id: message.id }), { untrusted: { subject: mail.subject } })
  await waitFor('the receiver was notified', async () =>
    receiver.received.some(({ body }) => body.includes(message.id)) ? true : undefined,
  )
  t.like(await agent.must('virtual_inbox_messages_clear', { id }), { cleared: 0 })
  await agent.must('virtual_inbox_delete', { id })
}

/** A form, a visitor, and a reply that reaches them. */
async function reply(t: ExecutionContext, { agent, rest, origin, live, sink }: Ground): Promise<void> {
  await rest.must('PATCH', `/v1/destinations/${live}`, { from: mail.from })
  const { id: form_id, public_id } = await agent.must('form_create', { name: 'Contact' })
  await agent.must('form_publish', { form_id })
  t.true(idsOf(await agent.must('form_list', { status: 'published' })).includes(form_id))
  t.regex(JSON.stringify(await agent.must('form_embed_snippet_generate', { form_id, mode: 'script' })), /embed\.js/)
  const open = `${origin}/v1/public/forms/${String(public_id)}`
  const { fill_time_token: _mnx_ft } = (await (await fetch(open)).json()) as { readonly fill_time_token: string }
  const data = { name: 'Gil', email: 'gil@shop.test', message: 'Is it open on Sunday?' }
  const headers = { 'content-type': 'application/json' }
  const sent = await fetch(`${open}/submissions`, { method: 'POST', headers, body: JSON.stringify({ data, _mnx_ft }) })
  assert(sent.status === 201, await sent.clone().text())
  const { id: submission_id } = (await sent.json()) as { readonly id: string }
  const draft = await agent.must('form_reply_draft_create', { submission_id, subject: 'Sunday', text: 'Yes, it is.' })
  await agent.must('form_reply_send', { draft_id: draft['id'] })
  t.regex((await sink.delivered(({ to }) => to.includes(data.email))).text, /Yes, it is\./)
}

async function divide(t: ExecutionContext, { agent }: Ground): Promise<void> {
  const { id } = await agent.must('project_sub_create', { name: 'Tenant', send_cap_override: 10 })
  t.true(idsOf(await agent.must('project_sub_list')).includes(id))
  t.like(await agent.must('project_sub_set_quota', { sub_project_id: id, send_cap_override: 20 }), { send_budget: 20 })
  await agent.must('project_sub_delete', { sub_project_id: id })
}
