/** Tools have the described effect in the core, and refuse the same requests as REST. */
import test from '#test'
import { addDestination } from '../rest/fixture/rest-fixture.ts'
import { startMcp } from './mcp-fixture.ts'

const mail = { from: 'shop@example.ch', to: 'ada@example.org', subject: 'Hello', text: 'It works.' }

test('send and debug: a sandbox token is captured, and mcp:send relays', async (t) => {
  const fixture = await startMcp(t)
  await addDestination(fixture.rest, { name: 'Host' }, true)
  const destinationId = String(((await fixture.rest.must('GET', '/v1/destinations'))['data'] as { id: string }[])[0]?.id)
  await fixture.rest.must('POST', '/v1/routing/rules', { match: { domain: 'example.ch' }, destination_id: destinationId, priority: 1 })
  const sandboxed = await fixture.agent({ token: await fixture.tokenOf('mcp:read mcp:send-sandbox') })
  const captured = await sandboxed.must('email_send_test', mail)
  t.is(captured['outcome'], 'captured.sandbox_destination')
  const details = (await sandboxed.must('email_trace_lookup', { trace_id: captured['trace_id'] })) as {
    found: boolean
    trace: { status: string; outcome_reason: string }
  }
  t.true(details.found)
  t.is(details.trace.status, 'captured')
  t.regex(JSON.stringify(details.trace), /mcp:send-sandbox/)
  t.is((await sandboxed.must('email_send_test', { ...mail, destination_id: destinationId }))['outcome'], 'captured.sandbox_destination')

  const agent = await fixture.agent()
  const relayed = await agent.must('email_send_test', { ...mail, to_extra: ['bob@example.org'], idempotency_key: 'k1' })
  t.is(relayed['outcome'], 'relayed')
  t.deepEqual(await agent.must('email_send_test', { ...mail, to_extra: ['bob@example.org'], idempotency_key: 'k1' }), relayed)
  const found = (await agent.must('email_traces_search', { filter: { recipient: 'bob@example.org' } }))['data'] as { trace_id: string }[]
  t.deepEqual(
    found.map(({ trace_id }) => trace_id),
    [relayed['trace_id']],
  )
  t.like(await agent.must('email_traces_search', { filter: { limit: 1 } }), { has_more: true })
  const replying = await agent.refused('email_send_test', { ...mail, reply_to: 'boss@elsewhere.example' })
  t.regex(replying.message, /reply_to\[0\]: elsewhere\.example is not a verified sending domain/)
  t.like(await agent.must('email_diagnose_missing', { recipient: 'nobody@example.org', time_window: '24h' }), {
    recipient: 'nobody@example.org',
  })
  t.like(await agent.must('email_diagnose_bounce', { message_id: '<no@such>' }), { found: false })
})

test('setup: connect a provider by its preset, test it, and get the DNS records', async (t) => {
  const fixture = await startMcp(t)
  const agent = await fixture.agent({ reachesOrganization: true })
  const choices = (await agent.must('email_provider_list_presets')) as { providers: { id: string }[]; presets: { id: string }[] }
  t.true(choices.providers.some(({ id }) => id === 'smtp') && choices.presets.some(({ id }) => id === 'infomaniak'))
  const byPreset = await agent.must('email_provider_connect', {
    provider: 'infomaniak',
    credentials: { username: 'shop@example.ch', password: 'secret-word' },
    name: 'Webhoster',
  })
  t.like(byPreset, { provider: 'smtp', preset: 'infomaniak', mode: 'sandbox' })
  t.false(JSON.stringify(byPreset).includes('secret-word'))
  t.like(await agent.refused('email_provider_connect', { provider: 'infomaniakk', credentials: {}, name: 'x' }), {
    code: 'validation_failed',
  })
  const own = await agent.must('email_provider_connect', {
    provider: 'smtp',
    credentials: { host: '127.0.0.1', port: 2600, security: 'none' },
    name: 'Own',
    environment: 'production',
  })
  const listed = (await agent.must('email_provider_list')) as { data: { id: string }[]; has_more: boolean }
  t.deepEqual([listed.data.length, listed.has_more], [2, false])
  const id = { destination_id: own['id'] }
  t.truthy(await agent.must('email_provider_test', id))
  t.truthy(await agent.must('email_provider_health', id))
  t.like(await agent.must('email_domain_verify_status', { domain: 'example.ch' }), { found: false })
  const records = (await agent.must('email_domain_verify_records', { domain: 'example.ch', ...id })) as {
    created: boolean
    records: { type: string }[]
  }
  t.true(records.created && records.records.length > 2)
  t.like(await agent.must('email_domain_verify_records', { domain: 'Example.CH', ...id }), { created: false })
  t.like(await agent.must('email_domain_verify_status', { domain: 'example.ch' }), { found: true, domain: { status: 'pending' } })
  t.like(await agent.must('destination_promote_to_live', id), { mode: 'live', already_live: false, warnings: [{ code: 'not_routed' }] })
  const routed = await agent.must('destination_promote_to_live', { ...id, default_route: true })
  t.like(routed, { already_live: true, route: { leads_here: true, by: 'rule' }, warnings: [] })
  const mail = { from: 'shop@example.ch', to: 'ada@example.ch', subject: 'Hello', text: 'It works.' }
  t.like(await agent.must('email_send_test', mail), { outcome: 'relayed' })
  t.like(await agent.must('destination_set_mode', { ...id, mode: 'sandbox' }), { mode: 'sandbox' })
})

