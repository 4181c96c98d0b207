/**
 * A valid call of the owner and a refused call for every tool, with the owner's ids in all arguments that accept ids. The tests fail for a
 * tool without these calls.
 */
import { makeOneOfEach, type Made } from '../../rest/fixture/requests.ts'
import { loopback, type Fixture } from '../../rest/fixture/rest-fixture.ts'

export interface ToolMade extends Made {
  /** A partition of the project. */
  readonly tenant: string
  /** A replay of this project only. */
  readonly job: string
}

export interface ToolRequest {
  readonly given: Readonly<Record<string, unknown>>
  /** Refused arguments and their code; by default, an unknown argument. */
  readonly wrong?: { readonly given: Readonly<Record<string, unknown>>; readonly code: string }
}

type Requests = Readonly<Record<string, ToolRequest>>

/** Creates one object of each kind for the tools. */
export async function makeForTools(fixture: Fixture): Promise<ToolMade> {
  const made = await makeOneOfEach(fixture)
  const tenant = await fixture.rest.must('POST', '/v1/projects', { name: 'Tenant', parent_id: made.project })
  const { key } = await fixture.rest.must('POST', '/v1/api-keys', { name: 'x', scopes: ['api:send'], project_id: made.project })
  const job = await fixture.client(String(key)).must('POST', '/v1/replays', { filter: {} })
  return { ...made, tenant: String(tenant['id']), job: String(job['job_id']) }
}

const missing = (argument: string, id: string) => ({ given: { [argument]: id }, code: 'not_found' })
const mail = { from: 'shop@example.ch', to: 'ada@example.ch', subject: 'Hello', text: 'It works.' }
const page = { allowed_origins: ['https://shop.example.ch'], allowed_to: ['ada@example.ch'], locked_from: 'form@example.ch' }
const form = { to_address: 'ada@example.ch', from_address: 'form@example.ch' }
const noTrace = 'a3c0be6a-0000-4000-8000-000000000000'

/** Calls by tool name, in an order in which the owner can make all of them. */
export const toolRequestsOf = (made: ToolMade): Requests => ({
  ...settingUp(made),
  ...sending(made),
  ...templates(made),
  ...inbound(made),
  ...operating(made),
  ...inboxes(made),
  ...access(made),
  ...forms(made),
  ...ending(made),
})

const settingUp = ({ spare, loose }: ToolMade): Requests => ({
  account_status: { given: {} },
  account_claim: { given: { email: 'ada@example.ch' } },
  email_provider_list_presets: { given: {} },
  email_provider_connect: {
    given: { provider: 'smtp', credentials: loopback.credentials, name: 'Own', environment: 'production' },
    wrong: { given: { provider: 'infomaniakk', credentials: {}, name: 'x' }, code: 'validation_failed' },
  },
  email_provider_test: { given: { destination_id: loose }, wrong: missing('destination_id', 'dst_1') },
  email_provider_list: { given: {} },
  email_provider_health: { given: { destination_id: loose }, wrong: missing('destination_id', 'dst_1') },
  email_domain_verify_status: { given: { domain: 'sender.example.ch' } },
  email_domain_verify_records: {
    given: { domain: 'sender.example.ch', destination_id: loose },
    wrong: { given: { domain: 'sender.example.ch', destination_id: 'dst_1' }, code: 'not_found' },
  },
  destination_set_mode: {
    given: { destination_id: spare, mode: 'sandbox' },
    wrong: { given: { destination_id: 'dst_1', mode: 'live' }, code: 'not_found' },
  },
  destination_promote_to_live: { given: { destination_id: spare }, wrong: missing('destination_id', 'dst_1') },
})

const sending = ({ destination, template, trace, job, scheduled, project }: ToolMade): Requests => ({
  email_send_test: {
    given: { ...mail, subject: undefined, text: undefined, template_id: template, destination_id: destination },
    wrong: { given: { ...mail, destination_id: 'dst_1' }, code: 'validation_failed' },
  },
  email_trace_lookup: { given: { trace_id: trace }, wrong: { given: { trace_id: '' }, code: 'validation_failed' } },
  email_traces_search: {
    given: { filter: { destination_id: destination } },
    wrong: { given: { filter: { status: 'lost' } }, code: 'validation_failed' },
  },
  email_diagnose_missing: {
    given: { recipient: 'ada@example.ch', time_window: '24h' },
    wrong: { given: { recipient: 'ada@example.ch', time_window: 'soon' }, code: 'validation_failed' },
  },
  email_diagnose_bounce: { given: { message_id: trace } },
  email_scheduled_list: { given: { status: 'queued', limit: 5 } },
  email_scheduled_cancel: { given: { trace_id: scheduled }, wrong: missing('trace_id', noTrace) },
  email_bulk_replay: {
    given: { filter: { project_id: project, destination_id: destination }, target_destination_id: destination },
    wrong: { given: { filter: {}, target_destination_id: 'dst_1' }, code: 'validation_failed' },
  },
  email_bulk_replay_status: { given: { job_id: job }, wrong: missing('job_id', 'rpl_1') },
})

