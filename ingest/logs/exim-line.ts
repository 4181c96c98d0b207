/** Parses one line of Exim's main log, as described in chapter 52 of its specification. */
import type { NoNews } from './log-group.ts'
import type { ShippedLine } from './shipped-record.ts'

/** The outcome that Exim reports for one address. */
export interface EximDelivery {
  readonly outcome: 'delivered' | 'bounced' | 'deferred' | 'discarded'
  /** The address after routing and rewriting, or the file or command of a local delivery. */
  readonly to: string
  /** The original recipient address, if the line names a different one. */
  readonly originalTo: string | null
  readonly transport: string
  readonly remoteMta: string | null
  readonly remoteIp: string | null
  /** The reply that confirms a delivery, or the reason for a failure. */
  readonly reply: string
}

type EximFact =
  | { readonly kind: 'accepted'; readonly from: string; readonly messageId: string }
  | { readonly kind: 'completed' }
  | { readonly kind: 'delivery'; readonly delivery: EximDelivery }

export interface EximLine {
  readonly queueId: string
  readonly host: string
  /** The time as written: with its zone if the line has one, otherwise from the syslog header or shipper. */
  readonly time: unknown
  /** The time in the line itself, which distinguishes repeated deferrals. */
  readonly stamp: string
  readonly fact: EximFact
}

const stamp = '(\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d(?:\\.\\d{1,6})?)(?: ([+-]\\d{4}))?'
/** Includes the optional parts of `log_selector` and `log_timezone`. */
const head = new RegExp(`^(?:${stamp} )?(?:\\[\\d{1,10}\\] )?`)
export const eximHeader = new RegExp(`^${stamp} `)
/** A message ID: 16 characters, or 23 since Exim 4.97. */
const idForm = /^([0-9A-Za-z]{6}-(?:[0-9A-Za-z]{6}-[0-9A-Za-z]{2}|[0-9A-Za-z]{11}-[0-9A-Za-z]{4})) /
/** `*>`: option `-N` suppressed the delivery. */
const outcomes: ReadonlyMap<string, EximDelivery['outcome']> = new Map([
  ...(['=>', '->', '>>'] as const).map((mark) => [mark, 'delivered'] as const),
  ['*>', 'discarded'],
  ['**', 'bounced'],
  ['==', 'deferred'],
])
/** Length of the prefix searched for addresses and fields. The remaining text is the reply. */
const fieldsLength = 4000

/** Parses a line without its syslog header. Undefined if it is not a line of Exim. */
export function readEximText({ text, program, host, time }: ShippedLine): EximLine | NoNews | undefined {
  const [header = '', local, zone] = head.exec(text) ?? []
  const rest = text.slice(header.length)
  const queueId = idForm.exec(rest)?.[1]
  if (queueId === undefined) {
    if (local !== undefined) return { ignored: 'no_outcome' }
    return program === null ? undefined : { ignored: /exim/i.test(program) ? 'no_outcome' : 'other_program' }
  }
  const fact = factOf(rest.slice(queueId.length + 1))
  if (!fact) return { ignored: 'no_outcome' }
  if (typeof fact === 'string') return { rejected: fact }
  const exact = local !== undefined && zone !== undefined ? local + zone : time
  return { queueId, host: host ?? '', time: exact, stamp: local ?? (typeof time === 'string' ? time : ''), fact }
}

/** A string is the reason why a delivery line is invalid. */
function factOf(text: string): EximFact | string | undefined {
  if (text.startsWith('<= ')) return acceptedIn(text.slice(3))
  if (text === 'Completed' || text.startsWith('Completed ')) return { kind: 'completed' }
  const outcome = text[2] === ' ' ? outcomes.get(text.slice(0, 2)) : undefined
  if (!outcome) return undefined
  const delivery = deliveryIn(outcome, text.slice(3))
  return delivery ? { kind: 'delivery', delivery } : 'is a delivery line of Exim without an address'
}

function acceptedIn(text: string): EximFact {
  const from = /^(?:"(?:[^"\\]|\\.)*"@)?\S*/.exec(text)?.[0] ?? ''
  const messageId = / id=(\S+)/.exec(text.slice(0, fieldsLength))?.[1]
  return { kind: 'accepted', from: from === '<>' ? '' : from, messageId: messageId === undefined ? '' : `<${messageId}>` }
}

/** The address or target, then the addresses that produced it; the original one is last. */
const parentsForm = '((?: <[^<>]*>)'
const fieldsFollow = '(?=$| ?: | [A-Z]{1,2}=| defer)'
const targets = new RegExp(
  `^(?:((?:"(?:[^"\\\\]|\\\\.)*"|[^\\s"<>|/:@]+)@[^\\s:<>]+|:[a-z]+:)${parentsForm}*)(?=[\\s:]|$)` +
    `|([^]*?)${parentsForm}+)${fieldsFollow}|([|/>][^]*?)()${fieldsFollow})`,
)

function deliveryIn(outcome: EximDelivery['outcome'], text: string): EximDelivery | undefined {
  const [all = '', ...found] = targets.exec(text.slice(0, fieldsLength)) ?? []
  const [to, parents = ''] = found.filter((part) => part !== undefined)
  if (to === undefined) return text.startsWith('blackhole ') ? discarded : undefined
  const original = parents.slice(parents.lastIndexOf('<') + 1, -1)
  const tail = text.slice(all.length)
  const colon = outcome === 'delivered' ? -1 : withoutQuoted(tail).indexOf(': ')
  const fields = colon < 0 ? tail : tail.slice(0, colon)
  const [, remoteMta = null, remoteIp = null] = / H=(\S{1,255})(?: \(\S+\))? \[([\da-fA-F.:]{2,45})\]/.exec(fields) ?? []
  const confirmation = / C="((?:[^"\\]|\\.)*)"/.exec(fields)?.[1] ?? ''
  return {
    outcome: to === ':blackhole:' ? 'discarded' : outcome,
    ...addressesOf(to, original),
    transport: / T=(\S+)/.exec(fields)?.[1] ?? '',
    ...{ remoteMta, remoteIp },
    reply: outcome === 'delivered' ? confirmation : (colon < 0 ? tail : tail.slice(colon + 2)).replaceAll('\\n', ' '),
  }
}

/** Outcome of a line about an access list that discarded the whole message. Such a line contains no recipient. */
const discarded: EximDelivery = {
  ...{ outcome: 'discarded', to: '', originalTo: null, transport: '', remoteMta: null, remoteIp: null, reply: '' },
}

/** Blanks quoted certificate names, which may contain a colon. */
const withoutQuoted = (fields: string): string => fields.replaceAll(/ DN="(?:[^"\\]|\\.)*"/g, ({ length }) => ' '.repeat(length))

/** Returns the addresses of a line. Lines of local deliveries first name a user, file or command, and then the address. */
function addressesOf(to: string, original: string): Pick<EximDelivery, 'to' | 'originalTo'> {
  const isAddress = to.includes('@') && !/^[|/:>]/.test(to)
  if (!isAddress && original !== '') return { to: original, originalTo: null }
  return { to, originalTo: original === '' || original === to ? null : original }
}
