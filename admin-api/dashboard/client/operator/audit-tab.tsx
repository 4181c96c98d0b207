/** Audit log of an organization, including changes by the operator. */
import type { JSX } from 'preact'
import { useList } from '../app/query.ts'
import { Entries } from '../audit/entries.tsx'
import { asQuery, filterHere } from '../audit/filter.ts'

const unknown: ReadonlyMap<string, string> = new Map()

export function AuditTab({ id }: { readonly id: string }): JSX.Element {
  const list = useList('/operator/v1/organizations/{id}/audit', { path: { id }, query: asQuery(filterHere()) })
  return <Entries list={list} actors={unknown} projects={unknown} />
}