const templates = ({ template }: ToolMade): Requests => ({
  email_template_create: {
    given: { slug: 'other', name: 'Other', subject_tmpl: 'Hello {{name}}', text_tmpl: 'Dear {{name}}' },
    wrong: { given: { slug: 'Not A Slug', name: 'x', subject_tmpl: 'x' }, code: 'validation_failed' },
  },
  email_template_list: { given: {} },
  email_template_versions_list: { given: { template_id: template, limit: 5 }, wrong: missing('template_id', 'tpl_1') },
  email_template_render_preview: {
    given: { template_id: template, variables: {} },
    wrong: { given: { template_id: 'tpl_1', variables: {} }, code: 'not_found' },
  },
})

const inbound = ({ inspect, inboundRoute, inbox }: ToolMade): Requests => ({
  email_inspect_address_create: { given: {} },
  email_inspect_report_get: { given: { inspect_id: inspect }, wrong: missing('inspect_id', 'ins_1') },
  email_inbound_route_create: {
    given: { local_part_pattern: 'tickets', webhook_url: 'https://shop.example.ch/in' },
    wrong: { given: { local_part_pattern: 'tickets', webhook_url: 'http://shop.example.ch/' }, code: 'validation_failed' },
  },
  email_inbound_messages_list: {
    given: { route_id: inboundRoute, limit: 10 },
    wrong: { given: { route_id: 'inr_1', limit: 10 }, code: 'not_found' },
  },
  email_sandbox_inbox_open: { given: {} },
  email_sandbox_inbox_messages_list: {
    given: { inbox_id: inbox, limit: 5 },
    wrong: { given: { inbox_id: 'inb_1', limit: 5 }, code: 'not_found' },
  },
})

const operating = ({ spare, loose, destination, suppression, project, mailEnable, mapping, stalwart }: ToolMade): Requests => ({
  email_failover_policy_set: {
    given: { primary_id: loose, fallback_ids: [spare], conditions: { on: ['transient'] } },
    wrong: { given: { primary_id: loose, fallback_ids: ['dst_1'], conditions: { on: ['transient'] } }, code: 'validation_failed' },
  },
  email_routing_rule_create: {
    given: { match: { domain: 'c.ch' }, destination_id: destination, priority: 5 },
    wrong: { given: { match: { domain: 'c.ch' }, destination_id: 'dst_1', priority: 5 }, code: 'validation_failed' },
  },
  findings_list: { given: { state: 'open' }, wrong: { given: { state: 'ended' }, code: 'validation_failed' } },
  email_suppression_list: { given: { project_id: project, limit: 5 } },
  email_suppression_add: {
    given: { email: 'bea@example.ch', project_id: project },
    wrong: { given: { email: 'nowhere' }, code: 'validation_failed' },
  },
  email_suppression_get: { given: { id: suppression }, wrong: missing('id', 'sup_1') },
  email_suppression_bulk_import: {
    given: { rows: [{ email: 'cem@example.ch' }] },
    wrong: { given: { rows: [] }, code: 'validation_failed' },
  },
  bounce_source_create: { given: { provider: 'stalwart', label: 'mx1' }, wrong: { given: { provider: 'x' }, code: 'validation_failed' } },
  bounce_source_list: { given: {} },
  bounce_source_get: { given: { id: stalwart }, wrong: missing('id', 'src_1') },
  mailenable_postoffice_map_create: {
    given: {
      bounce_source_config_id: mailEnable,
      postoffice_name: 'Customer-B',
      project_id: project,
      default_destination_id: destination,
    },
    wrong: { given: { bounce_source_config_id: 'src_1', postoffice_name: 'Customer-B' }, code: 'not_found' },
  },
  mailenable_postoffice_map_list: { given: { bounce_source_config_id: mailEnable } },
  mailenable_postoffice_map_delete: { given: { id: mapping } },
})

