/** Parses one line of Postfix about one message, from text or from the fields of a grok filter. */
import { textIn, textOrNumberIn, type JsonObject } from '../events/json-value.ts'
import type { NoNews } from './log-group.ts'
import { originOf, type Origin, type ShippedLine } from './shipped-record.ts'

/** The outcome that a delivery agent reports for one recipient. */
export interface PostfixDelivery {
  readonly to: string
  readonly originalTo: string | null
  readonly relay: string
  readonly delay: string
  readonly dsn: string | null
  readonly status: string
  /** The text in parentheses after the status. */
  readonly reply: string
}

/** `queued` is a line of cleanup, `active` a line of the queue manager. */
type LineFact =
  | { readonly kind: 'queued'; readonly messageId: string }
  | { readonly kind: 'active'; readonly from: string }
  | { readonly kind: 'expired'; readonly from: string }
  | { readonly kind: 'removed' }
  | { readonly kind: 'delivery'; readonly delivery: PostfixDelivery }

export interface PostfixLine {
  readonly queueId: string
  /** The last part of the program's name, such as `smtp`; empty if unknown. */
  readonly service: string
  readonly host: string
  /** The time as written, for `timeOf`. */
  readonly time: Origin['time']
  readonly fact: LineFact
}

const queueIdForm = /^(?:[0-9A-F]{6,16}|[0-9A-Za-z]{10,20})$/
/** `postfix/smtp`, `postfix/submission/smtpd`, or `news/smtp` with a changed `syslog_name`: the service is the last part. */
const programForm = /^[^/]+\/(?:[^/]+\/)?([a-z]+)$/
/** Services whose lines look like a delivery agent's, and the two that report sender and Message-ID. */
const services: ReadonlySet<string> = new Set([
  'smtp',
  'lmtp',
  'local',
  'virtual',
  'pipe',
  'error',
  'retry',
  'cleanup',
  'qmgr',
  'oqmgr',
  '',
])

/** Parses a line without its syslog header. Undefined if a line without a program does not look like Postfix. */
export function readPostfixText({ text, program, host, time }: ShippedLine): PostfixLine | NoNews | undefined {
  const service = serviceOf(program)
  const colon = text.indexOf(': ')
  const queueId = colon > 0 && colon <= 20 ? text.slice(0, colon) : ''
  const fact = queueIdForm.test(queueId) ? factOf(text.slice(colon + 2)) : undefined
  if (fact && service === 'discard') return { ignored: 'handed_on' }
  // a line of this form is accepted under any program name, because operators choose `syslog_name` and shippers cut it at the slash
  if (fact) return { queueId, service: service ?? '', host: host ?? '', time, fact }
  if (program === null) return undefined
  return { ignored: /postfix/i.test(program) || service !== undefined ? 'no_outcome' : 'other_program' }
}

/** Empty if unknown, because shippers cut `postfix/smtp` at the slash. */
function serviceOf(program: string | null): string | undefined {
  if (program === null || program === 'postfix') return ''
  const service = programForm.exec(program)?.[1]
  return service !== undefined && (services.has(service) || service === 'discard') ? service : undefined
}

function factOf(text: string): LineFact | undefined {
  if (text.startsWith('to=<')) {
    const delivery = deliveryIn(text)
    return delivery && { kind: 'delivery', delivery }
  }
  if (text.startsWith('message-id=')) return { kind: 'queued', messageId: bracketed(text.slice('message-id='.length)) }
  if (text === 'removed') return { kind: 'removed' }
  if (!text.startsWith('from=<')) return undefined
  const end = text.indexOf('>, ')
  if (end < 0) return undefined
  const from = text.slice('from=<'.length, end)
  const rest = text.slice(end + 3)
  if (/^status=(?:force-)?expired, /.test(rest)) return { kind: 'expired', from }
  return rest.startsWith('size=') ? { kind: 'active', from } : undefined
}

function deliveryIn(text: string): PostfixDelivery | undefined {
  const end = text.indexOf('>, ')
  const middle = text.indexOf(', status=', end)
  if (end < 0 || middle < 0) return undefined
  const fields = new Map<string, string>()
  for (const [, name = '', value = ''] of text.slice(end + 3, middle).matchAll(/([a-z_]+)=(<[^>]*>|[^,]*)/g)) fields.set(name, value)
  const [, status = '', reply = ''] = /^([A-Za-z-]+)(?: \(([^]*)\))?/.exec(text.slice(middle + ', status='.length)) ?? []
  const original = fields.get('orig_to')
  return {
    to: text.slice('to=<'.length, end),
    originalTo: original === undefined ? null : original.replace(/^<(.*)>$/, '$1'),
    relay: fields.get('relay') ?? 'none',
    delay: fields.get('delay') ?? '',
    dsn: fields.get('dsn') ?? null,
    status,
    reply,
  }
}

/** Adds the brackets that grok filters remove from a Message-ID. An empty ID stays empty. */
const bracketed = (id: string): string => (id === '' || id === '<>' || id.startsWith('<') ? id : `<${id}>`)

/** Parses the fields of common grok patterns: `postfix_queueid`, `postfix_to`, `postfix_status` and so on. */
export function readPostfixFields(record: JsonObject): PostfixLine | NoNews {
  const field = (name: string): string | null => textOrNumberIn(record[`postfix_${name}`])
  const queueId = field('queueid') ?? ''
  const { program, host, time } = originOf(record)
  const service = serviceOf(program)
  const fact = queueIdForm.test(queueId) ? factOfFields(field) : undefined
  if (!fact) return { ignored: service === undefined ? 'other_program' : 'no_outcome' }
  return service === 'discard' ? { ignored: 'handed_on' } : { queueId, service: service ?? '', host: host ?? '', time, fact }
}

type Field = (name: string) => string | null

function factOfFields(field: Field): LineFact | undefined {
  const to = field('to')
  const status = field('status')
  const from = field('from')
  const messageId = field('message-id')
  if (to !== null && status !== null) return { kind: 'delivery', delivery: deliveryFields(field, bareAddress(to), status) }
  if (from !== null && status?.endsWith('expired')) return { kind: 'expired', from: bareAddress(from) }
  if (messageId !== null) return { kind: 'queued', messageId: bracketed(messageId) }
  if (field('message') === 'removed') return { kind: 'removed' }
  return from !== null && field('nrcpt') !== null ? { kind: 'active', from: bareAddress(from) } : undefined
}

function deliveryFields(field: Field, to: string, status: string): PostfixDelivery {
  const original = field('orig_to')
  const responses = ['smtp_response', 'local_response', 'pipe_response', 'error_response'].map(field)
  return {
    to,
    originalTo: original === null ? null : bareAddress(original),
    relay: relayField(field),
    delay: field('delay') ?? '',
    dsn: field('dsn'),
    status,
    reply: responses.find((reply) => reply !== null) ?? '',
  }
}

function relayField(field: Field): string {
  const whole = field('relay')
  if (whole !== null) return whole
  const host = field('relay_hostname')
  const address = field('relay_ip')
  const port = field('relay_port')
  if (host === null && address === null) return field('relay_service') ?? 'none'
  return `${host ?? ''}[${address ?? ''}]${port === null ? '' : `:${port}`}`
}

const bareAddress = (text: string): string => text.replace(/^<(.*)>$/, '$1')

export const isGrokked = (record: JsonObject): boolean => textIn(record['postfix_queueid']) !== null
