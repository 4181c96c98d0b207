/** Audit log of an organization, including changes by the operator. */
import type { JSX } from 'preact'
import { useList } from '../app/query.ts'
import { Entries } from '../audit/entries.tsx'
import { asQuery, filterHere } from '../audit/filter.ts'
import { operatorListAuditEntries } from '../wire/operations.ts'

const unknown: ReadonlyMap<string, string> = new Map()

export function AuditTab({ id }: { readonly id: string }): JSX.Element {
  const list = useList(operatorListAuditEntries, { path: { id }, query: asQuery(filterHere()) })
  return <Entries list={list} actors={unknown} projects={unknown} />
}