const inboxes = ({ inbox, pattern, message }: ToolMade): Requests => ({
  virtual_inbox_create: {
    given: { address_pattern: '@new.example.ch', name: 'New' },
    wrong: { given: { address_pattern: 'nothing' }, code: 'validation_failed' },
  },
  virtual_inbox_list: { given: {} },
  virtual_inbox_get: { given: { id_or_address: pattern } },
  virtual_inbox_update: { given: { id: pattern, name: 'Seen too' }, wrong: missing('id', 'inb_1') },
  virtual_inbox_messages_list: { given: { id_or_address: inbox, limit: 5 } },
  virtual_inbox_message_get: { given: { id: message }, wrong: missing('id', 'cap_1') },
  virtual_inbox_message_wait: {
    given: { id_or_address: pattern, timeout_seconds: 1 },
    wrong: { given: { id_or_address: '@none.example', timeout_seconds: 0 }, code: 'not_found' },
  },
  virtual_inbox_messages_clear: { given: { id: pattern }, wrong: missing('id', 'inb_1') },
})

const access = ({ credential, destination, tenant, webhook, publishable, reveal }: ToolMade): Requests => ({
  smtp_credential_create: { given: { label: 'Shop', default_destination_id: destination } },
  smtp_credential_list: { given: {} },
  smtp_credential_update: { given: { id: credential, default_destination_id: destination }, wrong: missing('id', 'smc_1') },
  smtp_credential_test_connection: { given: { id: credential }, wrong: missing('id', 'smc_1') },
  smtp_credential_rotate: { given: { id: credential }, wrong: missing('id', 'smc_1') },
  project_sub_create: { given: { name: 'Another', send_cap_override: 10 }, wrong: { given: { name: '' }, code: 'validation_failed' } },
  project_sub_list: { given: {} },
  project_sub_set_quota: {
    given: { sub_project_id: tenant, send_cap_override: 10 },
    wrong: { given: { sub_project_id: 'prj_1', send_cap_override: 10 }, code: 'not_found' },
  },
  webhook_endpoint_create: {
    given: { name: 'Other', target_url: 'https://shop.example.ch/hook' },
    wrong: { given: { name: 'Other', target_url: 'ftp://shop.example.ch/' }, code: 'validation_failed' },
  },
  webhook_endpoint_list: { given: {} },
  webhook_endpoint_rotate_secret: { given: { id: webhook }, wrong: missing('id', 'whk_1') },
  webhook_attempts_list: { given: { endpoint_id: webhook, limit: 5 } },
  email_html_snippet_generate: {
    given: { reveal_url: reveal, ...form },
    wrong: { given: { reveal_url: 'https://evil.example/reveal/x.y', ...form }, code: 'validation_failed' },
  },
  publishable_key_create: { given: page, wrong: { given: { ...page, allowed_origins: ['shop'] }, code: 'validation_failed' } },
  publishable_key_list: { given: {} },
  publishable_key_rotate: { given: { id: publishable, reason: 'test' }, wrong: missing('id', 'pub_1') },
})

const forms = ({ form: form_id, formSubmission: submission_id, formReply: draft_id, template: template_id }: ToolMade): Requests => ({
  form_create: { given: { name: 'Other' }, wrong: { given: { name: 'Other', fields: [{ key: 'a' }] }, code: 'definition_invalid' } },
  form_publish: { given: { form_id, note: 'again' }, wrong: missing('form_id', 'frm_1') },
  form_embed_snippet_generate: {
    given: { form_id, mode: 'script' },
    wrong: { given: { form_id: 'frm_1', mode: 'script' }, code: 'not_found' },
  },
  form_list: { given: { status: 'published', limit: 5 } },
  form_reply_draft_create: {
    given: { submission_id, template_id },
    wrong: { given: { submission_id: 'sub_1', subject: 'Your message', text: 'Thank you.' }, code: 'not_found' },
  },
  form_reply_send: { given: { draft_id }, wrong: missing('draft_id', 'frd_1') },
})

const ending = ({ webhook, publishable, credential, pattern, template, suppression, stalwart, tenant }: ToolMade): Requests => ({
  webhook_endpoint_delete: { given: { id: webhook } },
  publishable_key_revoke: { given: { id: publishable }, wrong: missing('id', 'pub_1') },
  smtp_credential_revoke: { given: { id: credential } },
  virtual_inbox_delete: { given: { id: pattern } },
  email_template_delete: { given: { id: template }, wrong: missing('id', 'tpl_1') },
  email_suppression_remove: { given: { id: suppression } },
  bounce_source_revoke: { given: { id: stalwart } },
  project_sub_delete: { given: { sub_project_id: tenant }, wrong: missing('sub_project_id', 'prj_1') },
})
