/** Parses the arguments of `postern operator` into a request. Reads no files and runs nothing. */
import { closest } from '#config/texts/closest.ts'
import { readOptions, UsageError } from '../read-options.ts'

/** A request to a daemon, and the format of its response. */
export interface OperatorRequest {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: Readonly<Record<string, unknown>>
  readonly show:
    | 'organizations'
    | 'logins'
    | 'account'
    | 'usage'
    | 'invoice'
    | 'credits'
    | 'granted'
    | 'invoices'
    | 'final'
    | 'closed'
    | 'sites'
    | 'site'
    | 'as it is'
  /** Address of a daemon other than that of the data folder. */
  readonly url: string | undefined
  /** Prints the JSON of the response instead of tables. */
  readonly asJson: boolean
}

export const operatorHelp = `Usage: postern operator WHAT [OPTIONS]

  organizations                   list all organizations
  logins                          list failed SMTP logins of the last 15 minutes
  show ORG                        show plan, limits, flags and prices of an organization
  usage ORG [--period MONTH]      show its usage in a month
  invoice ORG [--period MONTH]    preview its invoice
  export [--period MONTH]         export the previews of all organizations as CSV; --final for final invoices
  credits ORG [AMOUNT]            show its credits, or grant AMOUNT credits; --purchased, --note TEXT
  close-month MONTH               make the invoices of a past month final
  invoices [--period MONTH]       list the final invoices and credit notes of a month
  paid INVOICE [STATE]            set the payment to paid (default), open or uncollectible; --note TEXT
  void INVOICE --note REASON      cancel an invoice with a credit note; --reopen to close its month again
  plan ORG PLAN                   set the plan
  limit ORG NAME=VALUE...         set limits; VALUE is a number, yes, no, none or plan
  flag ORG NAME=VALUE...          set flags; VALUE is on, off or default
  price ORG AXIS=URP...           set prices in millionths of a rappen; --from MONTH
  payment ORG STATE               set the payment state: none, manual_ok or past_due
  sites [WORD]                    list websites of all organizations; WORD searches names and domains
  takedown SITE --note REASON     serve status 451 instead of a website; --status 410 for gone
  let-back SITE                   serve a website again after a takedown
  restore ORG                     restore a deleted organization within 30 days

  --url URL   call this daemon instead of that of the data folder
  --json      print the response as JSON

The daemon is called over HTTP with the key in POSTERN_OPERATOR_KEY. The format of MONTH is 2026-11.
`