test('templates: save by slug, save a version, preview, send and delete', async (t) => {
  const { agent } = await startMcp(t)
  const one = await agent()
  const content = { slug: 'welcome', name: 'Welcome', subject_tmpl: 'Hello {{name}}', text_tmpl: 'Dear {{name}}' }
  const schema = { schema_json: { type: 'object', properties: { name: { type: 'string' } } } }
  const made = await one.must('email_template_create', { ...content, ...schema })
  const again = await one.must('email_template_create', { ...content, ...schema, text_tmpl: 'Hi {{name}}' })
  t.is(again['id'], made['id'])
  const versions = (await one.must('email_template_versions_list', { template_id: made['id'] }))['data'] as { version: number }[]
  t.deepEqual(
    versions.map(({ version }) => version),
    [2, 1],
  )
  t.like(await one.must('email_template_render_preview', { template_id: made['id'], variables: { name: 'Ada' } }), {
    subject: 'Hello Ada',
    text: 'Hi Ada',
  })
  const sent = await one.must('email_send_test', {
    from: 'a@example.ch',
    to: 'b@example.ch',
    template_slug: 'welcome',
    template_version: 1,
    template_vars: { name: 'Ada' },
  })
  t.is(sent['outcome'], 'captured.no_route')
  t.is(((await one.must('email_template_list'))['data'] as unknown[]).length, 1)
  t.deepEqual(await one.must('email_template_delete', { id: made['id'] }), { done: true })
  t.like(await one.refused('email_template_delete', { id: made['id'] }), { code: 'not_found' })
})

test('secrets: named, and only in structuredContent; publishable keys by link', async (t) => {
  const { agent } = await startMcp(t)
  const one = await agent({ reachesOrganization: true })
  const secretOf = async (name: string, given: Record<string, unknown>, field: string): Promise<Readonly<Record<string, unknown>>> => {
    const { isError, value, text, meta } = await one.call(name, given)
    t.false(isError, text)
    t.deepEqual(meta?.['service/secret_fields'], [field], name)
    t.is(typeof value[field], 'string')
    t.false(text.includes(String(value[field])), name)
    return value
  }
  const hook = await secretOf('webhook_endpoint_create', { name: 'Shop', target_url: 'https://shop.example.ch/hook' }, 'hmac_secret')
  await secretOf('webhook_endpoint_rotate_secret', { id: hook['id'] }, 'hmac_secret')
  t.like(await one.must('webhook_endpoint_list'), { has_more: false })
  t.like(await one.must('webhook_attempts_list', { limit: 5 }), { data: [] })
  await one.must('webhook_endpoint_delete', { id: hook['id'] })
  const login = await secretOf('smtp_credential_create', { label: 'Shop' }, 'password')
  await secretOf('smtp_credential_rotate', { id: login['id'] }, 'password')
  t.like(await one.must('smtp_credential_update', { id: login['id'], label: 'Shop 2' }), { label: 'Shop 2' })
  t.truthy(await one.must('smtp_credential_test_connection', { id: login['id'] }))
  await one.must('smtp_credential_revoke', { id: login['id'] })
  await secretOf('bounce_source_create', { provider: 'mailenable', label: 'mx1' }, 'hmac_secret')

  const key = await one.call('publishable_key_create', {
    allowed_origins: ['https://shop.example.ch'],
    allowed_to: ['ada@example.ch'],
    locked_from: 'form@example.ch',
  })
  t.deepEqual(key.meta?.['service/secret_fields'], ['reveal_url'])
  t.false('raw_token' in key.value)
  t.is(key.value['reveal_expires_in_seconds'], 300)
  t.true(key.text.includes(String(key.value['reveal_url'])), 'the model can pass on the link')
  const given = { to_address: 'ada@example.ch', from_address: 'form@example.ch', template_style: 'minimal' }
  const snippet = await one.must('email_html_snippet_generate', { reveal_url: key.value['reveal_url'], ...given })
  t.regex(String(snippet['html']), /<form/)
  t.like(await one.refused('email_html_snippet_generate', { reveal_url: key.value['reveal_url'], ...given }), { code: 'reveal_expired' })
  await one.must('publishable_key_rotate', { id: key.value['id'], reason: 'test' })
  await one.must('publishable_key_revoke', { id: key.value['id'] })
  t.like(await one.must('publishable_key_list'), { data: [{ status: 'revoked' }] })
})

