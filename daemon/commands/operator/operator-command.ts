/** `postern operator`: calls a running daemon over HTTP and prints tables. */
import type { Config } from '#config/settings/load.ts'
import { cleanJson } from '../../observability/clean-text.ts'
import { operatedDaemon, pageIn, reachDaemon, refusedBy, type CalledDaemon } from '../daemon-client.ts'
import { exitCodes, type ExitCode } from '../../process/lifecycle.ts'
import { billingTables } from './billing-tables.ts'
import type { OperatorRequest } from './operator-arguments.ts'
import { francs, list, sections, table, type Json } from './text-table.ts'
import { StartRefused } from '../../process/start-refused.ts'

/** Throws `StartRefused` with the daemon's message if it refuses the request. */
export async function operate(config: Config, wanted: OperatorRequest, out: { write(text: string): unknown }): Promise<ExitCode> {
  const text = await answerTo(await operatedDaemon(config, wanted.url), wanted)
  if (wanted.show === 'as it is') out.write(ended(text))
  else out.write(wanted.asJson ? ended(cleanJson(text)) : tables[wanted.show](JSON.parse(text) as Json))
  return exitCodes.ok
}

function answerTo(daemon: CalledDaemon, wanted: OperatorRequest): Promise<string> {
  if (wanted.show === 'organizations' || wanted.show === 'invoices' || wanted.show === 'sites') return everyPage(daemon, wanted)
  return wanted.show === 'closed' ? closedWhole(daemon, wanted) : ask(daemon, wanted)
}

/** Repeats the request until all invoices are closed, since one request has a time limit. Adds up the counts. */
async function closedWhole(daemon: CalledDaemon, wanted: OperatorRequest): Promise<string> {
  for (let closed = 0; ;) {
    const answer = JSON.parse(await ask(daemon, wanted)) as Json
    closed += Number(answer['closed'])
    if (answer['is_complete'] === true)
      return JSON.stringify({ ...answer, closed, already: Number(answer['already']) - closed + Number(answer['closed']) })
  }
}

/** Merges all pages of a list. */
async function everyPage(daemon: CalledDaemon, wanted: OperatorRequest): Promise<string> {
  const data: unknown[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const path: string = `${wanted.path}${wanted.path.includes('?') ? '&' : '?'}limit=200${cursor && `&cursor=${cursor}`}`
    const page = pageIn(daemon, JSON.parse(await ask(daemon, { ...wanted, path })))
    data.push(...page.data)
    cursor = page.next_cursor
  }
  return JSON.stringify({ data })
}

async function ask(daemon: CalledDaemon, { method, path, body }: OperatorRequest): Promise<string> {
  const response = await reachDaemon(daemon, method, path, body)
  const text = await response.text()
  if (response.ok) return text
  if (response.status === 404 && !/organization|invoice|site/.test(text))
    throw new StartRefused(
      `The daemon at ${daemon.origin} has no operator key, or the server is not Postern. Set POSTERN_OPERATOR_KEY for the daemon.`,
      exitCodes.failed,
    )
  throw refusedBy(response.status, text, withOperand)
}

/** Replaces the field at the start of an error message by the operand. */
const withOperand = (message: string): string => message.replace(/^([a-z_]+)(?=: )/, (field) => field.toUpperCase())

const tables = {
  organizations: ({ data }: Json) =>
    list(
      'There are no organizations.',
      ['ID', 'NAME', 'PLAN', 'PAYMENT', 'CREATED'],
      (data as Json[]).map(({ id, name, plan, payment_state, created_at }) => [id, name, plan, payment_state, created_at]),
    ),
  logins: ({ data }: Json) =>
    list(
      'No SMTP logins failed in the last 15 minutes.',
      ['ADDRESS', 'USER TRIED', 'FAILURES', 'LAST', 'BLOCKED'],
      (data as Json[]).map(({ address, username, failures, last_at, blocked }) => [address, username, failures, last_at, blocked ?? 'no']),
    ),
  account(account: Json) {
    const overrides = account['overrides'] as Json
    const limits = Object.entries(account['limits'] as Json).map(([name, value]) => [
      name,
      value ?? 'none',
      name in overrides ? 'agreed' : 'plan',
    ])
    const flags = Object.entries(account['flags'] as Json).map(([name, value]) => [name, value === true ? 'on' : 'off'])
    const prices = (account['prices'] as Json[]).map(({ axis, unit_price_urp, effective_from }) => [axis, unit_price_urp, effective_from])
    const facts = ['id', 'name', 'plan', 'payment_state', 'created_at'].map((name) => [name, account[name]])
    return sections([
      table(undefined, facts),
      table(['LIMIT', 'VALUE', 'BY'], limits),
      table(['FLAG', 'STATE'], flags),
      table(['AXIS', 'URP', 'FROM'], prices),
    ])
  },
  sites: ({ data }: Json) =>
    list(
      'No website matches.',
      ['ID', 'NAME', 'ORGANIZATION', 'OWNER', 'STATE', 'DOMAINS'],
      (data as Json[]).map(({ id, slug, organization_id, organization_name, is_paused, takedown, domains }) => [
        ...[id, slug, organization_id, organization_name],
        takedown ? `taken down (${String((takedown as Json)['status'])})` : is_paused === true ? 'paused' : 'served',
        (domains as string[]).join(' '),
      ]),
    ),
  site({ id, slug, takedown }: Json) {
    const { status, reason } = (takedown ?? { status: 'served', reason: '' }) as Json
    return table(undefined, [
      ['id', id],
      ['name', slug],
      ['answers', status],
      ['reason', reason],
    ])
  },
  usage(usage: Json) {
    const axes = (usage['axes'] as Json[]).map(({ axis, label, quantity }) => [axis, label, quantity])
    const projects = (usage['projects'] as Json[]).map((row) => [
      row['project_id'],
      row['name'],
      row['sends'],
      row['smtp_messages'],
      row['captures'],
    ])
    const limits = (usage['limits'] as Json[]).map(({ name, used, limit }) => [name, used, limit ?? 'none'])
    return sections([
      table(
        undefined,
        ['period', 'plan', 'sends'].map((name) => [name, usage[name]]),
      ),
      table(['AXIS', 'MEANING', 'QUANTITY'], axes),
      table(['PROJECT', 'NAME', 'SENDS', 'BY SMTP', 'CAPTURES'], projects),
      table(['LIMIT', 'USED NOW', 'LIMIT'], limits),
    ])
  },
  invoice(invoice: Json) {
    const lines = (invoice['lines'] as Json[]).map((line) => [
      line['label'],
      line['quantity'],
      line['billable'],
      francs(line['amount_rappen']),
    ])
    const sums = [
      ['Net', '', '', francs(invoice['net_rappen'])],
      [`VAT ${Number(invoice['vat_basis_points']) / 100} %`, '', '', francs(invoice['vat_rappen'])],
      ['Total', '', '', francs(invoice['total_rappen'])],
    ]
    return sections([
      table(
        undefined,
        ['period', 'plan'].map((name) => [name, invoice[name]]),
      ),
      table(['LINE', 'QUANTITY', 'BILLED', 'CHF'], [...lines, ...sums]),
    ])
  },
  ...billingTables,
} satisfies Record<Exclude<OperatorRequest['show'], 'as it is'>, (answer: Json) => string>

const ended = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`)