const options = {
  period: { type: 'string' },
  from: { type: 'string' },
  note: { type: 'string' },
  purchased: { type: 'boolean' },
  final: { type: 'boolean' },
  reopen: { type: 'boolean' },
  status: { type: 'string' },
  url: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

interface Given {
  readonly args: readonly string[]
  readonly period: string | undefined
  readonly from: string | undefined
  readonly note: string | undefined
  readonly purchased: boolean
  readonly final: boolean
  readonly reopen: boolean
  readonly status: string
}
type Wanted = Omit<OperatorRequest, 'url' | 'asJson'>

const root = '/operator/v1/organizations'
const invoiceRoot = '/operator/v1/invoices'
const siteRoot = '/operator/v1/sites'
const takedownOf = (site: string): string => `${siteRoot}/${encodeURIComponent(site)}/takedown`
const put = (id: string, what: string, body: Readonly<Record<string, unknown>>): Wanted => ({
  method: 'PUT',
  path: `${pathOf(id)}/${what}`,
  body,
  show: 'account',
})
const pathOf = (id: string): string => `${root}/${encodeURIComponent(id)}`
const inPeriod = ({ period }: Given): string => (period === undefined ? '' : `?period=${encodeURIComponent(period)}`)

function creditsWanted({ args: [id = '', credits], purchased, note }: Given): Wanted {
  const path = `${pathOf(id)}/credits`
  if (credits === undefined) return { method: 'GET', path, show: 'credits' }
  const body = { credits, ...(purchased && { kind: 'purchased' }), ...(note !== undefined && { note }) }
  return { method: 'POST', path, body, show: 'granted' }
}

/** Number of operands of each command, and the request that they form. */
const commands: Readonly<Record<string, { readonly least: number; readonly most: number; make(given: Given): Wanted }>> = {
  organizations: { least: 0, most: 0, make: () => ({ method: 'GET', path: root, show: 'organizations' }) },
  logins: { least: 0, most: 0, make: () => ({ method: 'GET', path: '/operator/v1/smtp-logins', show: 'logins' }) },
  show: { least: 1, most: 1, make: ({ args: [id = ''] }) => ({ method: 'GET', path: pathOf(id), show: 'account' }) },
  restore: { least: 1, most: 1, make: ({ args: [id = ''] }) => ({ method: 'POST', path: `${pathOf(id)}/restore`, show: 'account' }) },
  usage: {
    least: 1,
    most: 1,
    make: (given) => ({ method: 'GET', path: `${pathOf(given.args[0] ?? '')}/usage${inPeriod(given)}`, show: 'usage' }),
  },
  invoice: {
    least: 1,
    most: 1,
    make: (given) => ({ method: 'GET', path: `${pathOf(given.args[0] ?? '')}/invoice-preview${inPeriod(given)}`, show: 'invoice' }),
  },
  export: {
    least: 0,
    most: 0,
    make(given) {
      const of = given.final ? `${given.period === undefined ? '?' : '&'}of=final` : ''
      return { method: 'GET', path: `${invoiceRoot}/export${inPeriod(given)}${of}`, show: 'as it is' }
    },
  },
  credits: { least: 1, most: 2, make: creditsWanted },
  'close-month': {
    least: 1,
    most: 1,
    make: ({ args: [period = ''] }) => ({ method: 'POST', path: `${invoiceRoot}/close`, body: { period }, show: 'closed' }),
  },
  invoices: { least: 0, most: 0, make: (given) => ({ method: 'GET', path: `${invoiceRoot}${inPeriod(given)}`, show: 'invoices' }) },
  paid: {
    least: 1,
    most: 2,
    make: ({ args: [id = '', state = 'paid'], note }) => ({
      ...{ method: 'PUT', path: `${invoiceRoot}/${encodeURIComponent(id)}/payment`, show: 'final' },
      body: { state, ...(note !== undefined && { remark: note }) },
    }),
  },
  void: {
    least: 1,
    most: 1,
    make({ args: [id = ''], note, reopen }) {
      if (note === undefined) throw new UsageError('void needs --note with the reason, which is printed on the credit note.')
      const body = { reason: note, ...(reopen && { reopen }) }
      return { method: 'POST', path: `${invoiceRoot}/${encodeURIComponent(id)}/void`, body, show: 'final' }
    },
  },
  sites: {
    least: 0,
    most: 1,
    make: ({ args: [q] }) => ({
      method: 'GET',
      path: `${siteRoot}${q === undefined ? '' : `?q=${encodeURIComponent(q)}`}`,
      show: 'sites',
    }),
  },
  takedown: {
    least: 1,
    most: 1,
    make({ args: [site = ''], note, status }) {
      if (note === undefined) throw new UsageError('takedown needs --note with the reason, which the organization sees.')
      if (status !== '451' && status !== '410') throw new UsageError('--status is 451 (for legal reasons) or 410 (gone).')
      return { method: 'PUT', path: takedownOf(site), body: { status: Number(status), reason: note }, show: 'site' }
    },
  },
  'let-back': { least: 1, most: 1, make: ({ args: [site = ''] }) => ({ method: 'DELETE', path: takedownOf(site), show: 'site' }) },
  plan: { least: 2, most: 2, make: ({ args: [id = '', plan] }) => put(id, 'plan', { plan }) },
  limit: { least: 2, most: 50, make: ({ args: [id = '', ...pairs] }) => put(id, 'overrides', readPairs(pairs, readLimit)) },
  flag: { least: 2, most: 50, make: ({ args: [id = '', ...pairs] }) => put(id, 'flags', readPairs(pairs, readFlag)) },
  price: {
    least: 2,
    most: 50,
    make: ({ args: [id = '', ...pairs], from }) => {
      const prices = Object.entries(readPairs(pairs, readPrice)).map(([axis, price]) => ({
        axis,
        unit_price_urp: price,
        ...(from !== undefined && { effective_from: from }),
      }))
      return put(id, 'prices', { prices })
    },
  },
  payment: { least: 2, most: 2, make: ({ args: [id = '', state] }) => put(id, 'payment-state', { payment_state: state }) },
}

/** Returns the request, `help`, or a sentence about wrong arguments. */
export function readOperatorArguments(args: readonly string[]): OperatorRequest | 'help' | { readonly wrong: string } {
  try {
    const { values, positionals } = readOptions({ args: [...args], allowPositionals: true, options })
    if (values.help) return 'help'
    const [name, ...rest] = positionals
    const command = name === undefined || !Object.hasOwn(commands, name) ? undefined : commands[name]
    if (!command) return { wrong: unknown(name) }
    if (rest.length < command.least || rest.length > command.most) return { wrong: `Usage: postern operator ${formOf(String(name))}.` }
    const { period, from, note, purchased = false, final = false, reopen = false, status = '451' } = values
    const wanted = command.make({ args: rest, period, from, note, purchased, final, reopen, status })
    return { ...wanted, url: values.url, asJson: values.json ?? false }
  } catch (error) {
    return { wrong: error instanceof Error ? error.message : String(error) }
  }
}

/** Syntax of a command as the help shows it. */
const formOf = (name: string): string => new RegExp(`^ {2}(${name}\\b.*?)(?: {2,}|$)`, 'm').exec(operatorHelp)?.[1] ?? name

function unknown(name: string | undefined): string {
  const names = Object.keys(commands)
  if (name === undefined) return `operator needs a subcommand: ${names.join(', ')}.`
  const near = closest(name, names)
  return `operator has no subcommand ${JSON.stringify(name)}. ${near ? `Did you mean ${near}?` : `Use ${names.join(', ')}.`}`
}

function readPairs(pairs: readonly string[], read: (value: string) => unknown): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name, value] = /^([a-z_]+)=(.+)$/.exec(pair) ?? []
      const meaning = value === undefined ? undefined : read(value)
      if (name === undefined || meaning === undefined)
        throw new UsageError(`${JSON.stringify(pair)} must have the form NAME=VALUE, with a value that the help lists.`)
      return [name, meaning]
    }),
  )
}

const readNumber = (text: string): number | undefined => (/^\d{1,15}$/.test(text) ? Number(text) : undefined)
const meaningOf = (meanings: Readonly<Record<string, unknown>>, text: string): unknown =>
  Object.hasOwn(meanings, text) ? meanings[text] : undefined
const readLimit = (text: string): unknown => readNumber(text) ?? meaningOf({ yes: true, no: false, none: -1, plan: null }, text)
const readFlag = (text: string): unknown => meaningOf({ on: true, off: false, default: null }, text)
const readPrice = readNumber