test('operate: rules, failover and suppressions', async (t) => {
  const fixture = await startMcp(t)
  const one = await fixture.agent({ reachesOrganization: true })
  const [first, second] = [await addDestination(fixture.rest, { name: 'A' }), await addDestination(fixture.rest, { name: 'B' })]
  t.like(await one.must('email_routing_rule_create', { match: { domain: 'example.ch' }, destination_id: first, priority: 5 }), {
    destination_id: first,
  })
  t.like(await one.must('email_failover_policy_set', { primary_id: first, fallback_ids: [second], conditions: { on: ['transient'] } }), {
    fallback_ids: [second],
  })
  const added = await one.must('email_suppression_add', { email: 'ada@example.org', reason: 'asked' })
  t.like(await one.must('email_suppression_get', { id: added['id'] }), { untrusted_email: 'ada@example.org' })
  const imported = await one.must('email_suppression_bulk_import', {
    rows: [{ email: 'b@example.org' }, { email: 'wrong' }, { email: 'ada@example.org' }],
  })
  t.like(imported, { total: 3, added: 1, already_there: 1, refused: 1 })
  t.like(await one.must('email_suppression_list', { limit: 1 }), { data: [{ untrusted_email: 'b@example.org' }], has_more: true })
  t.like(await one.must('email_suppression_list', { limit: 1, offset: 1 }), {
    data: [{ untrusted_email: 'ada@example.org' }],
    has_more: false,
  })
  t.deepEqual(await one.must('email_suppression_remove', { id: added['id'] }), { done: true })
  const many = Array.from({ length: 1001 }, (_, i) => ({ email: `u${i}@example.org` }))
  t.regex((await one.refused('email_suppression_bulk_import', { rows: many })).message, /at most 1000/)
})

test('tools: scheduled sends, replays and bounce sources', async (t) => {
  const fixture = await startMcp(t)
  const one = await fixture.agent({ reachesOrganization: true })
  const at = new Date(fixture.clock.now() + 3_600_000).toISOString()
  const sent = await one.must('email_send_test', { ...mail, send_at: at })
  t.like(await one.must('email_scheduled_list', { status: 'queued' }), { data: [{ trace_id: sent['trace_id'] }] })
  t.like(await one.must('email_scheduled_cancel', { trace_id: sent['trace_id'] }), { status: 'canceled' })
  const job = await one.must('email_bulk_replay', { filter: {} })
  t.is((await one.must('email_bulk_replay_status', { job_id: job['job_id'] }))['job_id'], job['job_id'])
  const source = await one.must('bounce_source_create', { provider: 'mailenable' })
  t.like(await one.must('bounce_source_get', { id: source['id'] }), { id: source['id'] })
  t.is(((await one.must('bounce_source_list'))['data'] as unknown[]).length, 1)
  const map = await one.must('mailenable_postoffice_map_create', { bounce_source_config_id: source['id'], postoffice_name: 'example.com' })
  t.like(await one.must('mailenable_postoffice_map_list', { bounce_source_config_id: source['id'] }), { data: [{ id: map['id'] }] })
  await one.must('mailenable_postoffice_map_delete', { id: map['id'] })
  await one.must('bounce_source_revoke', { id: source['id'] })
  await fixture.setRole('developer')
  t.like(await one.refused('bounce_source_create', { provider: 'arf' }), { code: 'insufficient_scope' })
})

test('partitions: belong to the project of the token', async (t) => {
  const fixture = await startMcp(t)
  const one = await fixture.agent()
  const made = await one.must('project_sub_create', { name: 'Tenant', send_cap_override: 10 })
  t.like(made, { parent_id: fixture.projectId, send_budget: 10 })
  t.like(await one.must('project_sub_set_quota', { sub_project_id: made['id'], send_cap_override: null }), { send_budget: null })
  t.like(await one.must('project_sub_list'), { data: [{ id: made['id'] }] })
  t.like(await one.refused('project_sub_delete', { sub_project_id: fixture.projectId }), { code: 'insufficient_scope' })
  t.deepEqual(await one.must('project_sub_delete', { sub_project_id: made['id'] }), { done: true })
})

test('anonymous agent: sends into its sandbox and requests a claim', async (t) => {
  const fixture = await startMcp(t)
  const one = await fixture.agent({ token: await fixture.anonymousToken() })
  t.is((await one.must('email_send_test', mail))['outcome'], 'captured.anonymous_project')
  const status = await one.must('account_status')
  t.like(status, { status: 'anonymous', name: 'sandbox', claim_progress: { claimed: false } })
  t.truthy((await one.must('account_claim', { email: 'ada@example.ch' }))['user_code'])
})
