/** Credits and final invoices as tables. */
import { francs, list, sections, table, type Json } from './text-table.ts'

export const billingTables = {
  credits({ balance_credits, is_unlimited, grants }: Json) {
    const facts = [
      ['balance', balance_credits],
      ['by contract', is_unlimited === true ? 'yes' : 'no'],
    ]
    return sections([
      table(undefined, facts),
      table(['GRANT', 'KIND', 'AMOUNT', 'LEFT', 'EXPIRES', 'NOTE'], (grants as Json[]).map(grantCells)),
    ])
  },
  granted: (grant: Json) => table(['GRANT', 'KIND', 'AMOUNT', 'LEFT', 'EXPIRES', 'NOTE'], [grantCells(grant)]),
  invoices: ({ data }: Json) =>
    list(
      'No closed month has invoices.',
      ['ID', 'NUMBER', 'ORGANIZATION', 'NAME', 'STATE', 'CHF'],
      (data as Json[]).map((one) => [
        ...[one['id'], one['number'], one['organization_id'], one['organization_name']],
        ...[one['state'] ?? '', francs(one['total_rappen'])],
      ]),
    ),
  final: (one: Json) =>
    table(
      undefined,
      ['id', 'type', 'number', 'organization_id', 'period', 'state', 'reason'].flatMap((name) =>
        one[name] === null ? [] : [[name, one[name]]],
      ),
    ),
  closed: ({ period, closed, already, none }: Json) =>
    table(undefined, [
      ['period', period],
      ['closed now', closed],
      ['closed before', already],
      ['nothing to bill', none],
    ]),
}

const grantCells = ({ id, kind, amount, remaining, expires_at, note }: Json): readonly unknown[] => [
  id,
  kind,
  amount,
  remaining,
  expires_at ?? 'never',
  note,
]
