/**
 * Examples of arguments by name, shown in the schema of each tool. They help a model write arguments in the right form at the first
 * attempt.
 */
import type { JsonObject } from './tool-schemas.ts'

const idOf = (prefix: string): string => `${prefix}_01935c0000007000800000000000000000`
const traceId = 'a3c0be6a-53f1-4c9e-9d0e-3b8f5a0c7d21'
const time = '2026-11-24T09:00:00Z'

/** Prefix of `id` by the beginning of the tool name. */
const ids: Readonly<Record<string, string>> = {
  email_suppression: 'sup',
  bounce_source: 'src',
  mailenable_postoffice_map: 'pom',
  email_template: 'tpl',
  smtp_credential: 'smc',
  publishable_key: 'pk',
  virtual_inbox_message_get: 'cap',
  virtual_inbox: 'inb',
  webhook_endpoint: 'whk',
}

/** Examples by argument name. */
const examples: Readonly<Record<string, unknown>> = {
  address_pattern: '@staging.example.ch',
  allowed_from_domains: ['example.ch'],
  allowed_origins: ['https://www.example.ch'],
  allowed_to: ['office@example.ch'],
  attachments: [{ filename: 'bill.pdf', content_type: 'application/pdf', content: 'JVBERi0x…' }],
  bcc: 'archive@example.ch',
  bounce_source_config_id: idOf('src'),
  captcha: { provider: 'turnstile', site_key: '0x4AAAAAAA' },
  cc: 'Bob <bob@example.org>',
  credentials: { username: 'me@example.ch', password: '…' },
  default_destination_id: idOf('dst'),
  destination_id: idOf('dst'),
  domain: 'example.ch',
  draft_id: idOf('frd'),
  email: 'ada@example.org',
  endpoint_id: idOf('whk'),
  environment: 'production',
  fallback_ids: [idOf('dst')],
  fields: [{ key: 'email', type: 'email', label: 'Email', required: true }],
  form_id: idOf('frm'),
  from: 'Shop <shop@example.ch>',
  from_address: 'form@example.ch',
  html: '<p>Thank you.</p>',
  html_tmpl: '<p>Hello {{name}}</p>',
  id_or_address: '@staging.example.ch',
  idempotency_key: 'order-4711-confirmation',
  inbox_id: idOf('inb'),
  inspect_id: idOf('ins'),
  job_id: idOf('rpl'),
  label: 'Shop',
  layout: { rows: [{ fields: ['name', 'email'], spans: [6, 6] }] },
  local_part_pattern: 'support',
  locked_from: 'form@example.ch',
  logic: {
    rules: [{ id: 'r1', when: { field: 'topic', op: 'eq', value: 'bug' }, then: [{ action: 'show', target: 'steps' }] }],
  },
  match: { domain: 'example.ch' },
  message_id: traceId,
  metadata: 'order:4711',
  name: 'Shop',
  note: 'Asks for the company too.',
  notify_webhook_url: 'https://www.example.ch/hooks/mail',
  postoffice_name: 'example.ch',
  primary_id: idOf('dst'),
  project_id: idOf('prj'),
  q: 'order 4711',
  reason: 'asked by telephone',
  recipient: 'ada@example.org',
  reply_to: 'support@example.ch',
  reveal_url: 'https://post.example.ch/reveal/…',
  route_id: idOf('inr'),
  rows: [{ email: 'ada@example.org', reason: 'left' }],
  send_at: time,
  sender: 'shop@example.ch',
  since: time,
  site_key: '0x4AAAAAAA',
  slug: 'order-confirmation',
  sub_project_id: idOf('prj'),
  submission_id: idOf('sub'),
  subject: 'Your order 4711',
  subject_tmpl: 'Your order {{number}}',
  tag: 'invoice',
  target_destination_id: idOf('dst'),
  target_url: 'https://www.example.ch/hooks/mail',
  template: 'order-confirmation',
  template_id: idOf('tpl'),
  template_slug: 'order-confirmation',
  template_vars: { name: 'Ada' },
  text: 'Thank you.',
  text_tmpl: 'Hello {{name}}',
  thank_you: { title: 'Thank you', body: 'We answer as soon as we can.' },
  theme: { mode: 'auto', colors: { primary: '#1d4ed8' } },
  time_window: '24h',
  to: 'Ada <ada@example.org>',
  to_address: 'office@example.ch',
  to_extra: ['bob@example.org'],
  trace_id: traceId,
  variables: { name: 'Ada' },
  verp_bounce_domain: 'bounces.example.ch',
  failure_notice_to: 'admin@example.ch',
  webhook_url: 'https://www.example.ch/hooks/tickets',
}

function exampleOf(tool: string, argument: string): unknown {
  if (argument !== 'id') return examples[argument]
  const [, prefix] = Object.entries(ids).find(([beginning]) => tool.startsWith(beginning)) ?? []
  return prefix === undefined ? undefined : idOf(prefix)
}

/** Choices, times and numbers need no example. */
const speaks = ({ enum: choices, format, type, examples: own }: JsonObject): boolean =>
  [choices, format, own].some((one) => one !== undefined) || ['boolean', 'integer', 'number'].includes(String(type))

/** Adds examples to the argument schema of a tool. */
export function withExamples(tool: string, schema: JsonObject): JsonObject {
  const properties = Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, JsonObject>>).map(([name, one]) => {
    const example = speaks(one) ? undefined : exampleOf(tool, name)
    const whole = one['properties'] === undefined ? one : withExamples(tool, one)
    return [name, example === undefined ? whole : { ...whole, examples: [example] }]
  })
  return { ...schema, properties: Object.fromEntries(properties) as JsonObject }
}
